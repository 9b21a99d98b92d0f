//! Printing and shapes of tensors of any kind.

use std::io;

use tfrt::prelude::*;
use tfrt_tensor::{HostBuffer, Sizes, Tensor};

use crate::text::{print_bytes, print_line};

/// Prints a tensor of any kind.
#[tfrt_kernel("tfrt_dht.print_tensor", side_effecting, format = "operands attr-dict")]
fn print_tensor(tensor: &dyn Tensor) -> Result<()> {
    Ok(print_bytes(&[&tensor.to_bytes()?])?)
}

/// Prints a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht_sync.print_tensor",
    sync,
    effect = "io",
    format = "operands attr-dict"
)]
fn print_tensor_sync(tensor: &dyn Tensor) -> Result<()> {
    print_tensor(tensor)
}

/// Prints the shape of a tensor of any kind.
#[tfrt_kernel("tfrt_dht.print_tensor_shape", side_effecting)]
fn print_tensor_shape(tensor: &dyn Tensor) -> io::Result<()> {
    print_line(tensor.shape())
}

/// Returns the shape of a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht.get_tensor_shape",
    chain = none,
    results(shape),
    format = "operands attr-dict"
)]
fn get_tensor_shape(tensor: &dyn Tensor) -> Sizes {
    tensor.shape().into()
}

/// Returns the shape of a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht_sync.get_tensor_shape",
    sync,
    results(shape),
    format = "operands attr-dict"
)]
fn get_tensor_shape_sync(tensor: &dyn Tensor) -> Sizes {
    tensor.shape().into()
}

/// Does nothing, once a tensor of any kind is available.
#[tfrt_kernel("tfrt_dht.no_op_ht", results(out_chain))]
fn no_op(_tensor: &dyn Tensor) -> Chain {
    Chain
}

/// Prints the address and the size of a buffer.
#[tfrt_kernel("tfrt_dht.print_buffer", side_effecting, format = "operands attr-dict")]
fn print_buffer(buffer: &HostBuffer) -> io::Result<()> {
    print_line(buffer)
}

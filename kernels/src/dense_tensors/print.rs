//! Printing tensors, and asking for their shape: tensors of any kind.

use std::io;

use tfrt::prelude::*;
use tfrt_tensor::{HostBuffer, Shape, TensorRef};

use crate::text::print_line;

/// The shape of a tensor of any kind.
fn shape_of(tensor: &AnyRef) -> Result<Shape> {
    Ok(TensorRef::read(tensor)?.shape().clone())
}

/// A tensor of any kind, as it is printed.
fn text_of(tensor: &AnyRef) -> Result<String> {
    Ok(TensorRef::read(tensor)?.to_text()?)
}

/// Prints a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht.print_tensor",
    raw,
    operands(tensor: "!t.tensor", in_chain: Chain),
    results(out_chain: Chain),
    effect = "io",
    format = "operands attr-dict"
)]
fn print_tensor(frame: &mut KernelFrame<'_>) -> Result<()> {
    print_line(text_of(frame.argument(0))?)?;
    frame.set_result(0, AnyRef::ready_chain());
    Ok(())
}

/// Prints a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht_sync.print_tensor",
    raw,
    sync,
    operands(tensor: "!t.tensor"),
    effect = "io",
    format = "operands attr-dict"
)]
fn print_tensor_sync(frame: &mut SyncKernelFrame<'_>) -> Result<()> {
    Ok(print_line(text_of(&frame.share_argument(0)?)?)?)
}

/// Prints the shape of a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht.print_tensor_shape",
    raw,
    operands(tensor: "!t.tensor", in_chain: Chain),
    results(out_chain: Chain),
    effect = "io"
)]
fn print_tensor_shape(frame: &mut KernelFrame<'_>) -> Result<()> {
    print_line(shape_of(frame.argument(0))?)?;
    frame.set_result(0, AnyRef::ready_chain());
    Ok(())
}

/// Gives the shape of a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht.get_tensor_shape",
    raw,
    chain = none,
    operands(tensor: "!t.tensor"),
    results(shape: Shape),
    format = "operands attr-dict"
)]
fn get_tensor_shape(frame: &mut KernelFrame<'_>) -> Result<()> {
    let shape = shape_of(frame.argument(0))?;
    frame.set_result(0, AnyRef::available(shape));
    Ok(())
}

/// Gives the shape of a tensor of any kind.
#[tfrt_kernel(
    "tfrt_dht_sync.get_tensor_shape",
    raw,
    sync,
    operands(tensor: "!t.tensor"),
    results(shape: Shape),
    format = "operands attr-dict"
)]
fn get_tensor_shape_sync(frame: &mut SyncKernelFrame<'_>) -> Result<()> {
    let shape = shape_of(&frame.share_argument(0)?)?;
    frame.set_result(0, shape);
    Ok(())
}

/// Does nothing, once a tensor of any kind is there.
#[tfrt_kernel(
    "tfrt_dht.no_op_ht",
    raw,
    operands(tensor: "!t.tensor", in_chain: Chain),
    results(out_chain: Chain)
)]
fn no_op(frame: &mut KernelFrame<'_>) -> Result<()> {
    TensorRef::read(frame.argument(0))?;
    frame.set_result(0, AnyRef::ready_chain());
    Ok(())
}

/// Prints where a buffer is and how large.
#[tfrt_kernel("tfrt_dht.print_buffer", side_effecting, format = "operands attr-dict")]
fn print_buffer(buffer: &HostBuffer) -> io::Result<()> {
    print_line(buffer)
}

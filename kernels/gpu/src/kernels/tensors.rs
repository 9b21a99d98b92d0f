//! Tensors in buffers, and values that wait for chains.

use tfrt::prelude::*;
use tfrt_tensor::{Element, Sizes};

use super::memory::print;
use crate::values::{Buffer, DenseGpuTensor};

/// Creates a tensor from a buffer, which it shares.
///
/// # Errors
/// `Cannot make tensor from invalid (moved from?) buffer`;
/// `tfrt_gpu.tensor.make failed: buffer_size (B) is not equal to the number of elements in shape (S) times element size (E)`.
#[tfrt_kernel(
    "tfrt_gpu.tensor.make.{T}",
    T = [i8, i32, i64, f32, f64],
    results(tensor),
    format = "operands attr-dict"
)]
fn tensor_make<T: Element>(
    buffer: &Buffer,
    shape: &Sizes,
    _in_chain: Chain,
) -> Result<DenseGpuTensor> {
    DenseGpuTensor::new("tfrt_gpu.tensor.make", T::DTYPE, shape.to_shape()?, buffer)
}

/// Prints type, shape and address of a tensor.
#[tfrt_kernel(
    "tfrt_gpu.tensor.print_metadata",
    results(out_chain),
    format = "operands attr-dict"
)]
fn tensor_print_metadata(tensor: &DenseGpuTensor, in_chain: Chain) -> Result<Chain> {
    print(&format!("{tensor}\n"))?;
    Ok(in_chain)
}

/// Returns a value that is available once a chain is.
#[tfrt_kernel(
    "tfrt_gpu.alias",
    raw,
    pure,
    operands(value: any, in_chain: Chain),
    results(alias: same_as(value)),
    format = "operands attr-dict `:` type($value)"
)]
fn alias(frame: &mut KernelFrame<'_>) {
    let value = frame.argument(0).clone();
    frame.set_result(0, value);
}

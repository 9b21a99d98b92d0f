//! Tensors from constants, for tests.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

/// The tensor that a dense attribute states, in memory of its own.
fn from_attribute(value: DenseView<'_>, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(value.dims())?;
    let mut tensor = DenseHostTensor::zeroed(ctx.allocator(), value.dtype(), shape)?;
    tensor.buffer_mut().write()?.copy_from_slice(value.data());
    Ok(tensor)
}

/// Makes a tensor of a dense attribute.
#[tfrt_kernel("tfrt_test.const_dense_attr", results(tensor), attribute_names = free)]
fn const_dense_attr(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    from_attribute(value, ctx)
}

/// Makes a tensor of a dense attribute.
#[tfrt_kernel("tfrt_test.sync.const_dense_attr", sync, results(tensor), attribute_names = free)]
fn const_dense_attr_sync(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    from_attribute(value, ctx)
}

//! Constants.

use tfrt::prelude::*;
use tfrt_tensor::{HostBuffer, Shape};

use super::invalid;
use crate::eager::call::GpuCall;
use crate::eager::transfer::upload_directly;

/// Returns a constant tensor.
///
/// # Errors
/// ``tf.Const needs a `value` dense attribute``.
#[tfrt_op("tf.Const", raw, device = "gpu")]
fn constant(call: &mut OpCall<'_>) -> Result<()> {
    let value = call.attrs().get::<DenseView<'_>>("value");
    let value = value.ok_or_else(|| invalid("tf.Const needs a `value` dense attribute"))?;
    let shape = Shape::from_signed(value.dims())?;
    let allocator = call.ctx().allocator();
    let buffer = HostBuffer::copied(allocator, value.data())?;
    let tensor = DenseHostTensor::from_buffer(value.dtype(), shape, buffer)?;
    put(call, &tensor)
}

/// Copies a tensor to the device, and sets it as the result.
pub(super) fn put(call: &mut OpCall<'_>, source: &DenseHostTensor) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let target = call.allocate(source.dtype(), source.shape().clone())?;
    upload_directly(call.gpu(), source, &target)?;
    call.set_result(0, target);
    Ok(())
}

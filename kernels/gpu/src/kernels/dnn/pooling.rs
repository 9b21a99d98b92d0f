//! Pooling, and its gradient.

use tfrt::prelude::*;

use crate::kernels::frame::{FinishWith, FrameReader};

use super::{PoolingDescriptor, TensorDescriptor, enter, tensor};
use crate::values::{Buffer, DnnHandle, Stream};

/// Pools windows of a tensor: y = alpha · pool(x) + beta · y.
#[tfrt_kernel(
    "tfrt_gpu.dnn.pooling_forward",
    results(out_chain),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
fn pooling_forward(
    handle: &DnnHandle,
    stream: &Stream,
    pooling_desc: &PoolingDescriptor,
    alpha: f32,
    x_desc: &TensorDescriptor,
    x: &Buffer,
    beta: f32,
    y_desc: &TensorDescriptor,
    y: &Buffer,
    in_chain: Chain,
) -> Result<Chain> {
    let (x, y) = (tensor("x", x_desc, x)?, tensor("y", y_desc, y)?);
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    let pooling = pooling_desc.handle();
    dnn.pooling_forward(&current, handle.handle(), pooling, alpha, x, beta, y)?;
    Ok(in_chain)
}

/// Computes the gradient of pooling: dx = alpha · gradient + beta · dx.
#[tfrt_kernel(
    "tfrt_gpu.dnn.pooling_backward",
    raw,
    operands(handle: DnnHandle, stream: Stream, pooling_desc: PoolingDescriptor, alpha: f32, y_desc: TensorDescriptor, y: Buffer, dy_desc: TensorDescriptor, dy: Buffer, x_desc: TensorDescriptor, x: Buffer, beta: f32, dx_desc: TensorDescriptor, dx: Buffer, in_chain: Chain),
    results(out_chain: Chain),
    format = "operands attr-dict"
)]
fn pooling_backward(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let pooling_desc: &PoolingDescriptor = reader.operand()?;
    let alpha: f32 = *reader.operand()?;
    let y_desc: &TensorDescriptor = reader.operand()?;
    let y: &Buffer = reader.operand()?;
    let dy_desc: &TensorDescriptor = reader.operand()?;
    let dy: &Buffer = reader.operand()?;
    let x_desc: &TensorDescriptor = reader.operand()?;
    let x: &Buffer = reader.operand()?;
    let beta: f32 = *reader.operand()?;
    let dx_desc: &TensorDescriptor = reader.operand()?;
    let dx: &Buffer = reader.operand()?;
    let (y, dy) = (tensor("y", y_desc, y)?, tensor("dy", dy_desc, dy)?);
    let (x, dx) = (tensor("x", x_desc, x)?, tensor("dx", dx_desc, dx)?);
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    let pooling = pooling_desc.handle();
    dnn.pooling_backward(
        &current,
        handle.handle(),
        pooling,
        alpha,
        y,
        dy,
        x,
        beta,
        dx,
    )?;
    frame.finish_with(Chain)
}

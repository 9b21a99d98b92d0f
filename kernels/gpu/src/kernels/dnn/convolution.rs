//! Convolutions and their gradients.

use tfrt::prelude::*;

use crate::kernels::frame::{FinishWith, FrameReader};

use super::descriptors::ConvolutionAlgorithm;
use super::{
    ActivationDescriptor, ConvolutionDescriptor, FilterDescriptor, TensorDescriptor, enter, filter,
    tensor,
};
use crate::api::blas::Scalar;
use crate::api::dnn::{Convolution, ConvolutionKind, FusedConvolution, TensorOperand};
use crate::enums::DnnDataType;
use crate::kernels::op_verifiers;
use crate::values::{Buffer, DnnHandle, Stream};

/// Returns the number of an algorithm in the library: of a value of its own, or a plain number in
/// the older form.
fn algorithm(value: &AnyRef) -> Result<i64> {
    if let Some(algorithm) = value.get::<ConvolutionAlgorithm>() {
        return Ok(algorithm.number);
    }
    value
        .get::<u64>()
        .and_then(|number| i64::try_from(*number).ok())
        .ok_or_else(|| {
            Error::new("expected a convolution algorithm, or its number")
                .with_code(ErrorCode::InvalidArgument)
        })
}

/// Reads the type of the scalars of a convolution: the attribute `scale_type`, or in the older form
/// `compute_type`. The scalars are constants, and the library's type for them follows from the
/// tensors, so it only has to be a type of this platform.
///
/// In custom forms, the type in front of the operands is always `scale_type`, as in programs of the
/// older form, too. Where a generic form says `compute_type`, the custom form has it in its
/// dictionary, so that it is read back as what it was.
fn check_scalar_type(reader: &mut FrameReader<'_, '_>) -> Result<()> {
    let compute_type = reader.attribute::<Option<DnnDataType>>()?;
    let scale_type = reader.attribute::<Option<DnnDataType>>()?;
    let stated = scale_type.or(compute_type).ok_or_else(|| {
        Error::new("requires attribute 'scale_type'").with_code(ErrorCode::InvalidArgument)
    })?;
    stated.cuda().map(drop)
}

/// The common parameters of the three kinds of convolutions.
struct Call<'a> {
    kind: ConvolutionKind,
    first: TensorOperand,
    second: TensorOperand,
    descriptor: &'a ConvolutionDescriptor,
    algorithm: &'a AnyRef,
    workspace: &'a Buffer,
    result: TensorOperand,
}

fn convolve(handle: &DnnHandle, stream: &Stream, call: &Call<'_>) -> Result<Chain> {
    let call = Convolution {
        kind: call.kind,
        first: call.first,
        second: call.second,
        descriptor: call.descriptor.handle(),
        algorithm: algorithm(call.algorithm)?,
        workspace: (call.workspace.pointer(), call.workspace.num_bytes()),
        result: call.result,
    };
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    dnn.convolution(&current, handle.handle(), &call)?;
    Ok(Chain)
}

/// Convolves a tensor with a filter.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_forward",
    raw,
    operands(handle: DnnHandle, stream: Stream, x_desc: TensorDescriptor, x: Buffer, w_desc: FilterDescriptor, w: Buffer, conv_desc: ConvolutionDescriptor, algo: any, workspace: Buffer, y_desc: TensorDescriptor, y: Buffer, in_chain: optional Chain),
    attrs(compute_type: Option<DnnDataType>, scale_type: Option<DnnDataType>),
    results(out_chain: Chain),
    verify = op_verifiers::verify_convolution,
    format = "$handle `,` $stream `,` ($scale_type^ `,`)? \
              operands($x_desc, $x, $w_desc, $w, $conv_desc, $algo, $workspace, $y_desc, $y, \
              $in_chain) known($algo) attr-dict"
)]
fn convolution_forward(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let x_desc: &TensorDescriptor = reader.operand()?;
    let x: &Buffer = reader.operand()?;
    let w_desc: &FilterDescriptor = reader.operand()?;
    let w: &Buffer = reader.operand()?;
    let conv_desc: &ConvolutionDescriptor = reader.operand()?;
    let algo = reader.any()?;
    let workspace: &Buffer = reader.operand()?;
    let y_desc: &TensorDescriptor = reader.operand()?;
    let y: &Buffer = reader.operand()?;
    check_scalar_type(&mut reader)?;
    let call = Call {
        kind: ConvolutionKind::Forward,
        first: tensor("x", x_desc, x)?,
        second: filter("w", w_desc, w)?,
        descriptor: conv_desc,
        algorithm: algo,
        workspace,
        result: tensor("y", y_desc, y)?,
    };
    frame.finish_with(convolve(handle, stream, &call)?)
}

/// Computes the gradient of a convolution by its input.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_backward_data",
    raw,
    operands(handle: DnnHandle, stream: Stream, w_desc: FilterDescriptor, w: Buffer, dy_desc: TensorDescriptor, dy: Buffer, conv_desc: ConvolutionDescriptor, algo: any, workspace: Buffer, dx_desc: TensorDescriptor, dx: Buffer, in_chain: optional Chain),
    attrs(compute_type: Option<DnnDataType>, scale_type: Option<DnnDataType>),
    results(out_chain: Chain),
    verify = op_verifiers::verify_convolution,
    format = "$handle `,` $stream `,` ($scale_type^ `,`)? \
              operands($w_desc, $w, $dy_desc, $dy, $conv_desc, $algo, $workspace, $dx_desc, $dx, \
              $in_chain) known($algo) attr-dict"
)]
fn convolution_backward_data(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let w_desc: &FilterDescriptor = reader.operand()?;
    let w: &Buffer = reader.operand()?;
    let dy_desc: &TensorDescriptor = reader.operand()?;
    let dy: &Buffer = reader.operand()?;
    let conv_desc: &ConvolutionDescriptor = reader.operand()?;
    let algo = reader.any()?;
    let workspace: &Buffer = reader.operand()?;
    let dx_desc: &TensorDescriptor = reader.operand()?;
    let dx: &Buffer = reader.operand()?;
    check_scalar_type(&mut reader)?;
    let call = Call {
        kind: ConvolutionKind::BackwardData,
        first: filter("w", w_desc, w)?,
        second: tensor("dy", dy_desc, dy)?,
        descriptor: conv_desc,
        algorithm: algo,
        workspace,
        result: tensor("dx", dx_desc, dx)?,
    };
    frame.finish_with(convolve(handle, stream, &call)?)
}

/// Computes the gradient of a convolution by its filter.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_backward_filter",
    raw,
    operands(handle: DnnHandle, stream: Stream, x_desc: TensorDescriptor, x: Buffer, dy_desc: TensorDescriptor, dy: Buffer, conv_desc: ConvolutionDescriptor, algo: any, workspace: Buffer, dw_desc: FilterDescriptor, dw: Buffer, in_chain: optional Chain),
    attrs(compute_type: Option<DnnDataType>, scale_type: Option<DnnDataType>),
    results(out_chain: Chain),
    verify = op_verifiers::verify_convolution,
    format = "$handle `,` $stream `,` ($scale_type^ `,`)? \
              operands($x_desc, $x, $dy_desc, $dy, $conv_desc, $algo, $workspace, $dw_desc, $dw, \
              $in_chain) known($algo) attr-dict"
)]
fn convolution_backward_filter(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let x_desc: &TensorDescriptor = reader.operand()?;
    let x: &Buffer = reader.operand()?;
    let dy_desc: &TensorDescriptor = reader.operand()?;
    let dy: &Buffer = reader.operand()?;
    let conv_desc: &ConvolutionDescriptor = reader.operand()?;
    let algo = reader.any()?;
    let workspace: &Buffer = reader.operand()?;
    let dw_desc: &FilterDescriptor = reader.operand()?;
    let dw: &Buffer = reader.operand()?;
    check_scalar_type(&mut reader)?;
    let call = Call {
        kind: ConvolutionKind::BackwardFilter,
        first: tensor("x", x_desc, x)?,
        second: tensor("dy", dy_desc, dy)?,
        descriptor: conv_desc,
        algorithm: algo,
        workspace,
        result: filter("dw", dw_desc, dw)?,
    };
    frame.finish_with(convolve(handle, stream, &call)?)
}

/// Convolves, adds and activates: y = act(alpha1 · conv(x, w) + alpha2 · z + bias).
///
/// In the older form, without `scale_type`, the scalars are buffers of host memory, of type `f32`.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_bias_activation_forward",
    raw,
    operands(handle: DnnHandle, stream: Stream, alpha1: any, x_desc: TensorDescriptor, x: Buffer, w_desc: FilterDescriptor, w: Buffer, conv_desc: ConvolutionDescriptor, algo: any, workspace: Buffer, alpha2: any, z_desc: TensorDescriptor, z: Buffer, bias_desc: TensorDescriptor, bias: Buffer, activation_desc: ActivationDescriptor, y_desc: TensorDescriptor, y: Buffer, in_chain: optional Chain),
    attrs(scale_type: Option<DnnDataType>),
    results(out_chain: Chain),
    verify = op_verifiers::verify_fused_convolution,
    format = "$handle `,` $stream `,` ($scale_type^ `,`)? operands($alpha1, $x_desc, $x, $w_desc, \
              $w, $conv_desc, $algo, $workspace, $alpha2, $z_desc, $z, $bias_desc, $bias, \
              $activation_desc, $y_desc, $y, $in_chain) known($algo) \
              known($alpha1, $alpha2 by $scale_type) attr-dict"
)]
fn convolution_bias_activation_forward(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let alpha1 = reader.any()?;
    let x_desc: &TensorDescriptor = reader.operand()?;
    let x: &Buffer = reader.operand()?;
    let w_desc: &FilterDescriptor = reader.operand()?;
    let w: &Buffer = reader.operand()?;
    let conv_desc: &ConvolutionDescriptor = reader.operand()?;
    let algo = reader.any()?;
    let workspace: &Buffer = reader.operand()?;
    let alpha2 = reader.any()?;
    let z_desc: &TensorDescriptor = reader.operand()?;
    let z: &Buffer = reader.operand()?;
    let bias_desc: &TensorDescriptor = reader.operand()?;
    let bias: &Buffer = reader.operand()?;
    let activation_desc: &ActivationDescriptor = reader.operand()?;
    let y_desc: &TensorDescriptor = reader.operand()?;
    let y: &Buffer = reader.operand()?;
    let scale_type = reader.attribute::<Option<DnnDataType>>()?;
    let call = FusedConvolution {
        alpha1: scale(alpha1, scale_type)?,
        x: tensor("x", x_desc, x)?,
        w: filter("w", w_desc, w)?,
        descriptor: conv_desc.handle(),
        algorithm: algorithm(algo)?,
        workspace: (workspace.pointer(), workspace.num_bytes()),
        alpha2: scale(alpha2, scale_type)?,
        z: tensor("z", z_desc, z)?,
        bias: tensor("bias", bias_desc, bias)?,
        activation: activation_desc.handle(),
        y: tensor("y", y_desc, y)?,
    };
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    dnn.convolution_bias_activation(&current, handle.handle(), &call)?;
    frame.finish_with(Chain)
}

/// Returns a scalar of a fused convolution.
fn scale(value: &AnyRef, scale_type: Option<DnnDataType>) -> Result<Scalar> {
    let unexpected =
        || Error::new("unexpected argument type").with_code(ErrorCode::InvalidArgument);
    match scale_type.map(DnnDataType::cuda).transpose()? {
        Some(1) => value.get::<f64>().map(|number| Scalar::F64(*number)),
        Some(_) => {
            let half = || value.get::<half::f16>().map(|number| number.to_f32());
            let number = value.get::<f32>().copied().or_else(half);
            number.map(Scalar::F32)
        }
        None => {
            let buffer = value.get::<Buffer>().ok_or_else(unexpected)?;
            let pointer = buffer.with_room("alpha", Some(4))?;
            let context = buffer.context().ok_or_else(|| {
                Error::new("a scalar in memory that the embedder owns cannot be read")
                    .with_code(ErrorCode::InvalidArgument)
            })?;
            let mut bytes = [0; 4];
            let driver = &context.gpu().driver;
            driver.host_memory_read(pointer, &mut bytes)?;
            Some(Scalar::F32(f32::from_le_bytes(bytes)))
        }
    }
    .ok_or_else(unexpected)
}

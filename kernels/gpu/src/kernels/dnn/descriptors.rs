//! Descriptors of tensors, filters, convolutions, pooling and activations.

use tfrt::prelude::*;

use crate::kernels::frame::{FinishWith, FrameReader};

use super::OwnedDescriptor;
use crate::api::dnn::Descriptor;
use crate::api::handle::DescriptorHandle;
use crate::enums::{
    ActivationMode, BackwardDataAlgorithm, BackwardFilterAlgorithm, ConvolutionMode, DnnDataType,
    ForwardAlgorithm, MathType,
};
use crate::platform::Gpu;
use crate::values::GpuContext;

macro_rules! descriptors {
    ($($(#[$doc:meta])* $name:ident: $spelling:literal $({ $num_bytes:ident })?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Value)]
        #[value($spelling)]
        pub struct $name {
            owned: OwnedDescriptor,
            $(
                /// The bytes of memory that it describes, if they can be counted.
                pub(super) $num_bytes: Option<usize>,
            )?
        }

        impl $name {
            /// Returns the handle.
            #[must_use]
            pub fn handle(&self) -> DescriptorHandle {
                self.owned.handle
            }
        }
    )*};
}

descriptors! {
    /// The shape and layout of a tensor.
    TensorDescriptor: "!tfrt_gpu.dnn.tensor.descriptor" { num_bytes };
    /// The shape and layout of a filter.
    FilterDescriptor: "!tfrt_gpu.dnn.filter.descriptor" { num_bytes };
    /// Padding, strides and dilations of a convolution.
    ConvolutionDescriptor: "!tfrt_gpu.dnn.convolution.descriptor";
    /// Windows of pooling.
    PoolingDescriptor: "!tfrt_gpu.dnn.pooling.descriptor";
    /// An activation.
    ActivationDescriptor: "!tfrt_gpu.dnn.activation.descriptor";
}

/// The algorithm of a convolution: the value in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[value("!tfrt_gpu.dnn.convolution.algorithm")]
pub struct ConvolutionAlgorithm {
    /// The number in the library.
    pub(super) number: i64,
}

fn invalid(text: &str) -> Error {
    Error::new(text).with_code(ErrorCode::InvalidArgument)
}

/// Returns the bytes of an element, and how many numbers it has.
fn element(data_type: DnnDataType) -> Result<(usize, i32)> {
    Ok(match data_type.cuda()? {
        0 | 4 => (4, 1),
        1 => (8, 1),
        2 => (2, 1),
        5 | 7 => (1, 4),
        8 => (1, 32),
        _ => (1, 1),
    })
}

/// Returns `true` if strides are those of a row-major tensor without gaps.
fn is_dense(dims: &[i32], strides: &[i32]) -> bool {
    let mut expected = 1_i64;
    dims.iter().zip(strides).rev().all(|(dim, stride)| {
        let fits = i64::from(*stride) == expected;
        expected = expected.saturating_mul(i64::from(*dim));
        fits
    })
}

/// Describes a tensor.
///
/// # Errors
/// `Expected dimensions and strides to be equal size`.
#[tfrt_kernel(
    "tfrt_gpu.dnn.create_tensor_descriptor",
    raw,
    operands(in_chain: optional Chain),
    attrs(data_type: DnnDataType, dimensions: [i32], strides: [i32]),
    pure,

    results(descriptor: TensorDescriptor),
    format = "$data_type `,` $dimensions `,` $strides (`,` $in_chain^)? attr-dict"
)]
fn create_tensor_descriptor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let data_type = reader.attribute::<DnnDataType>()?;
    let dimensions = reader.attribute::<[i32]>()?;
    let strides = reader.attribute::<[i32]>()?;
    let ctx = frame.exec_ctx();
    if dimensions.len() != strides.len() {
        return Err(invalid("Expected dimensions and strides to be equal size"));
    }
    let (width, vector) = element(data_type)?;
    let is_vectorized = vector != 1 && is_dense(dimensions, strides);
    let mut dims = dimensions.to_vec();
    if is_vectorized && let Some(channels) = dims.get_mut(1) {
        *channels = channels
            .checked_mul(vector)
            .ok_or_else(|| invalid("the number of channels is too large"))?;
    }
    // The last element lies at the sum of the distances; a vector has as many bytes as it has
    // numbers.
    let last = dimensions
        .iter()
        .zip(strides)
        .try_fold(0_i64, |last, (dim, stride)| {
            last.checked_add(
                (i64::from(*dim) - 1)
                    .max(0)
                    .checked_mul(i64::from(*stride))?,
            )
        });
    let is_empty = dimensions.iter().any(|dim| *dim <= 0);
    let num_bytes = last
        .and_then(|last| usize::try_from(last).ok()?.checked_add(1))
        .and_then(|len| len.checked_mul(width * vector.unsigned_abs() as usize));
    let descriptor = Descriptor::Tensor {
        data_type: data_type.cuda()?,
        dims,
        strides: strides.to_vec(),
        is_vectorized,
    };
    frame.finish_with(TensorDescriptor {
        owned: OwnedDescriptor::new(&Gpu::of_host(ctx.host())?, &descriptor)?,
        num_bytes: if is_empty { Some(0) } else { num_bytes },
    })
}

/// Describes a filter. `tensor_format` is 0 for the channels before the spatial dimensions, 1 for
/// the channels last, 2 for vectors of channels.
#[tfrt_kernel(
    "tfrt_gpu.dnn.create_filter_descriptor",
    raw,
    operands(in_chain: optional Chain),
    attrs(data_type: DnnDataType, dimensions: [i32], tensor_format: i32),
    pure,

    results(descriptor: FilterDescriptor),
    format = "$data_type `,` $tensor_format `,` $dimensions (`,` $in_chain^)? attr-dict"
)]
fn create_filter_descriptor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let data_type = reader.attribute::<DnnDataType>()?;
    let dimensions = reader.attribute::<[i32]>()?;
    let tensor_format = reader.attribute::<i32>()?;
    let ctx = frame.exec_ctx();
    let (width, _) = element(data_type)?;
    let dims: Vec<i64> = dimensions.iter().map(|dim| i64::from(*dim)).collect();
    let num_bytes = crate::kernels::product(&dims).and_then(|len| len.checked_mul(width));
    let descriptor = Descriptor::Filter {
        data_type: data_type.cuda()?,
        format: tensor_format,
        dims: dimensions.to_vec(),
    };
    frame.finish_with(FilterDescriptor {
        owned: OwnedDescriptor::new(&Gpu::of_host(ctx.host())?, &descriptor)?,
        num_bytes,
    })
}

/// Returns the type that sums of products are kept in.
pub(super) fn accumulator_type(data_type: i32) -> i32 {
    const HALF: i32 = 2;
    match data_type {
        HALF if std::env::var_os("TF_FP16_CONV_USE_FP32_COMPUTE").is_some_and(|on| on == "0") => {
            HALF
        }
        HALF => 0,
        3 => 4,
        other => other,
    }
}

/// Describes a convolution. With a math type, sums are kept in the type that goes with the compute
/// type.
///
/// # Errors
/// `Expected paddings, filter_strides and dilations arrays of equal size`.
#[tfrt_kernel(
    "tfrt_gpu.dnn.create_convolution_descriptor",
    raw,
    operands(in_chain: optional Chain),
    attrs(compute_type: DnnDataType, conv_mode: ConvolutionMode, dilation: [i32], filter_stride: [i32], math_type: Option<MathType>, pad: [i32]),
    pure,

    results(descriptor: ConvolutionDescriptor),
    format = "$compute_type `,` $conv_mode `,` ($math_type^ `,`)? $pad `,` $filter_stride `,` \
              $dilation (`,` $in_chain^)? attr-dict"
)]
fn create_convolution_descriptor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let compute_type = reader.attribute::<DnnDataType>()?;
    let conv_mode = reader.attribute::<ConvolutionMode>()?;
    let dilation = reader.attribute::<[i32]>()?;
    let filter_stride = reader.attribute::<[i32]>()?;
    let math_type = reader.attribute::<Option<MathType>>()?;
    let pad = reader.attribute::<[i32]>()?;
    let ctx = frame.exec_ctx();
    if pad.len() != filter_stride.len() || pad.len() != dilation.len() {
        return Err(invalid(
            "Expected paddings, filter_strides and dilations arrays of equal size",
        ));
    }
    let compute_type = compute_type.cuda()?;
    let descriptor = Descriptor::Convolution {
        compute_type: match math_type {
            Some(_) => accumulator_type(compute_type),
            None => compute_type,
        },
        mode: conv_mode.cuda()?,
        math_type: math_type.map(MathType::cuda).transpose()?,
        pad: pad.to_vec(),
        stride: filter_stride.to_vec(),
        dilation: dilation.to_vec(),
    };
    frame.finish_with(ConvolutionDescriptor {
        owned: OwnedDescriptor::new(&Gpu::of_host(ctx.host())?, &descriptor)?,
    })
}

/// Describes pooling. `mode` is 0 for the maximum, 1 for the average with the padding, 2 for the
/// average without it. `nan` is 1 if NaN in a window propagates to the result.
///
/// # Errors
/// `Expected window dimension, padding, and stride arrays of equal size`.
#[tfrt_kernel(
    "tfrt_gpu.dnn.create_pooling_descriptor",
    raw,
    operands(context: GpuContext, mode: u32, nan: u32, in_chain: optional Chain),
    attrs(paddings: [i32], strides: [i32], window_dimensions: [i32]),
    pure,

    results(descriptor: PoolingDescriptor),
    format = "$context `,` $mode `,` $nan `,` $window_dimensions `,` $paddings `,` $strides (`,` \
              $in_chain^)? attr-dict"
)]
fn create_pooling_descriptor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let context: &GpuContext = reader.operand()?;
    let mode: u32 = *reader.operand()?;
    let nan: u32 = *reader.operand()?;
    let paddings = reader.attribute::<[i32]>()?;
    let strides = reader.attribute::<[i32]>()?;
    let window_dimensions = reader.attribute::<[i32]>()?;
    if window_dimensions.len() != paddings.len() || window_dimensions.len() != strides.len() {
        return Err(invalid(
            "Expected window dimension, padding, and stride arrays of equal size",
        ));
    }
    if mode > 3 || nan > 1 {
        return Err(invalid(&format!(
            "expected a pooling mode from 0 to 3 and a NaN propagation of 0 or 1, found {mode} \
             and {nan}"
        )));
    }
    let descriptor = Descriptor::Pooling {
        mode,
        nan_propagation: nan,
        window: window_dimensions.to_vec(),
        pad: paddings.to_vec(),
        stride: strides.to_vec(),
    };
    frame.finish_with(PoolingDescriptor {
        owned: OwnedDescriptor::new(context.gpu(), &descriptor)?,
    })
}

/// Describes an activation.
#[tfrt_kernel(
    "tfrt_gpu.dnn.create_activation_descriptor",
    pure,
    chain = none,
    results(descriptor),
    format = "$coefficient `,` $mode `,` $nan_progapation attr-dict"
)]
fn create_activation_descriptor(
    coefficient: f64,
    #[attr] mode: ActivationMode,
    #[attr] nan_progapation: bool,
    ctx: &ExecutionContext,
) -> Result<ActivationDescriptor> {
    let descriptor = Descriptor::Activation {
        mode: mode.cuda()?,
        propagates_nan: nan_progapation,
        coefficient,
    };
    Ok(ActivationDescriptor {
        owned: OwnedDescriptor::new(&Gpu::of_host(ctx.host())?, &descriptor)?,
    })
}

/// Returns an algorithm for convolutions.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_forward_algorithm",
    pure,
    chain = none,
    results(algorithm),
    format = "$algo attr-dict"
)]
fn convolution_forward_algorithm(#[attr] algo: ForwardAlgorithm) -> Result<ConvolutionAlgorithm> {
    Ok(ConvolutionAlgorithm {
        number: algo.cuda()?,
    })
}

/// Returns an algorithm for gradients of convolutions by their input.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_backward_data_algorithm",
    pure,
    chain = none,
    results(algorithm),
    format = "$algo attr-dict"
)]
fn convolution_backward_data_algorithm(
    #[attr] algo: BackwardDataAlgorithm,
) -> Result<ConvolutionAlgorithm> {
    Ok(ConvolutionAlgorithm {
        number: algo.cuda()?,
    })
}

/// Returns an algorithm for gradients of convolutions by their filter.
#[tfrt_kernel(
    "tfrt_gpu.dnn.convolution_backward_filter_algorithm",
    pure,
    chain = none,
    results(algorithm),
    format = "$algo attr-dict"
)]
fn convolution_backward_filter_algorithm(
    #[attr] algo: BackwardFilterAlgorithm,
) -> Result<ConvolutionAlgorithm> {
    Ok(ConvolutionAlgorithm {
        number: algo.cuda()?,
    })
}

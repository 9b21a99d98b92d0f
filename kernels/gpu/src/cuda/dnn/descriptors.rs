//! Descriptors of cuDNN: what calls are told of tensors, filters and operations.
#![expect(unsafe_code, reason = "calls the library")]

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr;

use cudarc::cudnn::sys::{
    cudnnActivationMode_t, cudnnConvolutionMode_t, cudnnDataType_t, cudnnMathType_t,
    cudnnNanPropagation_t, cudnnPoolingMode_t, cudnnTensorFormat_t,
};

use super::LIBRARY;
use crate::api::dnn::Descriptor;
use crate::api::{GpuError, GpuResult, Status};
use crate::cuda::library::{enumeration, library_call};
use crate::cuda::object::report;

/// The kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DescriptorKind {
    Tensor,
    Filter,
    Convolution,
    Pooling,
    Activation,
}

impl fmt::Display for DescriptorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tensor => "a tensor",
            Self::Filter => "a filter",
            Self::Convolution => "a convolution",
            Self::Pooling => "a pooling operation",
            Self::Activation => "an activation",
        })
    }
}

/// A descriptor of the library.
#[derive(Debug)]
pub(super) struct OwnedDescriptor {
    number: u64,
    kind: DescriptorKind,
    /// Whether the elements have 64 bits.
    is_double: bool,
    is_ended: bool,
}

impl OwnedDescriptor {
    /// Creates a descriptor with this content.
    pub(super) fn new(content: &Descriptor) -> GpuResult<Self> {
        let kind = match content {
            Descriptor::Tensor { .. } => DescriptorKind::Tensor,
            Descriptor::Filter { .. } => DescriptorKind::Filter,
            Descriptor::Convolution { .. } => DescriptorKind::Convolution,
            Descriptor::Pooling { .. } => DescriptorKind::Pooling,
            Descriptor::Activation { .. } => DescriptorKind::Activation,
        };
        let created = Self {
            number: create(kind)?,
            kind,
            is_double: matches!(
                content,
                Descriptor::Tensor { data_type: 1, .. } | Descriptor::Filter { data_type: 1, .. }
            ),
            is_ended: false,
        };
        created.set(content)?;
        Ok(created)
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn kind(&self) -> DescriptorKind {
        self.kind
    }

    pub(super) fn is_double(&self) -> bool {
        self.is_double
    }

    /// Returns the library's pointer. Its type is that of the kind, which the caller has asked for.
    pub(super) fn raw<T>(&self) -> *mut T {
        self.number as *mut T
    }

    fn set(&self, content: &Descriptor) -> GpuResult<()> {
        match content {
            Descriptor::Tensor {
                data_type,
                dims,
                is_vectorized: true,
                ..
            } => {
                let (ty, rank) = (element_type(*data_type)?, rank(&[dims])?);
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetTensorNdDescriptorEx(descriptor, format, type, rank, dims)",
                    cudnnSetTensorNdDescriptorEx(
                        self.raw(),
                        cudnnTensorFormat_t::CUDNN_TENSOR_NCHW_VECT_C,
                        ty,
                        rank,
                        dims.as_ptr(),
                    )
                )
            }
            Descriptor::Tensor {
                data_type,
                dims,
                strides,
                ..
            } => {
                let (ty, rank) = (element_type(*data_type)?, rank(&[dims, strides])?);
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetTensorNdDescriptor(descriptor, type, rank, dims, strides)",
                    cudnnSetTensorNdDescriptor(
                        self.raw(),
                        ty,
                        rank,
                        dims.as_ptr(),
                        strides.as_ptr(),
                    )
                )
            }
            Descriptor::Filter {
                data_type,
                format,
                dims,
            } => {
                let (ty, format) = (element_type(*data_type)?, tensor_format(*format)?);
                let rank = rank(&[dims])?;
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetFilterNdDescriptor(descriptor, type, format, rank, dims)",
                    cudnnSetFilterNdDescriptor(self.raw(), ty, format, rank, dims.as_ptr(),)
                )
            }
            Descriptor::Convolution {
                compute_type,
                mode,
                math_type,
                pad,
                stride,
                dilation,
            } => {
                let ty = element_type(*compute_type)?;
                let (mode, rank) = (convolution_mode(*mode)?, rank(&[pad, stride, dilation])?);
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetConvolutionNdDescriptor(descriptor, rank, pad, stride, dilation, mode, type)",
                    cudnnSetConvolutionNdDescriptor(
                        self.raw(),
                        rank,
                        pad.as_ptr(),
                        stride.as_ptr(),
                        dilation.as_ptr(),
                        mode,
                        ty,
                    )
                )?;
                let Some(math_type) = *math_type else {
                    return Ok(());
                };
                let math_type = self::math_type(math_type)?;
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetConvolutionMathType(descriptor, type)",
                    cudnnSetConvolutionMathType(self.raw(), math_type)
                )
            }
            Descriptor::Pooling {
                mode,
                nan_propagation,
                window,
                pad,
                stride,
            } => {
                let mode = pooling_mode(*mode)?;
                let nan = propagation(*nan_propagation)?;
                let rank = rank(&[window, pad, stride])?;
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetPoolingNdDescriptor(descriptor, mode, nan, rank, window, pad, stride)",
                    cudnnSetPoolingNdDescriptor(
                        self.raw(),
                        mode,
                        nan,
                        rank,
                        window.as_ptr(),
                        pad.as_ptr(),
                        stride.as_ptr(),
                    )
                )
            }
            Descriptor::Activation {
                mode,
                propagates_nan,
                coefficient,
            } => {
                let mode = activation_mode(*mode)?;
                let nan = propagation((*propagates_nan).into())?;
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    "cudnnSetActivationDescriptor(descriptor, mode, nan, coefficient)",
                    cudnnSetActivationDescriptor(self.raw(), mode, nan, *coefficient,)
                )
            }
        }
    }

    /// Ends it now.
    pub(super) fn end(mut self) -> GpuResult<()> {
        self.destroy()
    }

    fn destroy(&mut self) -> GpuResult<()> {
        self.is_ended = true;
        match self.kind {
            DescriptorKind::Tensor => library_call!(
                LIBRARY,
                Status::Dnn,
                "cudnnDestroyTensorDescriptor(descriptor)",
                cudnnDestroyTensorDescriptor(self.raw())
            ),
            DescriptorKind::Filter => library_call!(
                LIBRARY,
                Status::Dnn,
                "cudnnDestroyFilterDescriptor(descriptor)",
                cudnnDestroyFilterDescriptor(self.raw())
            ),
            DescriptorKind::Convolution => library_call!(
                LIBRARY,
                Status::Dnn,
                "cudnnDestroyConvolutionDescriptor(descriptor)",
                cudnnDestroyConvolutionDescriptor(self.raw())
            ),
            DescriptorKind::Pooling => library_call!(
                LIBRARY,
                Status::Dnn,
                "cudnnDestroyPoolingDescriptor(descriptor)",
                cudnnDestroyPoolingDescriptor(self.raw())
            ),
            DescriptorKind::Activation => library_call!(
                LIBRARY,
                Status::Dnn,
                "cudnnDestroyActivationDescriptor(descriptor)",
                cudnnDestroyActivationDescriptor(self.raw())
            ),
        }
    }
}

impl Drop for OwnedDescriptor {
    fn drop(&mut self) {
        if !self.is_ended {
            report(self.destroy());
        }
    }
}

/// Creates a descriptor without content, and returns its number.
fn create(kind: DescriptorKind) -> GpuResult<u64> {
    let mut created: *mut c_void = ptr::null_mut();
    let place = &raw mut created;
    match kind {
        DescriptorKind::Tensor => library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreateTensorDescriptor(&descriptor)",
            cudnnCreateTensorDescriptor(place.cast())
        ),
        DescriptorKind::Filter => library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreateFilterDescriptor(&descriptor)",
            cudnnCreateFilterDescriptor(place.cast())
        ),
        DescriptorKind::Convolution => library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreateConvolutionDescriptor(&descriptor)",
            cudnnCreateConvolutionDescriptor(place.cast())
        ),
        DescriptorKind::Pooling => library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreatePoolingDescriptor(&descriptor)",
            cudnnCreatePoolingDescriptor(place.cast())
        ),
        DescriptorKind::Activation => library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreateActivationDescriptor(&descriptor)",
            cudnnCreateActivationDescriptor(place.cast())
        ),
    }?;
    Ok(created as u64)
}

/// Returns the length of lists that must be of one length.
fn rank(lists: &[&[i32]]) -> GpuResult<c_int> {
    const CALL: &str = "cudnn(rank)";
    let len = lists[0].len();
    if lists.iter().any(|list| list.len() != len) {
        return Err(GpuError::new(CALL, Status::DNN_BAD_PARAM)
            .with_details("the lists do not have one length"));
    }
    c_int::try_from(len).map_err(|_| GpuError::new(CALL, Status::DNN_BAD_PARAM))
}

pub(super) fn element_type(number: i32) -> GpuResult<cudnnDataType_t> {
    enumeration!(
        number,
        "cudnn(dataType)",
        Status::DNN_BAD_PARAM,
        cudnnDataType_t {
            CUDNN_DATA_FLOAT,
            CUDNN_DATA_DOUBLE,
            CUDNN_DATA_HALF,
            CUDNN_DATA_INT8,
            CUDNN_DATA_INT32,
            CUDNN_DATA_INT8x4,
            CUDNN_DATA_UINT8,
            CUDNN_DATA_UINT8x4,
            CUDNN_DATA_INT8x32,
        }
    )
}

fn tensor_format(number: i32) -> GpuResult<cudnnTensorFormat_t> {
    enumeration!(
        number,
        "cudnn(format)",
        Status::DNN_BAD_PARAM,
        cudnnTensorFormat_t {
            CUDNN_TENSOR_NCHW,
            CUDNN_TENSOR_NHWC,
            CUDNN_TENSOR_NCHW_VECT_C,
        }
    )
}

pub(super) fn convolution_mode(number: i32) -> GpuResult<cudnnConvolutionMode_t> {
    enumeration!(
        number,
        "cudnn(mode)",
        Status::DNN_BAD_PARAM,
        cudnnConvolutionMode_t {
            CUDNN_CONVOLUTION,
            CUDNN_CROSS_CORRELATION,
        }
    )
}

fn math_type(number: i32) -> GpuResult<cudnnMathType_t> {
    enumeration!(
        number,
        "cudnn(mathType)",
        Status::DNN_BAD_PARAM,
        cudnnMathType_t {
            CUDNN_DEFAULT_MATH,
            CUDNN_TENSOR_OP_MATH,
            CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
            CUDNN_FMA_MATH,
        }
    )
}

fn pooling_mode(number: u32) -> GpuResult<cudnnPoolingMode_t> {
    enumeration!(
        number,
        "cudnn(mode)",
        Status::DNN_BAD_PARAM,
        cudnnPoolingMode_t {
            CUDNN_POOLING_MAX,
            CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
            CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
            CUDNN_POOLING_MAX_DETERMINISTIC,
        }
    )
}

fn propagation(number: u32) -> GpuResult<cudnnNanPropagation_t> {
    enumeration!(
        number,
        "cudnn(nanPropagation)",
        Status::DNN_BAD_PARAM,
        cudnnNanPropagation_t {
            CUDNN_NOT_PROPAGATE_NAN,
            CUDNN_PROPAGATE_NAN,
        }
    )
}

fn activation_mode(number: i32) -> GpuResult<cudnnActivationMode_t> {
    enumeration!(
        number,
        "cudnn(activationMode)",
        Status::DNN_BAD_PARAM,
        cudnnActivationMode_t {
            CUDNN_ACTIVATION_SIGMOID,
            CUDNN_ACTIVATION_RELU,
            CUDNN_ACTIVATION_TANH,
            CUDNN_ACTIVATION_CLIPPED_RELU,
            CUDNN_ACTIVATION_ELU,
            CUDNN_ACTIVATION_IDENTITY,
            CUDNN_ACTIVATION_SWISH,
        }
    )
}

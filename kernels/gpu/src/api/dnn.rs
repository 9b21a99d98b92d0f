//! The library for neural networks.

use std::fmt::Debug;

use super::blas::Scalar;
use super::current::Current;
use super::error::GpuResult;
use super::handle::{DescriptorHandle, DevicePtr, DnnHandle, PlanHandle, StreamHandle};

/// Layers of networks.
pub trait Dnn: Debug + Send + Sync {
    /// Implements `cudnnCreate`.
    fn create(&self, current: &Current) -> GpuResult<DnnHandle>;

    /// Implements `cudnnDestroy`.
    fn destroy(&self, handle: DnnHandle) -> GpuResult<()>;

    /// Implements `cudnnSetStream`.
    fn set_stream(&self, handle: DnnHandle, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cudnnCreate…Descriptor` and `cudnnSet…Descriptor`.
    fn descriptor(&self, descriptor: &Descriptor) -> GpuResult<DescriptorHandle>;

    /// Implements `cudnnDestroy…Descriptor`.
    fn destroy_descriptor(&self, descriptor: DescriptorHandle) -> GpuResult<()>;

    /// Implements `cudnnPoolingForward`: y = alpha · pool(x) + beta · y.
    #[expect(clippy::too_many_arguments, reason = "the library has them")]
    fn pooling_forward(
        &self,
        current: &Current,
        handle: DnnHandle,
        pooling: DescriptorHandle,
        alpha: f32,
        x: TensorOperand,
        beta: f32,
        y: TensorOperand,
    ) -> GpuResult<()>;

    /// Implements `cudnnPoolingBackward`.
    #[expect(clippy::too_many_arguments, reason = "the library has them")]
    fn pooling_backward(
        &self,
        current: &Current,
        handle: DnnHandle,
        pooling: DescriptorHandle,
        alpha: f32,
        y: TensorOperand,
        dy: TensorOperand,
        x: TensorOperand,
        beta: f32,
        dx: TensorOperand,
    ) -> GpuResult<()>;

    /// Implements `cudnnConvolutionForward`, `…BackwardData` or `…BackwardFilter`, with alpha 1 and
    /// beta 0.
    fn convolution(
        &self,
        current: &Current,
        handle: DnnHandle,
        call: &Convolution,
    ) -> GpuResult<()>;

    /// Implements `cudnnConvolutionBiasActivationForward`: y = act(alpha1 · conv(x, w) + alpha2 ·
    /// z + bias).
    fn convolution_bias_activation(
        &self,
        current: &Current,
        handle: DnnHandle,
        call: &FusedConvolution,
    ) -> GpuResult<()>;

    /// Builds an execution plan through the backend API. Returns it, and the bytes of workspace
    /// that it uses: `CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE`.
    fn plan(
        &self,
        current: &Current,
        handle: DnnHandle,
        plan: &ConvolutionPlan,
    ) -> GpuResult<(PlanHandle, usize)>;

    /// Implements `cudnnBackendDestroyDescriptor`, for all parts of the plan.
    fn destroy_plan(&self, plan: PlanHandle) -> GpuResult<()>;

    /// Implements `cudnnBackendExecute`. `tensors` are the addresses of x, y, w, and for a fused
    /// plan of z and the bias. `workspace` has room for what the plan uses.
    fn execute_plan(
        &self,
        current: &Current,
        handle: DnnHandle,
        plan: PlanHandle,
        tensors: &[DevicePtr],
        workspace: DevicePtr,
    ) -> GpuResult<()>;
}

/// A tensor: its descriptor and its address.
pub type TensorOperand = (DescriptorHandle, DevicePtr);

/// The content of a descriptor. Enumerations are the numbers of the library.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub enum Descriptor {
    /// `cudnnSetTensorNdDescriptor`; for a vectorized layout `cudnnSetTensorNdDescriptorEx` with
    /// the format `NCHW_VECT_C`.
    Tensor {
        data_type: i32,
        dims: Vec<i32>,
        strides: Vec<i32>,
        is_vectorized: bool,
    },
    /// `cudnnSetFilterNdDescriptor`.
    Filter {
        data_type: i32,
        format: i32,
        dims: Vec<i32>,
    },
    /// `cudnnSetConvolutionNdDescriptor`, then `cudnnSetConvolutionMathType` if there is a math
    /// type.
    Convolution {
        compute_type: i32,
        mode: i32,
        math_type: Option<i32>,
        pad: Vec<i32>,
        stride: Vec<i32>,
        dilation: Vec<i32>,
    },
    /// `cudnnSetPoolingNdDescriptor`.
    Pooling {
        mode: u32,
        nan_propagation: u32,
        window: Vec<i32>,
        pad: Vec<i32>,
        stride: Vec<i32>,
    },
    /// `cudnnSetActivationDescriptor`.
    Activation {
        mode: i32,
        propagates_nan: bool,
        coefficient: f64,
    },
}

/// The kind of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolutionKind {
    /// y of x and w.
    Forward,
    /// dx of w and dy.
    BackwardData,
    /// dw of x and dy.
    BackwardFilter,
}

/// The parameters of [`Dnn::convolution`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Convolution {
    pub kind: ConvolutionKind,
    pub first: TensorOperand,
    pub second: TensorOperand,
    pub descriptor: DescriptorHandle,
    pub algorithm: i64,
    pub workspace: (DevicePtr, usize),
    pub result: TensorOperand,
}

/// The parameters of [`Dnn::convolution_bias_activation`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct FusedConvolution {
    pub alpha1: Scalar,
    pub x: TensorOperand,
    pub w: TensorOperand,
    pub descriptor: DescriptorHandle,
    pub algorithm: i64,
    pub workspace: (DevicePtr, usize),
    pub alpha2: Scalar,
    pub z: TensorOperand,
    pub bias: TensorOperand,
    pub activation: DescriptorHandle,
    pub y: TensorOperand,
}

/// A tensor of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct PlanTensor {
    pub data_type: i32,
    pub dims: Vec<i64>,
    pub strides: Vec<i64>,
}

/// The computation of an execution plan.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct ConvolutionPlan {
    pub x: PlanTensor,
    pub y: PlanTensor,
    pub w: PlanTensor,
    pub compute_type: i32,
    pub mode: i32,
    pub dimensions: i32,
    pub dilations: Vec<i64>,
    pub padding: Vec<i64>,
    pub strides: Vec<i64>,
    pub backend_type: i32,
    pub engine: i64,
    /// Identifiers of knobs with their values.
    pub knobs: Vec<(i64, i64)>,
    /// The functions after the convolution, if any.
    pub fused: Option<PlanEpilogue>,
}

/// The functions after the convolution of a fused plan: y = act(alpha · conv + alpha2 · z + bias).
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct PlanEpilogue {
    pub alpha: f64,
    pub alpha2: f64,
    pub bias: PlanTensor,
    pub activation: i32,
}

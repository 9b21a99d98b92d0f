//! The library for neural networks, which this implementation does not call yet.
//!
//! Each call fails like a call of cuDNN before the library is initialised, with the reason.

use crate::api::dnn::{
    Convolution, ConvolutionPlan, Descriptor, Dnn, FusedConvolution, TensorOperand,
};
use crate::api::handle::{DescriptorHandle, DnnHandle, PlanHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

/// No cuDNN.
#[derive(Debug)]
pub struct NoDnn;

impl NoDnn {
    fn missing<T>(call: &'static str) -> GpuResult<T> {
        Err(
            GpuError::new(call, Status::DNN_NOT_INITIALIZED).with_details(
                "the CUDA implementation does not support neural network layers: use your own \
                 kernels, or the host device",
            ),
        )
    }
}

impl Dnn for NoDnn {
    fn create(&self, _current: &Current) -> GpuResult<DnnHandle> {
        Self::missing("cudnnCreate(&handle)")
    }

    fn destroy(&self, _handle: DnnHandle) -> GpuResult<()> {
        Self::missing("cudnnDestroy(handle)")
    }

    fn set_stream(&self, _handle: DnnHandle, _stream: StreamHandle) -> GpuResult<()> {
        Self::missing("cudnnSetStream(handle, stream)")
    }

    fn descriptor(&self, _descriptor: &Descriptor) -> GpuResult<DescriptorHandle> {
        Self::missing("cudnnCreateTensorDescriptor(&descriptor)")
    }

    fn destroy_descriptor(&self, _descriptor: DescriptorHandle) -> GpuResult<()> {
        Self::missing("cudnnDestroyTensorDescriptor(descriptor)")
    }

    fn pooling_forward(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _pooling: DescriptorHandle,
        _alpha: f32,
        _x: TensorOperand,
        _beta: f32,
        _y: TensorOperand,
    ) -> GpuResult<()> {
        Self::missing("cudnnPoolingForward(handle, …)")
    }

    fn pooling_backward(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _pooling: DescriptorHandle,
        _alpha: f32,
        _y: TensorOperand,
        _dy: TensorOperand,
        _x: TensorOperand,
        _beta: f32,
        _dx: TensorOperand,
    ) -> GpuResult<()> {
        Self::missing("cudnnPoolingBackward(handle, …)")
    }

    fn convolution(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _call: &Convolution,
    ) -> GpuResult<()> {
        Self::missing("cudnnConvolutionForward(handle, …)")
    }

    fn convolution_bias_activation(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _call: &FusedConvolution,
    ) -> GpuResult<()> {
        Self::missing("cudnnConvolutionBiasActivationForward(handle, …)")
    }

    fn plan(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _plan: &ConvolutionPlan,
    ) -> GpuResult<PlanHandle> {
        Self::missing("cudnnBackendFinalize(descriptor)")
    }

    fn destroy_plan(&self, _plan: PlanHandle) -> GpuResult<()> {
        Self::missing("cudnnBackendDestroyDescriptor(descriptor)")
    }

    fn execute_plan(
        &self,
        _current: &Current,
        _handle: DnnHandle,
        _plan: PlanHandle,
        _tensors: &[DevicePtr],
        _workspace: DevicePtr,
    ) -> GpuResult<()> {
        Self::missing("cudnnBackendExecute(handle, plan, variants)")
    }
}

//! cuDNN: layers of neural networks.
#![expect(unsafe_code, reason = "calls the library")]

mod descriptors;

mod plans;

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::cudnn::sys::{
    cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdFilterAlgo_t, cudnnConvolutionFwdAlgo_t,
    cudnnHandle_t,
};

use descriptors::{DescriptorKind, OwnedDescriptor};
use plans::OwnedPlan;

use super::driver::{CudaDriver, same_context};
use super::library::dnn::Functions;
use super::library::{Library, enumeration, library_call};
use super::live::Live;
use super::object::Owned;
use crate::api::blas::Scalar;
use crate::api::dnn::{
    Convolution, ConvolutionKind, ConvolutionPlan, Descriptor, Dnn, FusedConvolution, TensorOperand,
};
use crate::api::handle::{DescriptorHandle, DnnHandle, PlanHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

static LIBRARY: Library<Functions> = Library::new(
    "libcudnn.so.9",
    Functions::open,
    Status::DNN_NOT_INITIALIZED,
);

const TENSOR: DescriptorKind = DescriptorKind::Tensor;

/// cuDNN.
#[derive(Debug)]
pub struct CudaDnn {
    driver: Arc<CudaDriver>,
    handles: Live<Owned>,
    descriptors: Live<OwnedDescriptor>,
    plans: Live<OwnedPlan>,
}

impl CudaDnn {
    /// Returns the library, which is opened by the first call.
    #[must_use]
    pub fn new(driver: Arc<CudaDriver>) -> Self {
        Self {
            driver,
            handles: Live::default(),
            descriptors: Live::default(),
            plans: Live::default(),
        }
    }

    fn handle(&self, call: &'static str, handle: DnnHandle) -> GpuResult<Arc<Owned>> {
        self.handles
            .get(handle.0)
            .ok_or_else(|| GpuError::new(call, Status::DNN_NOT_INITIALIZED))
    }

    /// Returns a descriptor of a kind. The library does not tell kinds apart.
    fn descriptor(
        &self,
        call: &'static str,
        descriptor: DescriptorHandle,
        kind: DescriptorKind,
    ) -> GpuResult<Arc<OwnedDescriptor>> {
        let found = self.descriptors.get(descriptor.0);
        let found = found.filter(|found| found.kind() == kind);
        found.ok_or_else(|| {
            GpuError::new(call, Status::DNN_BAD_PARAM)
                .with_details(format!("expected the descriptor of {kind}"))
        })
    }

    fn tensor(&self, call: &'static str, operand: TensorOperand) -> GpuResult<Operand> {
        self.operand(call, operand, TENSOR)
    }

    fn filter(&self, call: &'static str, operand: TensorOperand) -> GpuResult<Operand> {
        self.operand(call, operand, DescriptorKind::Filter)
    }

    fn operand(
        &self,
        call: &'static str,
        (descriptor, pointer): TensorOperand,
        kind: DescriptorKind,
    ) -> GpuResult<Operand> {
        Ok(Operand {
            descriptor: self.descriptor(call, descriptor, kind)?,
            pointer,
        })
    }
}

/// A tensor or a filter, whose descriptor stays while a call runs (C1).
struct Operand {
    descriptor: Arc<OwnedDescriptor>,
    pointer: DevicePtr,
}

impl Operand {
    fn memory(&self) -> *mut c_void {
        memory(self.pointer)
    }
}

fn destroy(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Dnn,
        "cudnnDestroy(handle)",
        cudnnDestroy(number as cudnnHandle_t)
    )
}

fn memory(pointer: DevicePtr) -> *mut c_void {
    pointer.address() as *mut c_void
}

/// The bytes of a scalar, aligned as the library reads it.
#[repr(align(8))]
struct ScalarBytes([u8; 8]);

/// Returns the bytes of a scalar as the library reads it: of 64 bits for tensors of elements of 64
/// bits, else of 32, whatever type a program states for its scalars.
fn scalar(value: f64, is_double: bool) -> ScalarBytes {
    let mut bytes = [0; 8];
    if is_double {
        bytes = value.to_ne_bytes();
    } else {
        bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes());
    }
    ScalarBytes(bytes)
}

/// Returns a real scalar.
fn number(call: &'static str, value: Scalar) -> GpuResult<f64> {
    match value {
        Scalar::F32(value) => Ok(value.into()),
        Scalar::F64(value) => Ok(value),
        _ => Err(GpuError::new(call, Status::DNN_BAD_PARAM)
            .with_details("expected a scalar of type `f32` or `f64`")),
    }
}

fn forward_algorithm(number: i64) -> GpuResult<cudnnConvolutionFwdAlgo_t> {
    enumeration!(
        number,
        "cudnnConvolutionForward(algo)",
        Status::DNN_BAD_PARAM,
        cudnnConvolutionFwdAlgo_t {
            CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
            CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
            CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
            CUDNN_CONVOLUTION_FWD_ALGO_DIRECT,
            CUDNN_CONVOLUTION_FWD_ALGO_FFT,
            CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING,
            CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
            CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
        }
    )
}

fn backward_data_algorithm(number: i64) -> GpuResult<cudnnConvolutionBwdDataAlgo_t> {
    enumeration!(
        number,
        "cudnnConvolutionBackwardData(algo)",
        Status::DNN_BAD_PARAM,
        cudnnConvolutionBwdDataAlgo_t {
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
        }
    )
}

fn backward_filter_algorithm(number: i64) -> GpuResult<cudnnConvolutionBwdFilterAlgo_t> {
    enumeration!(
        number,
        "cudnnConvolutionBackwardFilter(algo)",
        Status::DNN_BAD_PARAM,
        cudnnConvolutionBwdFilterAlgo_t {
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING,
        }
    )
}

impl Dnn for CudaDnn {
    fn create(&self, current: &Current) -> GpuResult<DnnHandle> {
        let context = self.driver.of("cudnnCreate(&handle)", current)?;
        let mut handle: cudnnHandle_t = ptr::null_mut();
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnCreate(&handle)",
            cudnnCreate(&mut handle)
        )?;
        self.handles.add(
            handle as u64,
            Owned::new(handle as u64, context, &self.driver, destroy),
        );
        Ok(DnnHandle(handle as u64))
    }

    fn destroy(&self, handle: DnnHandle) -> GpuResult<()> {
        let object = self.handles.remove(handle.0);
        let object = object
            .ok_or_else(|| GpuError::new("cudnnDestroy(handle)", Status::DNN_NOT_INITIALIZED))?;
        Arc::into_inner(object).map_or(Ok(()), Owned::end)
    }

    fn set_stream(&self, handle: DnnHandle, stream: StreamHandle) -> GpuResult<()> {
        let handle = self.handle("cudnnSetStream(handle, stream)", handle)?;
        let stream = self
            .driver
            .stream("cudnnSetStream(handle, stream)", stream)?;
        same_context(
            "cudnnSetStream(handle, stream)",
            &handle.context,
            &stream.context,
            Status::DNN_BAD_PARAM,
        )?;
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnSetStream(handle, stream)",
            cudnnSetStream(handle.number as cudnnHandle_t, stream.number as *mut _)
        )
    }

    fn descriptor(&self, descriptor: &Descriptor) -> GpuResult<DescriptorHandle> {
        let owned = OwnedDescriptor::new(descriptor)?;
        let number = owned.number();
        self.descriptors.add(number, owned);
        Ok(DescriptorHandle(number))
    }

    fn destroy_descriptor(&self, descriptor: DescriptorHandle) -> GpuResult<()> {
        let removed = self.descriptors.remove(descriptor.0);
        let removed = removed.ok_or_else(|| {
            GpuError::new("cudnnDestroyDescriptor(descriptor)", Status::DNN_BAD_PARAM)
        })?;
        Arc::into_inner(removed).map_or(Ok(()), OwnedDescriptor::end)
    }

    fn pooling_forward(
        &self,
        _current: &Current,
        handle: DnnHandle,
        pooling: DescriptorHandle,
        alpha: f32,
        x: TensorOperand,
        beta: f32,
        y: TensorOperand,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnPoolingForward(handle, pooling, alpha, x, beta, y)";
        let handle = self.handle(CALL, handle)?;
        let pooling = self.descriptor(CALL, pooling, DescriptorKind::Pooling)?;
        let (x, y) = (self.tensor(CALL, x)?, self.tensor(CALL, y)?);
        let is_double = x.descriptor.is_double();
        let (alpha, beta) = (
            scalar(alpha.into(), is_double),
            scalar(beta.into(), is_double),
        );
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnPoolingForward(handle, pooling, alpha, x, beta, y)",
            cudnnPoolingForward(
                handle.number as cudnnHandle_t,
                pooling.raw(),
                alpha.0.as_ptr().cast(),
                x.descriptor.raw(),
                x.memory(),
                beta.0.as_ptr().cast(),
                y.descriptor.raw(),
                y.memory(),
            )
        )
    }

    fn pooling_backward(
        &self,
        _current: &Current,
        handle: DnnHandle,
        pooling: DescriptorHandle,
        alpha: f32,
        y: TensorOperand,
        dy: TensorOperand,
        x: TensorOperand,
        beta: f32,
        dx: TensorOperand,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnPoolingBackward(handle, pooling, alpha, y, dy, x, beta, dx)";
        let handle = self.handle(CALL, handle)?;
        let pooling = self.descriptor(CALL, pooling, DescriptorKind::Pooling)?;
        let (y, dy) = (self.tensor(CALL, y)?, self.tensor(CALL, dy)?);
        let (x, dx) = (self.tensor(CALL, x)?, self.tensor(CALL, dx)?);
        let is_double = x.descriptor.is_double();
        let (alpha, beta) = (
            scalar(alpha.into(), is_double),
            scalar(beta.into(), is_double),
        );
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnPoolingBackward(handle, pooling, alpha, y, dy, x, beta, dx)",
            cudnnPoolingBackward(
                handle.number as cudnnHandle_t,
                pooling.raw(),
                alpha.0.as_ptr().cast(),
                y.descriptor.raw(),
                y.memory(),
                dy.descriptor.raw(),
                dy.memory(),
                x.descriptor.raw(),
                x.memory(),
                beta.0.as_ptr().cast(),
                dx.descriptor.raw(),
                dx.memory(),
            )
        )
    }

    fn convolution(
        &self,
        _current: &Current,
        handle: DnnHandle,
        call: &Convolution,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnConvolution(handle, x, w, convolution, algorithm, y)";
        let handle = self.handle(CALL, handle)?;
        let convolution = self.descriptor(CALL, call.descriptor, DescriptorKind::Convolution)?;
        let filter = DescriptorKind::Filter;
        let [first, second, result] = match call.kind {
            ConvolutionKind::Forward => [TENSOR, filter, TENSOR],
            ConvolutionKind::BackwardData => [filter, TENSOR, TENSOR],
            ConvolutionKind::BackwardFilter => [TENSOR, TENSOR, filter],
        };
        let first = self.operand(CALL, call.first, first)?;
        let second = self.operand(CALL, call.second, second)?;
        let result = self.operand(CALL, call.result, result)?;
        let is_double = result.descriptor.is_double();
        let (one, zero) = (scalar(1.0, is_double), scalar(0.0, is_double));
        let (workspace, num_bytes) = call.workspace;
        // The functions differ in the type of the algorithm and the kinds of the operands.
        macro_rules! convolve {
            ($text:literal, $function:ident, $algorithm:ident) => {{
                let algorithm = $algorithm(call.algorithm)?;
                library_call!(
                    LIBRARY,
                    Status::Dnn,
                    $text,
                    $function(
                        handle.number as cudnnHandle_t,
                        one.0.as_ptr().cast(),
                        first.descriptor.raw(),
                        first.memory(),
                        second.descriptor.raw(),
                        second.memory(),
                        convolution.raw(),
                        algorithm,
                        memory(workspace),
                        num_bytes,
                        zero.0.as_ptr().cast(),
                        result.descriptor.raw(),
                        result.memory(),
                    )
                )
            }};
        }
        match call.kind {
            ConvolutionKind::Forward => convolve!(
                "cudnnConvolutionForward(handle, x, w, convolution, algorithm, y)",
                cudnnConvolutionForward,
                forward_algorithm
            ),
            ConvolutionKind::BackwardData => convolve!(
                "cudnnConvolutionBackwardData(handle, w, dy, convolution, algorithm, dx)",
                cudnnConvolutionBackwardData,
                backward_data_algorithm
            ),
            ConvolutionKind::BackwardFilter => convolve!(
                "cudnnConvolutionBackwardFilter(handle, x, dy, convolution, algorithm, dw)",
                cudnnConvolutionBackwardFilter,
                backward_filter_algorithm
            ),
        }
    }

    fn convolution_bias_activation(
        &self,
        _current: &Current,
        handle: DnnHandle,
        call: &FusedConvolution,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnConvolutionBiasActivationForward(handle, x, w, z, bias, y)";
        let handle = self.handle(CALL, handle)?;
        let convolution = self.descriptor(CALL, call.descriptor, DescriptorKind::Convolution)?;
        let activation = self.descriptor(CALL, call.activation, DescriptorKind::Activation)?;
        let (x, w) = (self.tensor(CALL, call.x)?, self.filter(CALL, call.w)?);
        let (z, bias) = (self.tensor(CALL, call.z)?, self.tensor(CALL, call.bias)?);
        let y = self.tensor(CALL, call.y)?;
        let is_double = y.descriptor.is_double();
        let alpha1 = scalar(number(CALL, call.alpha1)?, is_double);
        let alpha2 = scalar(number(CALL, call.alpha2)?, is_double);
        let (workspace, num_bytes) = call.workspace;
        let algorithm = forward_algorithm(call.algorithm)?;
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnConvolutionBiasActivationForward(handle, x, w, z, bias, y)",
            cudnnConvolutionBiasActivationForward(
                handle.number as cudnnHandle_t,
                alpha1.0.as_ptr().cast(),
                x.descriptor.raw(),
                x.memory(),
                w.descriptor.raw(),
                w.memory(),
                convolution.raw(),
                algorithm,
                memory(workspace),
                num_bytes,
                alpha2.0.as_ptr().cast(),
                z.descriptor.raw(),
                z.memory(),
                bias.descriptor.raw(),
                bias.memory(),
                activation.raw(),
                y.descriptor.raw(),
                y.memory(),
            )
        )
    }

    fn plan(
        &self,
        _current: &Current,
        handle: DnnHandle,
        plan: &ConvolutionPlan,
    ) -> GpuResult<(PlanHandle, usize)> {
        let handle = self.handle("cudnnBackendFinalize(descriptor)", handle)?;
        let owned = OwnedPlan::new(handle, plan)?;
        let (number, workspace_size) = (owned.number(), owned.workspace_size()?);
        self.plans.add(number, owned);
        Ok((PlanHandle(number), workspace_size))
    }

    fn destroy_plan(&self, plan: PlanHandle) -> GpuResult<()> {
        let removed = self.plans.remove(plan.0);
        removed.map(drop).ok_or_else(|| {
            GpuError::new(
                "cudnnBackendDestroyDescriptor(descriptor)",
                Status::DNN_BAD_PARAM,
            )
        })
    }

    fn execute_plan(
        &self,
        _current: &Current,
        handle: DnnHandle,
        plan: PlanHandle,
        tensors: &[DevicePtr],
        workspace: DevicePtr,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnBackendExecute(handle, plan, variants)";
        let handle = self.handle(CALL, handle)?;
        let plan = self.plans.get(plan.0).filter(|plan| plan.is_of(&handle));
        let plan = plan.ok_or_else(|| {
            GpuError::new(CALL, Status::DNN_BAD_PARAM)
                .with_details("expected a plan that was built for this handle")
        })?;
        plan.execute(tensors, workspace)
    }
}

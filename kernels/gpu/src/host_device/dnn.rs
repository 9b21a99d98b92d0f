//! The library for neural networks of the host device. Everything is computed by definition, in
//! double precision, for any number of spatial dimensions.

mod view;

mod convolution;

mod pooling;

use std::sync::Arc;

use super::HostDevice;
use super::driver::Shared;
use super::numbers::{Stored, of_scalar};
use crate::api::dnn::Dnn;
use crate::api::dnn::{
    Convolution, ConvolutionKind, ConvolutionPlan, Descriptor, FusedConvolution, PlanTensor,
    TensorOperand,
};
use crate::api::handle::{DescriptorHandle, DnnHandle, PlanHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

use convolution::{Activation, Epilogue, Geometry};
use pooling::Pooling;
use view::{View, for_each};

const UNKNOWN: Status = Status::DNN_NOT_INITIALIZED;

/// The backend's number of a convolution, and those of its gradients.
const FORWARD: i32 = 10;
const BACKWARD_FILTER: i32 = 11;
const BACKWARD_DATA: i32 = 12;

fn bad(call: &'static str, details: impl Into<String>) -> GpuError {
    GpuError::new(call, Status::DNN_BAD_PARAM).with_details(details)
}

impl HostDevice {
    /// Refuses a convolution that would take too long.
    fn check_convolution(&self, call: &'static str, w: &View, y: &View) -> GpuResult<()> {
        let taps = w.dims.iter().skip(1);
        let factors = y.dims.iter().chain(taps).copied();
        self.check_work(call, factors, Status::DNN_NOT_SUPPORTED)
    }

    fn described(
        &self,
        call: &'static str,
        handle: DescriptorHandle,
    ) -> GpuResult<Arc<Descriptor>> {
        let found = lock(&self.libraries).descriptors.get(&handle.0).cloned();
        found.ok_or_else(|| bad(call, "unknown descriptor"))
    }

    /// Returns a tensor or a filter in memory.
    fn view(&self, call: &'static str, (descriptor, pointer): TensorOperand) -> GpuResult<View> {
        let wide = |numbers: &[i32]| {
            numbers
                .iter()
                .map(|number| i64::from(*number))
                .collect::<Vec<_>>()
        };
        let view = match &*self.described(call, descriptor)? {
            Descriptor::Tensor {
                data_type,
                dims,
                strides,
                is_vectorized: false,
            } => View::new(
                Stored::of_dnn(*data_type),
                &wide(dims),
                &wide(strides),
                pointer,
            ),
            Descriptor::Filter {
                data_type,
                format,
                dims,
            } => {
                let dims = wide(dims);
                // In which order the dimensions lie in memory, outermost first.
                let order: Vec<usize> = match format {
                    0 => (0..dims.len()).collect(),
                    1 if dims.len() >= 2 => {
                        let mut order = vec![0];
                        order.extend(2..dims.len());
                        order.push(1);
                        order
                    }
                    _ => return Err(not_supported(call, "vectorized channels")),
                };
                let mut strides = vec![0; dims.len()];
                let mut stride = 1_i64;
                for dimension in order.into_iter().rev() {
                    strides[dimension] = stride;
                    stride = stride.saturating_mul(dims[dimension]);
                }
                View::new(Stored::of_dnn(*data_type), &dims, &strides, pointer)
            }
            Descriptor::Tensor { .. } => return Err(not_supported(call, "vectorized channels")),
            _ => None,
        };
        view.ok_or_else(|| bad(call, "the descriptor describes an unsupported tensor"))
    }

    fn geometry(&self, call: &'static str, descriptor: DescriptorHandle) -> GpuResult<Geometry> {
        let Descriptor::Convolution {
            mode,
            pad,
            stride,
            dilation,
            ..
        } = &*self.described(call, descriptor)?
        else {
            return Err(bad(call, "expected the descriptor of a convolution"));
        };
        let wide = |numbers: &[i32]| numbers.iter().map(|number| i64::from(*number)).collect();
        Ok(Geometry {
            pad: wide(pad),
            stride: wide(stride),
            dilation: wide(dilation),
            is_mirrored: *mode == 0,
        })
    }
}

fn not_supported(call: &'static str, what: &str) -> GpuError {
    GpuError::new(call, Status::DNN_NOT_SUPPORTED)
        .with_details(format!("the host device does not support {what}"))
}

fn plan_view(call: &'static str, tensor: &PlanTensor, pointer: DevicePtr) -> GpuResult<View> {
    let elements = match tensor.data_type {
        5 => (Some(Stored::I8), 4),
        7 => (Some(Stored::U8), 4),
        other => (Stored::of_dnn(other), 1),
    };
    View::of_vectors(elements, &tensor.dims, &tensor.strides, pointer)
        .ok_or_else(|| not_supported(call, "a tensor of the plan"))
}

impl Dnn for Shared {
    fn create(&self, current: &Current) -> GpuResult<DnnHandle> {
        const CALL: &str = "cudnnCreate(&handle)";
        self.0.enter_library("cudnnCreate", CALL, Status::Dnn)?;
        self.0.check_context(CALL, current.context())?;
        Ok(DnnHandle(self.0.create_library_handle(current)))
    }

    fn destroy(&self, handle: DnnHandle) -> GpuResult<()> {
        const CALL: &str = "cudnnDestroy(handle)";
        self.0.enter_library("cudnnDestroy", CALL, Status::Dnn)?;
        self.0.destroy_library_handle(CALL, handle.0, UNKNOWN)
    }

    fn set_stream(&self, handle: DnnHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cudnnSetStream(handle, stream)";
        self.0.enter_library("cudnnSetStream", CALL, Status::Dnn)?;
        self.0
            .set_library_stream(CALL, handle.0, stream, UNKNOWN, Status::DNN_BAD_PARAM)
    }

    fn descriptor(&self, descriptor: &Descriptor) -> GpuResult<DescriptorHandle> {
        let (name, call, is_valid) = match descriptor {
            Descriptor::Tensor { dims, .. } => (
                "cudnnSetTensorNdDescriptor",
                "cudnnSetTensorNdDescriptor(descriptor, type, rank, dims, strides)",
                (1..=8).contains(&dims.len()) && dims.iter().all(|dim| *dim > 0),
            ),
            Descriptor::Filter { dims, format, .. } => (
                "cudnnSetFilterNdDescriptor",
                "cudnnSetFilterNdDescriptor(descriptor, type, format, rank, dims)",
                (0..=2).contains(format)
                    && (1..=8).contains(&dims.len())
                    && dims.iter().all(|dim| *dim > 0),
            ),
            Descriptor::Convolution {
                pad,
                stride,
                dilation,
                ..
            } => (
                "cudnnSetConvolutionNdDescriptor",
                "cudnnSetConvolutionNdDescriptor(descriptor, rank, pad, stride, dilation, mode, \
                 type)",
                pad.iter().all(|pad| *pad >= 0)
                    && stride.iter().chain(dilation).all(|size| *size > 0),
            ),
            Descriptor::Pooling {
                window,
                pad,
                stride,
                ..
            } => (
                "cudnnSetPoolingNdDescriptor",
                "cudnnSetPoolingNdDescriptor(descriptor, mode, nan, rank, window, pad, stride)",
                pad.iter().all(|pad| *pad >= 0)
                    && window.iter().chain(stride).all(|size| *size > 0),
            ),
            Descriptor::Activation { .. } => (
                "cudnnSetActivationDescriptor",
                "cudnnSetActivationDescriptor(descriptor, mode, nan, coefficient)",
                true,
            ),
        };
        self.0.enter_library(name, call, Status::Dnn)?;
        if !is_valid {
            return Err(GpuError::new(call, Status::DNN_BAD_PARAM));
        }
        let handle = self.0.new_handle();
        let descriptor = Arc::new(descriptor.clone());
        lock(&self.0.libraries)
            .descriptors
            .insert(handle, descriptor);
        Ok(DescriptorHandle(handle))
    }

    fn destroy_descriptor(&self, descriptor: DescriptorHandle) -> GpuResult<()> {
        const CALL: &str = "cudnnDestroyDescriptor(descriptor)";
        self.0
            .enter_library("cudnnDestroyDescriptor", CALL, Status::Dnn)?;
        match lock(&self.0.libraries).descriptors.remove(&descriptor.0) {
            Some(_) => Ok(()),
            None => Err(GpuError::new(CALL, Status::DNN_BAD_PARAM)),
        }
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
        self.0
            .enter_library("cudnnPoolingForward", CALL, Status::Dnn)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let pooling = Pooling::of(&*self.0.described(CALL, pooling)?);
        let pooling =
            pooling.ok_or_else(|| bad(CALL, "expected the descriptor of a pooling operation"))?;
        let (x, y) = (self.0.view(CALL, x)?, self.0.view(CALL, y)?);
        if !pooling.fits(&x.dims, &y.dims) {
            return Err(bad(
                CALL,
                format!(
                    "pooling windows over {:?} do not produce {:?}",
                    x.dims, y.dims
                ),
            ));
        }
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let input = x.read(&memory)?;
            let old = if beta == 0.0 {
                vec![0.0; y.len()]
            } else {
                y.read(&memory)?
            };
            let mut output = Vec::with_capacity(y.len());
            for_each(&y.dims, |out| {
                let (inside, count) = pooling.window_of(&x.dims, out)?;
                let numbers = inside.iter().map(|index| input[*index]);
                let pooled = if pooling.is_maximum() {
                    pooling.maximum(numbers)
                } else {
                    numbers.sum::<f64>() / count
                };
                let index = output.len();
                output.push(f64::from(alpha) * pooled + f64::from(beta) * old[index]);
                Ok(())
            })?;
            y.write(&mut memory, &output)
        })
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
        self.0
            .enter_library("cudnnPoolingBackward", CALL, Status::Dnn)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let pooling = Pooling::of(&*self.0.described(CALL, pooling)?);
        let pooling =
            pooling.ok_or_else(|| bad(CALL, "expected the descriptor of a pooling operation"))?;
        let (y, dy) = (self.0.view(CALL, y)?, self.0.view(CALL, dy)?);
        let (x, dx) = (self.0.view(CALL, x)?, self.0.view(CALL, dx)?);
        if !pooling.fits(&x.dims, &y.dims) || x.dims != dx.dims || y.dims != dy.dims {
            return Err(bad(
                CALL,
                format!(
                    "pooling windows over {:?} do not produce {:?}",
                    x.dims, y.dims
                ),
            ));
        }
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let (input, output) = (x.read(&memory)?, y.read(&memory)?);
            let gradient = dy.read(&memory)?;
            let old = if beta == 0.0 {
                vec![0.0; dx.len()]
            } else {
                dx.read(&memory)?
            };
            let mut sums = vec![0.0; dx.len()];
            let mut index = 0;
            for_each(&y.dims, |out| {
                let (inside, count) = pooling.window_of(&x.dims, out)?;
                if pooling.is_maximum() {
                    // The first element that is the maximum gets it all.
                    let is_it = |number: f64| {
                        number == output[index] || number.is_nan() && output[index].is_nan()
                    };
                    let at = inside.iter().find(|from| is_it(input[**from]));
                    if let Some(at) = at {
                        sums[*at] += gradient[index];
                    }
                } else {
                    inside
                        .iter()
                        .for_each(|from| sums[*from] += gradient[index] / count);
                }
                index += 1;
                Ok(())
            })?;
            for (sum, old) in sums.iter_mut().zip(old) {
                *sum = f64::from(alpha) * *sum + f64::from(beta) * old;
            }
            dx.write(&mut memory, &sums)
        })
    }

    fn convolution(
        &self,
        _current: &Current,
        handle: DnnHandle,
        call: &Convolution,
    ) -> GpuResult<()> {
        let (name, text) = match call.kind {
            ConvolutionKind::Forward => (
                "cudnnConvolutionForward",
                "cudnnConvolutionForward(handle, x, w, convolution, algorithm, y)",
            ),
            ConvolutionKind::BackwardData => (
                "cudnnConvolutionBackwardData",
                "cudnnConvolutionBackwardData(handle, w, dy, convolution, algorithm, dx)",
            ),
            ConvolutionKind::BackwardFilter => (
                "cudnnConvolutionBackwardFilter",
                "cudnnConvolutionBackwardFilter(handle, x, dy, convolution, algorithm, dw)",
            ),
        };
        self.0.enter_library(name, text, Status::Dnn)?;
        let queue = self.0.library_queue(text, handle.0, UNKNOWN)?;
        let num_algorithms = match call.kind {
            ConvolutionKind::Forward => 8,
            ConvolutionKind::BackwardData => 6,
            ConvolutionKind::BackwardFilter => 7,
        };
        if !(0..num_algorithms).contains(&call.algorithm) {
            return Err(bad(
                text,
                format!("there is no algorithm {}", call.algorithm),
            ));
        }
        let geometry = self.0.geometry(text, call.descriptor)?;
        let view = |operand| self.0.view(text, operand);
        let (first, second, result) = (view(call.first)?, view(call.second)?, view(call.result)?);
        let kind = call.kind;
        let views = match kind {
            ConvolutionKind::Forward => [first, second, result],
            ConvolutionKind::BackwardData => [result, first, second],
            ConvolutionKind::BackwardFilter => [first, result, second],
        };
        geometry.check(text, [&views[0].dims, &views[1].dims, &views[2].dims])?;
        self.0.check_convolution(text, &views[1], &views[2])?;
        self.push(text, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let [x, w, y] = &views;
            let sums = geometry.compute(kind, &memory, [x, w, y])?;
            result_of(kind, &views).write(&mut memory, &sums)
        })
    }

    fn convolution_bias_activation(
        &self,
        _current: &Current,
        handle: DnnHandle,
        call: &FusedConvolution,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnConvolutionBiasActivationForward(handle, x, w, convolution, \
                            algorithm, z, bias, activation, y)";
        self.0
            .enter_library("cudnnConvolutionBiasActivationForward", CALL, Status::Dnn)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let geometry = self.0.geometry(CALL, call.descriptor)?;
        let (x, w, y) = (
            self.0.view(CALL, call.x)?,
            self.0.view(CALL, call.w)?,
            self.0.view(CALL, call.y)?,
        );
        let (z, bias) = (self.0.view(CALL, call.z)?, self.0.view(CALL, call.bias)?);
        let Descriptor::Activation {
            mode,
            coefficient,
            propagates_nan,
        } = &*self.0.described(CALL, call.activation)?
        else {
            return Err(bad(CALL, "expected the descriptor of an activation"));
        };
        geometry.check(CALL, [&x.dims, &w.dims, &y.dims])?;
        self.0.check_convolution(CALL, &w, &y)?;
        if z.dims != y.dims || bias.len() != y.dims[1] {
            return Err(bad(
                CALL,
                "the shape of the side input or of the bias does not match the output",
            ));
        }
        let epilogue = Epilogue {
            alpha: of_scalar(call.alpha1).re,
            alpha2: of_scalar(call.alpha2).re,
            z,
            bias,
            activation: Activation {
                mode: *mode,
                coefficient: *coefficient,
                propagates_nan: *propagates_nan,
            },
        };
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let mut sums = geometry.compute(ConvolutionKind::Forward, &memory, [&x, &w, &y])?;
            epilogue.apply(&memory, &y, &mut sums)?;
            y.write(&mut memory, &sums)
        })
    }

    fn plan(
        &self,
        _current: &Current,
        handle: DnnHandle,
        plan: &ConvolutionPlan,
    ) -> GpuResult<(PlanHandle, usize)> {
        const CALL: &str = "cudnnBackendFinalize(plan)";
        self.0
            .enter_library("cudnnBackendFinalize", CALL, Status::Dnn)?;
        if !lock(&self.0.libraries).streams.contains_key(&handle.0) {
            return Err(GpuError::new(CALL, UNKNOWN));
        }
        plan_kind(plan).ok_or_else(|| bad(CALL, format!("backend type {}", plan.backend_type)))?;
        let views =
            [&plan.x, &plan.w, &plan.y].map(|tensor| plan_view(CALL, tensor, DevicePtr::NULL));
        let [x, w, y] = views;
        let (x, w, y) = (x?, w?, y?);
        plan_geometry(plan).check(CALL, [&x.dims, &w.dims, &y.dims])?;
        self.0.check_convolution(CALL, &w, &y)?;
        if let Some(fused) = &plan.fused {
            let bias = plan_view(CALL, &fused.bias, DevicePtr::NULL)?;
            if plan.backend_type != FORWARD || bias.len() != y.dims[1] {
                return Err(bad(CALL, "the shape of the bias does not match the output"));
            }
        }
        let handle = self.0.new_handle();
        lock(&self.0.libraries)
            .convolutions
            .insert(handle, Arc::new(plan.clone()));
        Ok((PlanHandle(handle), workspace_size(&w)))
    }

    fn destroy_plan(&self, plan: PlanHandle) -> GpuResult<()> {
        const CALL: &str = "cudnnBackendDestroyDescriptor(plan)";
        self.0
            .enter_library("cudnnBackendDestroyDescriptor", CALL, Status::Dnn)?;
        match lock(&self.0.libraries).convolutions.remove(&plan.0) {
            Some(_) => Ok(()),
            None => Err(GpuError::new(CALL, Status::DNN_BAD_PARAM)),
        }
    }

    fn execute_plan(
        &self,
        _current: &Current,
        handle: DnnHandle,
        plan: PlanHandle,
        tensors: &[DevicePtr],
        workspace: DevicePtr,
    ) -> GpuResult<()> {
        const CALL: &str = "cudnnBackendExecute(handle, plan, pack)";
        self.0
            .enter_library("cudnnBackendExecute", CALL, Status::Dnn)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let plan = lock(&self.0.libraries).convolutions.get(&plan.0).cloned();
        let plan = plan.ok_or_else(|| bad(CALL, "unknown plan"))?;
        let kind = plan_kind(&plan).ok_or_else(|| bad(CALL, "unknown plan"))?;
        let pointer = |index: usize| tensors.get(index).copied().unwrap_or(DevicePtr::NULL);
        let geometry = plan_geometry(&plan);
        let views = [
            plan_view(CALL, &plan.x, pointer(0))?,
            plan_view(CALL, &plan.w, pointer(2))?,
            plan_view(CALL, &plan.y, pointer(1))?,
        ];
        let epilogue = match &plan.fused {
            None => None,
            Some(_) if tensors.len() != 5 => {
                return Err(bad(CALL, "expected five tensors for a fused plan"));
            }
            Some(fused) => Some(Epilogue {
                alpha: fused.alpha,
                alpha2: fused.alpha2,
                z: plan_view(CALL, &plan.y, pointer(3))?,
                bias: plan_view(CALL, &fused.bias, pointer(4))?,
                activation: Activation {
                    mode: fused.activation,
                    coefficient: 0.0,
                    propagates_nan: false,
                },
            }),
        };
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let [x, w, y] = &views;
            memory.check("write", workspace.address(), workspace_size(w))?;
            let mut sums = geometry.compute(kind, &memory, [x, w, y])?;
            if let Some(epilogue) = &epilogue {
                epilogue.apply(&memory, y, &mut sums)?;
            }
            result_of(kind, &views).write(&mut memory, &sums)
        })
    }
}

/// Returns which of input, filter and output a call writes.
fn result_of(kind: ConvolutionKind, [x, w, y]: &[View; 3]) -> &View {
    match kind {
        ConvolutionKind::Forward => y,
        ConvolutionKind::BackwardData => x,
        ConvolutionKind::BackwardFilter => w,
    }
}

fn plan_kind(plan: &ConvolutionPlan) -> Option<ConvolutionKind> {
    Some(match plan.backend_type {
        FORWARD => ConvolutionKind::Forward,
        BACKWARD_FILTER => ConvolutionKind::BackwardFilter,
        BACKWARD_DATA => ConvolutionKind::BackwardData,
        _ => return None,
    })
}

/// Returns the bytes of workspace that a plan with this filter uses. The host device needs none. It
/// asks for as much as the filter has, so that a workspace that is too small is found.
fn workspace_size(w: &View) -> usize {
    w.len() * w.stored.width()
}

fn plan_geometry(plan: &ConvolutionPlan) -> Geometry {
    Geometry {
        pad: plan.padding.clone(),
        stride: plan.strides.clone(),
        dilation: plan.dilations.clone(),
        is_mirrored: plan.mode == 0,
    }
}

//! The library for neural networks of the host device. Everything is computed by definition, in
//! double precision, for any number of spatial dimensions.

use std::sync::Arc;

use super::HostDevice;
use super::driver::Shared;
use super::fault::Fault;
use super::memory::DeviceMemory;
use super::numbers::{Number, Stored, of_scalar};
use crate::api::dnn::Dnn;
use crate::api::dnn::{
    Convolution, ConvolutionKind, ConvolutionPlan, Descriptor, FusedConvolution, PlanTensor,
    TensorOperand,
};
use crate::api::handle::{DescriptorHandle, DnnHandle, PlanHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

const UNKNOWN: Status = Status::DNN_NOT_INITIALIZED;

/// The backend's number of a convolution, and those of its gradients.
const FORWARD: i32 = 10;
const BACKWARD_FILTER: i32 = 11;
const BACKWARD_DATA: i32 = 12;

/// The most elements of a tensor, and how far they may lie apart: this device is for small
/// networks.
const MAX_LEN: usize = 1 << 26;
const MAX_SPAN: usize = 1 << 40;

fn bad(call: &'static str, details: impl Into<String>) -> GpuError {
    GpuError::new(call, Status::DNN_BAD_PARAM).with_details(details)
}

/// A tensor in memory: sizes and distances of its dimensions, in elements.
#[derive(Clone, Debug)]
struct View {
    stored: Stored,
    dims: Vec<usize>,
    strides: Vec<usize>,
    pointer: DevicePtr,
}

impl View {
    fn new(
        stored: Option<Stored>,
        dims: &[i64],
        strides: &[i64],
        pointer: DevicePtr,
    ) -> Option<Self> {
        let sizes = |numbers: &[i64]| -> Option<Vec<usize>> {
            numbers
                .iter()
                .map(|number| usize::try_from(*number).ok())
                .collect()
        };
        let (dims, strides) = (sizes(dims)?, sizes(strides)?);
        let span = dims
            .iter()
            .zip(&strides)
            .try_fold(0_usize, |span, (dim, stride)| {
                span.checked_add(dim.saturating_sub(1).checked_mul(*stride)?)
            });
        let len = dims
            .iter()
            .try_fold(1_usize, |len, dim| len.checked_mul(*dim));
        let is_small = len? <= MAX_LEN && span? <= MAX_SPAN;
        (dims.len() == strides.len() && dims.len() >= 3 && is_small).then_some(Self {
            stored: stored?,
            dims,
            strides,
            pointer,
        })
    }

    fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns the position of the element with these coordinates.
    fn place(&self, at: &[usize]) -> u64 {
        let places = at.iter().zip(&self.strides);
        places.map(|(index, stride)| (index * stride) as u64).sum()
    }

    /// Returns all elements, row-major.
    fn read(&self, memory: &DeviceMemory) -> Result<Vec<f64>, Fault> {
        let mut numbers = Vec::with_capacity(self.len());
        for_each(&self.dims, |at| {
            let offset = self.place(at) * self.stored.width() as u64;
            let element = self.stored.read(memory, self.pointer.offset(offset), 1)?;
            numbers.extend(element.first().map(|number| number.re));
            Ok(())
        })?;
        Ok(numbers)
    }

    fn write(&self, memory: &mut DeviceMemory, numbers: &[f64]) -> Result<(), Fault> {
        let mut next = numbers.iter();
        for_each(&self.dims, |at| {
            let offset = self.place(at) * self.stored.width() as u64;
            let number = Number {
                re: next.next().copied().unwrap_or_default(),
                im: 0.0,
            };
            self.stored
                .write(memory, self.pointer.offset(offset), &[number])
        })
    }
}

/// Visits all coordinates, row-major.
fn for_each(
    dims: &[usize],
    mut visit: impl FnMut(&[usize]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if dims.contains(&0) {
        return Ok(());
    }
    let mut at = vec![0; dims.len()];
    loop {
        visit(&at)?;
        let mut dimension = dims.len();
        loop {
            if dimension == 0 {
                return Ok(());
            }
            dimension -= 1;
            at[dimension] += 1;
            if at[dimension] < dims[dimension] {
                break;
            }
            at[dimension] = 0;
        }
    }
}

/// Returns the number of an element, row-major.
fn flat(dims: &[usize], at: &[usize]) -> usize {
    dims.iter()
        .zip(at)
        .fold(0, |index, (dim, at)| index * dim + at)
}

/// The movement of a convolution's window.
#[derive(Clone, Debug)]
struct Geometry {
    pad: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    is_mirrored: bool,
}

impl Geometry {
    /// Checks that the sizes of input, filter and output fit together.
    fn check(&self, call: &'static str, [x, w, y]: [&[usize]; 3]) -> GpuResult<()> {
        let rank = x.len();
        if w.len() != rank || y.len() != rank || self.pad.len() + 2 != rank {
            return Err(bad(
                call,
                format!(
                    "expected input, filter and output of equal rank and two paddings fewer, \
                     found ranks {rank}, {} and {} with {} paddings",
                    w.len(),
                    y.len(),
                    self.pad.len()
                ),
            ));
        }
        let is_large = |size: &i64| *size > i64::from(i32::MAX);
        let sizes = self.stride.iter().chain(&self.dilation);
        if sizes.clone().chain(&self.pad).any(is_large)
            || sizes.clone().any(|size| *size <= 0)
            || self.pad.iter().any(|pad| *pad < 0)
            || self.stride.len() != self.pad.len()
            || self.dilation.len() != self.pad.len()
        {
            return Err(bad(
                call,
                "expected paddings from 0, and positive strides and dilations, each for all \
                 spatial dimensions",
            ));
        }
        let groups = x[1].checked_div(w[1]).unwrap_or(0);
        if groups * w[1] != x[1]
            || groups == 0
            || !w[0].is_multiple_of(groups)
            || y[0] != x[0]
            || y[1] != w[0]
        {
            return Err(bad(
                call,
                format!("the batches or channels of {x:?}, {w:?} and {y:?} are incompatible"),
            ));
        }
        for dimension in 2..rank {
            let spatial = dimension - 2;
            let extent = self.dilation[spatial] * (w[dimension] as i64 - 1) + 1;
            let room = x[dimension] as i64 + 2 * self.pad[spatial] - extent;
            let expected = if room < 0 {
                0
            } else {
                room / self.stride[spatial] + 1
            };
            if expected != y[dimension] as i64 {
                return Err(bad(
                    call,
                    format!(
                        "expected an output with {expected} in dimension {dimension}, found {}",
                        y[dimension]
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Visits each product of a convolution: the numbers of its elements in input, filter and
    /// output.
    fn for_each_product(
        &self,
        x: &[usize],
        w: &[usize],
        y: &[usize],
        mut visit: impl FnMut(usize, usize, usize),
    ) -> Result<(), Fault> {
        let rank = x.len();
        let group_outputs = w[0] / (x[1] / w[1]);
        let mut from = vec![0; rank];
        let mut tap = vec![0; rank];
        for_each(y, |out| {
            let out_index = flat(y, out);
            from[0] = out[0];
            tap[0] = out[1];
            for_each(&w[1..], |inner| {
                from[1] = out[1] / group_outputs * w[1] + inner[0];
                tap[1..].copy_from_slice(inner);
                for dimension in 2..rank {
                    let spatial = dimension - 2;
                    let step = if self.is_mirrored {
                        w[dimension] - 1 - inner[dimension - 1]
                    } else {
                        inner[dimension - 1]
                    };
                    let position = out[dimension] as i64 * self.stride[spatial] - self.pad[spatial]
                        + step as i64 * self.dilation[spatial];
                    match usize::try_from(position) {
                        Ok(position) if position < x[dimension] => from[dimension] = position,
                        _ => return Ok(()),
                    }
                }
                visit(flat(x, &from), flat(w, &tap), out_index);
                Ok(())
            })
        })
    }

    /// Computes a convolution or one of its gradients.
    fn compute(
        &self,
        kind: ConvolutionKind,
        memory: &DeviceMemory,
        [x, w, y]: [&View; 3],
    ) -> Result<Vec<f64>, Fault> {
        let (x_dims, w_dims, y_dims) = (&x.dims, &w.dims, &y.dims);
        let mut sums;
        match kind {
            ConvolutionKind::Forward => {
                let (x, w) = (x.read(memory)?, w.read(memory)?);
                sums = vec![0.0; y.len()];
                self.for_each_product(x_dims, w_dims, y_dims, |i, j, k| sums[k] += x[i] * w[j])?;
            }
            ConvolutionKind::BackwardData => {
                let (w, y) = (w.read(memory)?, y.read(memory)?);
                sums = vec![0.0; x.len()];
                self.for_each_product(x_dims, w_dims, y_dims, |i, j, k| sums[i] += w[j] * y[k])?;
            }
            ConvolutionKind::BackwardFilter => {
                let (x, y) = (x.read(memory)?, y.read(memory)?);
                sums = vec![0.0; w.len()];
                self.for_each_product(x_dims, w_dims, y_dims, |i, j, k| sums[j] += x[i] * y[k])?;
            }
        }
        Ok(sums)
    }
}

/// An activation of the library.
#[derive(Clone, Copy, Debug)]
struct Activation {
    mode: i32,
    coefficient: f64,
    propagates_nan: bool,
}

fn activate(activation: Activation, number: f64) -> f64 {
    let Activation {
        mode, coefficient, ..
    } = activation;
    match mode {
        1 | 3 if number.is_nan() => match activation.propagates_nan {
            true => number,
            false => 0.0,
        },
        0 => 1.0 / (1.0 + (-number).exp()),
        1 => number.max(0.0),
        2 => number.tanh(),
        3 => number.clamp(0.0, coefficient.max(0.0)),
        4 if number < 0.0 => coefficient * number.exp_m1(),
        6 => number / (1.0 + (-coefficient * number).exp()),
        _ => number,
    }
}

/// The functions after a convolution.
struct Epilogue {
    alpha: f64,
    alpha2: f64,
    z: View,
    bias: View,
    activation: Activation,
}

impl Epilogue {
    fn apply(&self, memory: &DeviceMemory, y: &View, sums: &mut [f64]) -> Result<(), Fault> {
        let z = if self.alpha2 == 0.0 {
            vec![0.0; sums.len()]
        } else {
            self.z.read(memory)?
        };
        let bias = self.bias.read(memory)?;
        let inner: usize = y.dims[2..].iter().product();
        let channels = y.dims[1];
        for (index, sum) in sums.iter_mut().enumerate() {
            let channel = index / inner.max(1) % channels.max(1);
            let bias = bias.get(channel).copied().unwrap_or_default();
            let number = self.alpha * *sum + self.alpha2 * z[index] + bias;
            *sum = activate(self.activation, number);
        }
        Ok(())
    }
}

/// The sizes of pooling.
struct Pooling {
    mode: u32,
    /// Whether NaN in a window becomes its maximum.
    propagates_nan: bool,
    window: Vec<usize>,
    pad: Vec<i64>,
    stride: Vec<usize>,
}

impl Pooling {
    fn of(descriptor: &Descriptor) -> Option<Self> {
        let Descriptor::Pooling {
            mode,
            nan_propagation,
            window,
            pad,
            stride,
        } = descriptor
        else {
            return None;
        };
        let sizes = |numbers: &[i32]| -> Option<Vec<usize>> {
            let sizes = numbers.iter().map(|number| usize::try_from(*number).ok());
            sizes
                .collect::<Option<Vec<_>>>()
                .filter(|sizes| !sizes.contains(&0))
        };
        if pad.len() != window.len() || stride.len() != window.len() {
            return None;
        }
        Some(Self {
            mode: *mode,
            propagates_nan: *nan_propagation != 0,
            window: sizes(window)?,
            pad: pad.iter().map(|pad| i64::from(*pad)).collect(),
            stride: sizes(stride)?,
        })
    }

    fn fits(&self, x: &[usize], y: &[usize]) -> bool {
        x.len() == y.len()
            && x.len() == self.window.len() + 2
            && x[..2] == y[..2]
            && (0..self.window.len()).all(|spatial| {
                let room =
                    x[spatial + 2] as i64 + 2 * self.pad[spatial] - self.window[spatial] as i64;
                room >= 0
                    && self.pad[spatial] < self.window[spatial] as i64
                    && room / self.stride[spatial] as i64 + 1 == y[spatial + 2] as i64
            })
    }

    /// Returns the elements of the input in the window of an element of the output, and the divisor
    /// of an average.
    fn window_of(&self, x: &[usize], out: &[usize]) -> Result<(Vec<usize>, f64), Fault> {
        let mut inside = Vec::new();
        let mut from = out.to_vec();
        for_each(&self.window, |tap| {
            for (spatial, tap) in tap.iter().enumerate() {
                let position =
                    (out[spatial + 2] * self.stride[spatial] + tap) as i64 - self.pad[spatial];
                match usize::try_from(position) {
                    Ok(position) if position < x[spatial + 2] => from[spatial + 2] = position,
                    _ => return Ok(()),
                }
            }
            inside.push(flat(x, &from));
            Ok(())
        })?;
        let all: usize = self.window.iter().product();
        let count = if self.mode == 1 { all } else { inside.len() };
        Ok((inside, count.max(1) as f64))
    }

    fn maximum(&self, numbers: impl Iterator<Item = f64>) -> f64 {
        numbers.fold(f64::NEG_INFINITY, |one, other| {
            if self.propagates_nan && (one.is_nan() || other.is_nan()) {
                f64::NAN
            } else {
                one.max(other)
            }
        })
    }

    fn is_maximum(&self) -> bool {
        matches!(self.mode, 0 | 3)
    }
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
    View::new(
        Stored::of_dnn(tensor.data_type),
        &tensor.dims,
        &tensor.strides,
        pointer,
    )
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
            Descriptor::Filter { dims, .. } => (
                "cudnnSetFilterNdDescriptor",
                "cudnnSetFilterNdDescriptor(descriptor, type, format, rank, dims)",
                (1..=8).contains(&dims.len()) && dims.iter().all(|dim| *dim > 0),
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
    ) -> GpuResult<PlanHandle> {
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
            if plan.backend_type != FORWARD
                || i64::try_from(bias.len()).ok() != plan.y.dims.get(1).copied()
            {
                return Err(bad(CALL, "the shape of the bias does not match the output"));
            }
        }
        let handle = self.0.new_handle();
        lock(&self.0.libraries)
            .convolutions
            .insert(handle, Arc::new(plan.clone()));
        Ok(PlanHandle(handle))
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
        _workspace: DevicePtr,
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

fn plan_geometry(plan: &ConvolutionPlan) -> Geometry {
    Geometry {
        pad: plan.padding.clone(),
        stride: plan.strides.clone(),
        dilation: plan.dilations.clone(),
        is_mirrored: plan.mode == 0,
    }
}

//! Convolutions, their gradients, and what is computed after them.

use crate::api::GpuResult;
use crate::api::dnn::ConvolutionKind;
use crate::host_device::fault::Fault;
use crate::host_device::memory::DeviceMemory;

use super::bad;
use super::view::{View, flat, for_each};

/// The movement of a convolution's window.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub(super) pad: Vec<i64>,
    pub(super) stride: Vec<i64>,
    pub(super) dilation: Vec<i64>,
    pub(super) is_mirrored: bool,
}

impl Geometry {
    /// Checks that the sizes of input, filter and output fit together.
    pub(super) fn check(&self, call: &'static str, [x, w, y]: [&[usize]; 3]) -> GpuResult<()> {
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
    pub(super) fn for_each_product(
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
    pub(super) fn compute(
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
pub(super) struct Activation {
    pub(super) mode: i32,
    pub(super) coefficient: f64,
    pub(super) propagates_nan: bool,
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
pub(super) struct Epilogue {
    pub(super) alpha: f64,
    pub(super) alpha2: f64,
    pub(super) z: View,
    pub(super) bias: View,
    pub(super) activation: Activation,
}

impl Epilogue {
    pub(super) fn apply(
        &self,
        memory: &DeviceMemory,
        y: &View,
        sums: &mut [f64],
    ) -> Result<(), Fault> {
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

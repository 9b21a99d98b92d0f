//! The windows of pooling.

use crate::api::dnn::Descriptor;
use crate::host_device::fault::Fault;

use super::view::{flat, for_each};

/// The sizes of pooling.
pub(super) struct Pooling {
    pub(super) mode: u32,
    /// Whether NaN in a window becomes its maximum.
    pub(super) propagates_nan: bool,
    pub(super) window: Vec<usize>,
    pub(super) pad: Vec<i64>,
    pub(super) stride: Vec<usize>,
}

impl Pooling {
    pub(super) fn of(descriptor: &Descriptor) -> Option<Self> {
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

    pub(super) fn fits(&self, x: &[usize], y: &[usize]) -> bool {
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
    pub(super) fn window_of(&self, x: &[usize], out: &[usize]) -> Result<(Vec<usize>, f64), Fault> {
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

    pub(super) fn maximum(&self, numbers: impl Iterator<Item = f64>) -> f64 {
        numbers.fold(f64::NEG_INFINITY, |one, other| {
            if self.propagates_nan && (one.is_nan() || other.is_nan()) {
                f64::NAN
            } else {
                one.max(other)
            }
        })
    }

    pub(super) fn is_maximum(&self) -> bool {
        matches!(self.mode, 0 | 3)
    }
}

//! Broadcasting of two shapes to a common one, like in NumPy.
//!
//! Dimensions are matched from the last to the first; an extent of 1 is repeated, and a missing
//! dimension counts as 1. Adjacent dimensions that both sides traverse in the same way are merged,
//! so most cases have only one dimension left.

use smallvec::SmallVec;

use crate::error::{ComputeError, check_len, checked_product};
use crate::lanes::vectorised;

/// Most tensors have no more dimensions.
const NUM_IN_PLACE: usize = 4;

/// A dimension of the common shape, and how far each side moves in it: strides in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dimension {
    extent: usize,
    left: usize,
    right: usize,
}

/// The broadcasting of two shapes.
///
/// ```
/// use tfrt_compute::broadcast::Broadcast;
///
/// let broadcast = Broadcast::new(&[4, 1, 3], &[2, 1])?;
/// assert_eq!(broadcast.shape(), [4, 2, 3]);
/// assert!(Broadcast::new(&[2], &[3]).is_err());
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    shape: SmallVec<[usize; NUM_IN_PLACE]>,
    /// Without extents of 1, neighbours merged; the last is the innermost.
    dimensions: SmallVec<[Dimension; NUM_IN_PLACE]>,
    lens: [usize; 3],
}

impl Broadcast {
    /// Matches two shapes.
    ///
    /// # Errors
    /// If two extents differ and neither is 1, or the common shape has more elements than can be
    /// addressed.
    pub fn new(left: &[usize], right: &[usize]) -> Result<Self, ComputeError> {
        match Self::in_one_run(left, right)? {
            Some(broadcast) => Ok(broadcast),
            None => Self::in_runs(left, right),
        }
    }

    /// Matches any two shapes.
    fn in_runs(left: &[usize], right: &[usize]) -> Result<Self, ComputeError> {
        let rank = left.len().max(right.len());
        let extent = |shape: &[usize], axis: usize| {
            (axis + shape.len())
                .checked_sub(rank)
                .map_or(1, |axis| shape[axis])
        };
        let mut shape = SmallVec::with_capacity(rank);
        for axis in 0..rank {
            shape.push(match (extent(left, axis), extent(right, axis)) {
                (a, b) if a == b => a,
                (1, extent) | (extent, 1) => extent,
                (a, b) => {
                    return Err(ComputeError::new(format!(
                        "broadcast: expected equal extents or 1, found {a} and {b} in {left:?} \
                         and {right:?}"
                    )));
                }
            });
        }
        let mut lens = [0; 3];
        for (len, shape) in lens.iter_mut().zip([left, right, &shape]) {
            *len = checked_product("broadcast", shape)?;
        }
        let mut dimensions: SmallVec<[Dimension; NUM_IN_PLACE]> = SmallVec::new();
        let (mut left_stride, mut right_stride) = (1, 1);
        for axis in (0..rank).rev() {
            let (a, b) = (extent(left, axis), extent(right, axis));
            let dimension = Dimension {
                extent: shape[axis],
                left: if a == 1 { 0 } else { left_stride },
                right: if b == 1 { 0 } else { right_stride },
            };
            (left_stride, right_stride) = (
                left_stride.saturating_mul(a),
                right_stride.saturating_mul(b),
            );
            if dimension.extent == 1 {
                continue;
            }
            match dimensions.last_mut() {
                Some(inner)
                    if dimension.left == inner.left.saturating_mul(inner.extent)
                        && dimension.right == inner.right.saturating_mul(inner.extent) =>
                {
                    inner.extent *= dimension.extent;
                }
                _ => dimensions.push(dimension),
            }
        }
        dimensions.reverse();
        Ok(Self {
            shape,
            dimensions,
            lens,
        })
    }

    /// Matches two shapes that are equal, or of which one has a single element and adds no
    /// dimension, as most do. Returns `None` for others.
    #[inline]
    fn in_one_run(left: &[usize], right: &[usize]) -> Result<Option<Self>, ComputeError> {
        let is_single = |shape: &[usize]| shape.iter().all(|&extent| extent == 1);
        let is_same = left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a == b);
        let (shape, strides) = if is_same {
            (left, [1, 1])
        } else if right.len() <= left.len() && is_single(right) {
            (left, [1, 0])
        } else if left.len() <= right.len() && is_single(left) {
            (right, [0, 1])
        } else {
            return Ok(None);
        };
        let len = checked_product("broadcast", shape)?;
        let mut dimensions = SmallVec::new();
        if len != 1 {
            dimensions.push(Dimension {
                extent: len,
                left: strides[0],
                right: strides[1],
            });
        }
        let side_len = |stride: usize| if stride == 0 { 1 } else { len };
        Ok(Some(Self {
            shape: SmallVec::from_slice(shape),
            dimensions,
            lens: [side_len(strides[0]), side_len(strides[1]), len],
        }))
    }

    /// Returns the common shape.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of elements of the left side.
    #[must_use]
    pub fn left_len(&self) -> usize {
        self.lens[0]
    }

    /// Returns the number of elements of the right side.
    #[must_use]
    pub fn right_len(&self) -> usize {
        self.lens[1]
    }

    /// Returns the number of elements of the common shape.
    #[must_use]
    pub fn output_len(&self) -> usize {
        self.lens[2]
    }

    /// Computes `output = function(left, right)`, both broadcast to the common shape.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the output is then unchanged.
    ///
    /// ```
    /// use tfrt_compute::broadcast::Broadcast;
    ///
    /// let mut output = [0; 4];
    /// let broadcast = Broadcast::new(&[2, 2], &[2, 1])?;
    /// broadcast.zip(&[1, 2, 3, 4], &[10_u8, 20], &mut output, |x, y| x + i32::from(y))?;
    /// assert_eq!(output, [11, 12, 23, 24]);
    /// # Ok::<(), tfrt_compute::ComputeError>(())
    /// ```
    pub fn zip<A: Copy, B: Copy, R>(
        &self,
        left: &[A],
        right: &[B],
        output: &mut [R],
        mut function: impl FnMut(A, B) -> R,
    ) -> Result<(), ComputeError> {
        check_len("broadcast", "left side", self.left_len(), left.len())?;
        check_len("broadcast", "right side", self.right_len(), right.len())?;
        check_len("broadcast", "output", self.output_len(), output.len())?;
        vectorised(
            #[inline(always)]
            || {
                self.for_each_run(|first, left_first, right_first, run| {
                    let output = &mut output[first..][..run.len];
                    let (left, right) = (&left[left_first..], &right[right_first..]);
                    match (run.left, run.right) {
                        (0, _) => {
                            for (out, &y) in output.iter_mut().zip(right) {
                                *out = function(left[0], y);
                            }
                        }
                        (_, 0) => {
                            for (out, &x) in output.iter_mut().zip(left) {
                                *out = function(x, right[0]);
                            }
                        }
                        _ => {
                            for ((out, &x), &y) in output.iter_mut().zip(left).zip(right) {
                                *out = function(x, y);
                            }
                        }
                    }
                });
            },
        );
        Ok(())
    }

    /// Visits the common shape in runs, in order: `visit(output, left, right, run)` with the places
    /// of the first elements.
    #[inline(always)]
    pub(crate) fn for_each_run(&self, mut visit: impl FnMut(usize, usize, usize, Run)) {
        if self.output_len() == 0 {
            return;
        }
        let Some((inner, outer)) = self.dimensions.split_last() else {
            return visit(
                0,
                0,
                0,
                Run {
                    len: 1,
                    left: 1,
                    right: 1,
                },
            );
        };
        let run = Run {
            len: inner.extent,
            left: inner.left,
            right: inner.right,
        };
        let mut index = vec![0; outer.len()];
        let (mut left, mut right) = (0, 0);
        for output in (0..self.output_len()).step_by(run.len) {
            visit(output, left, right, run);
            for (index, dimension) in index.iter_mut().zip(outer).rev() {
                *index += 1;
                left += dimension.left;
                right += dimension.right;
                if *index < dimension.extent {
                    break;
                }
                *index = 0;
                left -= dimension.left * dimension.extent;
                right -= dimension.right * dimension.extent;
            }
        }
    }
}

/// Neighbours in the common shape: each side moves by its stride, which is 0 or 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) len: usize,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_is_what_merging_dimensions_gives() {
        let extents = |rank: u32| {
            let shapes = 0..3_usize.pow(rank);
            shapes.map(move |shape| {
                (0..rank)
                    .map(|axis| shape / 3_usize.pow(axis) % 3)
                    .collect()
            })
        };
        let shapes: Vec<Vec<usize>> = (0..4).flat_map(extents).collect();
        let mut num_compared = 0;
        for (left, right) in shapes
            .iter()
            .flat_map(|l| shapes.iter().map(move |r| (l, r)))
        {
            if let Some(found) = Broadcast::in_one_run(left, right).unwrap() {
                assert_eq!(
                    Ok(found),
                    Broadcast::in_runs(left, right),
                    "{left:?}, {right:?}"
                );
                num_compared += 1;
            }
        }
        assert!(num_compared > 2 * shapes.len());
    }
}

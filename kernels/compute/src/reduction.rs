//! Sums, means and extremes along axes, and positions of extremes.
//!
//! # Accuracy
//! Sums are computed in blocks of [`BLOCK`], in an order that does not depend on processor and
//! threads: the error of a sum of `n` numbers is below `(n / BLOCK + BLOCK) · ε · Σ|x|`.

use crate::element::{Arithmetic, FromCount, Ordered};
use crate::error::{ComputeError, check_len, checked_product, product};
use crate::lanes::vectorised;

/// The function that combines the elements along the reduced axes. An empty sum is 0, an empty
/// product 1, an empty maximum the lowest and an empty minimum the highest value; an empty mean is
/// 0 / 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The sum divided by the count; integers round towards zero.
    Mean,
    /// The product.
    Product,
    /// The greatest; NaNs are ignored.
    Max,
    /// The least; NaNs are ignored.
    Min,
}

/// The number of terms that are summed before their sum is added to the total.
pub const BLOCK: usize = 128;

/// The reduction of a tensor along some of its axes.
///
/// ```
/// use tfrt_compute::reduction::{Axes, Reduction};
///
/// let axes = Axes::new(&[2, 3], &[-1])?;
/// assert_eq!(axes.output_shape(true), [2, 1]);
/// let mut output = [0.0; 2];
/// axes.reduce(Reduction::Mean, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut output)?;
/// assert_eq!(output, [2.0, 5.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    shape: Vec<usize>,
    is_reduced: Vec<bool>,
    /// Extents of merged neighbours, alternately kept and reduced; the first is kept, the last as
    /// `is_reduced` says. Extents of 1 are omitted but for the first.
    merged: Vec<usize>,
    input_len: usize,
    output_len: usize,
}

impl Axes {
    /// Reduces `axes` of a tensor of this shape; negative axes count from the end.
    ///
    /// # Errors
    /// If an axis does not exist or is given twice, or the tensor has more elements than can be
    /// addressed.
    pub fn new(shape: &[usize], axes: &[isize]) -> Result<Self, ComputeError> {
        let mut is_reduced = vec![false; shape.len()];
        for &axis in axes {
            let index = resolve_axis("reduction", axis, shape.len())?;
            if std::mem::replace(&mut is_reduced[index], true) {
                return Err(ComputeError::new(format!(
                    "reduction: axis {axis} is given twice in {axes:?}"
                )));
            }
        }
        let input_len = checked_product("reduction", shape)?;
        let kept = shape
            .iter()
            .zip(&is_reduced)
            .filter(|&(_, &reduced)| !reduced)
            .map(|(&extent, _)| extent);
        let output_len = checked_product("reduction", &kept.collect::<Vec<_>>())?;
        let mut merged = vec![1_usize];
        for (&extent, &reduced) in shape.iter().zip(&is_reduced) {
            if extent == 1 {
                continue;
            }
            // The first is kept, so an even number of extents ends with a reduced one.
            let ends_reduced = merged.len().is_multiple_of(2);
            match merged.last_mut() {
                Some(last) if ends_reduced == reduced => *last = last.saturating_mul(extent),
                _ => merged.push(extent),
            }
        }
        Ok(Self {
            shape: shape.to_vec(),
            is_reduced,
            merged,
            input_len,
            output_len,
        })
    }

    /// Returns the shape of the result, with the reduced axes as extents of 1 or without them.
    #[must_use]
    pub fn output_shape(&self, keeps_axes: bool) -> Vec<usize> {
        let axes = self.shape.iter().zip(&self.is_reduced);
        axes.filter_map(|(&extent, &reduced)| match reduced {
            false => Some(extent),
            true => keeps_axes.then_some(1),
        })
        .collect()
    }

    /// Returns the number of elements of the result.
    #[must_use]
    pub fn output_len(&self) -> usize {
        self.output_len
    }

    /// Returns the number of elements that each element of the result combines.
    #[must_use]
    pub fn count(&self) -> usize {
        let reduced = self
            .shape
            .iter()
            .zip(&self.is_reduced)
            .filter(|&(_, &reduced)| reduced);
        product(&reduced.map(|(&extent, _)| extent).collect::<Vec<_>>())
    }

    /// Reduces a tensor.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the output is then unchanged.
    pub fn reduce<T: Ordered>(
        &self,
        reduction: Reduction,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        check_len("reduction", "input", self.input_len, input.len())?;
        check_len("reduction", "output", self.output_len, output.len())?;
        match reduction {
            Reduction::Sum => self.fold(T::default(), T::plus, input, output),
            Reduction::Product => self.fold(T::ONE, T::times, input, output),
            Reduction::Max => self.fold(T::LOWEST, |a, b| if b > a { b } else { a }, input, output),
            Reduction::Min => {
                self.fold(T::HIGHEST, |a, b| if b < a { b } else { a }, input, output)
            }
            Reduction::Mean => {
                self.fold(T::default(), T::plus, input, output);
                divide(output, self.count());
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn fold<T: Arithmetic>(
        &self,
        start: T,
        combine: impl Fn(T, T) -> T,
        input: &[T],
        output: &mut [T],
    ) {
        output.fill(start);
        if self.input_len == 0 {
            return;
        }
        vectorised(
            #[inline(always)]
            || {
                // The innermost rows or matrices, and what lies around them.
                let (outer, rows, columns, is_row) = match self.merged.as_slice() {
                    [outer @ .., row] if self.merged.len().is_multiple_of(2) => {
                        (outer, 1, *row, true)
                    }
                    [outer @ .., rows, columns] => (outer, *rows, *columns, false),
                    [columns] => (&[][..], 1, *columns, false),
                    [] => unreachable!("the first extent is always there"),
                };
                let mut index = vec![0; outer.len()];
                for part in input.chunks_exact(rows * columns) {
                    let mut at = 0;
                    for (axis, (&index, &extent)) in index.iter().zip(outer).enumerate() {
                        if axis % 2 == 0 {
                            at = at * extent + index;
                        }
                    }
                    if is_row {
                        output[at] = combine(output[at], fold_row(start, &combine, part));
                    } else {
                        fold_columns(
                            start,
                            &combine,
                            part,
                            columns,
                            &mut output[at * columns..][..columns],
                        );
                    }
                    for (index, &extent) in index.iter_mut().zip(outer).rev() {
                        *index += 1;
                        if *index < extent {
                            break;
                        }
                        *index = 0;
                    }
                }
            },
        );
    }
}

fn divide<T: FromCount>(sums: &mut [T], count: usize) {
    let count = T::from_count(count);
    sums.iter_mut().for_each(|sum| *sum = sum.over(count));
}

/// Returns the place of an axis, which may count from the end.
pub(crate) fn resolve_axis(routine: &str, axis: isize, rank: usize) -> Result<usize, ComputeError> {
    let index = if axis < 0 {
        rank.checked_sub(axis.unsigned_abs())
    } else {
        Some(axis.unsigned_abs())
    };
    index.filter(|&index| index < rank).ok_or_else(|| {
        ComputeError::new(format!(
            "{routine}: expected an axis within -{rank}..{rank}, found {axis}"
        ))
    })
}

/// Results that are combined side by side, so that the loop becomes vector code: fixed, whatever
/// the processor.
const SIDE_BY_SIDE: usize = 32;

#[inline(always)]
fn fold_row<T: Copy>(start: T, combine: &impl Fn(T, T) -> T, row: &[T]) -> T {
    if row.len() < SIDE_BY_SIDE {
        return row.iter().fold(start, |sum, &x| combine(sum, x));
    }
    let mut sum = start;
    for block in row.chunks(BLOCK * SIDE_BY_SIDE) {
        let mut partial = [start; SIDE_BY_SIDE];
        let chunks = block.chunks_exact(SIDE_BY_SIDE);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (partial, &x) in partial.iter_mut().zip(chunk) {
                *partial = combine(*partial, x);
            }
        }
        for (partial, &x) in partial.iter_mut().zip(rest) {
            *partial = combine(*partial, x);
        }
        // Halves, quarters, …: the same tree for each processor.
        let mut len = SIDE_BY_SIDE / 2;
        while len > 0 {
            for index in 0..len {
                partial[index] = combine(partial[index], partial[index + len]);
            }
            len /= 2;
        }
        sum = combine(sum, partial[0]);
    }
    sum
}

/// Columns whose sums fit on the stack.
const COLUMNS: usize = 256;

#[inline(always)]
fn fold_columns<T: Copy>(
    start: T,
    combine: &impl Fn(T, T) -> T,
    matrix: &[T],
    columns: usize,
    output: &mut [T],
) {
    for first in (0..columns).step_by(COLUMNS) {
        let len = COLUMNS.min(columns - first);
        let output = &mut output[first..][..len];
        for block in matrix.chunks(BLOCK * columns) {
            let mut partial = [start; COLUMNS];
            let partial = &mut partial[..len];
            for row in block.chunks_exact(columns) {
                for (partial, &x) in partial.iter_mut().zip(&row[first..][..len]) {
                    *partial = combine(*partial, x);
                }
            }
            for (output, &partial) in output.iter_mut().zip(&*partial) {
                *output = combine(*output, partial);
            }
        }
    }
}

/// An element type for indices of elements.
pub trait Index: Copy + Send + Sync + 'static {
    /// Converts an index; keeps only the low bits that fit.
    #[must_use]
    fn from_place(place: usize) -> Self;
}

impl Index for i32 {
    fn from_place(place: usize) -> Self {
        place as Self
    }
}

impl Index for i64 {
    fn from_place(place: usize) -> Self {
        place as Self
    }
}

/// Returns the index of the greatest element along an axis, and the first of equal ones. NaN is not
/// greater than any number, so it is only found at index 0, if nothing is greater than `LOWEST`
/// there.
///
/// # Shapes
/// `input`: `shape`; `output`: `shape` without `axis`.
///
/// # Errors
/// If the axis does not exist or is empty, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0_i32; 2];
/// tfrt_compute::reduction::argmax(&[2, 3], 1, &[1, 3, 3, 9, 7, 8], &mut output)?;
/// assert_eq!(output, [1, 0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn argmax<T: Ordered, I: Index>(
    shape: &[usize],
    axis: isize,
    input: &[T],
    output: &mut [I],
) -> Result<(), ComputeError> {
    let axis = resolve_axis("argmax", axis, shape.len())?;
    let (outer, extent) = (checked_product("argmax", &shape[..axis])?, shape[axis]);
    let inner = checked_product("argmax", &shape[axis + 1..])?;
    check_len(
        "argmax",
        "input",
        checked_product("argmax", shape)?,
        input.len(),
    )?;
    check_len(
        "argmax",
        "output",
        checked_product("argmax", &[outer, inner])?,
        output.len(),
    )?;
    if output.is_empty() {
        return Ok(());
    }
    if extent == 0 {
        return Err(ComputeError::new(format!(
            "argmax: expected elements along axis {axis}, found the shape {shape:?}"
        )));
    }
    for (matrix, output) in input
        .chunks_exact(extent * inner)
        .zip(output.chunks_exact_mut(inner))
    {
        for (column, output) in output.iter_mut().enumerate() {
            let (mut place, mut best) = (0, T::LOWEST);
            for (index, &x) in matrix[column..].iter().step_by(inner).enumerate() {
                if x > best {
                    (place, best) = (index, x);
                }
            }
            *output = I::from_place(place);
        }
    }
    Ok(())
}

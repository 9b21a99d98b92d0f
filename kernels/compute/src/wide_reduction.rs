//! Reductions of single-precision numbers along one run of axes, whose sums are computed in double
//! precision.
//!
//! [`crate::reduction`] reduces any axes of any type, in the type of the elements.

use crate::error::{ComputeError, check_len, checked_product};
use crate::lanes::vectorised;

/// The function that combines the elements of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideReduction {
    /// The sum.
    Sum,
    /// The sum divided by the count.
    Mean,
    /// The sum of the absolute values.
    SumAbsolutes,
    /// The sum of the squares.
    SumSquares,
    /// The square root of the sum of the squares.
    Norm,
    /// The greatest; NaN if there is one.
    Max,
    /// The least; NaN if there is one.
    Min,
}

/// Columns whose sums are computed at a time: they stay in the first-level cache.
const COLUMNS: usize = 256;

/// Numbers of a row that are added at a time.
const LANES: usize = 16;

/// Reduces the middle axis of `input`, `[outer, len, inner]`, to `output`, `[outer, inner]`. The
/// sum of nothing is 0, and the extremes of nothing are infinite.
///
/// # Errors
/// If the length of a slice does not match its shape; the output is then unchanged.
///
/// ```
/// use tfrt_compute::wide_reduction::{WideReduction, reduce};
///
/// let mut output = [0.0; 2];
/// reduce(WideReduction::Mean, [1, 2, 2], &[1.0, 2.0, 3.0, 5.0], &mut output)?;
/// assert_eq!(output, [2.0, 3.5]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn reduce(
    function: WideReduction,
    [outer, len, inner]: [usize; 3],
    input: &[f32],
    output: &mut [f32],
) -> Result<(), ComputeError> {
    let input_len = checked_product("reduction", &[outer, len, inner])?;
    check_len("reduction", "input", input_len, input.len())?;
    check_len(
        "reduction",
        "output",
        checked_product("reduction", &[outer, inner])?,
        output.len(),
    )?;
    let sets = Sets { len, inner };
    let count = len as f64;
    let add = |sum: f64, x: f64| sum + x;
    vectorised(
        #[inline(always)]
        || match function {
            WideReduction::Sum => sets.fold(input, output, 0.0, add, add, |sum| sum),
            WideReduction::Mean => sets.fold(input, output, 0.0, add, add, |sum| sum / count),
            WideReduction::SumAbsolutes => {
                sets.fold(input, output, 0.0, |sum, x| sum + x.abs(), add, |sum| sum);
            }
            WideReduction::SumSquares => {
                sets.fold(input, output, 0.0, |sum, x| sum + x * x, add, |sum| sum);
            }
            WideReduction::Norm => {
                sets.fold(input, output, 0.0, |sum, x| sum + x * x, add, f64::sqrt);
            }
            WideReduction::Max => {
                let max = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
                sets.fold(input, output, f64::NEG_INFINITY, max, max, |x| x);
            }
            WideReduction::Min => {
                let min = |a: f64, b: f64| if b < a || b.is_nan() { b } else { a };
                sets.fold(input, output, f64::INFINITY, min, min, |x| x);
            }
        },
    );
    Ok(())
}

/// Sets of `len` numbers, `inner` of which lie side by side.
#[derive(Clone, Copy)]
struct Sets {
    len: usize,
    inner: usize,
}

impl Sets {
    #[inline(always)]
    fn fold(
        self,
        input: &[f32],
        output: &mut [f32],
        first: f64,
        take: impl Fn(f64, f64) -> f64 + Copy,
        join: impl Fn(f64, f64) -> f64 + Copy,
        finish: impl Fn(f64) -> f64 + Copy,
    ) {
        let Self { len, inner } = self;
        if input.is_empty() {
            output.fill(finish(first) as f32);
            return;
        }
        if inner == 1 {
            for (row, out) in input.chunks_exact(len).zip(output) {
                let mut found = [first; LANES];
                let (chunks, rest) = row.as_chunks::<LANES>();
                for chunk in chunks {
                    for (found, &x) in found.iter_mut().zip(chunk) {
                        *found = take(*found, x.into());
                    }
                }
                let rest = rest.iter().fold(first, |found, &x| take(found, x.into()));
                let found = found.iter().fold(rest, |a, &b| join(a, b));
                *out = finish(found) as f32;
            }
            return;
        }
        let sets = input.chunks_exact(len * inner);
        for (set, output) in sets.zip(output.chunks_exact_mut(inner)) {
            for (block, output) in output.chunks_mut(COLUMNS).enumerate() {
                let mut found = [first; COLUMNS];
                let found = &mut found[..output.len()];
                for row in set.chunks_exact(inner) {
                    let row = &row[block * COLUMNS..][..found.len()];
                    for (found, &x) in found.iter_mut().zip(row) {
                        *found = take(*found, x.into());
                    }
                }
                for (out, &found) in output.iter_mut().zip(&*found) {
                    *out = finish(found) as f32;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_the_definition() {
        for [outer, len, inner] in [[3, 50, 1], [2, 7, 300], [4, 1, 5], [2, 16, 2], [2, 0, 3]] {
            let input: Vec<f32> = (0..outer * len * inner)
                .map(|at| ((at * 37 % 101) as f32 - 50.0) / 8.0)
                .collect();
            let of = |at: usize| {
                let (row, column) = (at / inner, at % inner);
                (0..len).map(move |step| (row * len + step) * inner + column)
            };
            let sum = |at: usize, of_one: fn(f64) -> f64| -> f64 {
                of(at).map(|place| of_one(input[place].into())).sum()
            };
            type Definition<'a> = Box<dyn Fn(usize) -> f64 + 'a>;
            let cases: [(WideReduction, Definition<'_>); 7] = [
                (WideReduction::Sum, Box::new(|at| sum(at, |x| x))),
                (
                    WideReduction::Mean,
                    Box::new(|at| sum(at, |x| x) / len as f64),
                ),
                (
                    WideReduction::SumAbsolutes,
                    Box::new(|at| sum(at, f64::abs)),
                ),
                (WideReduction::SumSquares, Box::new(|at| sum(at, |x| x * x))),
                (
                    WideReduction::Norm,
                    Box::new(|at| sum(at, |x| x * x).sqrt()),
                ),
                (
                    WideReduction::Max,
                    Box::new(|at| {
                        let numbers = of(at).map(|place| f64::from(input[place]));
                        numbers.fold(f64::NEG_INFINITY, f64::max)
                    }),
                ),
                (
                    WideReduction::Min,
                    Box::new(|at| {
                        let numbers = of(at).map(|place| f64::from(input[place]));
                        numbers.fold(f64::INFINITY, f64::min)
                    }),
                ),
            ];
            for (function, expected) in cases {
                let mut output = vec![9.0; outer * inner];
                reduce(function, [outer, len, inner], &input, &mut output).unwrap();
                for (at, &found) in output.iter().enumerate() {
                    // Eighths are exact, and so are their sums.
                    let expected = expected(at) as f32;
                    let is_same = found == expected || found.is_nan() && expected.is_nan();
                    assert!(is_same, "{function:?} at {at}: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn a_number_that_is_none_is_an_extreme() {
        for place in [0, 17, 39] {
            let mut input = [1.0; 40];
            input[place] = f32::NAN;
            for function in [WideReduction::Max, WideReduction::Min] {
                for shape in [[1, 40, 1], [1, 20, 2]] {
                    let mut output = vec![0.0; shape[2]];
                    reduce(function, shape, &input, &mut output).unwrap();
                    assert!(output[place % shape[2]].is_nan(), "{function:?} {shape:?}");
                }
            }
        }
    }
}

//! Functions of two tensors, element by element: arithmetic and comparisons.
//!
//! [`apply`] and [`apply_in_place`] take tensors of equal length; [`broadcast`] broadcasts them to
//! a common shape first.

use crate::broadcast::{Broadcast, Run};
use crate::element::{Arithmetic, Ordered};
use crate::error::{ComputeError, check_len};
use crate::lanes::{FEW, vectorised};

/// An arithmetic function of two numbers, as defined by [`Arithmetic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `left + right`.
    Add,
    /// `left - right`.
    Sub,
    /// `left · right`.
    Mul,
    /// `left / right`.
    Div,
}

/// A comparison of two numbers. Every comparison with NaN is false, except `NotEqual`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `left == right`.
    Equal,
    /// `left != right`.
    NotEqual,
    /// `left < right`.
    Less,
    /// `left <= right`.
    LessEqual,
    /// `left > right`.
    Greater,
    /// `left >= right`.
    GreaterEqual,
}

/// A choice between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The greater one; NaN on the left is kept, NaN on the right is ignored.
    Max,
    /// The lesser one; NaN on the left is kept, NaN on the right is ignored.
    Min,
}

/// Computes `output[i] = f(left[i], right[i])`.
///
/// # Panics
/// If the slices differ in length.
///
/// ```
/// use tfrt_compute::binary::{self, Binary};
///
/// let mut output = [0; 2];
/// binary::apply(Binary::Sub, &[5, 7], &[1, 9], &mut output);
/// assert_eq!(output, [4, -2]);
/// ```
pub fn apply<T: Arithmetic>(function: Binary, left: &[T], right: &[T], output: &mut [T]) {
    assert_eq!(
        left.len(),
        output.len(),
        "left side and output of a function of two tensors"
    );
    assert_eq!(
        right.len(),
        output.len(),
        "right side and output of a function of two tensors"
    );
    stretch(function, left, right, output);
}

/// Computes [`apply`], where a side may also have a single element, which is repeated.
///
/// # Panics
/// If a side has more than one element, but not as many as the output.
///
/// ```
/// use tfrt_compute::binary::{self, Binary};
///
/// let mut output = [0; 2];
/// binary::stretch(Binary::Sub, &[5], &[1, 9], &mut output);
/// assert_eq!(output, [4, -4]);
/// ```
pub fn stretch<T: Arithmetic>(function: Binary, left: &[T], right: &[T], output: &mut [T]) {
    let stride = |len: usize, side: &str| match len {
        len if len == output.len() => 1,
        1 => 0,
        len => panic!(
            "{side} side of a function of two tensors: expected {} elements or one, found {len}",
            output.len()
        ),
    };
    let run = Run {
        len: output.len(),
        left: stride(left.len(), "left"),
        right: stride(right.len(), "right"),
    };
    if run.len <= FEW {
        for (index, out) in output.iter_mut().enumerate() {
            let (x, y) = (left[index * run.left], right[index * run.right]);
            *out = for_arithmetic!(function, T, f => f(x, y));
        }
        return;
    }
    vectorised(
        #[inline(always)]
        || arithmetic_run(function, left, right, run, output),
    );
}

/// Computes `target[i] = f(target[i], right[i])`.
///
/// # Panics
/// If the slices differ in length.
pub fn apply_in_place<T: Arithmetic>(function: Binary, target: &mut [T], right: &[T]) {
    assert_eq!(
        right.len(),
        target.len(),
        "right side and target of a function of two tensors"
    );
    vectorised(
        #[inline(always)]
        || {
            for_arithmetic!(function, T, f => target.iter_mut().zip(right).for_each(|(x, &y)| *x = f(*x, y)));
        },
    );
}

/// Computes `output = f(left, right)`, both broadcast to the common shape.
///
/// # Errors
/// If the length of a slice does not match its shape; the output is then unchanged.
///
/// ```
/// use tfrt_compute::binary::{self, Binary};
/// use tfrt_compute::broadcast::Broadcast;
///
/// let mut output = [0.0; 6];
/// let shapes = Broadcast::new(&[2, 3], &[3])?;
/// binary::broadcast(Binary::Add, &shapes, &[0., 0., 0., 10., 10., 10.], &[1., 2., 3.], &mut output)?;
/// assert_eq!(output, [1., 2., 3., 11., 12., 13.]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn broadcast<T: Arithmetic>(
    function: Binary,
    shapes: &Broadcast,
    left: &[T],
    right: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    check(shapes, left.len(), right.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            shapes.for_each_run(
                #[inline(always)]
                |at, l, r, run| {
                    arithmetic_run(
                        function,
                        &left[l..],
                        &right[r..],
                        run,
                        &mut output[at..][..run.len],
                    )
                },
            );
        },
    );
    Ok(())
}

/// A side of a function of two tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first operand.
    Left,
    /// The second one.
    Right,
}

/// Computes [`broadcast`] into the memory of one side, which must already have the common shape:
/// `target = f(target, other)` if it is the left one, and `target = f(other, target)` if it is the
/// right one.
///
/// # Errors
/// If the length of a slice does not match its shape, or the target would have to be broadcast; it
/// is then unchanged.
///
/// ```
/// use tfrt_compute::binary::{self, Binary, Side};
/// use tfrt_compute::broadcast::Broadcast;
///
/// let mut target = [1., 2., 3.];
/// let shapes = Broadcast::new(&[], &[3])?;
/// binary::broadcast_in_place(Binary::Sub, &shapes, Side::Right, &mut target, &[10.])?;
/// assert_eq!(target, [9., 8., 7.]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn broadcast_in_place<T: Arithmetic>(
    function: Binary,
    shapes: &Broadcast,
    side: Side,
    target: &mut [T],
    other: &[T],
) -> Result<(), ComputeError> {
    let (left_len, right_len) = match side {
        Side::Left => (target.len(), other.len()),
        Side::Right => (other.len(), target.len()),
    };
    check(shapes, left_len, right_len, target.len())?;
    vectorised(
        #[inline(always)]
        || {
            shapes.for_each_run(
                #[inline(always)]
                |at, l, r, run| {
                    // The target is not stretched, so that its runs are where those of the output
                    // are.
                    let target = &mut target[at..][..run.len];
                    let (start, is_single) = match side {
                        Side::Left => (r, run.right == 0),
                        Side::Right => (l, run.left == 0),
                    };
                    let other = if is_single {
                        &other[start..=start]
                    } else {
                        &other[start..][..run.len]
                    };
                    for_arithmetic!(function, T, f => match (side, other) {
                        (Side::Left, &[y]) => target.iter_mut().for_each(|x| *x = f(*x, y)),
                        (Side::Right, &[x]) => target.iter_mut().for_each(|y| *y = f(x, *y)),
                        (Side::Left, ys) => target.iter_mut().zip(ys).for_each(|(x, &y)| *x = f(*x, y)),
                        (Side::Right, xs) => target.iter_mut().zip(xs).for_each(|(y, &x)| *y = f(x, *y)),
                    });
                },
            );
        },
    );
    Ok(())
}

/// Compares `left` with `right`, both broadcast to the common shape.
///
/// # Errors
/// If the length of a slice does not match its shape; the output is then unchanged.
pub fn compare<T: PartialOrd + Copy>(
    comparison: Comparison,
    shapes: &Broadcast,
    left: &[T],
    right: &[T],
    output: &mut [bool],
) -> Result<(), ComputeError> {
    check(shapes, left.len(), right.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            shapes.for_each_run(
                #[inline(always)]
                |at, l, r, run| {
                    compare_run(
                        comparison,
                        &left[l..],
                        &right[r..],
                        run,
                        &mut output[at..][..run.len],
                    )
                },
            );
        },
    );
    Ok(())
}

/// Returns the greater or the lesser of each two elements, both sides broadcast to the common
/// shape.
///
/// # Errors
/// If the length of a slice does not match its shape; the output is then unchanged.
pub fn choose<T: Ordered>(
    choice: Choice,
    shapes: &Broadcast,
    left: &[T],
    right: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    check(shapes, left.len(), right.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            shapes.for_each_run(
                #[inline(always)]
                |at, l, r, run| {
                    let output = &mut output[at..][..run.len];
                    match choice {
                        Choice::Max => run_of(&left[l..], &right[r..], run, output, |x, y| {
                            if y > x { y } else { x }
                        }),
                        Choice::Min => run_of(&left[l..], &right[r..], run, output, |x, y| {
                            if y < x { y } else { x }
                        }),
                    }
                },
            );
        },
    );
    Ok(())
}

/// Computes `output[i] = 1` where `left[i] == right[i]`, else `0`, in the tensors' own element
/// type.
///
/// # Panics
/// If the slices differ in length.
pub fn equal<T: Arithmetic>(left: &[T], right: &[T], output: &mut [T]) {
    assert_eq!(
        left.len(),
        output.len(),
        "left side and output of a comparison"
    );
    assert_eq!(
        right.len(),
        output.len(),
        "right side and output of a comparison"
    );
    vectorised(
        #[inline(always)]
        || {
            for ((&x, &y), output) in left.iter().zip(right).zip(output) {
                *output = if x == y { T::ONE } else { T::default() };
            }
        },
    );
}

/// Computes `target[i] = 1` where `target[i] == right[i]`, else `0`.
///
/// # Panics
/// If the slices differ in length.
pub fn equal_in_place<T: Arithmetic>(target: &mut [T], right: &[T]) {
    assert_eq!(
        right.len(),
        target.len(),
        "right side and target of a comparison"
    );
    vectorised(
        #[inline(always)]
        || {
            for (x, &y) in target.iter_mut().zip(right) {
                *x = if *x == y { T::ONE } else { T::default() };
            }
        },
    );
}

/// Computes `target[i] += factor · summand[i]`: a step of gradient descent with `-rate`.
///
/// # Panics
/// If the slices differ in length.
pub fn add_scaled_in_place<T: Arithmetic>(target: &mut [T], factor: T, summand: &[T]) {
    assert_eq!(summand.len(), target.len(), "target and summand");
    vectorised(
        #[inline(always)]
        || {
            target
                .iter_mut()
                .zip(summand)
                .for_each(|(x, &y)| *x = x.plus(factor.times(y)))
        },
    );
}

fn check(shapes: &Broadcast, left: usize, right: usize, output: usize) -> Result<(), ComputeError> {
    check_len("broadcast", "left", shapes.left_len(), left)?;
    check_len("broadcast", "right", shapes.right_len(), right)?;
    check_len("broadcast", "output", shapes.output_len(), output)
}

/// Chooses the function outside of the loop: one loop for each.
macro_rules! for_arithmetic {
    ($function:expr, $T:ty, $f:ident => $loop:expr) => {
        match $function {
            Binary::Add => {
                let $f = <$T>::plus;
                $loop
            }
            Binary::Sub => {
                let $f = <$T>::minus;
                $loop
            }
            Binary::Mul => {
                let $f = <$T>::times;
                $loop
            }
            Binary::Div => {
                let $f = <$T>::over;
                $loop
            }
        }
    };
}
use for_arithmetic;

#[inline(always)]
fn arithmetic_run<T: Arithmetic>(
    function: Binary,
    left: &[T],
    right: &[T],
    run: Run,
    output: &mut [T],
) {
    for_arithmetic!(function, T, f => run_of(left, right, run, output, f));
}

#[inline(always)]
fn compare_run<T: PartialOrd + Copy>(
    comparison: Comparison,
    left: &[T],
    right: &[T],
    run: Run,
    output: &mut [bool],
) {
    match comparison {
        Comparison::Equal => run_of(left, right, run, output, |x, y| x == y),
        Comparison::NotEqual => run_of(left, right, run, output, |x, y| x != y),
        Comparison::Less => run_of(left, right, run, output, |x, y| x < y),
        Comparison::LessEqual => run_of(left, right, run, output, |x, y| x <= y),
        Comparison::Greater => run_of(left, right, run, output, |x, y| x > y),
        Comparison::GreaterEqual => run_of(left, right, run, output, |x, y| x >= y),
    }
}

/// Returns one loop for each way in which the sides move.
#[inline(always)]
fn run_of<T: Copy, U: Copy>(
    left: &[T],
    right: &[T],
    run: Run,
    output: &mut [U],
    f: impl Fn(T, T) -> U,
) {
    match (run.left, run.right) {
        (0, 0) => {
            if !output.is_empty() {
                output.fill(f(left[0], right[0]));
            }
        }
        (0, _) => {
            let Some(&x) = left.first() else { return };
            output
                .iter_mut()
                .zip(&right[..run.len])
                .for_each(|(out, &y)| *out = f(x, y));
        }
        (_, 0) => {
            let Some(&y) = right.first() else { return };
            output
                .iter_mut()
                .zip(&left[..run.len])
                .for_each(|(out, &x)| *out = f(x, y));
        }
        _ => {
            let sides = left[..run.len].iter().zip(&right[..run.len]);
            output
                .iter_mut()
                .zip(sides)
                .for_each(|(out, (&x, &y))| *out = f(x, y));
        }
    }
}

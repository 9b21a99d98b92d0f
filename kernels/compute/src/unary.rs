//! Functions of one tensor, element by element.
//!
//! All functions work on slices of equal length: `output[i] = f(input[i])`. Accuracies are those of
//! [`crate::math`].

use crate::element::Ordered;
use crate::lanes::{FEW, vectorised};
use crate::math::Real;

/// A function of one floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unary {
    /// The number without its sign.
    Abs,
    /// `-x`.
    Neg,
    /// `0` for negative numbers; NaN is kept.
    Relu,
    /// Clamped to `0..=6`; NaN is kept.
    Relu6,
    /// `eˣ - 1` for negative numbers.
    Elu,
    /// `eˣ`.
    Exp,
    /// The natural logarithm.
    Ln,
    /// `ln(1 + x)`.
    Ln1p,
    /// The square root.
    Sqrt,
    /// `1 / √x`.
    Rsqrt,
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

/// Applies a function.
///
/// # Panics
/// If the slices differ in length.
///
/// ```
/// use tfrt_compute::unary::{self, Unary};
///
/// let mut output = [0.0_f32; 2];
/// unary::apply(Unary::Rsqrt, &[4.0, 0.25], &mut output);
/// assert_eq!(output, [0.5, 2.0]);
/// ```
pub fn apply<T: Real>(function: Unary, input: &[T], output: &mut [T]) {
    assert_eq!(
        input.len(),
        output.len(),
        "input and output of a function of one tensor"
    );
    for_function(function, Separate { input, output });
}

/// Computes `output[i] = function(input[i])`, with the best instructions of the processor if the
/// function is simple.
///
/// # Panics
/// If the slices differ in length.
///
/// ```
/// use tfrt_compute::unary;
///
/// let mut output = [0; 2];
/// unary::map(&[1.5_f32, -2.5], &mut output, |x| x as i32);
/// assert_eq!(output, [1, -2]);
/// ```
pub fn map<T: Copy, U>(input: &[T], output: &mut [U], function: impl Fn(T) -> U) {
    assert_eq!(
        input.len(),
        output.len(),
        "input and output of a function of one tensor"
    );
    vectorised(
        #[inline(always)]
        || {
            for (y, &x) in output.iter_mut().zip(input) {
                *y = function(x);
            }
        },
    );
}

/// Applies a function in place.
pub fn apply_in_place<T: Real>(function: Unary, tensor: &mut [T]) {
    for_function(function, InPlace { tensor });
}

/// `0` where negative, for every ordered element type; a NaN stays.
///
/// # Panics
/// If the slices differ in length.
pub fn relu<T: Ordered>(input: &[T], output: &mut [T]) {
    assert_eq!(input.len(), output.len(), "input and output of relu");
    if input.len() <= FEW {
        return relu_of_each(input, output);
    }
    vectorised(
        #[inline(always)]
        || relu_of_each(input, output),
    );
}

#[inline(always)]
fn relu_of_each<T: Ordered>(input: &[T], output: &mut [T]) {
    for (&x, y) in input.iter().zip(output) {
        *y = if x < T::default() { T::default() } else { x };
    }
}

/// [`relu`] in place.
pub fn relu_in_place<T: Ordered>(tensor: &mut [T]) {
    vectorised(
        #[inline(always)]
        || {
            tensor
                .iter_mut()
                .for_each(|x| *x = if *x < T::default() { T::default() } else { *x })
        },
    );
}

/// The gradient of [`relu`]: `gradient`, but `0` where `activation` is not positive.
///
/// # Panics
/// If the slices differ in length.
pub fn relu_gradient_in_place<T: Ordered>(activation: &[T], gradient: &mut [T]) {
    assert_eq!(
        activation.len(),
        gradient.len(),
        "activation and gradient of relu"
    );
    vectorised(
        #[inline(always)]
        || {
            for (&x, g) in activation.iter().zip(gradient) {
                // A product, as a NaN or an infinity in the gradient of a dead unit is to be seen.
                *g = g.times(if x > T::default() {
                    T::ONE
                } else {
                    T::default()
                });
            }
        },
    );
}

/// The source and the destination of a function.
trait Traversal<T> {
    fn each(self, function: impl Fn(T) -> T);
}

struct Separate<'a, T> {
    input: &'a [T],
    output: &'a mut [T],
}

impl<T: Copy> Traversal<T> for Separate<'_, T> {
    #[inline(always)]
    fn each(self, function: impl Fn(T) -> T) {
        vectorised(
            #[inline(always)]
            || {
                self.input
                    .iter()
                    .zip(self.output)
                    .for_each(|(&x, y)| *y = function(x))
            },
        );
    }
}

struct InPlace<'a, T> {
    tensor: &'a mut [T],
}

impl<T: Copy> Traversal<T> for InPlace<'_, T> {
    #[inline(always)]
    fn each(self, function: impl Fn(T) -> T) {
        vectorised(
            #[inline(always)]
            || self.tensor.iter_mut().for_each(|x| *x = function(*x)),
        );
    }
}

/// One loop for each function, so that each is vectorised for itself.
#[inline(always)]
fn for_function<T: Real>(function: Unary, traversal: impl Traversal<T>) {
    let zero = T::from(0);
    macro_rules! each {
        ($x:ident => $value:expr) => {
            traversal.each(
                #[inline(always)]
                |$x| $value,
            )
        };
    }
    match function {
        Unary::Abs => each!(x => x.abs()),
        Unary::Neg => each!(x => -x),
        Unary::Relu => each!(x => if x < zero { zero } else { x }),
        Unary::Relu6 => each!(x => {
            let x = if x < zero { zero } else { x };
            if x > T::from(6) { T::from(6) } else { x }
        }),
        Unary::Elu => each!(x => x.elu()),
        Unary::Exp => each!(x => x.exp()),
        Unary::Ln => each!(x => x.ln()),
        Unary::Ln1p => each!(x => x.ln_1p()),
        Unary::Sqrt => each!(x => x.sqrt()),
        Unary::Rsqrt => each!(x => x.rsqrt()),
        Unary::Sigmoid => each!(x => x.sigmoid()),
        Unary::Tanh => each!(x => x.tanh()),
    }
}

//! Functions that are fused with the end of a matrix product or a convolution.

use crate::lanes::vectorised;
use crate::math::Real;
use crate::special;
use crate::tile::Clamp;

/// The last function that is applied to an output element.
///
/// ```
/// use tfrt_compute::Activation;
///
/// let mut elements = [-2.0_f32, 0.5, 4.0];
/// Activation::Clip(-1.0, 1.0).apply_in_place(&mut elements);
/// assert_eq!(elements, [-1.0, 0.5, 1.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// `0` for negative values; NaN is kept.
    Relu,
    /// Clamped to `0..=6`; NaN is kept.
    Relu6,
    /// Clamped to a range; NaN is kept.
    Clip(f32, f32),
    /// `eˣ - 1` for negative values.
    Elu,
    /// This factor for negative values.
    LeakyRelu(f32),
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `max(0, min(1, alpha · x + beta))`.
    HardSigmoid(f32, f32),
    /// `x · max(0, min(1, x / 6 + 1 / 2))`.
    HardSwish,
    /// `x / (1 + e^(-alpha · x))`.
    Swish(f32),
    /// `x · Φ(x)`, by the error function.
    Gelu,
    /// The approximation of `x · Φ(x)` by the hyperbolic tangent.
    GeluTanh,
    /// `x · tanh(ln(1 + eˣ))`.
    Mish,
    /// `ln(1 + eˣ)`.
    Softplus,
    /// The error function.
    Erf,
}

impl Activation {
    /// Applies the function to each element.
    pub fn apply_in_place<T: Real>(self, elements: &mut [T]) {
        vectorised(
            #[inline(always)]
            || {
                let (low, high) = match self {
                    Self::Relu => (Some(0.0), None),
                    Self::Relu6 => (Some(0.0), Some(6.0)),
                    Self::Clip(low, high) => (Some(low), Some(high)),
                    _ => (None, None),
                };
                if let Some(low) = low.map(T::from_f32) {
                    for element in elements.iter_mut() {
                        *element = if *element < low { low } else { *element };
                    }
                }
                if let Some(high) = high.map(T::from_f32) {
                    for element in elements.iter_mut() {
                        *element = if *element > high { high } else { *element };
                    }
                }
                self.finish(elements);
            },
        );
    }

    pub(crate) fn clamp<T: Real>(self) -> Clamp<T> {
        match self {
            Self::Relu => Clamp::AtLeast(T::from(0)),
            Self::Relu6 => Clamp::Between(T::from(0), T::from(6)),
            Self::Clip(low, high) => Clamp::Between(T::from_f32(low), T::from_f32(high)),
            _ => Clamp::None,
        }
    }

    /// Returns `true` if a [`Clamp`] cannot express the function.
    pub(crate) fn has_finish(self) -> bool {
        !matches!(self, Self::None | Self::Relu | Self::Relu6 | Self::Clip(..))
    }

    /// Applies the part of the function that a [`Clamp`] cannot express.
    #[inline(always)]
    pub(crate) fn finish<T: Real>(self, elements: &mut [T]) {
        match self {
            Self::None | Self::Relu | Self::Relu6 | Self::Clip(..) => {}
            Self::Elu => each(elements, T::elu),
            Self::LeakyRelu(factor) => {
                let factor = T::from_f32(factor);
                each(elements, |x| if x < T::from(0) { factor * x } else { x });
            }
            Self::Sigmoid => each(elements, T::sigmoid),
            Self::Tanh => each(elements, T::tanh),
            Self::HardSigmoid(alpha, beta) => {
                let (alpha, beta) = (f64::from(alpha), f64::from(beta));
                wide(elements, |x| special::clamped(alpha * x + beta));
            }
            Self::HardSwish => wide(elements, special::hard_swish),
            Self::Swish(factor) => {
                let factor = f64::from(factor);
                wide(elements, |x| special::swish(x, factor));
            }
            Self::Gelu => wide(elements, special::gelu),
            Self::GeluTanh => wide(elements, special::gelu_tanh),
            Self::Mish => wide(elements, special::mish),
            Self::Softplus => wide(elements, special::softplus),
            Self::Erf => wide(elements, special::erf),
        }
    }
}

#[inline(always)]
fn each<T: Copy>(elements: &mut [T], function: impl Fn(T) -> T) {
    for element in elements {
        *element = function(*element);
    }
}

/// Applies a function in double precision.
#[inline(always)]
fn wide<T: Real>(elements: &mut [T], function: impl Fn(f64) -> f64) {
    for element in elements {
        *element = T::from_f64(function(element.to_f64()));
    }
}

//! Functions that are fused with the end of a matrix product or a convolution.

use crate::tile::Clamp;

/// The last function that is applied to an output element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// `0` for negative values; NaN is kept.
    Relu,
    /// Clamped to `0..=6`; NaN is kept.
    Relu6,
    /// `eˣ - 1` for negative values.
    Elu,
}

impl Activation {
    pub(crate) fn clamp<T: From<i8>>(self) -> Clamp<T> {
        match self {
            Self::None | Self::Elu => Clamp::None,
            Self::Relu => Clamp::AtLeast(T::from(0)),
            Self::Relu6 => Clamp::Between(T::from(0), T::from(6)),
        }
    }

    /// Applies the part of the function that a [`Clamp`] cannot express.
    #[inline(always)]
    pub(crate) fn finish<T: crate::math::Real>(self, elements: &mut [T]) {
        if self == Self::Elu {
            for element in elements {
                *element = element.elu();
            }
        }
    }
}

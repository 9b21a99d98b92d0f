//! Conversions between element types.
//!
//! Floating-point numbers round to nearest; conversions to integers truncate and saturate, and NaN
//! becomes 0. Integers keep their low bits. A Boolean is 0 or 1; a number is true if it is not
//! zero.

use half::{bf16, f16};
use tfrt_support::rounding::round_to_odd;

use crate::lanes::vectorised;

/// An element type that converts to `T`.
pub trait CastTo<T>: Copy {
    /// Returns the value in the other type.
    #[must_use]
    fn cast(self) -> T;
}

/// Computes `output[i] = input[i]`, converted.
///
/// # Panics
/// If the slices differ in length.
///
/// ```
/// let mut output = [0_i8; 3];
/// tfrt_compute::cast::cast(&[1.9_f32, -1.9, 300.0], &mut output);
/// assert_eq!(output, [1, -1, 127]);
/// ```
pub fn cast<T: CastTo<U>, U>(input: &[T], output: &mut [U]) {
    assert_eq!(input.len(), output.len(), "input and output of a cast");
    vectorised(
        #[inline(always)]
        || input.iter().zip(output).for_each(|(&x, y)| *y = x.cast()),
    );
}

macro_rules! primitives {
    ($($T:ty)* => $targets:tt) => {$(
        primitives!(@from $T => $targets);
        impl CastTo<bool> for $T {
            #[inline(always)]
            fn cast(self) -> bool {
                self != <$T>::default()
            }
        }
        impl CastTo<$T> for bool {
            #[inline(always)]
            fn cast(self) -> $T {
                u8::from(self) as $T
            }
        }
        halves!(@with $T);
    )*};
    (@from $T:ty => ($($U:ty)*)) => {$(
        impl CastTo<$U> for $T {
            #[inline(always)]
            fn cast(self) -> $U {
                self as $U
            }
        }
    )*};
}

macro_rules! halves {
    (@with $T:ty) => {
        halves!(@each $T, f16 bf16);
    };
    (@each $T:ty, $($Half:ident)*) => {$(
        impl CastTo<$Half> for $T {
            #[inline(always)]
            fn cast(self) -> $Half {
                // By way of `f64`, which holds every other type's values except 64-bit integers
                // above 2⁵³: those round twice.
                $Half::from_f32(round_to_odd(self as f64))
            }
        }
        impl CastTo<$T> for $Half {
            #[inline(always)]
            fn cast(self) -> $T {
                self.to_f32() as $T
            }
        }
    )*};
    ($($T:ident)*) => {$(
        impl CastTo<bool> for $T {
            #[inline(always)]
            fn cast(self) -> bool {
                self.to_f32() != 0.0
            }
        }
        impl CastTo<$T> for bool {
            #[inline(always)]
            fn cast(self) -> $T {
                $T::from_f32(f32::from(u8::from(self)))
            }
        }
        halves!(@between $T, f16 bf16);
    )*};
    (@between $T:ident, $($U:ident)*) => {$(
        impl CastTo<$U> for $T {
            #[inline(always)]
            fn cast(self) -> $U {
                $U::from_f32(self.to_f32())
            }
        }
    )*};
}

primitives!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 => (u8 u16 u32 u64 i8 i16 i32 i64 f32 f64));
halves!(f16 bf16);

impl CastTo<bool> for bool {
    #[inline(always)]
    fn cast(self) -> bool {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_double_precision_are_rounded_once() {
        let above_middle = 1.0 + 2.0_f64.powi(-11) + 2.0_f64.powi(-40);
        let rounded: f16 = above_middle.cast();
        assert_eq!(rounded.to_f64(), 1.0 + 2.0_f64.powi(-10));
        let above_middle = 1.0 + 2.0_f64.powi(-8) + 2.0_f64.powi(-40);
        let rounded: bf16 = above_middle.cast();
        assert_eq!(rounded.to_f64(), 1.0 + 2.0_f64.powi(-7));
    }
}

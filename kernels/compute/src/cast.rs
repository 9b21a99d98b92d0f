//! Conversions between element types.
//!
//! Floating-point numbers round to nearest; conversions to integers truncate and saturate, and NaN
//! becomes 0. Integers keep their low bits. A Boolean is 0 or 1; a number is true if it is not
//! zero.

use half::slice::HalfFloatSliceExt;
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

/// Half-precision numbers, converted many at a time with the instructions that processors have for
/// them.
///
/// ```
/// use tfrt_compute::cast::Half;
/// use half::f16;
///
/// let mut halves = [f16::ZERO; 2];
/// f16::narrow(&[1.0, 1.0 + 1.0 / 4096.0], &mut halves);
/// assert_eq!(halves, [f16::ONE; 2]);
/// let mut numbers = [0.0; 2];
/// f16::widen(&halves, &mut numbers);
/// assert_eq!(numbers, [1.0; 2]);
/// ```
pub trait Half: Copy {
    /// Converts halves to single precision.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn widen(input: &[Self], output: &mut [f32]);

    /// Rounds numbers of single precision to halves.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn narrow(input: &[f32], output: &mut [Self]);
}

impl Half for f16 {
    fn widen(input: &[Self], output: &mut [f32]) {
        input.convert_to_f32_slice(output);
    }

    fn narrow(input: &[f32], output: &mut [Self]) {
        output.convert_from_f32_slice(input);
    }
}

impl Half for bf16 {
    fn widen(input: &[Self], output: &mut [f32]) {
        cast(input, output);
    }

    fn narrow(input: &[f32], output: &mut [Self]) {
        assert_eq!(input.len(), output.len(), "input and output of a cast");
        vectorised(
            #[inline(always)]
            || {
                for (y, &x) in output.iter_mut().zip(input) {
                    *y = bf16::from_f32(x);
                }
            },
        );
    }
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

/// 1.5 · 2²³, see [`truncations`].
const WHOLE_F32: f32 = 12_582_912.0;

/// 1.5 · 2⁵², see [`truncations`].
const WHOLE_F64: f64 = 6_755_399_441_055_744.0;

/// Conversions from `$T` to integers, computed in `$Wide`. Results are those of `as`, but loops
/// over them are compiled to vectors, which a conversion `as` prevents.
///
/// The number is limited to the range of the type. Near `$WHOLE`, neighbours differ by one, so that
/// the bits of a sum with this number count up or down from its bits, the last of which are zero:
/// they are those of the integer.
macro_rules! truncations {
    ($($T:ty => $Wide:ty, $WHOLE:ident: ($($U:ty)*);)*) => {$($(
        impl CastTo<$U> for $T {
            #[inline(always)]
            fn cast(self) -> $U {
                const LEAST: $Wide = <$U>::MIN as $Wide;
                const GREATEST: $Wide = <$U>::MAX as $Wide;
                let number = <$Wide>::from(self);
                // A NaN passes both comparisons, and becomes 0.
                let raised = if number < LEAST { LEAST } else { number };
                let limited = if raised > GREATEST { GREATEST } else { raised };
                let limited = if limited.is_nan() { 0.0 } else { limited };
                (limited.trunc() + $WHOLE).to_bits() as $U
            }
        }
    )*)*};
}

truncations! {
    f32 => f32, WHOLE_F32: (u8 u16 i8 i16);
    f32 => f64, WHOLE_F64: (u32 i32);
    f64 => f64, WHOLE_F64: (u8 u16 u32 i8 i16 i32);
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
                self.to_f32().cast()
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

primitives!(u8 u16 u32 u64 i8 i16 i32 i64 => (u8 u16 u32 u64 i8 i16 i32 i64 f32 f64));
primitives!(f32 f64 => (u64 i64 f32 f64));
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

    /// Numbers of every size and of both signs, those next to the bounds of integers, and those
    /// that are not numbers.
    fn numbers() -> Vec<f64> {
        let bits = (0..=u32::MAX).step_by(65_521).map(f32::from_bits);
        let mut numbers: Vec<f64> = bits.map(f64::from).collect();
        for power in [0, 7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64] {
            let bound = 2.0_f64.powi(power);
            for near in [bound, bound - 1.0, bound - 0.5, bound + 0.5, bound + 1.0] {
                let narrow = near as f32;
                numbers.extend([near, -near, near.next_up(), -near.next_down()]);
                numbers.extend([narrow.next_up(), -narrow.next_down()].map(f64::from));
            }
        }
        numbers.extend([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
        numbers
    }

    macro_rules! check_truncations {
        ($($T:ident to $($U:ident)*;)*) => {$(
            let from: Vec<$T> = numbers().into_iter().map(|number| number as $T).collect();
            $({
                let mut to = vec![0; from.len()];
                cast::<$T, $U>(&from, &mut to);
                for (from, to) in from.iter().zip(to) {
                    assert_eq!(to, *from as $U, "{from} as {}", stringify!($U));
                }
            })*
        )*};
    }

    #[test]
    fn conversions_to_integers_are_those_of_the_language() {
        check_truncations! {
            f32 to u8 u16 u32 u64 i8 i16 i32 i64;
            f64 to u8 u16 u32 u64 i8 i16 i32 i64;
        }
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut to = vec![0; halves.len()];
        cast::<f16, i16>(&halves, &mut to);
        for (half, to) in halves.iter().zip(to) {
            assert_eq!(to, half.to_f32() as i16, "{half}");
        }
    }

    #[test]
    fn slices_of_halves_are_converted_like_each_of_them() {
        let numbers: Vec<f32> = numbers().into_iter().map(|number| number as f32).collect();
        let mut halves = vec![f16::ZERO; numbers.len()];
        f16::narrow(&numbers, &mut halves);
        let mut brains = vec![bf16::ZERO; numbers.len()];
        bf16::narrow(&numbers, &mut brains);
        for ((&number, half), brain) in numbers.iter().zip(&halves).zip(&brains) {
            let expected: (f16, bf16) = (number.cast(), number.cast());
            if number.is_nan() {
                assert!(half.is_nan() && brain.is_nan(), "{number}");
            } else {
                assert_eq!(half.to_bits(), expected.0.to_bits(), "{number}");
                assert_eq!(brain.to_bits(), expected.1.to_bits(), "{number}");
            }
        }
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut wide = vec![0.0; halves.len()];
        f16::widen(&halves, &mut wide);
        for (half, wide) in halves.iter().zip(wide) {
            let is_same = half.to_f32() == wide || (half.is_nan() && wide.is_nan());
            assert!(is_same, "{half}");
        }
    }

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

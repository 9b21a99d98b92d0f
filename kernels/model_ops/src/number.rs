//! Element types for computations.
//!
//! Integers wrap around. Half-precision numbers are computed in single precision, and every
//! operation rounds once.

use half::{bf16, f16};
use tfrt::support::rounding::round_to_odd;
use tfrt_tensor::Element;

/// An element that is a number.
pub(crate) trait Number: Element + PartialOrd {
    /// Whether the type has fractions, infinities and NaN.
    const IS_REAL: bool;
    /// The least value: `-∞` if it exists.
    const LEAST: Self;
    /// The greatest value: `∞` if it exists.
    const GREATEST: Self;
    /// Converts the number to double precision.
    fn to_f64(self) -> f64;
    /// Returns the nearest element; integers saturate, and NaN becomes 0.
    fn of_f64(value: f64) -> Self;
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
    /// Returns the remainder, with the sign of the divisor or of the dividend, or `None` for a
    /// division of integers by zero.
    fn remainder(self, other: Self, has_sign_of_dividend: bool) -> Option<Self>;
    /// Returns `self` to the power of a number.
    fn power(self, exponent: f64) -> Self;

    /// Returns `true` if the number is NaN.
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
}

macro_rules! impl_integer {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            const IS_REAL: bool = false;
            const LEAST: Self = <$ty>::MIN;
            const GREATEST: Self = <$ty>::MAX;
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn of_f64(value: f64) -> Self {
                value as $ty
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn remainder(self, other: Self, has_sign_of_dividend: bool) -> Option<Self> {
                if other == 0 {
                    return None;
                }
                let remainder = self.wrapping_rem(other);
                #[allow(unused_comparisons, reason = "unsigned numbers are never negative")]
                let differs = remainder != 0 && (remainder < 0) != (other < 0);
                Some(if differs && !has_sign_of_dividend { remainder.wrapping_add(other) } else { remainder })
            }
            fn power(self, exponent: f64) -> Self {
                // Whole exponents are exact, and wrap around.
                match exponent as u32 {
                    whole if f64::from(whole) == exponent => self.wrapping_pow(whole),
                    _ => (self as f64).powf(exponent) as $ty,
                }
            }
        }
    )*};
}

impl_integer!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! impl_real {
    ($($ty:ty, $wide:ty, $to:expr, $of:expr;)*) => {$(
        impl Number for $ty {
            const IS_REAL: bool = true;
            const LEAST: Self = <$ty>::NEG_INFINITY;
            const GREATEST: Self = <$ty>::INFINITY;
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn of_f64(value: f64) -> Self {
                let narrow: fn(f64) -> $ty = $of;
                narrow(value)
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn remainder(self, other: Self, has_sign_of_dividend: bool) -> Option<Self> {
                let widen: fn($ty) -> $wide = $to;
                let (x, y) = (widen(self), widen(other));
                let remainder = x % y;
                let differs = remainder != 0.0 && (remainder < 0.0) != (y < 0.0);
                let remainder = if differs && !has_sign_of_dividend { remainder + y } else { remainder };
                Some(Self::of_f64(f64::from(remainder)))
            }
            fn power(self, exponent: f64) -> Self {
                Self::of_f64(f64::from(self).powf(exponent))
            }
        }
    )*};
}

impl_real! {
    f16, f32, f32::from, |x| f16::from_f32(round_to_odd(x));
    bf16, f32, f32::from, |x| bf16::from_f32(round_to_odd(x));
    f32, f32, |x| x, |x| x as f32;
    f64, f64, |x| x, |x| x;
}

/// Runs `$work` with `$T` as the type of elements, if these are numbers.
macro_rules! with_number {
    ($op:expr, $dtype:expr, $T:ident => $work:expr) => {
        $crate::number::with_type!($op, $dtype, $T in [
            Ui8 => u8, Ui16 => u16, Ui32 => u32, Ui64 => u64, I8 => i8, I16 => i16, I32 => i32, I64 => i64,
            F16 => half::f16, Bf16 => half::bf16, F32 => f32, F64 => f64
        ] => $work)
    };
}

/// Runs `$work` with `$T` as the type of elements, if these are real numbers.
macro_rules! with_real {
    ($op:expr, $dtype:expr, $T:ident => $work:expr) => {
        $crate::number::with_type!($op, $dtype, $T in [
            F16 => half::f16, Bf16 => half::bf16, F32 => f32, F64 => f64
        ] => $work)
    };
}

/// Runs `$work` with `$T` as the type of elements, if these are integers.
macro_rules! with_integer {
    ($op:expr, $dtype:expr, $T:ident => $work:expr) => {
        $crate::number::with_type!($op, $dtype, $T in [
            Ui8 => u8, Ui16 => u16, Ui32 => u32, Ui64 => u64, I8 => i8, I16 => i16, I32 => i32, I64 => i64
        ] => $work)
    };
}

macro_rules! with_type {
    ($op:expr, $dtype:expr, $T:ident in [$($name:ident => $ty:ty),*] => $work:expr) => {
        match $dtype {
            $(tfrt::prelude::DType::$name => {
                type $T = $ty;
                $work
            })*
            other => Err($crate::unsupported($op, other)),
        }
    };
}

/// Runs `$work` with `$N` as the size of elements in bytes, whatever they are.
macro_rules! with_size {
    ($op:expr, $dtype:expr, $N:ident => $work:expr) => {{
        let dtype = $dtype;
        match dtype.size_bytes() {
            Some(1) => {
                const $N: usize = 1;
                $work
            }
            Some(2) => {
                const $N: usize = 2;
                $work
            }
            Some(4) => {
                const $N: usize = 4;
                $work
            }
            Some(8) => {
                const $N: usize = 8;
                $work
            }
            Some(16) => {
                const $N: usize = 16;
                $work
            }
            _ => Err($crate::unsupported($op, dtype)),
        }
    }};
}

pub(crate) use {with_integer, with_number, with_real, with_size, with_type};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_that_is_asked_for() {
        assert_eq!(Number::remainder(-7_i32, 3, false), Some(2));
        assert_eq!(Number::remainder(-7_i32, 3, true), Some(-1));
        assert_eq!(Number::remainder(7_i8, 0, true), None);
        assert_eq!(Number::remainder(i64::MIN, -1, true), Some(0));
        assert_eq!(Number::remainder(-7.5_f32, 2.0, true), Some(-1.5));
        assert_eq!(Number::remainder(-7.5_f32, 2.0, false), Some(0.5));
    }

    #[test]
    fn integers_wrap_and_conversions_saturate() {
        assert_eq!(Number::plus(i8::MAX, 1), i8::MIN);
        assert_eq!(Number::power(3_i32, 2.0), 9);
        assert_eq!(Number::power(4_i32, 0.5), 2);
        assert_eq!(<u8 as Number>::of_f64(-3.0), 0);
        assert_eq!(<i32 as Number>::of_f64(f64::NAN), 0);
    }
}

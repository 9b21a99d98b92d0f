//! The operators and methods of numbers in the Rust form of a device function.
//!
//! `#[tfrt_device]` writes `add(a, b)` for `a + b` and `exp(x)` for `x.exp()`. The functions here
//! are total: they neither panic nor depend on the kind of build. [`crate::ptx`] emits the same
//! operations.

use crate::math::{double, single};

/// Numbers with `+`, `-`, `*`, `/`, `min`, `max` and `clamp`.
#[diagnostic::on_unimplemented(
    message = "device functions cannot calculate with `{Self}`",
    label = "expected `i32`, `u32`, `i64`, `u64`, `f32` or `f64`"
)]
pub trait Number: Copy + PartialOrd {
    /// Returns the sum; integers wrap around.
    fn add(self, other: Self) -> Self;
    /// Returns the difference; integers wrap around.
    fn sub(self, other: Self) -> Self;
    /// Returns the product; integers wrap around.
    fn mul(self, other: Self) -> Self;
    /// Returns the quotient; of an integer and 0 it is 0.
    fn div(self, other: Self) -> Self;
    /// Returns the smaller number; -0 is less than +0, and a NaN loses.
    fn min(self, other: Self) -> Self;
    /// Returns the greater number.
    fn max(self, other: Self) -> Self;
}

/// Numbers with a sign.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no sign",
    label = "expected `i32`, `i64`, `f32` or `f64`"
)]
pub trait Signed: Number {
    /// Returns the opposite; `MIN` stays.
    fn neg(self) -> Self;
    /// Returns the number without its sign; `MIN` stays.
    fn abs(self) -> Self;
    /// Returns 1 or -1 with the sign of the number; 0 for the integer 0, and NaN for a NaN.
    fn signum(self) -> Self;
}

/// Integers.
#[diagnostic::on_unimplemented(
    message = "device functions have this operation for integers only, found `{Self}`",
    label = "expected `i32`, `u32`, `i64` or `u64`; for the remainder of floats, write \
             `x - (x / y).trunc() * y`"
)]
pub trait Integer: Number {
    /// The type of the difference of two numbers.
    type Unsigned;
    /// Returns the remainder; of a number and 0 it is the number.
    fn rem(self, other: Self) -> Self;
    /// Shifts to the left, by the low bits of the amount.
    fn shl(self, amount: u32) -> Self;
    /// Shifts to the right, by the low bits of the amount; with the sign, if there is one.
    fn shr(self, amount: u32) -> Self;
    /// Returns the low bits, as the amount of a shift.
    fn amount(self) -> u32;
    /// Returns the difference without its sign.
    fn abs_diff(self, other: Self) -> Self::Unsigned;
    /// Returns the number of ones.
    fn count_ones(self) -> u32;
    /// Returns the number of zeros before the first one.
    fn leading_zeros(self) -> u32;
    /// Returns the number of zeros after the last one.
    fn trailing_zeros(self) -> u32;
    /// Rotates to the left.
    fn rotate_left(self, amount: u32) -> Self;
    /// Rotates to the right.
    fn rotate_right(self, amount: u32) -> Self;
}

/// Floats.
#[diagnostic::on_unimplemented(
    message = "device functions have this method for floats only, found `{Self}`",
    label = "expected `f32` or `f64`: convert with `as`"
)]
pub trait Float: Signed {
    /// The integer of the same size.
    type Bits;
    /// Returns the root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Rounds down.
    fn floor(self) -> Self;
    /// Rounds up.
    fn ceil(self) -> Self;
    /// Rounds towards zero.
    fn trunc(self) -> Self;
    /// Rounds to nearest, ties away from zero.
    fn round(self) -> Self;
    /// Rounds to nearest, ties to even.
    fn round_ties_even(self) -> Self;
    /// Returns the part behind the point, with the sign.
    fn fract(self) -> Self;
    /// Returns `1 / x`.
    fn recip(self) -> Self;
    /// Returns `x * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns the number with the sign of another.
    fn copysign(self, sign: Self) -> Self;
    /// Returns `true` for a NaN.
    fn is_nan(self) -> bool;
    /// Returns `true` for a number that is not infinite.
    fn is_finite(self) -> bool;
    /// Returns `true` for an infinity.
    fn is_infinite(self) -> bool;
    /// Returns `true` for a number with the sign `-`.
    fn is_sign_negative(self) -> bool;
    /// Returns `true` for a number with the sign `+`.
    fn is_sign_positive(self) -> bool;
    /// Returns the bits.
    fn to_bits(self) -> Self::Bits;
    /// Returns a power with an integer exponent.
    fn powi(self, exponent: i32) -> Self;
    /// Returns `e` to the power of the number.
    fn exp(self) -> Self;
    /// Returns `e` to the power of the number, minus 1.
    fn exp_m1(self) -> Self;
    /// Returns the natural logarithm.
    fn ln(self) -> Self;
    /// Returns the natural logarithm of the number plus 1.
    fn ln_1p(self) -> Self;
    /// Returns the hyperbolic sine.
    fn sinh(self) -> Self;
    /// Returns the hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Returns the arc sine.
    fn asin(self) -> Self;
    /// Returns the arc cosine.
    fn acos(self) -> Self;
    /// Returns the arc tangent.
    fn atan(self) -> Self;
    /// Returns the angle of the point (x, y); the number is y.
    fn atan2(self, x: Self) -> Self;
}

/// Floats of single precision, which have all math functions.
#[diagnostic::on_unimplemented(
    message = "device functions have this method for `f32` only, found `{Self}`",
    label = "convert with `as f32`"
)]
pub trait Single: Float {
    /// Returns 2 to the power of the number.
    fn exp2(self) -> Self;
    /// Returns the logarithm to base 2.
    fn log2(self) -> Self;
    /// Returns the logarithm to base 10.
    fn log10(self) -> Self;
    /// Returns the sine.
    fn sin(self) -> Self;
    /// Returns the cosine.
    fn cos(self) -> Self;
    /// Returns the tangent.
    fn tan(self) -> Self;
    /// Returns a power.
    fn powf(self, exponent: Self) -> Self;
    /// Returns the cube root.
    fn cbrt(self) -> Self;
    /// Returns the length of the vector (x, y).
    fn hypot(self, y: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ident $unsigned:ident)+) => {$(
        impl Number for $ty {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }
        }

        impl Integer for $ty {
            type Unsigned = $unsigned;
            #[inline(always)]
            fn rem(self, other: Self) -> Self {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn shl(self, amount: u32) -> Self {
                self.wrapping_shl(amount)
            }
            #[inline(always)]
            fn shr(self, amount: u32) -> Self {
                self.wrapping_shr(amount)
            }
            #[inline(always)]
            fn amount(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn abs_diff(self, other: Self) -> $unsigned {
                <$ty>::abs_diff(self, other)
            }
            #[inline(always)]
            fn count_ones(self) -> u32 {
                <$ty>::count_ones(self)
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                <$ty>::leading_zeros(self)
            }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 {
                <$ty>::trailing_zeros(self)
            }
            #[inline(always)]
            fn rotate_left(self, amount: u32) -> Self {
                <$ty>::rotate_left(self, amount)
            }
            #[inline(always)]
            fn rotate_right(self, amount: u32) -> Self {
                <$ty>::rotate_right(self, amount)
            }
        }
    )+};
}

integers! { i32 u32  u32 u32  i64 u64  u64 u64 }

macro_rules! signed_integers {
    ($($ty:ident)+) => {$(
        impl Signed for $ty {
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.wrapping_abs()
            }
            #[inline(always)]
            fn signum(self) -> Self {
                <$ty>::signum(self)
            }
        }
    )+};
}

signed_integers! { i32 i64 }

macro_rules! floats {
    ($($ty:ident $bits:ident $library:ident)+) => {$(
        impl Number for $ty {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other || other.is_nan() {
                    self
                } else if self == other {
                    // The bits differ only if these are zeros.
                    <$ty>::from_bits(self.to_bits() | other.to_bits())
                } else {
                    other
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other || other.is_nan() {
                    self
                } else if self == other {
                    <$ty>::from_bits(self.to_bits() & other.to_bits())
                } else {
                    other
                }
            }
        }

        impl Signed for $ty {
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$ty>::abs(self)
            }
            #[inline(always)]
            fn signum(self) -> Self {
                $library::signum(self)
            }
        }

        impl Float for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$ty>::sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                <$ty>::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                <$ty>::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                <$ty>::trunc(self)
            }
            #[inline(always)]
            fn round(self) -> Self {
                $library::round(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                <$ty>::round_ties_even(self)
            }
            #[inline(always)]
            fn fract(self) -> Self {
                self - <$ty>::trunc(self)
            }
            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$ty>::mul_add(self, a, b)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$ty>::copysign(self, sign)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$ty>::is_finite(self)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                <$ty>::is_infinite(self)
            }
            #[inline(always)]
            fn is_sign_negative(self) -> bool {
                <$ty>::is_sign_negative(self)
            }
            #[inline(always)]
            fn is_sign_positive(self) -> bool {
                <$ty>::is_sign_positive(self)
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$ty>::to_bits(self)
            }
            #[inline(always)]
            fn powi(self, exponent: i32) -> Self {
                $library::powi(self, exponent)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $library::exp(self)
            }
            #[inline(always)]
            fn exp_m1(self) -> Self {
                $library::exp_m1(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $library::ln(self)
            }
            #[inline(always)]
            fn ln_1p(self) -> Self {
                $library::ln_1p(self)
            }
            #[inline(always)]
            fn sinh(self) -> Self {
                $library::sinh(self)
            }
            #[inline(always)]
            fn cosh(self) -> Self {
                $library::cosh(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $library::tanh(self)
            }
            #[inline(always)]
            fn asin(self) -> Self {
                $library::asin(self)
            }
            #[inline(always)]
            fn acos(self) -> Self {
                $library::acos(self)
            }
            #[inline(always)]
            fn atan(self) -> Self {
                $library::atan(self)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                $library::atan2(self, x)
            }
        }
    )+};
}

floats! { f32 u32 single  f64 u64 double }

impl Single for f32 {
    #[inline(always)]
    fn exp2(self) -> Self {
        single::exp2(self)
    }
    #[inline(always)]
    fn log2(self) -> Self {
        single::log2(self)
    }
    #[inline(always)]
    fn log10(self) -> Self {
        single::log10(self)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        single::sin(self)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        single::cos(self)
    }
    #[inline(always)]
    fn tan(self) -> Self {
        single::tan(self)
    }
    #[inline(always)]
    fn powf(self, exponent: Self) -> Self {
        single::powf(self, exponent)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        single::cbrt(self)
    }
    #[inline(always)]
    fn hypot(self, y: Self) -> Self {
        single::hypot(self, y)
    }
}

/// The methods as functions, which the macro calls.
macro_rules! functions {
    ($($(#[$doc:meta])* $bound:ident: $name:ident($first:ident $(, $other:ident: $ty:ty)*) -> $result:ty;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: $bound>($first: T $(, $other: $ty)*) -> $result {
            $bound::$name($first $(, $other)*)
        }
    )+};
}

functions! {
    /// `a + b`
    Number: add(a, b: T) -> T;
    /// `a - b`
    Number: sub(a, b: T) -> T;
    /// `a * b`
    Number: mul(a, b: T) -> T;
    /// `a / b`
    Number: div(a, b: T) -> T;
    /// `a.min(b)`
    Number: min(a, b: T) -> T;
    /// `a.max(b)`
    Number: max(a, b: T) -> T;
    /// `-x`
    Signed: neg(x) -> T;
    /// `x.abs()`
    Signed: abs(x) -> T;
    /// `x.signum()`
    Signed: signum(x) -> T;
    /// `a % b`
    Integer: rem(a, b: T) -> T;
    /// `a.abs_diff(b)`
    Integer: abs_diff(a, b: T) -> T::Unsigned;
    /// `x.count_ones()`
    Integer: count_ones(x) -> u32;
    /// `x.leading_zeros()`
    Integer: leading_zeros(x) -> u32;
    /// `x.trailing_zeros()`
    Integer: trailing_zeros(x) -> u32;
    /// `x.rotate_left(amount)`
    Integer: rotate_left(x, amount: u32) -> T;
    /// `x.rotate_right(amount)`
    Integer: rotate_right(x, amount: u32) -> T;
    /// `x.sqrt()`
    Float: sqrt(x) -> T;
    /// `x.floor()`
    Float: floor(x) -> T;
    /// `x.ceil()`
    Float: ceil(x) -> T;
    /// `x.trunc()`
    Float: trunc(x) -> T;
    /// `x.round()`
    Float: round(x) -> T;
    /// `x.round_ties_even()`
    Float: round_ties_even(x) -> T;
    /// `x.fract()`
    Float: fract(x) -> T;
    /// `x.recip()`
    Float: recip(x) -> T;
    /// `x.mul_add(a, b)`
    Float: mul_add(x, a: T, b: T) -> T;
    /// `x.copysign(sign)`
    Float: copysign(x, sign: T) -> T;
    /// `x.is_nan()`
    Float: is_nan(x) -> bool;
    /// `x.is_finite()`
    Float: is_finite(x) -> bool;
    /// `x.is_infinite()`
    Float: is_infinite(x) -> bool;
    /// `x.is_sign_negative()`
    Float: is_sign_negative(x) -> bool;
    /// `x.is_sign_positive()`
    Float: is_sign_positive(x) -> bool;
    /// `x.to_bits()`
    Float: to_bits(x) -> T::Bits;
    /// `x.powi(exponent)`
    Float: powi(x, exponent: i32) -> T;
    /// `x.exp()`
    Float: exp(x) -> T;
    /// `x.exp_m1()`
    Float: exp_m1(x) -> T;
    /// `x.ln()`
    Float: ln(x) -> T;
    /// `x.ln_1p()`
    Float: ln_1p(x) -> T;
    /// `x.sinh()`
    Float: sinh(x) -> T;
    /// `x.cosh()`
    Float: cosh(x) -> T;
    /// `x.tanh()`
    Float: tanh(x) -> T;
    /// `x.asin()`
    Float: asin(x) -> T;
    /// `x.acos()`
    Float: acos(x) -> T;
    /// `x.atan()`
    Float: atan(x) -> T;
    /// `y.atan2(x)`
    Float: atan2(y, x: T) -> T;
    /// `x.exp2()`
    Single: exp2(x) -> T;
    /// `x.log2()`
    Single: log2(x) -> T;
    /// `x.log10()`
    Single: log10(x) -> T;
    /// `x.sin()`
    Single: sin(x) -> T;
    /// `x.cos()`
    Single: cos(x) -> T;
    /// `x.tan()`
    Single: tan(x) -> T;
    /// `x.powf(exponent)`
    Single: powf(x, exponent: T) -> T;
    /// `x.cbrt()`
    Single: cbrt(x) -> T;
    /// `x.hypot(y)`
    Single: hypot(x, y: T) -> T;
}

/// `x.clamp(low, high)`. If `low` is greater than `high`, the result is `low` for numbers below it,
/// and `high` for others above `high`.
#[inline(always)]
pub fn clamp<T: Number>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// `a << b`
#[inline(always)]
pub fn shl<T: Integer, A: Integer>(a: T, b: A) -> T {
    Integer::shl(a, b.amount())
}

/// `a >> b`
#[inline(always)]
pub fn shr<T: Integer, A: Integer>(a: T, b: A) -> T {
    Integer::shr(a, b.amount())
}

/// `a & b`
#[inline(always)]
pub fn and<T: std::ops::BitAnd<Output = T>>(a: T, b: T) -> T {
    a & b
}

/// `a | b`
#[inline(always)]
pub fn or<T: std::ops::BitOr<Output = T>>(a: T, b: T) -> T {
    a | b
}

/// `a ^ b`
#[inline(always)]
pub fn xor<T: std::ops::BitXor<Output = T>>(a: T, b: T) -> T {
    a ^ b
}

/// `f32::from_bits(bits)`
#[inline(always)]
#[must_use]
pub fn f32_from_bits(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// `f64::from_bits(bits)`
#[inline(always)]
#[must_use]
pub fn f64_from_bits(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The receiver of a method that is written as `f32::max(a, b)`.
#[inline(always)]
#[must_use]
pub fn is<T>(x: T) -> T {
    x
}

//! Arithmetic. Integers wrap around; division rounds towards zero.

use tfrt::prelude::*;

/// Numbers that kernels calculate with.
trait Number: Copy + PartialOrd {
    const ZERO: Self;

    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
}

macro_rules! impl_number {
    ($($ty:ty, $zero:literal: $sum:ident $difference:ident $product:ident $quotient:ident $remainder:ident;)*) => {$(
        impl Number for $ty {
            const ZERO: Self = $zero;

            #[inline]
            fn sum(self, other: Self) -> Self {
                self.$sum(other)
            }

            #[inline]
            fn difference(self, other: Self) -> Self {
                self.$difference(other)
            }

            #[inline]
            fn product(self, other: Self) -> Self {
                self.$product(other)
            }

            #[inline]
            fn quotient(self, other: Self) -> Self {
                self.$quotient(other)
            }

            #[inline]
            fn remainder(self, other: Self) -> Self {
                self.$remainder(other)
            }
        }
    )*};
}

use std::ops::{Add as _, Div as _, Mul as _, Rem as _, Sub as _};

impl_number! {
    i32, 0: wrapping_add wrapping_sub wrapping_mul wrapping_div wrapping_rem;
    i64, 0: wrapping_add wrapping_sub wrapping_mul wrapping_div wrapping_rem;
    f32, 0.0: add sub mul div rem;
    f64, 0.0: add sub mul div rem;
}

/// Returns `a`, or `b` if that is less. Not a number is less than nothing, so that `a` stays where
/// either is not one.
fn lesser<T: Number>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// Refuses a divisor of zero.
fn divisor<T: Number>(b: T) -> Result<T> {
    if b == T::ZERO {
        Err(Error::new("Divide by zero"))
    } else {
        Ok(b)
    }
}

/// Returns the sum of two numbers.
#[tfrt_kernel(
    "tfrt.add.{T}",
    T = [i32, i64, f32, f64],
    pure,
    chain = none,
    format = "operands attr-dict",
)]
fn add<T: Number>(a: T, b: T) -> T {
    a.sum(b)
}

/// Returns the product of two numbers.
#[tfrt_kernel("tfrt.mul.{T}", T = [i32, i64], pure, chain = none, format = "operands attr-dict")]
fn mul<T: Number>(a: T, b: T) -> T {
    a.product(b)
}

/// Returns the quotient and the remainder of two integers; the quotient is rounded towards zero.
///
/// # Errors
/// `Divide by zero`.
#[tfrt_kernel(
    "tfrt.div.{T}",
    T = [i32, i64],
    pure,
    chain = none,
    results(quotient, remainder),
    format = "operands attr-dict"
)]
fn div<T: Number>(a: T, b: T) -> Result<(T, T)> {
    let b = divisor(b)?;
    Ok((a.quotient(b), a.remainder(b)))
}

/// Returns the first number less the second.
#[tfrt_kernel("tfrt.minus.{T}", T = [i32, i64], effect_free)]
fn minus<T: Number>(a: T, b: T) -> T {
    a.difference(b)
}

/// Returns the product of two numbers.
#[tfrt_kernel("tfrt.multiply.{T}", T = [f32, f64], effect_free)]
fn multiply<T: Number>(a: T, b: T) -> T {
    a.product(b)
}

/// Returns the lesser of two numbers: the second if it is less than the first, otherwise the first,
/// also if either is NaN.
#[tfrt_kernel("tfrt.minimum.{T}", T = [f32, f64], effect_free)]
fn minimum<T: Number>(a: T, b: T) -> T {
    lesser(a, b)
}

/// Returns the quotient of two numbers.
///
/// # Errors
/// `Divide by zero`.
#[tfrt_kernel("tfrt.div.{T}", T = [f32, f64], effect_free)]
fn div_float<T: Number>(a: T, b: T) -> Result<T> {
    Ok(a.quotient(divisor(b)?))
}

/// Returns the sum of two numbers.
#[tfrt_kernel("tfrt.add_s.{T}", T = [i32, i64], sync)]
fn sync_add<T: Number>(a: T, b: T) -> T {
    a.sum(b)
}

/// Returns the product of two numbers.
#[tfrt_kernel("tfrt.mul_s.{T}", T = [i32, i64], sync, pure, format = "operands attr-dict")]
fn sync_mul<T: Number>(a: T, b: T) -> T {
    a.product(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_wrap_around() {
        assert_eq!(i32::MAX.sum(1), i32::MIN);
        assert_eq!(i64::MIN.difference(1), i64::MAX);
        assert_eq!(i32::MIN.quotient(-1), i32::MIN);
        assert_eq!(i64::MIN.remainder(-1), 0);
    }

    #[test]
    fn quotients_are_rounded_towards_zero() {
        assert_eq!(((-17).quotient(5), (-17).remainder(5)), (-3, -2));
    }

    #[test]
    fn the_first_number_stays_beside_one_that_is_none() {
        assert_eq!(lesser(1.0, f64::NAN), 1.0);
        assert!(lesser(f64::NAN, 1.0).is_nan());
        assert_eq!(lesser(1.5_f32, -0.25), -0.25);
    }

    #[test]
    fn negative_zero_divides_no_more_than_zero() {
        assert!(divisor(-0.0_f64).is_err());
    }
}

//! Exact and approximate comparisons of tensors.
//!
//! Nearly equal means, for two numbers x and y and a tolerance of U units in the last place: |x -
//! y| ≤ ε·|x + y|·U, or
//! |x - y| is less than the smallest normal number. ε is the gap between 1 and the next number. Parts of complex numbers are
//! compared one by one; integers and Booleans exactly.

use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, Element, I1, TensorError};

use crate::scalar::Scalar;

/// Elements that can be nearly equal.
pub(crate) trait Near: Element {
    /// Returns `true` if two elements differ by at most `ulps` units in the last place.
    fn is_near(self, other: Self, ulps: u32) -> bool;
}

macro_rules! impl_near_exact {
    ($($element:ty),+) => {$(
        impl Near for $element {
            #[inline]
            fn is_near(self, other: Self, _ulps: u32) -> bool {
                self == other
            }
        }
    )+};
}

impl_near_exact!(I1, i8, i32, i64, u8, u32);

macro_rules! impl_near_float {
    ($($element:ty),+) => {$(
        impl Near for $element {
            #[inline]
            fn is_near(self, other: Self, ulps: u32) -> bool {
                let difference = (self - other).abs();
                let ulps = ulps as Self;
                difference <= Self::EPSILON * (self + other).abs() * ulps || difference < Self::MIN_POSITIVE
            }
        }
    )+};
}

impl_near_float!(f32, f64);

impl<T: Near> Near for Complex<T>
where
    Self: Element,
{
    #[inline]
    fn is_near(self, other: Self, ulps: u32) -> bool {
        self.re.is_near(other.re, ulps) && self.im.is_near(other.im, ulps)
    }
}

/// Returns `true` if type, shape and all elements of two tensors agree.
pub(crate) fn all<E: Element>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    agree: impl Fn(E, E) -> bool,
) -> Result<bool, TensorError> {
    if a.metadata() != b.metadata() {
        return Ok(false);
    }
    let (a, b) = (a.elements::<E>()?, b.elements::<E>()?);
    Ok(a.iter().zip(&*b).all(|(a, b)| agree(*a, *b)))
}

/// Returns whether two tensors are equal: type, shape and all elements.
#[tfrt_kernel(
    "tfrt_dht.tensor_equal.{T}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    results(are_equal, out_chain),
    format = "operands attr-dict"
)]
fn tensor_equal<T: Scalar>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    in_chain: Chain,
) -> Result<(bool, Chain)> {
    Ok((all::<T::Element>(a, b, |a, b| a == b)?, in_chain))
}

/// Returns whether two tensors are equal: type, shape and all elements.
#[tfrt_kernel("tfrt_dht.tensor_equal.{T}", T = [i8, f64], results(are_equal, out_chain))]
fn tensor_equal_generic_form<T: Scalar>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    in_chain: Chain,
) -> Result<(bool, Chain)> {
    Ok((all::<T::Element>(a, b, |a, b| a == b)?, in_chain))
}

/// Returns whether two tensors have the same type and shape, and their elements differ by at most 2
/// units in the last place.
#[tfrt_kernel(
    "tfrt_dht.tensor_allclose.{T}",
    T = [u8 as "ui8", u32 as "ui32", f32, f64, i8, i32, i64, bool, Complex<f32> as "complex64",
         Complex<f64> as "complex128"],
    results(are_near, out_chain)
)]
fn tensor_allclose<T: Scalar<Element: Near>>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    in_chain: Chain,
) -> Result<(bool, Chain)> {
    Ok((all::<T::Element>(a, b, |a, b| a.is_near(b, 2))?, in_chain))
}

/// Returns whether two tensors have the same type and shape, and their elements differ by at most
/// as many units in the last place as the name states.
#[tfrt_kernel(
    "tfrt_dht.tensor_allclose.{ULPS}.{T}",
    ULPS = [3 as "3ulp", 1000 as "1000ulp", 2000 as "2000ulp", 100000 as "100000ulp"],
    T = [u8 as "ui8", u32 as "ui32", f32, f64, i8, i32, i64, bool, Complex<f32> as "complex64",
         Complex<f64> as "complex128"],
    results(are_near, out_chain)
)]
fn tensor_allclose_within<T: Scalar<Element: Near>, const ULPS: u32>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    in_chain: Chain,
) -> Result<(bool, Chain)> {
    Ok((
        all::<T::Element>(a, b, |a, b| a.is_near(b, ULPS))?,
        in_chain,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_near_and_not_equal() {
        let next = f32::from_bits(1.0_f32.to_bits() + 1);
        assert!(next.is_near(1.0, 2));
        assert!(!1.1_f32.is_near(1.0, 1000));
        assert!(1.0_f64.is_near(1.0 + 1e-13, 1000));
        assert!(!1.0_f64.is_near(1.0 + 1e-12, 1000));
    }

    #[test]
    fn tiny_numbers_are_near_zero() {
        let tiny = f32::from_bits(1);
        assert!(tiny.is_near(0.0, 2));
        assert!(!f32::MIN_POSITIVE.is_near(-f32::MIN_POSITIVE, 2));
    }

    #[test]
    fn what_is_not_a_number_is_near_nothing() {
        assert!(!f64::NAN.is_near(f64::NAN, 100_000));
        assert!(!f64::INFINITY.is_near(f64::INFINITY, 2));
    }

    #[test]
    fn whole_numbers_are_near_only_themselves() {
        assert!(7_i64.is_near(7, 1000) && !7_i64.is_near(8, 1000));
        let complex = Complex::new(1.0_f32, 2.0);
        assert!(complex.is_near(complex, 2) && !complex.is_near(Complex::new(1.0, -2.0), 2));
    }
}

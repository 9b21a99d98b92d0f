//! Floating-point arithmetic with any rounding mode, in software if the host does not support it.
//!
//! Every operation returns the nearest `f64` *and the side of it on which the exact result lies*.
//! Together they determine the correct rounding to any narrower format, without the error of
//! rounding twice: the pair is first folded into one number that is *rounded to odd*, whose last
//! bit is set if any bits were lost.

use std::cmp::Ordering;

use crate::types::ScalarType;

/// The rounding mode of inexact results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Rounding {
    #[default]
    Nearest,
    Zero,
    Down,
    Up,
}

/// A result: the nearest `f64`, and how the exact result compares with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    nearest: f64,
    rest: Ordering,
}

impl Exact {
    pub(crate) fn of(value: f64) -> Self {
        Self {
            nearest: value,
            rest: Ordering::Equal,
        }
    }

    pub(crate) fn of_integer(value: i128) -> Self {
        // At most 65 bits, so that the conversion back is exact.
        let nearest = value as f64;
        Self {
            nearest,
            rest: value.cmp(&(nearest as i128)),
        }
    }

    pub(crate) fn add(a: f64, b: f64) -> Self {
        let (sum, error) = two_sum(a, b);
        Self::with_error(sum, error, a.is_finite() && b.is_finite())
    }

    pub(crate) fn mul(a: f64, b: f64) -> Self {
        let product = a * b;
        Self::with_error(
            product,
            a.mul_add(b, -product),
            a.is_finite() && b.is_finite(),
        )
    }

    pub(crate) fn fma(a: f64, b: f64, c: f64) -> Self {
        let nearest = a.mul_add(b, c);
        if !nearest.is_finite() {
            return Self::with_error(
                nearest,
                f64::NAN,
                a.is_finite() && b.is_finite() && c.is_finite(),
            );
        }
        // The error of a fused operation is a sum of two numbers; only its sign is needed. (Boldo
        // and Muller, "Exact and approximated error of the FMA".)
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let (low, low_error) = two_sum(c, product_error);
        let (high, high_error) = two_sum(product, low);
        let rest = (high - nearest) + high_error;
        Self::with_error(nearest, rest + low_error, true)
    }

    pub(crate) fn div(a: f64, b: f64) -> Self {
        let quotient = a / b;
        let remainder = (-quotient).mul_add(b, a);
        Self::with_error(
            quotient,
            if b < 0.0 { -remainder } else { remainder },
            a.is_finite() && b.is_finite() && b != 0.0,
        )
    }

    pub(crate) fn sqrt(a: f64) -> Self {
        let root = a.sqrt();
        Self::with_error(root, (-root).mul_add(root, a), a.is_finite())
    }

    fn with_error(nearest: f64, error: f64, is_finite: bool) -> Self {
        let rest = if nearest.is_infinite() && is_finite {
            // It overflowed: the exact result is nearer to zero.
            0.0.partial_cmp(&nearest)
        } else if nearest.is_finite() {
            error.partial_cmp(&0.0)
        } else {
            None
        };
        Self {
            nearest,
            rest: rest.unwrap_or(Ordering::Equal),
        }
    }

    /// Returns the bits of the result in the format of `ty`.
    pub(crate) fn round(self, ty: ScalarType, rounding: Rounding) -> u64 {
        if self.nearest.is_nan() {
            return nan(ty);
        }
        if ty == ScalarType::F64 {
            return directed(self.nearest, self.rest, rounding).to_bits();
        }
        narrow(odd(self.nearest, self.rest), ty, rounding)
    }
}

/// Returns the sum and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// Cut towards zero, with the last bit set if anything was cut off.
fn odd(nearest: f64, rest: Ordering) -> f64 {
    if rest == Ordering::Equal {
        return nearest;
    }
    let bits = nearest.to_bits();
    if nearest == 0.0 {
        let tiny = f64::from_bits(1);
        return if rest == Ordering::Greater {
            tiny
        } else {
            -tiny
        };
    }
    let is_smaller = (rest == Ordering::Less) == (nearest > 0.0);
    f64::from_bits(if is_smaller { (bits - 1) | 1 } else { bits | 1 })
}

fn directed(nearest: f64, rest: Ordering, rounding: Rounding) -> f64 {
    match (rounding, rest) {
        (Rounding::Nearest, _) | (_, Ordering::Equal) => nearest,
        (Rounding::Down, Ordering::Less) => nearest.next_down(),
        (Rounding::Up, Ordering::Greater) => nearest.next_up(),
        (Rounding::Zero, Ordering::Less) if nearest > 0.0 => nearest.next_down(),
        (Rounding::Zero, Ordering::Greater) if nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

/// Returns the quiet NaN that every operation returns.
pub(crate) fn nan(ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F64 => 0x7fff_ffff_ffff_ffff,
        ScalarType::F32 => 0x7fff_ffff,
        _ => 0x7fff,
    }
}

/// Returns the number of a value of a floating-point type. Pairs are split before.
#[inline]
pub(crate) fn widen(bits: u64, ty: ScalarType) -> f64 {
    match ty {
        ScalarType::F32 => f64::from(f32::from_bits(bits as u32)),
        ScalarType::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        ScalarType::F16 => widen_f16(bits as u16),
        _ => f64::from_bits(bits),
    }
}

fn widen_f16(bits: u16) -> f64 {
    let magnitude = match (bits >> 10 & 31, bits & 0x3ff) {
        (0, fraction) => f64::from(fraction) * 2f64.powi(-24),
        (31, 0) => f64::INFINITY,
        (31, _) => f64::NAN,
        (exponent, fraction) => f64::from(1024 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Rounds a number to a narrower format, once.
pub(crate) fn narrow(value: f64, ty: ScalarType, rounding: Rounding) -> u64 {
    let (exponent_bits, fraction_bits) = match ty {
        ScalarType::F64 => {
            return if value.is_nan() {
                nan(ty)
            } else {
                value.to_bits()
            };
        }
        ScalarType::F32 => (8, 23),
        ScalarType::F16 => (5, 10),
        _ => (8, 7),
    };
    if value.is_nan() {
        return nan(ty);
    }
    let is_negative = value.is_sign_negative();
    let sign = u64::from(is_negative) << (exponent_bits + fraction_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    if value == 0.0 {
        return sign;
    }
    if value.is_infinite() {
        return sign | infinity;
    }
    // |value| is `significand` times two to the `exponent`.
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = if field == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, field - 1075)
    };
    let bias = (1 << (exponent_bits - 1)) - 1;
    // Two to the `quantum` is the place of the result's last bit.
    let top = exponent + 63 - significand.leading_zeros() as i32;
    let quantum = top.max(1 - bias) - fraction_bits;
    let shift = quantum - exponent;
    let magnitude = if shift <= 0 {
        significand << -shift
    } else {
        let (kept, cut) = if shift > 60 {
            (0, 1)
        } else {
            (significand >> shift, significand & ((1 << shift) - 1))
        };
        let half = if shift > 60 { 2 } else { 1u64 << (shift - 1) };
        let goes_up = match rounding {
            Rounding::Nearest => cut > half || (cut == half && kept & 1 == 1),
            Rounding::Zero => false,
            Rounding::Down => cut != 0 && is_negative,
            Rounding::Up => cut != 0 && !is_negative,
        };
        kept + u64::from(goes_up)
    };
    // The implicit bit of a normal number carries into the exponent.
    let result = (((quantum + fraction_bits + bias - 1) as u64) << fraction_bits) + magnitude;
    if result < infinity {
        return sign | result;
    }
    let stays_finite = match rounding {
        Rounding::Nearest => false,
        Rounding::Zero => true,
        Rounding::Down => !is_negative,
        Rounding::Up => is_negative,
    };
    sign | if stays_finite { infinity - 1 } else { infinity }
}

/// Zero with the same sign, if the `f32` is subnormal.
#[inline]
pub(crate) fn flush(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_16_bit_number_survives_widening() {
        for bits in 0..=u16::MAX {
            for ty in [ScalarType::F16, ScalarType::Bf16] {
                let value = widen(bits.into(), ty);
                let reference = match ty {
                    ScalarType::F16 => half::f16::from_bits(bits).to_f64(),
                    _ => half::bf16::from_bits(bits).to_f64(),
                };
                assert!(
                    value == reference || value.is_nan() && reference.is_nan(),
                    "{bits:#x} {ty:?}"
                );
                if !value.is_nan() {
                    assert_eq!(narrow(value, ty, Rounding::Nearest), bits.into());
                }
            }
        }
    }

    #[test]
    fn directed_roundings_enclose_the_exact_result() {
        let third = Exact::div(1.0, 3.0);
        let bits = |rounding| third.round(ScalarType::F32, rounding);
        assert_eq!(bits(Rounding::Down), 0x3eaa_aaaa);
        assert_eq!(bits(Rounding::Zero), 0x3eaa_aaaa);
        assert_eq!(bits(Rounding::Up), 0x3eaa_aaab);
        assert_eq!(bits(Rounding::Nearest), 0x3eaa_aaab);
        assert_eq!(narrow(1e300, ScalarType::F32, Rounding::Zero), 0x7f7f_ffff);
        assert_eq!(narrow(-1e300, ScalarType::F32, Rounding::Up), 0xff7f_ffff);
        assert_eq!(narrow(1e-300, ScalarType::F32, Rounding::Up), 1);
    }

    #[test]
    fn a_tie_that_is_not_quite_one_rounds_away() {
        // 1 + 2^-11 is half way between two f16; the last term decides, which an f64 alone would
        // lose.
        let exact = Exact::fma(1.0, 1.0 + 2f64.powi(-11), 2f64.powi(-60));
        assert_eq!(exact.round(ScalarType::F16, Rounding::Nearest), 0x3c01);
        let exact = Exact::fma(1.0, 1.0 + 2f64.powi(-11), -(2f64.powi(-60)));
        assert_eq!(exact.round(ScalarType::F16, Rounding::Nearest), 0x3c00);
    }

    #[test]
    fn large_integers_round_as_asked() {
        let value = i128::from(u64::MAX);
        assert_eq!(
            Exact::of_integer(value).round(ScalarType::F32, Rounding::Zero),
            0x5f7f_ffff
        );
        assert_eq!(
            Exact::of_integer(value).round(ScalarType::F64, Rounding::Zero),
            0x43ef_ffff_ffff_ffff
        );
        assert_eq!(
            Exact::of_integer(value).round(ScalarType::F64, Rounding::Nearest),
            0x43f0_0000_0000_0000
        );
    }
}

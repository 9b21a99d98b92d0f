//! The error function, and functions of neural networks that are computed in double precision and
//! rounded once.
//!
//! Like those of [`math`](crate::math), they are free of branches and calls, so that loops become
//! vector code. Results of single precision are within one unit in the last place.

use crate::math::Real;

/// Half of the constant term of the series of [`ERFC`].
const ERFC_CONSTANT: f64 = -1.302_653_719_781_709_4;

/// The Chebyshev coefficients of `ln(erfc(z) · e^(z²) / t)` with `t = 2 / (2 + z)`, from the
/// highest order down to the first. More of them would improve digits that single precision does
/// not have.
const ERFC: [f64; 16] = [
    9.646_791_1e-11,
    -2.273_651_22e-10,
    -9.913_641_56e-10,
    5.059_343_495e-9,
    6.529_054_439e-9,
    -8.523_809_591_5e-8,
    1.562_644_172_2e-8,
    1.303_655_835_580e-6,
    -1.624_290_004_647e-6,
    -2.027_857_811_253_4e-5,
    4.252_332_480_690_7e-5,
    3.668_394_978_527_61e-4,
    -9.465_953_444_820_36e-4,
    -9.561_514_786_808_63e-3,
    1.947_647_320_418_583_6e-2,
    6.419_697_923_564_902e-1,
];

/// Returns the complement of the error function, for `z` of at least zero.
#[inline(always)]
fn erfc_of_positive(z: f64) -> f64 {
    let t = 2.0 / (2.0 + z);
    let doubled = 4.0 * t - 2.0;
    let (mut sum, mut before) = (0.0, 0.0);
    for coefficient in ERFC {
        (sum, before) = (doubled * sum - before + coefficient, sum);
    }
    let exponent = 0.5 * (ERFC_CONSTANT + doubled * sum) - before - z * z;
    t * Real::exp(exponent)
}

/// Returns the error function.
#[inline(always)]
pub(crate) fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    let far = 1.0 - erfc_of_positive(magnitude);
    // Near zero the difference has too few digits.
    let square = x * x;
    let series = 1.0
        + square * (-1.0 / 3.0 + square * (0.1 + square * (-1.0 / 42.0 + square * (1.0 / 216.0))));
    let near = magnitude * std::f64::consts::FRAC_2_SQRT_PI * series;
    f64::select(magnitude < 0.1, near, far).copysign(x)
}

/// Returns `x · Φ(x)`, with the distribution function of the normal distribution.
#[inline(always)]
pub(crate) fn gelu(x: f64) -> f64 {
    let tail = 0.5 * erfc_of_positive(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
    x * f64::select(x < 0.0, tail, 1.0 - tail)
}

/// Returns `x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f64) -> f64 {
    let inner = 0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x);
    // Half of one plus the tangent is the logistic function of twice the argument.
    x * (inner + inner).sigmoid()
}

/// Returns `x / (1 + e^(-factor · x))`.
#[inline(always)]
pub(crate) fn swish(x: f64, factor: f64) -> f64 {
    x * (factor * x).sigmoid()
}

/// Returns `ln(1 + eˣ)`.
#[inline(always)]
pub(crate) fn softplus(x: f64) -> f64 {
    f64::select(x > 0.0, x, f64::select(x.is_nan(), x, 0.0)) + Real::ln_1p(Real::exp(-x.abs()))
}

/// Returns `x · tanh(ln(1 + eˣ))`.
#[inline(always)]
pub(crate) fn mish(x: f64) -> f64 {
    // Beyond this the tangent is one.
    let power = Real::exp(f64::select(x > 40.0, 40.0, x));
    let n = power * (power + 2.0);
    x * (n / (n + 2.0))
}

/// Returns `x · max(0, min(1, x / 6 + 1 / 2))`.
#[inline(always)]
pub(crate) fn hard_swish(x: f64) -> f64 {
    x * clamped(x / 6.0 + 0.5)
}

/// Returns a number clamped to `0..=1`; NaN is kept.
#[inline(always)]
pub(crate) fn clamped(x: f64) -> f64 {
    let x = if x < 0.0 { 0.0 } else { x };
    if x > 1.0 { 1.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a function against one that is computed in another way.
    #[track_caller]
    fn check(function: fn(f64) -> f64, oracle: fn(f64) -> f64, range: std::ops::Range<i32>) {
        for step in range {
            let x = f64::from(step) / 64.0;
            let (found, expected) = (function(x), oracle(x));
            let scale = expected.abs().max(1e-300);
            assert!(
                (found - expected).abs() <= 2e-9 * scale,
                "{x}: found {found:e}, expected {expected:e}"
            );
        }
    }

    #[test]
    fn functions_have_more_digits_than_single_precision() {
        check(erf, libm::erf, -400..400);
        check(
            gelu,
            |x| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
            -800..800,
        );
        check(
            softplus,
            |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
            -1000..1000,
        );
        check(
            mish,
            |x| x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh(),
            -900..1000,
        );
        check(
            |x| swish(x, 1.5),
            |x| x / (1.0 + (-1.5 * x).exp()),
            -900..900,
        );
        assert_eq!((erf(0.0), gelu(0.0)), (0.0, 0.0));
        assert_eq!((erf(f64::INFINITY), gelu(40.0)), (1.0, 40.0));
        for function in [erf, gelu, gelu_tanh, softplus, mish, hard_swish] {
            assert!(function(f64::NAN).is_nan());
        }
    }
}

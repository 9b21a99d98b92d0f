//! The error function, and functions of neural networks that are computed in double precision and
//! rounded once.
//!
//! Like those of [`math`](crate::math), they are free of branches and calls, so that loops become
//! vector code. Results of single precision are within one unit in the last place.

use crate::math::{Real, polynomial};

/// The variable of [`ERFC`] for an argument `z` is `1 / (1 + ERFC_SCALE · z)`.
const ERFC_SCALE: f64 = 0.36;

/// The polynomial `erfc(z) · e^(z²) / t` of `t = 1 / (1 + ERFC_SCALE · z)`, from the highest power
/// down: of this degree, the one with the least greatest relative error, which is 7e-11.
const ERFC: [f64; 14] = [
    0.013_058_365_494_074_187,
    -0.080_432_167_464_389_84,
    0.196_396_004_081_985_88,
    -0.231_396_292_749_813_02,
    0.139_575_399_244_194_06,
    -0.078_957_651_371_873_81,
    0.031_291_648_300_168_11,
    0.039_280_448_770_703_795,
    0.084_716_653_091_871_64,
    0.126_681_298_790_069_42,
    0.163_622_825_845_758_82,
    0.189_946_971_370_380_39,
    0.203_108_246_572_254_01,
    0.203_108_250_090_595_55,
];

/// The polynomial `eʳ` for `|r| ≤ ln(2) / 2`, from the highest power down: of this degree, the one
/// with the least greatest relative error, which is 4e-11.
const EXP: [f64; 8] = [
    1.977_515_899_512_764e-4,
    1.394_819_519_595_41e-3,
    8.333_561_180_104_728e-3,
    4.166_622_524_918_84e-2,
    0.166_666_651_252_192_9,
    0.500_000_010_459_881_8,
    1.000_000_000_243_292,
    0.999_999_999_961_650_9,
];

/// Powers of numbers below this are zero in single precision, whatever they are multiplied by.
const LEAST_EXPONENT: f64 = -700.0;

/// Returns `eˣ` for `x` of at most zero, with a relative error of 5e-11. That of [`Real`] has twice
/// as many digits and divides, which takes longer than all else here.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    // Adding 1.5 · 2⁵² rounds to an integer, and leaves it in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = f64::select(x < LEAST_EXPONENT, LEAST_EXPONENT, x);
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let r = (rounded - ROUND).mul_add(-std::f64::consts::LN_2, x);
    let power = rounded.to_bits().wrapping_sub(ROUND.to_bits());
    polynomial(r, EXP) * f64::from_bits(power.wrapping_add(1023) << 52)
}

/// Returns the complement of the error function, for `z` of at least zero.
#[inline(always)]
fn erfc_of_positive(z: f64) -> f64 {
    let t = 1.0 / z.mul_add(ERFC_SCALE, 1.0);
    t * polynomial(t, ERFC) * exp_of_negative(-z * z)
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

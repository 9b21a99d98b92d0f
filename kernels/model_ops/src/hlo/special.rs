//! Special functions: of the gamma, error and zeta families, and Bessel functions. All arithmetic
//! is in double precision.

use std::f64::consts::PI;

/// Computes the derivative of the logarithm of the gamma function.
pub(super) fn digamma(x: f64) -> f64 {
    if x == 0.0 || x == f64::NEG_INFINITY || x < 0.0 && x.fract() == 0.0 {
        return f64::NAN;
    }
    if x < 0.0 {
        // The reflection formula. The tangent has the period π, and near a pole only the distance
        // from it has all digits.
        return digamma(1.0 - x) - PI / (PI * (x - x.round())).tan();
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 16.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0
            - square
                * (1.0 / 120.0
                    - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square * (1.0 / 132.0)))));
    shift + x.ln() - 0.5 / x - series
}

/// Computes the inverse of the hyperbolic tangent. `f64::atanh` is less accurate for negative
/// numbers, near -1.
pub(super) fn inverse_tanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(x)
}

/// Computes the inverse of the error function by Newton's method from an estimate.
pub(super) fn inverse_erf(y: f64) -> f64 {
    if y.abs() >= 1.0 || y.is_nan() || y == 0.0 {
        return match y {
            1.0 => f64::INFINITY,
            -1.0 => f64::NEG_INFINITY,
            0.0 => y,
            _ => f64::NAN,
        };
    }
    // Winitzki's estimate, accurate to three digits.
    const A: f64 = 0.147;
    let logarithm = ((1.0 - y) * (1.0 + y)).ln();
    let half = 2.0 / (std::f64::consts::PI * A) + logarithm / 2.0;
    let mut x = ((half * half - logarithm / A).sqrt() - half)
        .sqrt()
        .copysign(y);
    for _ in 0..4 {
        // Near 1, only the complement distinguishes values.
        let error = match y.abs() < 0.5 {
            true => libm::erf(x) - y,
            false => (1.0 - y.abs() - libm::erfc(x.abs())) * y.signum(),
        };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        let step = error / slope;
        // Halley's correction of the step.
        x -= step / (1.0 + x * step);
    }
    x
}

/// Computes `exp(-|x|) · I₁(x)`, the exponentially scaled modified Bessel function of order 1.
pub(super) fn bessel_i1e(x: f64) -> f64 {
    /// Above this number, the asymptotic series has full precision.
    const LARGE: f64 = 30.0;
    let size = x.abs();
    if size.is_nan() {
        return x;
    }
    if size <= LARGE {
        // All terms of the power series have one sign.
        let quarter = size * size / 4.0;
        let (mut term, mut sum) = (x / 2.0, x / 2.0);
        for k in 1..200 {
            term *= quarter / (f64::from(k) * f64::from(k + 1));
            sum += term;
            if term.abs() <= sum.abs() * f64::EPSILON / 2.0 {
                break;
            }
        }
        return sum * (-size).exp();
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 0..40 {
        let odd = f64::from(2 * k + 1);
        term *= (odd * odd - 4.0) / (f64::from(k + 1) * 8.0 * size);
        sum += term;
    }
    (sum / (2.0 * PI * size).sqrt()).copysign(x)
}

/// Computes the Hurwitz zeta function: the sum of `(q + k)⁻ˣ` over all `k`. The result is NaN for
/// `q` below -1000, so that the time is bounded.
pub(super) fn zeta(x: f64, q: f64) -> f64 {
    /// The number of terms with a negative base that are summed one by one.
    const MOST_TERMS: f64 = 1e3;
    /// Bernoulli numbers of even index, from 2 on, divided by the factorials of their indices.
    const COEFFICIENTS: [f64; 10] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        -3_617.0 / 10_670_622_842_880_000.0,
        43_867.0 / 5_109_094_217_170_944_000.0,
        -174_611.0 / 802_857_662_698_291_200_000.0,
    ];
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x == 1.0 {
        return f64::INFINITY;
    }
    let is_whole = x.fract() == 0.0;
    if q <= 0.0 && q.fract() == 0.0 {
        // A pole, which odd powers approach with either sign.
        return if is_whole && x % 2.0 == 0.0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
    }
    if (q < 0.0 && !is_whole) || q < -MOST_TERMS {
        return f64::NAN;
    }
    let (mut sum, mut from) = (0.0, q);
    let mut count = 0;
    while count < 10 || from <= 10.0 {
        sum += from.powf(-x);
        from += 1.0;
        count += 1;
    }
    // The rest by the formula of Euler and Maclaurin.
    let power = from.powf(-x);
    sum += from * power / (x - 1.0) + power / 2.0;
    let mut factor = x * power / from;
    for (k, coefficient) in COEFFICIENTS.iter().enumerate() {
        sum += coefficient * factor;
        let index = x + 2.0 * k as f64 + 1.0;
        factor *= index * (index + 1.0) / (from * from);
    }
    sum
}

/// Computes a derivative of the digamma function: of order `n`, which must be a whole number.
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n < 0.0 || n.fract() != 0.0 || n.is_nan() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let size = libm::lgamma(n + 1.0).exp() * zeta(n + 1.0, x);
    if n % 2.0 == 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-13 * expected.abs(),
            "{found} {expected}"
        );
    }

    #[test]
    fn gamma_and_error_functions_are_right_to_many_digits() {
        near(digamma(1.0), -0.577_215_664_901_532_9);
        // The terms nearly cancel.
        let found = digamma(-0.5);
        assert!((found - 0.036_489_973_978_576_52).abs() < 1e-14, "{found}");
        // Near a pole.
        near(digamma(-2.0 - 2_f64.powi(-30)), 1_073_741_824.922_784_3);
        for x in [1e-9, 0.1, 0.5, 0.9, 1.7, 3.0, 5.0] {
            let y = libm::erf(x);
            // For larger numbers, `y` is too close to 1 to recover `x`.
            if x <= 1.7 {
                near(inverse_erf(y), x);
                near(inverse_erf(-y), -x);
            }
        }
        assert_eq!(inverse_erf(1.0), f64::INFINITY);
    }

    #[test]
    fn the_inverse_of_the_hyperbolic_tangent_is_odd() {
        for (x, expected) in [
            (0.5, 0.549_306_144_334_054_8),
            (0.975_942_435_549_751_6, 2.204_175_634_411_639),
            (1e-300, 1e-300),
        ] {
            let is_near = |found: f64| (found - expected).abs() <= 2.0 * f64::EPSILON * expected;
            assert!(
                is_near(inverse_tanh(x)) && is_near(-inverse_tanh(-x)),
                "{x}"
            );
        }
        assert_eq!(inverse_tanh(-1.0), f64::NEG_INFINITY);
        assert!(inverse_tanh(-0.0).is_sign_negative());
        assert!(inverse_tanh(1.5).is_nan() && inverse_tanh(f64::NAN).is_nan());
    }

    #[test]
    fn bessel_functions_agree_where_their_series_meet() {
        // e⁻¹ · I₁(1) and e⁻¹⁰ · I₁(10).
        near(bessel_i1e(1.0), 0.207_910_415_349_708_46);
        near(bessel_i1e(-10.0), -0.121_262_681_384_455_52);
        near(bessel_i1e(30.0), bessel_i1e(30.0_f64.next_up()));
        assert_eq!(bessel_i1e(0.0), 0.0);
        assert!(bessel_i1e(f64::NAN).is_nan());
    }

    #[test]
    fn zeta_has_its_known_values_and_poles() {
        near(zeta(2.0, 1.0), PI * PI / 6.0);
        near(zeta(4.0, 1.0), PI.powi(4) / 90.0);
        near(zeta(3.0, 2.0), 0.202_056_903_159_594_3);
        // The terms at -0.5 and 0.5, and the rest.
        near(zeta(2.0, -0.5), 4.0 + PI * PI / 2.0);
        assert_eq!(zeta(1.0, 3.0), f64::INFINITY);
        assert_eq!(zeta(2.0, -3.0), f64::INFINITY);
        assert!(zeta(3.0, -3.0).is_nan() && zeta(0.5, 1.0).is_nan());
        near(polygamma(1.0, 1.0), PI * PI / 6.0);
        near(polygamma(2.0, 1.0), -2.404_113_806_319_188_6);
        near(polygamma(0.0, 1.0), -0.577_215_664_901_532_9);
        assert!(polygamma(0.5, 1.0).is_nan());
    }
}

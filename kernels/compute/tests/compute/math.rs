//! Elementary functions against the standard library's in twice the precision, or in the same for
//! `f64`.

use tfrt_compute::math::Real;
use tfrt_compute::unary::{self, Unary};

use crate::support::{Function, Random};

/// Bit patterns of all exponents and signs, and the corners.
fn arguments() -> Vec<f32> {
    let mut arguments: Vec<f32> = (0..=u32::MAX).step_by(14_013).map(f32::from_bits).collect();
    arguments.extend((-4000..4000).map(|step| step as f32 / 40.0));
    arguments.extend((-4000..4000).map(|step| step as f32 / 4_000_000.0));
    arguments.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        f32::EPSILON,
    ]);
    arguments.extend([
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::from_bits(1),
        -f32::from_bits(1),
    ]);
    arguments
}

/// Returns the distance of `found` from `exact` in units in the last place of the latter.
fn ulps(found: f32, exact: f64) -> f64 {
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let rounded = exact as f32;
    if found == rounded {
        return 0.0;
    }
    if rounded.is_infinite() || found.is_infinite() {
        // The greatest number beside infinity is one unit off.
        return if found.abs() == f32::MAX || rounded.abs() == f32::MAX {
            1.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = rounded.abs().max(f32::MIN_POSITIVE).log2().floor();
    (f64::from(found) - exact).abs() / 2_f64.powf(f64::from(exponent) - 23.0)
}

#[track_caller]
fn check(function: Unary, bound: f64, exact: impl Fn(f64) -> f64) {
    let input = arguments();
    let mut output = vec![0.0; input.len()];
    unary::apply(function, &input, &mut output);
    let mut worst = (0.0, 0.0);
    for (&x, &y) in input.iter().zip(&output) {
        let distance = ulps(y, exact(f64::from(x)));
        if distance > worst.0 {
            worst = (distance, x);
        }
    }
    assert!(
        worst.0 <= bound,
        "{function:?}({:e}) is {} ULP off, allowed are {bound}",
        worst.1,
        worst.0
    );

    let mut in_place = input;
    unary::apply_in_place(function, &mut in_place);
    assert!(
        in_place
            .iter()
            .zip(&output)
            .all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())),
        "{function:?} in place"
    );
}

#[test]
fn exp_is_accurate() {
    check(Unary::Exp, 2.0, f64::exp);
}

#[test]
fn logarithms_are_accurate() {
    check(Unary::Ln, 2.0, f64::ln);
    check(Unary::Ln1p, 4.0, f64::ln_1p);
}

#[test]
fn hyperbolic_tangent_and_sigmoid_are_accurate() {
    check(Unary::Tanh, 4.0, f64::tanh);
    check(Unary::Sigmoid, 4.0, |x| 1.0 / (1.0 + (-x).exp()));
}

#[test]
fn roots_are_accurate() {
    check(Unary::Sqrt, 0.5, f64::sqrt);
    check(Unary::Rsqrt, 2.0, |x| 1.0 / x.sqrt());
}

#[test]
fn piecewise_functions_are_exact() {
    check(Unary::Abs, 0.0, f64::abs);
    check(Unary::Neg, 0.0, |x| -x);
    check(Unary::Relu, 0.0, |x| if x < 0.0 { 0.0 } else { x });
    check(Unary::Relu6, 0.0, |x| {
        if x.is_nan() { x } else { x.clamp(0.0, 6.0) }
    });
    check(Unary::Elu, 8.0, |x| if x < 0.0 { x.exp_m1() } else { x });
}

#[test]
fn double_precision_agrees_with_the_standard_library() {
    let mut random = Random::new(1);
    let mut arguments: Vec<f64> = (0..100_000)
        .map(|_| f64::from_bits(random.bits()))
        .collect();
    arguments.extend((0..50_000).map(|_| random.unit() * 750.0));
    arguments.extend((0..50_000).map(|_| random.unit()));
    arguments.extend([
        0.0,
        1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
    ]);
    let functions: [(&str, f64, Function, Function); 8] = [
        ("exp", 2.0, Real::exp, f64::exp),
        ("ln", 2.0, Real::ln, f64::ln),
        ("ln_1p", 4.0, Real::ln_1p, f64::ln_1p),
        ("tanh", 4.0, Real::tanh, f64::tanh),
        ("sigmoid", 4.0, Real::sigmoid, |x| {
            if x < -36.0 {
                x.exp()
            } else {
                1.0 / (1.0 + (-x).exp())
            }
        }),
        ("rsqrt", 2.0, Real::rsqrt, |x| 1.0 / x.sqrt()),
        ("exp_m1", 8.0, Real::exp_m1, f64::exp_m1),
        (
            "elu",
            8.0,
            Real::elu,
            |x| if x < 0.0 { x.exp_m1() } else { x },
        ),
    ];
    for (name, bound, ours, theirs) in functions {
        for &x in &arguments {
            let (found, expected) = (ours(x), theirs(x));
            if found.is_nan() && expected.is_nan() || found == expected {
                continue;
            }
            // One more for the library's own error.
            let unit = expected.abs().max(f64::MIN_POSITIVE) * f64::EPSILON;
            let is_near = (found - expected).abs() <= (bound + 1.0) * unit;
            assert!(is_near, "{name}({x:e}) is {found:e}, expected {expected:e}");
        }
    }
}

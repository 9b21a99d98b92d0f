//! The errors of the math functions, in units in the last place, over all exponents.

use tfrt_device::math::{double, erf, rsqrt, sigmoid, single};

/// Returns numbers of all exponents, and many around 0 and 1.
fn arguments() -> Vec<f32> {
    let mut bits: u32 = 1;
    let mut found = vec![0.0, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE];
    while bits < f32::INFINITY.to_bits() {
        found.push(f32::from_bits(bits));
        bits += 39_971;
    }
    for step in 0..25_000 {
        found.push(step as f32 * 0.0008);
        found.push(0.5 + step as f32 * 0.00004);
    }
    let negative: Vec<f32> = found.iter().map(|x| -x).collect();
    found.extend(negative);
    found.push(f32::NAN);
    found
}

/// Returns the distance of a result from the exact one, in units of its last place.
fn ulps_f32(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if found == nearest || found.is_nan() && nearest.is_nan() {
        return 0.0;
    }
    if found.is_nan() || nearest.is_nan() || found.is_infinite() || nearest.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = (exact.abs().log2().floor() as i32).max(-126);
    (f64::from(found) - exact).abs() / 2.0_f64.powi(exponent - 23)
}

fn ulps_f64(found: f64, reference: f64) -> f64 {
    if found == reference || found.is_nan() && reference.is_nan() {
        return 0.0;
    }
    if !found.is_finite() || !reference.is_finite() {
        return f64::INFINITY;
    }
    if (found < 0.0) != (reference < 0.0) {
        return f64::INFINITY;
    }
    found.to_bits().abs_diff(reference.to_bits()) as f64
}

#[track_caller]
fn within(limit: f64, name: &str, function: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) {
    let mut worst = (0.0, 0.0);
    for x in arguments() {
        let ulps = ulps_f32(function(x), exact(f64::from(x)));
        if ulps > worst.0 {
            worst = (ulps, x);
        }
    }
    println!("{name}: {:.3} at {:e}", worst.0, worst.1);
    assert!(
        worst.0 <= limit,
        "{name}({:e}) is {:e}, {} units from {:e}",
        worst.1,
        function(worst.1),
        worst.0,
        exact(f64::from(worst.1))
    );
}

#[track_caller]
fn within_f64(limit: f64, name: &str, function: impl Fn(f64) -> f64, exact: impl Fn(f64) -> f64) {
    let mut worst = (0.0, 0.0);
    for x in arguments() {
        // Further digits, and exponents that an `f32` does not have.
        let wide = f64::from(x);
        for x in [wide * 1.000_000_012_345, wide * wide * wide, wide] {
            let ulps = ulps_f64(function(x), exact(x));
            if ulps > worst.0 {
                worst = (ulps, x);
            }
        }
    }
    println!("{name}: {} at {:e}", worst.0, worst.1);
    assert!(
        worst.0 <= limit,
        "{name}({:e}) is {:e}, {} units from {:e}",
        worst.1,
        function(worst.1),
        worst.0,
        exact(worst.1)
    );
}

#[test]
fn errors_of_f32_are_as_documented() {
    within(1.0, "exp", single::exp, f64::exp);
    within(1.0, "exp2", single::exp2, f64::exp2);
    within(1.0, "exp_m1", single::exp_m1, f64::exp_m1);
    within(1.0, "ln", single::ln, f64::ln);
    within(1.0, "ln_1p", single::ln_1p, f64::ln_1p);
    within(1.0, "log2", single::log2, f64::log2);
    within(1.0, "log10", single::log10, f64::log10);
    within(1.0, "sin", single::sin, libm::sin);
    within(1.0, "cos", single::cos, libm::cos);
    within(1.0, "tan", single::tan, libm::tan);
    within(1.0, "sinh", single::sinh, f64::sinh);
    within(1.0, "cosh", single::cosh, f64::cosh);
    within(2.0, "tanh", single::tanh, f64::tanh);
    within(1.0, "asin", single::asin, f64::asin);
    within(1.0, "acos", single::acos, f64::acos);
    within(1.0, "atan", single::atan, f64::atan);
    within(1.0, "cbrt", single::cbrt, f64::cbrt);
    within(1.0, "erf", erf, libm::erf);
    within(1.5, "rsqrt", rsqrt, |x| 1.0 / x.sqrt());
    within(2.5, "sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()));
}

#[test]
fn errors_of_functions_of_two_f32_are_as_documented() {
    let numbers = [
        0.1_f32,
        -0.7,
        1.0,
        1.5,
        -2.0,
        3.0,
        0.0,
        -0.0,
        17.25,
        -1e-3,
        1e30,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    for y in numbers {
        let wide = f64::from(y);
        within(1.0, "powf", |x| single::powf(x, y), |x| x.powf(wide));
        within(1.0, "powf", |x| single::powf(y, x), |x| wide.powf(x));
        within(1.0, "atan2", |x| single::atan2(x, y), |x| x.atan2(wide));
        within(1.0, "atan2", |x| single::atan2(y, x), |x| wide.atan2(x));
        within(1.0, "hypot", |x| single::hypot(x, y), |x| x.hypot(wide));
    }
}

#[test]
fn errors_of_f64_are_as_documented() {
    within_f64(1.0, "exp", double::exp, f64::exp);
    within_f64(1.0, "ln", double::ln, f64::ln);
    within_f64(3.0, "exp_m1", double::exp_m1, f64::exp_m1);
    within_f64(3.0, "ln_1p", double::ln_1p, f64::ln_1p);
    within_f64(3.0, "sinh", double::sinh, f64::sinh);
    within_f64(3.0, "cosh", double::cosh, f64::cosh);
    within_f64(3.0, "tanh", double::tanh, f64::tanh);
    within_f64(3.0, "asin", double::asin, f64::asin);
    within_f64(3.0, "acos", double::acos, f64::acos);
    within_f64(3.0, "atan", double::atan, f64::atan);
}

#[test]
fn rounding_and_signs_are_those_of_the_standard_library() {
    for x in arguments() {
        assert!(
            x.is_nan() || single::round(x).to_bits() == x.round().to_bits(),
            "{x:e}"
        );
        assert!(x.is_nan() || single::signum(x) == x.signum(), "{x:e}");
        let wide = f64::from(x) * 1.000_000_1;
        assert!(
            x.is_nan() || double::round(wide).to_bits() == wide.round().to_bits(),
            "{x:e}"
        );
        assert!(x.is_nan() || double::signum(wide) == wide.signum(), "{x:e}");
    }
}

#[test]
fn powers_with_integers_are_products() {
    assert_eq!(single::powi(3.0, 5), 243.0);
    assert_eq!(single::powi(2.0, -3), 0.125);
    assert_eq!(single::powi(0.0, 0), 1.0);
    assert_eq!(single::powi(1.0, i32::MIN), 1.0);
    assert_eq!(double::powi(2.0, -1022), f64::MIN_POSITIVE);
}

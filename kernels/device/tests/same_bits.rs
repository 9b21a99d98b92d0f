//! Device functions compute the same bits on the processor and as PTX.

mod common;

use common::device;
use tfrt_device::math::{double, erf, rsqrt, sigmoid, single};
use tfrt_macros::tfrt_device;

macro_rules! functions {
    ($($name:ident($($operand:ident: $ty:ty),+) -> $result:ty $body:block)+) => {$(
        #[tfrt_device(crate = crate)]
        fn $name($($operand: $ty),+) -> $result $body
    )+};
}

functions! {
    arithmetic_f32(a: f32, b: f32) -> f32 { a * b + a / b - (b - a) }
    fused_f32(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) - a * b }
    arithmetic_f64(a: f64, b: f64) -> f64 { a * b + a / b - (b - a) }
    integers_i32(a: i32, b: i32) -> i32 { (a + b) * (a - b) + a / b + a % b }
    quotients_i64(a: i64, b: i64) -> i64 { a / b * 3 + a % b }
    quotients_u32(a: u32, b: u32) -> u32 { a / b + a % b * 5 }
    quotients_u64(a: u64, b: u64) -> u64 { a / b + a % b * 5 }
    shifts_i32(a: i32, b: i32) -> i32 { (a << b) ^ (a >> b) }
    shifts_u32(a: u32, b: i64) -> u32 { (a << b) ^ (a >> b) }
    shifts_i64(a: i64, b: u32) -> i64 { (a << b) ^ (a >> b) }
    shifts_u64(a: u64, b: u64) -> u64 { (a << b) ^ (a >> b) }
    logic(a: u32, b: u32) -> u32 { (a & b) | (!a ^ b) }
    choice(a: f32, b: f32) -> f32 { if a < b && b != 0.0 || a >= 3.0 { a } else { -b } }
    truths(a: bool, b: bool) -> bool { (a ^ b) | (!a & b) == (a < b) }
    extremes_f32(a: f32, b: f32) -> f32 { a.min(b) - a.max(b).max(0.0).min(-0.0) }
    extremes_i64(a: i64, b: i64) -> i64 { a.min(b) ^ a.max(b) }
    clamped_f32(a: f32, b: f32, c: f32) -> f32 { a.clamp(b, c) }
    clamped_u64(a: u64, b: u64, c: u64) -> u64 { a.clamp(b, c) }
    to_i32(a: f32) -> i32 { a as i32 }
    to_u32(a: f32) -> u32 { a as u32 }
    to_i64(a: f32) -> i64 { a as i64 }
    to_u64(a: f64) -> u64 { a as u64 }
    wide_literal(a: u64) -> u64 { a & (0xFFFF_FFFF as u64) }
    inverted_literal(a: u64) -> u64 { a ^ (!0x8000_0000 as u64) }
    negative_literal(a: i64) -> i64 { a + (-3_000_000_000 as i64) }
    double_to_i32(a: f64) -> i32 { a as i32 }
    double_to_i64(a: f64) -> i64 { a as i64 }
    narrowed(a: f64) -> f32 { a as f32 }
    widened(a: f32) -> f64 { a as f64 }
    of_i32(a: i32) -> f32 { a as f32 }
    of_u64(a: u64) -> f32 { a as f32 }
    of_i64(a: i64) -> f64 { a as f64 }
    between_integers(a: i32, b: u64) -> i64 { (a as u32 as i64) + (a as i64) * (b as i32 as i64) + (a as u64 as u32 as i64) }
    of_truth(a: bool, b: bool) -> i32 { a as i32 * 2 - b as i32 }
    rounded(a: f32) -> f32 { a.floor() + a.ceil() * 3.0 + a.trunc() * 7.0 + a.round() * 11.0 + a.round_ties_even() * 13.0 }
    rounded_f64(a: f64) -> f64 { a.floor() + a.ceil() * 3.0 + a.trunc() * 7.0 + a.round() * 11.0 + a.round_ties_even() * 13.0 }
    parts(a: f32, b: f32) -> f32 { a.fract() + b.recip() + a.abs().sqrt() + a.signum() + a.copysign(b) }
    kinds(a: f32) -> i32 { a.is_nan() as i32 + a.is_finite() as i32 * 2 + a.is_infinite() as i32 * 4 }
    signs(a: f64) -> bool { !a.is_nan() && a.is_sign_negative() && !a.is_sign_positive() }
    bits_f32(a: u32) -> u32 { f32::from_bits(a & 0xff7fffff).to_bits() + 1 }
    bits_f64(a: u64) -> u64 { f64::from_bits(a & 0xffefffffffffffff).to_bits() - 1 }
    counts_u32(a: u32) -> u32 { a.count_ones() + a.leading_zeros() * 64 + a.trailing_zeros() * 4096 }
    counts_i64(a: i64) -> u32 { a.count_ones() + a.leading_zeros() * 128 + a.trailing_zeros() * 16384 }
    rotated(a: u32, b: u32) -> u32 { a.rotate_left(b) ^ a.rotate_right(3) }
    rotated_i64(a: i64, b: u32) -> i64 { a.rotate_left(3) ^ a.rotate_right(b) }
    sizes(a: i32, b: i32) -> u32 { a.abs() as u32 ^ a.abs_diff(b) ^ a.signum() as u32 ^ (-a) as u32 }
    wrapped(a: i32, b: i32) -> i32 { a.wrapping_add(b).wrapping_mul(b).wrapping_sub(i32::min(a, b)).wrapping_neg() }
}

#[tfrt_device(crate = crate)]
fn loops(n: i32, x: f32) -> f32 {
    let mut sum = 0.0;
    for i in 0..n.min(10) {
        if i == 3 {
            continue;
        }
        for _ in 0..=i {
            sum += x;
            if sum > 1e6 {
                break;
            }
        }
        if sum.is_nan() {
            return -1.0;
        }
    }
    sum
}

#[tfrt_device(crate = crate)]
fn last_of_range(start: u32) -> u32 {
    let mut last = 7;
    let first = start | 0xfffffff8;
    for i in first..=4294967295 {
        last = i ^ last << 1;
    }
    last
}

const SCALE: f32 = 1.702;

#[tfrt_device(crate = crate)]
fn blocks(mut x: f32) -> f32 {
    let y = {
        let x = x * SCALE;
        x + std::f32::consts::PI
    };
    x *= 2.0;
    let order = x + {
        x = 3.0;
        x
    };
    let found = x > 5.0 || {
        x += 1.0;
        y > 4.0
    };
    if found {
        order + x
    } else if y < 0.0 {
        y
    } else {
        f32::INFINITY
    }
}

#[tfrt_device(crate = crate)]
fn early(x: i32) -> i32 {
    if x < 0 {
        return 0;
    }
    let y = if x > 100 { return 100 } else { x * 2 };
    y + 1
}

#[tfrt_device(crate = crate)]
fn collatz(n: u32) -> u32 {
    let mut n = n & 0xffff;
    let mut steps = 0;
    for _ in 0..500 {
        if n <= 1 {
            break;
        }
        n = if n & 1 == 0 { n >> 1 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[tfrt_device(crate = crate)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * 0.70710678))
}

#[tfrt_device(crate = crate)]
fn mish(x: f32) -> f32 {
    x * x.exp().ln_1p().tanh()
}

#[tfrt_device(crate = crate)]
fn horner(x: f64) -> f64 {
    let mut y = 1.0;
    for k in 1..=12 {
        y = y.mul_add(x, 1.0 / (k as f64));
    }
    y
}

#[test]
fn arithmetic_is_the_same() {
    check!(arithmetic_f32, (a: f32, b: f32));
    check!(fused_f32, (a: f32, b: f32, c: f32));
    check!(arithmetic_f64, (a: f64, b: f64));
    check!(integers_i32, (a: i32, b: i32));
    check!(quotients_i64, (a: i64, b: i64));
    check!(quotients_u32, (a: u32, b: u32));
    check!(quotients_u64, (a: u64, b: u64));
    check!(wrapped, (a: i32, b: i32));
}

#[test]
fn bits_are_the_same() {
    check!(shifts_i32, (a: i32, b: i32));
    check!(shifts_u32, (a: u32, b: i64));
    check!(shifts_i64, (a: i64, b: u32));
    check!(shifts_u64, (a: u64, b: u64));
    check!(logic, (a: u32, b: u32));
    check!(bits_f32, (a: u32));
    check!(bits_f64, (a: u64));
    check!(counts_u32, (a: u32));
    check!(counts_i64, (a: i64));
    check!(rotated, (a: u32, b: u32));
    check!(rotated_i64, (a: i64, b: u32));
    check!(sizes, (a: i32, b: i32));
}

#[test]
fn comparisons_and_extremes_are_the_same() {
    check!(choice, (a: f32, b: f32));
    check!(truths, (a: bool, b: bool));
    check!(extremes_f32, (a: f32, b: f32));
    check!(extremes_i64, (a: i64, b: i64));
    check!(clamped_f32, (a: f32, b: f32, c: f32));
    check!(clamped_u64, (a: u64, b: u64, c: u64));
    check!(kinds, (a: f32));
    check!(signs, (a: f64));
}

#[test]
fn conversions_are_the_same() {
    check!(to_i32, (a: f32));
    check!(to_u32, (a: f32));
    check!(to_i64, (a: f32));
    check!(to_u64, (a: f64));
    check!(double_to_i32, (a: f64));
    check!(double_to_i64, (a: f64));
    check!(narrowed, (a: f64));
    check!(widened, (a: f32));
    check!(of_i32, (a: i32));
    check!(of_u64, (a: u64));
    check!(of_i64, (a: i64));
    check!(between_integers, (a: i32, b: u64));
    check!(of_truth, (a: bool, b: bool));
}

#[test]
fn rounding_is_the_same() {
    check!(rounded, (a: f32));
    check!(rounded_f64, (a: f64));
    check!(parts, (a: f32, b: f32));
}

#[test]
fn control_flow_is_the_same() {
    check!(loops, (n: i32, x: f32));
    check!(last_of_range, (start: u32));
    check!(blocks, (x: f32));
    check!(early, (x: i32));
    check!(collatz, (n: u32));
    check!(horner, (x: f64));
}

#[test]
fn math_functions_of_f32_are_the_same() {
    check!(single::exp, (x: f32));
    check!(single::exp2, (x: f32));
    check!(single::exp_m1, (x: f32));
    check!(single::ln, (x: f32));
    check!(single::ln_1p, (x: f32));
    check!(single::log2, (x: f32));
    check!(single::log10, (x: f32));
    check!(single::sin, (x: f32));
    check!(single::cos, (x: f32));
    check!(single::tan, (x: f32));
    check!(single::sinh, (x: f32));
    check!(single::cosh, (x: f32));
    check!(single::tanh, (x: f32));
    check!(single::asin, (x: f32));
    check!(single::acos, (x: f32));
    check!(single::atan, (x: f32));
    check!(single::atan2, (y: f32, x: f32));
    check!(single::powf, (x: f32, y: f32));
    check!(single::powi, (x: f32, n: i32));
    check!(single::cbrt, (x: f32));
    check!(single::hypot, (x: f32, y: f32));
    check!(single::round, (x: f32));
    check!(erf, (x: f32));
    check!(rsqrt, (x: f32));
    check!(sigmoid, (x: f32));
    check!(gelu, (x: f32));
    check!(mish, (x: f32));
}

#[test]
fn math_functions_of_f64_are_the_same() {
    check!(double::exp, (x: f64));
    check!(double::exp_m1, (x: f64));
    check!(double::ln, (x: f64));
    check!(double::ln_1p, (x: f64));
    check!(double::sinh, (x: f64));
    check!(double::cosh, (x: f64));
    check!(double::tanh, (x: f64));
    check!(double::asin, (x: f64));
    check!(double::acos, (x: f64));
    check!(double::atan, (x: f64));
    check!(double::atan2, (y: f64, x: f64));
    check!(double::powi, (x: f64, n: i32));
    check!(double::round, (x: f64));
}

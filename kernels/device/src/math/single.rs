//! Math functions of `f32`.
//!
//! The coefficients of `ln`, and of the sine and cosine, are those of FreeBSD's msun, the others
//! those of Cephes.

use tfrt_macros::tfrt_device;

use super::double;

/// Returns 2 to the power of an integer in `-126..=127`.
#[tfrt_device(crate = crate)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Returns `x` times 2 to the power of `exponent`, rounded once.
#[tfrt_device(crate = crate)]
fn scaled(x: f32, exponent: i32) -> f32 {
    let half = exponent >> 1;
    x * power_of_two(half) * power_of_two(exponent - half)
}

/// `signum`
#[tfrt_device(crate = crate)]
pub fn signum(x: f32) -> f32 {
    if x.is_nan() { x } else { 1.0.copysign(x) }
}

/// `round`
#[tfrt_device(crate = crate)]
pub fn round(x: f32) -> f32 {
    let whole = x.trunc();
    let rest = (x - whole).abs();
    let away = if rest >= 0.5 { 1.0 } else { 0.0 };
    (whole + away.copysign(x)).copysign(x)
}

/// `powi`
#[tfrt_device(crate = crate)]
pub fn powi(x: f32, exponent: i32) -> f32 {
    let mut result = 1.0;
    let mut power = x;
    let mut rest = exponent.abs() as u32;
    for _ in 0..32 {
        if rest == 0 {
            break;
        }
        if rest & 1 == 1 {
            result *= power;
        }
        power *= power;
        rest >>= 1;
    }
    if exponent < 0 { 1.0 / result } else { result }
}

/// `exp`
#[tfrt_device(crate = crate)]
pub fn exp(x: f32) -> f32 {
    let bounded = if x > 89.0 {
        89.0
    } else if x < -104.0 {
        -104.0
    } else {
        x
    };
    let n = (bounded * 1.44269504).round_ties_even();
    let r = n.mul_add(-0.693145751953125, bounded);
    let r = n.mul_add(-1.428606765330187e-06, r);
    let p = 1.9875691500e-4.mul_add(r, 1.3981999507e-3);
    let p = p.mul_add(r, 8.3334519073e-3);
    let p = p.mul_add(r, 4.1665795894e-2);
    let p = p.mul_add(r, 1.6666665459e-1);
    let p = p.mul_add(r, 5.0000001201e-1);
    let y = p.mul_add(r * r, r) + 1.0;
    scaled(y, n as i32)
}

/// `exp2`
#[tfrt_device(crate = crate)]
pub fn exp2(x: f32) -> f32 {
    let bounded = if x > 129.0 {
        129.0
    } else if x < -151.0 {
        -151.0
    } else {
        x
    };
    let n = bounded.round_ties_even();
    let r = bounded - n;
    let p = 1.535336188319500e-4.mul_add(r, 1.339887440266574e-3);
    let p = p.mul_add(r, 9.618437357674640e-3);
    let p = p.mul_add(r, 5.550332471162809e-2);
    let p = p.mul_add(r, 2.402264791363012e-1);
    let p = p.mul_add(r, 6.931472028550421e-1);
    scaled(p.mul_add(r, 1.0), n as i32)
}

/// `ln`
#[tfrt_device(crate = crate)]
pub fn ln(x: f32) -> f32 {
    let is_subnormal = x < f32::MIN_POSITIVE;
    let normal = if is_subnormal { x * 8388608.0 } else { x };
    let bits = normal.to_bits() as i32;
    // The mantissa is from the half root of 2 up to the root of 2.
    let k = (bits - 0x3f3504f3) >> 23;
    let f = f32::from_bits((bits - (k << 23)) as u32) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * w.mul_add(0.24279078841, 0.40000972152);
    let t2 = z * w.mul_add(0.28498786688, 0.66666662693);
    let half_square = 0.5 * f * f;
    let n = (if is_subnormal { k - 23 } else { k }) as f32;
    let result = s * (half_square + (t1 + t2)) + n * 9.0580006145e-06 - half_square
        + f
        + n * 6.9313812256e-01;
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else if x < f32::INFINITY {
        result
    } else {
        // An infinity or a NaN.
        x
    }
}

/// `tanh`
#[tfrt_device(crate = crate)]
pub fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let z = x * x;
    let p = (-5.70498872745e-3).mul_add(z, 2.06390887954e-2);
    let p = p.mul_add(z, -5.37397155531e-2);
    let p = p.mul_add(z, 1.33314422036e-1);
    let p = p.mul_add(z, -3.33332819422e-1);
    let near = (p * z).mul_add(x, x);
    let far = 1.0 - 2.0 / (exp(2.0 * size) + 1.0);
    if size < 0.625 {
        near
    } else if x.is_nan() {
        x
    } else {
        far.copysign(x)
    }
}

/// `exp_m1`
#[tfrt_device(crate = crate)]
pub fn exp_m1(x: f32) -> f32 {
    double::exp_m1(x as f64) as f32
}

/// `ln_1p`
#[tfrt_device(crate = crate)]
pub fn ln_1p(x: f32) -> f32 {
    double::ln_1p(x as f64) as f32
}

/// `log2`
#[tfrt_device(crate = crate)]
pub fn log2(x: f32) -> f32 {
    // Exact for powers of 2: the exponent is separate, and the logarithm of 1 is 0.
    let wide = x as f64;
    if wide > 0.0 && wide < f64::INFINITY {
        let bits = wide.to_bits();
        let exponent = (bits >> 52) as i32 - 1023;
        let mantissa = f64::from_bits((bits & 0xfffffffffffff) | 0x3ff0000000000000);
        let is_large = mantissa > 1.4142135623730951;
        let m = if is_large { 0.5 * mantissa } else { mantissa };
        let n = if is_large { exponent + 1 } else { exponent };
        (n as f64 + double::ln(m) * 1.4426950408889634) as f32
    } else {
        double::ln(wide) as f32
    }
}

/// `log10`
#[tfrt_device(crate = crate)]
pub fn log10(x: f32) -> f32 {
    (double::ln(x as f64) * 0.4342944819032518) as f32
}

/// `sinh`
#[tfrt_device(crate = crate)]
pub fn sinh(x: f32) -> f32 {
    double::sinh(x as f64) as f32
}

/// `cosh`
#[tfrt_device(crate = crate)]
pub fn cosh(x: f32) -> f32 {
    double::cosh(x as f64) as f32
}

/// `asin`
#[tfrt_device(crate = crate)]
pub fn asin(x: f32) -> f32 {
    double::asin(x as f64) as f32
}

/// `acos`
#[tfrt_device(crate = crate)]
pub fn acos(x: f32) -> f32 {
    double::acos(x as f64) as f32
}

/// `atan`
#[tfrt_device(crate = crate)]
pub fn atan(x: f32) -> f32 {
    double::atan(x as f64) as f32
}

/// `atan2`: the angle of the point (x, y).
#[tfrt_device(crate = crate)]
pub fn atan2(y: f32, x: f32) -> f32 {
    double::atan2(y as f64, x as f64) as f32
}

/// `hypot`: the length of the vector (x, y).
#[tfrt_device(crate = crate)]
pub fn hypot(x: f32, y: f32) -> f32 {
    let a = x as f64;
    let b = y as f64;
    if x.is_infinite() || y.is_infinite() {
        f32::INFINITY
    } else {
        a.mul_add(a, b * b).sqrt() as f32
    }
}

/// `cbrt`
#[tfrt_device(crate = crate)]
pub fn cbrt(x: f32) -> f32 {
    let size = (x as f64).abs();
    if x == 0.0 || !x.is_finite() {
        x
    } else {
        let guess = double::exp(double::ln(size) * 0.3333333333333333);
        // One step of Newton's method.
        let better = guess - (guess * guess * guess - size) / (3.0 * guess * guess);
        (better as f32).copysign(x)
    }
}

/// `powf`
#[tfrt_device(crate = crate)]
pub fn powf(x: f32, exponent: f32) -> f32 {
    let y = exponent as f64;
    let size = (x as f64).abs();
    let is_integer = exponent.trunc() == exponent && exponent.is_finite();
    let half = 0.5 * exponent;
    let is_odd = is_integer && half.trunc() != half;
    let power = double::exp(y * double::ln(size)) as f32;
    let signed = if is_odd && x.is_sign_negative() {
        -power
    } else {
        power
    };
    if exponent == 0.0 || x == 1.0 || (x == -1.0 && exponent.is_infinite()) {
        1.0
    } else if x.is_nan() || exponent.is_nan() {
        f32::NAN
    } else if x < 0.0 && !is_integer && x.is_finite() && exponent.is_finite() {
        f32::NAN
    } else {
        signed
    }
}

/// Returns 32 bits of `2 / π`, from a place behind the point.
#[tfrt_device(crate = crate)]
fn two_over_pi(word: u32) -> u64 {
    if word == 0 {
        0xA2F9836E
    } else if word == 1 {
        0x4E441529
    } else if word == 2 {
        0xFC2757D1
    } else if word == 3 {
        0xF534DDC0
    } else if word == 4 {
        0xDB629599
    } else if word == 5 {
        0x3C439041
    } else if word == 6 {
        0xFE5163AB
    } else {
        0xDEBBC561
    }
}

/// Returns the size of a large number as parts of 2⁶⁴ of two turns of π, exactly up to the last
/// bits: `|x| · 2/π`, without the multiples of 4, times 2⁶².
#[tfrt_device(crate = crate)]
fn reduced(x: f32) -> u64 {
    let bits = x.abs().to_bits();
    let mantissa = ((bits & 0x7fffff) | 0x800000) as u64;
    // The number is the mantissa times 2 to the power of `skipped + 2`: as many bits of 2/π only
    // contribute multiples of 4.
    let skipped = (bits >> 23) - 152;
    let word = skipped >> 5;
    let shift = skipped & 31;
    let first = (two_over_pi(word) << 32) | two_over_pi(word + 1);
    let next = (two_over_pi(word + 2) << 32) | two_over_pi(word + 3);
    let high = if shift == 0 {
        first
    } else {
        (first << shift) | (next >> (64 - shift))
    };
    let low = (next << shift) >> 32;
    mantissa * high + ((mantissa * low) >> 32)
}

/// Returns the remainder of a large number in parts of a quarter turn, from -1/2 to 1/2.
#[tfrt_device(crate = crate)]
fn large_remainder(x: f32) -> f64 {
    let part = reduced(x);
    let quarter = (part + 0x2000000000000000) >> 62;
    let rest = (part - (quarter << 62)) as i64;
    let size = rest as f64 * 2.168404344971009e-19 * 1.5707963267948966;
    if x.is_sign_negative() { -size } else { size }
}

/// Returns the number of quarter turns that is nearest to a number, modulo 4.
#[tfrt_device(crate = crate)]
fn quarters(x: f32) -> i32 {
    if x.abs() < 268435456.0 {
        ((x as f64) * 6.36619772367581382433e-01).round_ties_even() as i32 & 3
    } else {
        let quarter = ((reduced(x) + 0x2000000000000000) >> 62) as i32;
        if x.is_sign_negative() {
            -quarter & 3
        } else {
            quarter
        }
    }
}

/// Returns a number without its quarter turns, from -π/4 to π/4.
#[tfrt_device(crate = crate)]
fn remainder(x: f32) -> f64 {
    if x.abs() < 268435456.0 {
        let n = ((x as f64) * 6.36619772367581382433e-01).round_ties_even();
        let r = n.mul_add(-1.57079632679489655800e+00, x as f64);
        n.mul_add(-6.12323399573676603587e-17, r)
    } else {
        large_remainder(x)
    }
}

/// Returns the sine of a number from -π/4 to π/4.
#[tfrt_device(crate = crate)]
fn near_sine(x: f64) -> f64 {
    let z = x * x;
    let w = z * z;
    let r = -0.000198393348360966317347 + z * 0.0000027183114939898219064;
    let s = z * x;
    (x + s * (-0.166666666416265235595 + z * 0.0083333293858894631756)) + s * w * r
}

/// Returns the cosine of a number from -π/4 to π/4.
#[tfrt_device(crate = crate)]
fn near_cosine(x: f64) -> f64 {
    let z = x * x;
    let w = z * z;
    let r = -0.00138867637746099294692 + z * 0.0000243904487962774090654;
    ((1.0 + z * -0.499999997251031003120) + w * 0.0416666233237390631894) + (w * z) * r
}

/// `sin`
#[tfrt_device(crate = crate)]
pub fn sin(x: f32) -> f32 {
    if x.is_finite() {
        let n = quarters(x);
        let r = remainder(x);
        let part = if n & 1 == 0 {
            near_sine(r)
        } else {
            near_cosine(r)
        };
        let result = (if n & 2 == 0 { part } else { -part }) as f32;
        if x == 0.0 { x } else { result }
    } else {
        f32::NAN
    }
}

/// `cos`
#[tfrt_device(crate = crate)]
pub fn cos(x: f32) -> f32 {
    if x.is_finite() {
        let n = quarters(x) + 1;
        let r = remainder(x);
        let part = if n & 1 == 0 {
            near_sine(r)
        } else {
            near_cosine(r)
        };
        (if n & 2 == 0 { part } else { -part }) as f32
    } else {
        f32::NAN
    }
}

/// `tan`
#[tfrt_device(crate = crate)]
pub fn tan(x: f32) -> f32 {
    if x.is_finite() {
        let r = remainder(x);
        let s = near_sine(r);
        let c = near_cosine(r);
        let result = (if quarters(x) & 1 == 0 { s / c } else { -c / s }) as f32;
        if x == 0.0 { x } else { result }
    } else {
        f32::NAN
    }
}

//! Math functions of `f64`.
//!
//! The coefficients of `exp`, `ln` and `atan` are those of FreeBSD's msun.

use tfrt_macros::tfrt_device;

/// Returns 2 to the power of an integer in `-1022..=1023`.
#[tfrt_device(crate = crate)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `signum`
#[tfrt_device(crate = crate)]
pub fn signum(x: f64) -> f64 {
    if x.is_nan() { x } else { 1.0.copysign(x) }
}

/// `round`
#[tfrt_device(crate = crate)]
pub fn round(x: f64) -> f64 {
    let whole = x.trunc();
    let rest = (x - whole).abs();
    let away = if rest >= 0.5 { 1.0 } else { 0.0 };
    (whole + away.copysign(x)).copysign(x)
}

/// `powi`
#[tfrt_device(crate = crate)]
pub fn powi(x: f64, exponent: i32) -> f64 {
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
pub fn exp(x: f64) -> f64 {
    let bounded = if x > 710.0 {
        710.0
    } else if x < -746.0 {
        -746.0
    } else {
        x
    };
    let n = (bounded * 1.44269504088896338700e+00).round_ties_even();
    let high = n.mul_add(-6.93147180369123816490e-01, bounded);
    let low = n * 1.90821492927058770002e-10;
    let r = high - low;
    let z = r * r;
    let c = r - z
        * (1.66666666666666019037e-01
            + z * (-2.77777777770155933842e-03
                + z * (6.61375632143793436117e-05
                    + z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));
    let y = 1.0 + ((r * c) / (2.0 - c) - low + high);
    // In two steps, so that a result between 0 and the normal numbers is rounded once.
    let k = n as i32;
    let half = k >> 1;
    y * power_of_two(half) * power_of_two(k - half)
}

/// `ln`
#[tfrt_device(crate = crate)]
pub fn ln(x: f64) -> f64 {
    let is_subnormal = x < f64::MIN_POSITIVE;
    let scaled = if is_subnormal {
        x * 18014398509481984.0
    } else {
        x
    };
    let bits = scaled.to_bits() as i64;
    // The mantissa is from the half root of 2 up to the root of 2.
    let k = (bits - 0x3fe6a09e00000000) >> 52;
    let f = f64::from_bits((bits - (k << 52)) as u64) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w
        * (3.999999999940941908e-01
            + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    let t2 = z
        * (6.666666666666735130e-01
            + w * (2.857142874366239149e-01
                + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    let n = (if is_subnormal { k - 54 } else { k }) as f64;
    let result = s * (half_square + (t1 + t2)) + n * 1.90821492927058770002e-10 - half_square
        + f
        + n * 6.93147180369123816490e-01;
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else if x < f64::INFINITY {
        result
    } else {
        // An infinity or a NaN.
        x
    }
}

/// `exp_m1`
#[tfrt_device(crate = crate)]
pub fn exp_m1(x: f64) -> f64 {
    // The error of `e` is made up for by that of its logarithm.
    let e = exp(x);
    if x.abs() < 1e-16 {
        x
    } else if x.abs() < 1.0 {
        if e == 1.0 { x } else { (e - 1.0) * (x / ln(e)) }
    } else {
        e - 1.0
    }
}

/// `ln_1p`
#[tfrt_device(crate = crate)]
pub fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    if x.abs() < 1e-16 {
        x
    } else if sum < f64::INFINITY && sum > 0.0 {
        let lost = if x.abs() < 1.0 {
            x - (sum - 1.0)
        } else {
            1.0 - (sum - x)
        };
        ln(sum) + lost / sum
    } else {
        ln(sum)
    }
}

/// `sinh`
#[tfrt_device(crate = crate)]
pub fn sinh(x: f64) -> f64 {
    let size = x.abs();
    let result = if size < 20.0 {
        let t = exp_m1(size);
        0.5 * (t + t / (t + 1.0))
    } else {
        // The half, where the whole would be infinite.
        let root = exp(0.5 * size);
        if size < 709.0 {
            0.5 * exp(size)
        } else {
            (0.5 * root) * root
        }
    };
    if size < 1e-9 { x } else { result.copysign(x) }
}

/// `cosh`
#[tfrt_device(crate = crate)]
pub fn cosh(x: f64) -> f64 {
    let size = x.abs();
    if size < 709.0 {
        let e = exp(size);
        0.5 * e + 0.5 / e
    } else {
        let root = exp(0.5 * size);
        (0.5 * root) * root
    }
}

/// `tanh`
#[tfrt_device(crate = crate)]
pub fn tanh(x: f64) -> f64 {
    let size = x.abs();
    let t = exp_m1(2.0 * size);
    let result = if size > 20.0 {
        1.0
    } else if size < 0.5 {
        t / (t + 2.0)
    } else {
        1.0 - 2.0 / (t + 2.0)
    };
    if size < 1e-9 || x.is_nan() {
        x
    } else {
        result.copysign(x)
    }
}

/// `atan`
#[tfrt_device(crate = crate)]
pub fn atan(x: f64) -> f64 {
    let size = x.abs();
    let mut high = 0.0;
    let mut low = 0.0;
    let mut r = size;
    if size >= 2.4375 {
        high = 1.57079632679489655800e+00;
        low = 6.12323399573676603587e-17;
        r = -1.0 / size;
    } else if size >= 1.1875 {
        high = 9.82793723247329054082e-01;
        low = 1.39033110312309984516e-17;
        r = (size - 1.5) / (1.0 + 1.5 * size);
    } else if size >= 0.6875 {
        high = 7.85398163397448278999e-01;
        low = 3.06161699786838301793e-17;
        r = (size - 1.0) / (size + 1.0);
    } else if size >= 0.4375 {
        high = 4.63647609000806093515e-01;
        low = 2.26987774529616870924e-17;
        r = (2.0 * size - 1.0) / (2.0 + size);
    }
    let z = r * r;
    let w = z * z;
    let s1 = z
        * (3.33333333333329318027e-01
            + w * (1.42857142725034663711e-01
                + w * (9.09088713343650656196e-02
                    + w * (6.66107313738753120669e-02
                        + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
    let s2 = w
        * (-1.99999999998764832476e-01
            + w * (-1.11111104054623557880e-01
                + w * (-7.69187620504482999495e-02
                    + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
    let result = high - (r * (s1 + s2) - low - r);
    if x.is_nan() { x } else { result.copysign(x) }
}

/// `asin`
#[tfrt_device(crate = crate)]
pub fn asin(x: f64) -> f64 {
    if x.abs() <= 1.0 {
        atan(x / ((1.0 - x) * (1.0 + x)).sqrt())
    } else {
        f64::NAN
    }
}

/// `acos`
#[tfrt_device(crate = crate)]
pub fn acos(x: f64) -> f64 {
    if x.abs() <= 1.0 {
        2.0 * atan(((1.0 - x) / (1.0 + x)).sqrt())
    } else {
        f64::NAN
    }
}

/// `atan2`: the angle of the point (x, y).
#[tfrt_device(crate = crate)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let quarter = 1.57079632679489655800e+00;
    let result = if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x.is_infinite() && y.is_infinite() {
        if x > 0.0 {
            0.5 * quarter
        } else {
            1.5 * quarter
        }
    } else if y == 0.0 {
        if x.is_sign_negative() {
            2.0 * quarter
        } else {
            0.0
        }
    } else {
        let angle = atan((y / x).abs());
        if x.is_sign_negative() {
            2.0 * quarter - (angle - 1.2246467991473531772e-16)
        } else {
            angle
        }
    };
    result.copysign(y)
}

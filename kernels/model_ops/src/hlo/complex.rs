//! Functions of complex numbers. All arithmetic is in double precision.
//!
//! A scalar program computes the parts of a complex number separately: `tanh.real 0 1` is the real
//! part of the hyperbolic tangent of the number whose parts are the values 0 and 1.

use super::element::Type;
use super::function::BinaryFn;

/// A complex number: its real and its imaginary part.
pub(super) type Complex = [f64; 2];

/// The two parts of a function of one complex number.
struct Parts {
    name: &'static str,
    real: BinaryFn,
    imaginary: BinaryFn,
}

macro_rules! functions {
    ($($name:literal => $function:expr;)*) => {
        &[$(Parts {
            name: $name,
            real: |ty, a, b| ty.round($function([f64::from_bits(a), f64::from_bits(b)])[0]),
            imaginary: |ty, a, b| ty.round($function([f64::from_bits(a), f64::from_bits(b)])[1]),
        },)*]
    };
}

const FUNCTIONS: &[Parts] = functions! {
    "acos" => acos;
    "acosh" => acosh;
    "asin" => asin;
    "asinh" => asinh;
    "atan" => atan;
    "atanh" => atanh;
    "cbrt" => cbrt;
    "cosh" => cosh;
    "cosine" => cosine;
    "exponential" => exponential;
    "exponential_minus_one" => exponential_minus_one;
    "log" => log;
    "log_plus_one" => log_plus_one;
    "logistic" => logistic;
    "rsqrt" => rsqrt;
    "sign" => sign;
    "sine" => sine;
    "sinh" => sinh;
    "sqrt" => sqrt;
    "tan" => tan;
    "tanh" => tanh;
};

/// Returns a part of a function of a complex number, such as `tanh.real`.
pub(super) fn part(name: &str) -> Option<BinaryFn> {
    let (name, part) = name.split_once('.')?;
    let parts = FUNCTIONS.iter().find(|parts| parts.name == name)?;
    match part {
        "real" => Some(parts.real),
        "imaginary" => Some(parts.imaginary),
        _ => None,
    }
}

/// A part of a function of two complex numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quaternary(fn(Complex, Complex) -> f64);

impl Quaternary {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(Self(match name {
            "multiply.real" => |a, b| multiply(a, b)[0],
            "multiply.imaginary" => |a, b| multiply(a, b)[1],
            "divide.real" => |a, b| divide(a, b)[0],
            "divide.imaginary" => |a, b| divide(a, b)[1],
            "atan2.real" => |a, b| atan2(a, b)[0],
            "atan2.imaginary" => |a, b| atan2(a, b)[1],
            "power.real" => |a, b| power(a, b)[0],
            "power.imaginary" => |a, b| power(a, b)[1],
            _ => return None,
        }))
    }

    /// Applies the function to each pair of numbers, whose parts are four lists.
    pub(super) fn run(self, ty: Type, parts: [&Vec<u64>; 4], to: &mut Vec<u64>) {
        let [a, b, c, d] = parts.map(|part| part.iter().map(|&bits| f64::from_bits(bits)));
        let pairs = a.zip(b).zip(c.zip(d));
        to.clear();
        to.extend(pairs.map(|((a, b), (c, d))| ty.round((self.0)([a, b], [c, d]))));
    }
}

fn add([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a + c, b + d]
}

pub(super) fn multiply([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

pub(super) fn conjugate([a, b]: Complex) -> Complex {
    [a, -b]
}

/// Multiplies with the imaginary unit.
fn turned([a, b]: Complex) -> Complex {
    [-b, a]
}

/// Divides by the imaginary unit.
fn turned_back([a, b]: Complex) -> Complex {
    [b, -a]
}

/// Divides without intermediate overflow, by Smith's method.
pub(super) fn divide([a, b]: Complex, [c, d]: Complex) -> Complex {
    if d == 0.0 {
        return [a / c, b / c];
    }
    if c.abs() >= d.abs() {
        let ratio = d / c;
        let denominator = c + d * ratio;
        [(a + b * ratio) / denominator, (b - a * ratio) / denominator]
    } else {
        let ratio = c / d;
        let denominator = c * ratio + d;
        [(a * ratio + b) / denominator, (b * ratio - a) / denominator]
    }
}

fn power(base: Complex, exponent: Complex) -> Complex {
    if base == [0.0; 2] {
        return match exponent {
            [0.0, 0.0] => [1.0, 0.0],
            [re, _] if re > 0.0 => [0.0; 2],
            _ => [f64::INFINITY, f64::NAN],
        };
    }
    exponential(multiply(exponent, log(base)))
}

/// Computes `-i · log((x + i y) / sqrt(x² + y²))`, which is the angle of real coordinates.
fn atan2(y: Complex, x: Complex) -> Complex {
    if [y[1], x[1]] == [0.0; 2] {
        return [y[0].atan2(x[0]), 0.0];
    }
    let size = sqrt(add(multiply(x, x), multiply(y, y)));
    turned_back(log(divide(add(x, turned(y)), size)))
}

fn exponential([a, b]: Complex) -> Complex {
    if b == 0.0 {
        return [a.exp(), b];
    }
    let size = a.exp();
    [size * b.cos(), size * b.sin()]
}

fn exponential_minus_one([a, b]: Complex) -> Complex {
    if b == 0.0 {
        return [a.exp_m1(), b];
    }
    let half = (b / 2.0).sin();
    [a.exp_m1() * b.cos() - 2.0 * half * half, a.exp() * b.sin()]
}

fn log([a, b]: Complex) -> Complex {
    [a.hypot(b).ln(), b.atan2(a)]
}

fn log_plus_one([a, b]: Complex) -> Complex {
    let near_one = a.abs() < 0.5 && b.abs() < 0.5;
    let real = match near_one {
        true => 0.5 * (a * (2.0 + a) + b * b).ln_1p(),
        false => (1.0 + a).hypot(b).ln(),
    };
    [real, b.atan2(1.0 + a)]
}

fn logistic([a, b]: Complex) -> Complex {
    divide([1.0, 0.0], add([1.0, 0.0], exponential([-a, -b])))
}

pub(super) fn sqrt([a, b]: Complex) -> Complex {
    if [a, b] == [0.0; 2] {
        return [0.0, b];
    }
    if b.is_infinite() {
        return [f64::INFINITY, b];
    }
    let half = ((a.abs() + a.hypot(b)) / 2.0).sqrt();
    match a >= 0.0 {
        true => [half, b / (2.0 * half)],
        false => [b.abs() / (2.0 * half), half.copysign(b)],
    }
}

fn rsqrt(z: Complex) -> Complex {
    divide([1.0, 0.0], sqrt(z))
}

fn cbrt(z: Complex) -> Complex {
    power(z, [1.0 / 3.0, 0.0])
}

fn sign([a, b]: Complex) -> Complex {
    match a.hypot(b) {
        0.0 => [a, b],
        size => [a / size, b / size],
    }
}

fn sinh([a, b]: Complex) -> Complex {
    [a.sinh() * b.cos(), a.cosh() * b.sin()]
}

fn cosh([a, b]: Complex) -> Complex {
    [a.cosh() * b.cos(), a.sinh() * b.sin()]
}

fn tanh([a, b]: Complex) -> Complex {
    /// Above this number, the real part is ±1 in double precision.
    const LARGE: f64 = 20.0;
    if a.abs() > LARGE {
        let small = 4.0 * b.sin() * b.cos() * (-2.0 * a.abs()).exp();
        return [1_f64.copysign(a), small];
    }
    // Kahan's formula.
    let tangent = b.tan();
    let sine = a.sinh();
    let slope = 1.0 + tangent * tangent;
    let denominator = 1.0 + slope * sine * sine;
    [slope * a.cosh() * sine / denominator, tangent / denominator]
}

fn sine(z: Complex) -> Complex {
    turned_back(sinh(turned(z)))
}

fn cosine(z: Complex) -> Complex {
    cosh(turned(z))
}

fn tan(z: Complex) -> Complex {
    turned_back(tanh(turned(z)))
}

/// Returns the square roots of `1 - z` and `1 + z`, of which inverse functions are made.
fn roots([a, b]: Complex) -> [Complex; 2] {
    [sqrt([1.0 - a, -b]), sqrt([1.0 + a, b])]
}

fn asin([a, b]: Complex) -> Complex {
    let [minus, plus] = roots([a, b]);
    [
        a.atan2(multiply(minus, plus)[0]),
        multiply(conjugate(minus), plus)[1].asinh(),
    ]
}

fn acos(z: Complex) -> Complex {
    let [minus, plus] = roots(z);
    [
        2.0 * minus[0].atan2(plus[0]),
        multiply(conjugate(plus), minus)[1].asinh(),
    ]
}

fn acosh([a, b]: Complex) -> Complex {
    let (minus, plus) = (sqrt([a - 1.0, b]), sqrt([a + 1.0, b]));
    [
        multiply(conjugate(minus), plus)[0].asinh(),
        2.0 * minus[1].atan2(plus[0]),
    ]
}

fn asinh(z: Complex) -> Complex {
    turned_back(asin(turned(z)))
}

fn atanh([a, b]: Complex) -> Complex {
    let distance = (1.0 - a) * (1.0 - a) + b * b;
    [
        0.25 * (4.0 * a / distance).ln_1p(),
        0.5 * (2.0 * b).atan2((1.0 - a) * (1.0 + a) - b * b),
    ]
}

fn atan(z: Complex) -> Complex {
    turned_back(atanh(turned(z)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some numbers in each quadrant, on the axes, and near branch points.
    const NUMBERS: [Complex; 10] = [
        [0.3, 0.4],
        [-0.7, 0.2],
        [-1.5, -0.5],
        [2.0, -3.0],
        [0.5, 0.0],
        [0.0, 0.5],
        [0.0, -1.25],
        [1.0, 1e-6],
        [-1.0, 1e-3],
        [1e-9, -1e-9],
    ];

    fn check(function: fn(Complex) -> Complex, inverse: fn(Complex) -> Complex) {
        for z in NUMBERS {
            let back = function(inverse(z));
            let distance = (back[0] - z[0]).hypot(back[1] - z[1]);
            assert!(
                distance <= 1e-12 * z[0].hypot(z[1]).max(1e-3),
                "{z:?} became {back:?}"
            );
        }
    }

    #[test]
    fn functions_undo_their_inverses() {
        check(exponential, log);
        check(exponential_minus_one, log_plus_one);
        check(sine, asin);
        check(cosine, acos);
        check(tan, atan);
        check(sinh, asinh);
        check(cosh, acosh);
        check(tanh, atanh);
        check(|z| multiply(tan(z), [3.0, -1.0]), |z| atan2(z, [3.0, -1.0]));
        check(|z| multiply(z, z), sqrt);
        check(|z| multiply(z, multiply(z, z)), cbrt);
        check(|z| divide([1.0, 0.0], multiply(z, z)), rsqrt);
    }

    #[test]
    fn functions_agree_with_real_ones_on_the_real_axis() {
        let near = |found: Complex, expected: f64| {
            assert!((found[0] - expected).abs() <= 1e-14, "{found:?} {expected}");
            assert_eq!(found[1], 0.0);
        };
        for x in [-0.75_f64, -0.1, 0.25, 0.9] {
            near(tanh([x, 0.0]), x.tanh());
            near(asin([x, 0.0]), x.asin());
            near(logistic([x, 0.0]), 1.0 / (1.0 + (-x).exp()));
            near(exponential_minus_one([x, 0.0]), x.exp_m1());
        }
        assert_eq!(tanh([50.0, 1.0])[0], 1.0);
        assert_eq!(divide([1e200, 1e200], [1e200, 1e200]), [1.0, 0.0]);
        assert_eq!(sign([3.0, -4.0]), [0.6, -0.8]);
        assert_eq!(power([0.0; 2], [2.0, 0.0]), [0.0; 2]);
        let square = power([0.0, 1.0], [2.0, 0.0]);
        assert!((square[0] + 1.0).abs() < 1e-15, "{square:?}");
    }

    #[test]
    fn parts_have_names() {
        let real = part("tanh.real").unwrap();
        let ty = Type::named("f32").unwrap();
        assert_eq!(f64::from_bits(real(ty, 0, 0)), 0.0);
        assert!(part("tanh").is_none() && part("tanh.re").is_none() && part("frob.real").is_none());
    }
}

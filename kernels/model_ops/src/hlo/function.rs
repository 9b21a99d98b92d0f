//! Scalar functions, by their names in programs.

use tfrt::prelude::*;

use super::complex;
use super::element::{Kind, Type};
use super::special::{bessel_i1e, digamma, inverse_erf, inverse_tanh, polygamma, zeta};

/// A function of one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unary(fn(Type, u64) -> u64, Domain, bool);

/// A function of two elements of one type. The result has the same type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binary(fn(Type, u64, u64) -> u64, Domain);

/// An ordered pair of elements to an element.
pub(super) type BinaryFn = fn(Type, u64, u64) -> u64;

/// The types that a function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    Any,
    /// Integers and floating point numbers.
    Numbers,
    Reals,
    Integers,
    /// Integers and Booleans.
    Bits,
}

impl Domain {
    fn has(self, ty: Type) -> bool {
        match self {
            Self::Any => true,
            Self::Numbers => ty.kind != Kind::Bool,
            Self::Reals => ty.is_real(),
            Self::Integers => matches!(ty.kind, Kind::Signed | Kind::Unsigned),
            Self::Bits => !ty.is_real(),
        }
    }
}

macro_rules! real_functions {
    ($($name:literal => $function:expr;)*) => {
        &[$(($name, Unary(|ty, x| {
            let function: fn(f64) -> f64 = $function;
            ty.round(function(f64::from_bits(x)))
        }, Domain::Reals, false)),)*]
    };
}

/// Functions of floating point numbers.
const REAL: &[(&str, Unary)] = real_functions! {
    "acos" => f64::acos;
    "acosh" => f64::acosh;
    "asin" => f64::asin;
    "asinh" => f64::asinh;
    "atan" => f64::atan;
    "atanh" => inverse_tanh;
    "bessel_i1e" => bessel_i1e;
    "cbrt" => f64::cbrt;
    "ceil" => f64::ceil;
    "cosh" => f64::cosh;
    "cosine" => f64::cos;
    "digamma" => digamma;
    "erf" => libm::erf;
    "erf_inv" => inverse_erf;
    "erfc" => libm::erfc;
    "exponential" => f64::exp;
    "exponential_minus_one" => f64::exp_m1;
    "floor" => f64::floor;
    "lgamma" => libm::lgamma;
    "log" => f64::ln;
    "log_plus_one" => f64::ln_1p;
    "logistic" => |x| 1.0 / (1.0 + (-x).exp());
    "round_nearest_afz" => f64::round;
    "round_nearest_even" => f64::round_ties_even;
    "rsqrt" => |x| 1.0 / x.sqrt();
    "sine" => f64::sin;
    "sinh" => f64::sinh;
    "sqrt" => f64::sqrt;
    "tan" => f64::tan;
    "tanh" => f64::tanh;
};

/// Other functions of one element.
const OTHER: &[(&str, Unary)] = &[
    (
        "abs",
        Unary(
            |ty, x| match ty.kind {
                Kind::Real => f64::from_bits(x).abs().to_bits(),
                Kind::Signed => ty.wrap((x as i64).wrapping_abs() as u64),
                _ => x,
            },
            Domain::Numbers,
            false,
        ),
    ),
    (
        "negate",
        Unary(
            |ty, x| match ty.kind {
                Kind::Real => (-f64::from_bits(x)).to_bits(),
                _ => ty.wrap((x as i64).wrapping_neg() as u64),
            },
            Domain::Numbers,
            false,
        ),
    ),
    (
        "sign",
        Unary(
            |ty, x| match ty.kind {
                Kind::Real => match f64::from_bits(x) {
                    zero if zero == 0.0 || zero.is_nan() => x,
                    other => 1_f64.copysign(other).to_bits(),
                },
                Kind::Signed => (x as i64).signum() as u64,
                _ => u64::from(x != 0),
            },
            Domain::Numbers,
            false,
        ),
    ),
    ("not", Unary(|ty, x| ty.wrap(!x), Domain::Bits, false)),
    (
        "popcnt",
        Unary(
            |ty, x| u64::from(ty.unsigned(x).count_ones()),
            Domain::Integers,
            false,
        ),
    ),
    (
        "count_leading_zeros",
        Unary(
            |ty, x| u64::from(ty.unsigned(x).leading_zeros() + ty.bits - 64),
            Domain::Integers,
            false,
        ),
    ),
    (
        "is_finite",
        Unary(
            |_, x| u64::from(f64::from_bits(x).is_finite()),
            Domain::Reals,
            true,
        ),
    ),
    (
        "is_inf",
        Unary(
            |_, x| u64::from(f64::from_bits(x).is_infinite()),
            Domain::Reals,
            true,
        ),
    ),
    (
        "is_pos_inf",
        Unary(
            |_, x| u64::from(f64::from_bits(x) == f64::INFINITY),
            Domain::Reals,
            true,
        ),
    ),
    (
        "is_neg_inf",
        Unary(
            |_, x| u64::from(f64::from_bits(x) == f64::NEG_INFINITY),
            Domain::Reals,
            true,
        ),
    ),
];

impl Unary {
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = REAL.iter().chain(OTHER).find(|entry| entry.0 == name);
        found.map(|entry| entry.1)
    }

    /// Returns the type of the result, or `None` if the function does not accept the type.
    pub(super) fn result(self, ty: Type) -> Option<Type> {
        let result = if self.2 { Type::BOOL } else { ty };
        self.1.has(ty).then_some(result)
    }

    /// Applies the function to each element.
    pub(super) fn run(self, ty: Type, x: &[u64], to: &mut Vec<u64>) {
        to.clear();
        to.extend(x.iter().map(|&x| (self.0)(ty, x)));
    }
}

/// Defines a function of two elements from its floating point and integer versions.
macro_rules! number_function {
    ($domain:ident, $real:expr, $whole:expr) => {
        Binary(
            |ty, a, b| {
                let real: fn(f64, f64) -> f64 = $real;
                let whole: fn(Type, u64, u64) -> u64 = $whole;
                match ty.kind {
                    Kind::Real => ty.round(real(f64::from_bits(a), f64::from_bits(b))),
                    _ => ty.wrap(whole(ty, a, b)),
                }
            },
            Domain::$domain,
        )
    };
}

const BINARY: &[(&str, Binary)] = &[
    (
        "add",
        number_function!(Any, |a, b| a + b, |ty, a, b| match ty.kind {
            Kind::Bool => a | b,
            _ => a.wrapping_add(b),
        }),
    ),
    (
        "subtract",
        number_function!(Numbers, |a, b| a - b, |_, a, b| a.wrapping_sub(b)),
    ),
    (
        "multiply",
        number_function!(Any, |a, b| a * b, |_, a, b| a.wrapping_mul(b)),
    ),
    (
        "divide",
        number_function!(Numbers, |a, b| a / b, |ty, a, b| match (b, ty.kind) {
            (0, _) => u64::MAX,
            (_, Kind::Signed) => (a as i64).wrapping_div(b as i64) as u64,
            _ => a / b,
        }),
    ),
    (
        "remainder",
        number_function!(Numbers, |a, b| a % b, |ty, a, b| match (b, ty.kind) {
            (0, _) => a,
            (_, Kind::Signed) => (a as i64).wrapping_rem(b as i64) as u64,
            _ => a % b,
        }),
    ),
    (
        "power",
        number_function!(Numbers, f64::powf, |ty, a, b| match ty.kind {
            Kind::Signed if (b as i64) < 0 => match a as i64 {
                1 => 1,
                -1 if b & 1 == 1 => u64::MAX,
                -1 => 1,
                _ => 0,
            },
            _ => whole_power(a, b),
        }),
    ),
    (
        "maximum",
        number_function!(Any, |a, b| extreme(a, b, true), |ty, a, b| {
            if is_less(ty, a, b) { b } else { a }
        }),
    ),
    (
        "minimum",
        number_function!(Any, |a, b| extreme(a, b, false), |ty, a, b| {
            if is_less(ty, a, b) { a } else { b }
        }),
    ),
    ("and", Binary(|_, a, b| a & b, Domain::Bits)),
    ("or", Binary(|_, a, b| a | b, Domain::Bits)),
    ("xor", Binary(|_, a, b| a ^ b, Domain::Bits)),
    (
        "shift_left",
        Binary(
            |ty, a, b| match amount(ty, b) {
                Some(amount) => ty.wrap(a << amount),
                None => 0,
            },
            Domain::Integers,
        ),
    ),
    (
        "shift_right_logical",
        Binary(
            |ty, a, b| match amount(ty, b) {
                Some(amount) => ty.wrap(ty.unsigned(a) >> amount),
                None => 0,
            },
            Domain::Integers,
        ),
    ),
    (
        "shift_right_arithmetic",
        Binary(
            |ty, a, b| {
                let signed = ((a << (64 - ty.bits)) as i64) >> (64 - ty.bits);
                ty.wrap((signed >> amount(ty, b).unwrap_or(63)) as u64)
            },
            Domain::Integers,
        ),
    ),
    ("atan2", number_function!(Reals, f64::atan2, |_, a, _| a)),
    ("next_after", Binary(next_after, Domain::Reals)),
    ("polygamma", number_function!(Reals, polygamma, |_, a, _| a)),
    ("zeta", number_function!(Reals, zeta, |_, a, _| a)),
    ("hypot", number_function!(Reals, f64::hypot, |_, a, _| a)),
    (
        "mulhi",
        Binary(
            |ty, a, b| {
                let product = match ty.kind {
                    Kind::Signed => i128::from(a as i64).wrapping_mul(i128::from(b as i64)) as u128,
                    _ => u128::from(a) * u128::from(b),
                };
                ty.wrap((product >> ty.bits) as u64)
            },
            Domain::Integers,
        ),
    ),
];

impl Binary {
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = BINARY.iter().find(|entry| entry.0 == name);
        let part = || Some(Self(complex::part(name)?, Domain::Reals));
        found.map(|entry| entry.1).or_else(part)
    }

    /// Returns `true` if the function accepts elements of a type.
    pub(super) fn takes(self, ty: Type) -> bool {
        self.1.has(ty)
    }

    /// Applies the function to two elements.
    pub(super) fn of(self, ty: Type, a: u64, b: u64) -> u64 {
        (self.0)(ty, a, b)
    }

    /// Applies the function to each pair of elements.
    pub(super) fn run(self, ty: Type, a: &[u64], b: &[u64], to: &mut Vec<u64>) {
        to.clear();
        to.extend(a.iter().zip(b).map(|(&a, &b)| (self.0)(ty, a, b)));
    }
}

/// Returns the shift amount that an element specifies, if it is below the bit width.
fn amount(ty: Type, element: u64) -> Option<u32> {
    let amount = u32::try_from(ty.unsigned(element)).ok()?;
    (amount < ty.bits).then_some(amount)
}

/// Returns the maximum or minimum of two numbers, or NaN if one is NaN. 0 is greater than -0.
fn extreme(a: f64, b: f64, is_greatest: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { a } else { b };
    }
    if a.total_cmp(&b).is_lt() == is_greatest {
        b
    } else {
        a
    }
}

/// Returns `true` if an integer or Boolean is less than another one.
fn is_less(ty: Type, a: u64, b: u64) -> bool {
    match ty.kind {
        Kind::Signed => (a as i64) < (b as i64),
        _ => a < b,
    }
}

/// Computes a power modulo 2^64. Truncating it yields the power in a narrower type.
fn whole_power(mut base: u64, mut exponent: u64) -> u64 {
    let mut power = 1_u64;
    while exponent != 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}

/// Returns the number next to `a` in the direction of `b`, in the type of both.
fn next_after(ty: Type, a: u64, b: u64) -> u64 {
    let (from, to) = (f64::from_bits(a), f64::from_bits(b));
    if from.is_nan() || to.is_nan() {
        return f64::NAN.to_bits();
    }
    if from == to {
        return b;
    }
    let sign = 1_u64 << (ty.bits - 1);
    let native = ty.native(a);
    let next = if from == 0.0 {
        1 | if to < 0.0 { sign } else { 0 }
    } else if (from < to) == (from > 0.0) {
        native + 1
    } else {
        native - 1
    };
    ty.of_native(next)
}

/// An order of floating point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// That of IEEE 754: zeros are equal, NaN is unordered.
    Partial,
    /// Zeros are equal, all NaN are equal and greater than the other numbers.
    Weak,
    /// The total order of IEEE 754: -0 is less than 0, and NaN are ordered by their bits.
    Total,
}

impl Order {
    fn of(self, a: f64, b: f64) -> Option<std::cmp::Ordering> {
        match self {
            Self::Total => Some(a.total_cmp(&b)),
            Self::Partial => a.partial_cmp(&b),
            Self::Weak => a.partial_cmp(&b).or(Some(a.is_nan().cmp(&b.is_nan()))),
        }
    }
}

/// The direction of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" => Self::Lt,
            "le" => Self::Le,
            "gt" => Self::Gt,
            "ge" => Self::Ge,
            _ => return None,
        })
    }

    /// Returns `true` if the comparison of two elements holds. Floating point numbers compare by
    /// `order`.
    pub(super) fn holds(self, ty: Type, order: Order, a: u64, b: u64) -> bool {
        let order = match ty.kind {
            Kind::Real => order.of(f64::from_bits(a), f64::from_bits(b)),
            Kind::Signed => Some((a as i64).cmp(&(b as i64))),
            _ => Some(a.cmp(&b)),
        };
        let Some(order) = order else {
            return self == Self::Ne;
        };
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }
}

/// Computes the minimum of `greatest` and the maximum of `x` and `least`.
pub(super) fn clamp(ty: Type, least: u64, x: u64, greatest: u64) -> u64 {
    if ty.is_real() {
        let (least, x, greatest) = (
            f64::from_bits(least),
            f64::from_bits(x),
            f64::from_bits(greatest),
        );
        return extreme(extreme(x, least, true), greatest, false).to_bits();
    }
    let raised = if is_less(ty, x, least) { least } else { x };
    if is_less(ty, greatest, raised) {
        greatest
    } else {
        raised
    }
}

/// Converts an element to another type. Conversions to floating point types round. Conversions from
/// them to integers truncate and saturate, and NaN becomes 0. Conversions between integers wrap.
pub(super) fn convert(from: Type, to: Type, x: u64) -> u64 {
    let is_single = to.dtype == DType::F32 && to.small.is_none();
    match (from.kind, to.kind) {
        (Kind::Real, Kind::Real) => to.round(f64::from_bits(x)),
        (Kind::Real, Kind::Bool) => u64::from(f64::from_bits(x) != 0.0),
        (Kind::Real, Kind::Signed) => {
            let (greatest, least) = (i64::MAX >> (64 - to.bits), i64::MIN >> (64 - to.bits));
            (f64::from_bits(x) as i64).clamp(least, greatest) as u64
        }
        (Kind::Real, Kind::Unsigned) => (f64::from_bits(x) as u64).min(u64::MAX >> (64 - to.bits)),
        (_, Kind::Bool) => u64::from(x != 0),
        // A direct conversion rounds once.
        (Kind::Signed, Kind::Real) if is_single => f64::from(x as i64 as f32).to_bits(),
        (_, Kind::Real) if is_single => f64::from(x as f32).to_bits(),
        (Kind::Signed, Kind::Real) => to.round(x as i64 as f64),
        (_, Kind::Real) => to.round(x as f64),
        _ => to.wrap(x),
    }
}

/// Rounds a number to fewer exponent and fraction bits, and returns it in its own type. Without
/// fraction bits, no NaN can be told from infinity, so it becomes that.
pub(super) fn reduce_precision(ty: Type, exponent_bits: u32, fraction_bits: u32, x: u64) -> u64 {
    let value = f64::from_bits(x);
    if value.is_nan() && fraction_bits == 0 {
        return f64::INFINITY.copysign(value).to_bits();
    }
    if !value.is_finite() {
        return x;
    }
    let own_fraction = match ty.dtype {
        DType::F16 => 10,
        DType::Bf16 => 7,
        DType::F32 => 23,
        _ => 52,
    };
    let own_exponent = ty.bits - 1 - own_fraction;
    let mut bits = ty.native(x);
    let sign = bits & (1 << (ty.bits - 1));
    if fraction_bits < own_fraction {
        let dropped = own_fraction - fraction_bits;
        // Rounds to nearest, ties to even.
        let is_odd = bits >> dropped & 1;
        bits += (1 << (dropped - 1)) - 1 + is_odd;
        bits &= !((1 << dropped) - 1);
    }
    if exponent_bits < own_exponent {
        let bias = |bits: u32| (1_u64 << (bits - 1)) - 1;
        let (own_bias, new_bias) = (bias(own_exponent), bias(exponent_bits));
        let exponent = bits >> own_fraction & ((1 << own_exponent) - 1);
        let infinity = ((1_u64 << own_exponent) - 1) << own_fraction;
        if exponent > own_bias + new_bias {
            bits = sign | infinity;
        } else if exponent <= own_bias - new_bias {
            bits = sign;
        }
    }
    ty.of_native(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> Type {
        Type::named(name).unwrap()
    }

    fn whole(function: &str, name: &str, a: i64, b: i64) -> i64 {
        Binary::named(function)
            .unwrap()
            .of(ty(name), a as u64, b as u64) as i64
    }

    #[test]
    fn integers_divide_as_in_xla() {
        assert_eq!(whole("divide", "i32", 7, 0), -1);
        assert_eq!(whole("divide", "i8", -128, -1), -128);
        assert_eq!(whole("divide", "i64", i64::MIN, -1), i64::MIN);
        assert_eq!(whole("divide", "i32", -7, 2), -3);
        assert_eq!(whole("divide", "ui8", 7, 0), 255);
        assert_eq!(whole("remainder", "i32", -7, 3), -1);
        assert_eq!(whole("remainder", "i32", -7, 0), -7);
        assert_eq!(whole("remainder", "i8", -128, -1), 0);
        assert_eq!(whole("power", "i32", 2, -1), 0);
        assert_eq!(whole("power", "i32", -1, -3), -1);
        assert_eq!(whole("power", "i8", 3, 5), -13);
    }

    #[test]
    fn shifts_beyond_the_width_leave_nothing_or_the_sign() {
        assert_eq!(whole("shift_left", "i8", 3, 8), 0);
        assert_eq!(whole("shift_left", "i8", 0x41, 1), -126);
        assert_eq!(whole("shift_left", "i32", 1, -1), 0);
        assert_eq!(whole("shift_right_logical", "i8", -1, 4), 15);
        assert_eq!(whole("shift_right_arithmetic", "i8", -128, 9), -1);
        assert_eq!(whole("shift_right_arithmetic", "ui8", 128, 1), 192);
        assert_eq!(whole("shift_right_arithmetic", "i64", -8, 1), -4);
    }

    #[test]
    fn extremes_hand_on_nan_and_tell_zeros_apart() {
        let greatest = Binary::named("maximum").unwrap();
        let of = |a: f64, b: f64| f64::from_bits(greatest.of(ty("f32"), a.to_bits(), b.to_bits()));
        assert!(of(f64::NAN, 1.0).is_nan() && of(1.0, f64::NAN).is_nan());
        assert!(of(-0.0, 0.0).is_sign_positive());
        assert_eq!(whole("maximum", "ui64", -1, 1), -1);
        assert_eq!(whole("maximum", "i64", -1, 1), 1);
    }

    #[test]
    fn precision_is_reduced_by_rounding_to_the_nearest() {
        let reduced = |x: f32, exponent, fraction| {
            let bits = reduce_precision(ty("f32"), exponent, fraction, f64::from(x).to_bits());
            f64::from_bits(bits) as f32
        };
        for x in [1.1_f32, -3.7, 65504.0, 1e-3, 2049.0, 2051.0] {
            assert_eq!(reduced(x, 5, 10), half::f16::from_f32(x).to_f32(), "{x}");
        }
        assert_eq!(reduced(1e6, 5, 10), f32::INFINITY);
        assert_eq!(reduced(-1e-6, 5, 10), -0.0);
        assert!(reduced(f32::NAN, 5, 10).is_nan());
        assert_eq!(reduced(f32::NAN.copysign(-1.0), 5, 0), f32::NEG_INFINITY);
    }

    #[test]
    fn conversions_saturate_and_wrap() {
        let of = |from: &str, to: &str, x: u64| convert(ty(from), ty(to), x) as i64;
        assert_eq!(of("f32", "i8", 300.0_f64.to_bits()), 127);
        assert_eq!(of("f64", "i64", f64::NAN.to_bits()), 0);
        assert_eq!(of("f32", "ui8", (-3.0_f64).to_bits()), 0);
        assert_eq!(of("i32", "i8", 300), 44);
        assert_eq!(of("i8", "ui16", -1_i64 as u64), 65535);
        assert_eq!(of("f32", "i1", f64::NAN.to_bits()), 1);
        assert_eq!(
            f64::from_bits(convert(ty("ui64"), ty("f64"), u64::MAX)),
            2_f64.powi(64)
        );
    }

    #[test]
    fn the_high_half_of_a_product_is_that_of_the_type() {
        assert_eq!(whole("mulhi", "i8", -64, 4), -1);
        assert_eq!(whole("mulhi", "ui8", 240, 16), 15);
        assert_eq!(whole("mulhi", "i64", i64::MIN, i64::MIN), 1 << 62);
        assert_eq!(whole("mulhi", "ui64", -1, -1), -2);
    }

    #[test]
    fn orders_differ_in_zeros_and_nan() {
        let holds = |name: &str, order: Order, a: f64, b: f64| {
            let comparison = Comparison::named(name).unwrap();
            comparison.holds(ty("f64"), order, a.to_bits(), b.to_bits())
        };
        assert!(holds("eq", Order::Weak, f64::NAN, -f64::NAN));
        assert!(holds("eq", Order::Weak, -0.0, 0.0));
        assert!(holds("gt", Order::Weak, -f64::NAN, f64::INFINITY));
        assert!(holds("lt", Order::Total, -f64::NAN, f64::NEG_INFINITY));
        assert!(holds("lt", Order::Total, -0.0, 0.0));
        assert!(!holds("eq", Order::Partial, f64::NAN, f64::NAN));
        assert!(holds("ne", Order::Partial, f64::NAN, f64::NAN));
    }

    #[test]
    fn the_next_number_is_one_of_the_type() {
        let next = Binary::named("next_after").unwrap();
        let of = |a: f32, b: f32| {
            let bits = next.of(ty("f32"), f64::from(a).to_bits(), f64::from(b).to_bits());
            f64::from_bits(bits) as f32
        };
        assert_eq!(of(1.0, 2.0), 1.0_f32.next_up());
        assert_eq!(of(-1.0, 2.0), (-1.0_f32).next_up());
        assert_eq!(of(0.0, -1.0), -f32::from_bits(1));
    }
}

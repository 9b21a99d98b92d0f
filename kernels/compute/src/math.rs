//! Elementary functions, written so that a loop over them becomes vector code.
//!
//! Every function is free of branches and calls: selections, polynomials, and integer arithmetic on
//! the bits. The standard library's functions are the oracles in the tests. Accuracies are in units
//! in the last place (ULP) of the exact result, over all finite arguments, denormal ones included.
//!
//! | function | `f32` | `f64` |
//! |---|---|---|
//! | [`exp`](Real::exp) | 2 | 2 |
//! | [`ln`](Real::ln), [`ln_1p`](Real::ln_1p) | 2, 4 | 2, 4 |
//! | [`tanh`](Real::tanh) | 4 | 4 |
//! | [`sigmoid`](Real::sigmoid) | 4 | 4 |
//! | [`rsqrt`](Real::rsqrt) | 2 | 2 |
//! | [`exp_m1`](Real::exp_m1), for [`elu`](Real::elu) | 8 | 8 |

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// A floating-point element: `f32` or `f64`.
pub trait Real:
    Copy
    + PartialOrd
    + Default
    + Send
    + Sync
    + From<i8>
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + private::Sealed
    + 'static
{
    /// `-∞`.
    const NEG_INFINITY: Self;

    /// Returns the nearest value to an integer.
    #[must_use]
    fn from_usize(value: usize) -> Self;

    /// Returns the nearest value to a number of single precision.
    #[must_use]
    fn from_f32(value: f32) -> Self;

    /// Returns the number in double precision.
    #[must_use]
    fn to_f64(self) -> f64;

    /// Returns the nearest value to a number of double precision.
    #[must_use]
    fn from_f64(value: f64) -> Self;

    /// Returns `self · factor + summand`, rounded once.
    #[must_use]
    fn mul_add(self, factor: Self, summand: Self) -> Self;

    /// Returns the number without its sign.
    #[must_use]
    fn abs(self) -> Self;

    /// Returns `a` where `condition`, else `b`, never by a branch: loops with a costly `a` or `b`
    /// stay vector code.
    #[must_use]
    fn select(condition: bool, a: Self, b: Self) -> Self;

    /// Returns the square root, rounded to nearest.
    #[must_use]
    fn sqrt(self) -> Self;

    /// Returns `eˣ`.
    #[must_use]
    fn exp(self) -> Self;

    /// Returns the natural logarithm; NaN for negative arguments, `-∞` for zero.
    #[must_use]
    fn ln(self) -> Self;

    /// Returns `1 / √x`.
    #[must_use]
    #[inline(always)]
    fn rsqrt(self) -> Self {
        Self::from(1) / self.sqrt()
    }

    /// Returns `ln(1 + x)`, without the loss of digits for small `x`.
    #[must_use]
    #[inline(always)]
    fn ln_1p(self) -> Self {
        let one = Self::from(1);
        let sum = one + self;
        // The rounding of the sum is made up for by the ratio of what was added to what arrived.
        let value = sum.ln() * (self / (sum - one));
        let value = if sum == one { self } else { value };
        // Where the ratio is NaN.
        if sum == -Self::NEG_INFINITY {
            sum
        } else {
            value
        }
    }

    /// Returns the hyperbolic tangent where `|x| < 0.625`; elsewhere meaningless.
    #[must_use]
    fn tanh_near_zero(self) -> Self;

    /// Returns the hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;

    /// Returns `1 / (1 + e⁻ˣ)`.
    #[must_use]
    #[inline(always)]
    fn sigmoid(self) -> Self {
        let (zero, one) = (Self::from(0), Self::from(1));
        let power = (-self.abs()).exp();
        Self::select(self < zero, power, one) / (one + power)
    }

    /// Returns `eˣ - 1`, without the loss of digits for small `x`.
    #[must_use]
    #[inline(always)]
    fn exp_m1(self) -> Self {
        let one = Self::from(1);
        let two = Self::from(2);
        // eˣ - 1 = 2t / (1 - t) with t = tanh(x / 2), which keeps the digits near zero.
        let tangent = (self / two).tanh_near_zero();
        let near = two * tangent / (one - tangent);
        Self::select(self.abs() < one, near, self.exp() - one)
    }

    /// Returns the exponential linear unit: `x`, but `eˣ - 1` where `x` is negative.
    #[must_use]
    #[inline(always)]
    fn elu(self) -> Self {
        Self::select(self < Self::from(0), self.exp_m1(), self)
    }
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! real {
    ($T:ident, $Bits:ident, $Int:ident, mantissa = $MANTISSA:literal, bias = $BIAS:literal,
     round = $ROUND:expr, exp_range = $EXP_RANGE:expr, ln2 = ($LN2_HIGH:expr, $LN2_LOW:expr), exp = $exp:expr,
     ln_ln2 = ($LN_LN2_HIGH:expr, $LN_LN2_LOW:expr), ln = $ln:expr, tanh = $tanh:expr, denormal_scale = $DENORMAL_SCALE:expr,
     denormal_exponent = $DENORMAL_EXPONENT:literal, sqrt_half = $SQRT_HALF:expr) => {
        impl Real for $T {
            const NEG_INFINITY: Self = Self::NEG_INFINITY;

            #[inline(always)]
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest value is what is asked for"
            )]
            fn from_usize(value: usize) -> Self {
                value as Self
            }

            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                Self::mul_add(self, factor, summand)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                Self::abs(self)
            }

            #[inline(always)]
            fn select(condition: bool, a: Self, b: Self) -> Self {
                let mask = $Bits::from(condition).wrapping_neg();
                Self::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                Self::sqrt(self)
            }

            /// Computes `eˣ = 2ⁿ · eʳ` with `|r| ≤ ln(2) / 2`.
            #[inline(always)]
            fn exp(self) -> Self {
                // Beyond these bounds the result is infinite or zero; within, the exponent
                // arithmetic does not overflow.
                let (low, high) = $EXP_RANGE;
                let x = Self::select(self > high, high, self);
                let x = Self::select(x < low, low, x);
                // Adding 1.5 · 2^mantissa rounds to an integer, and leaves it in the low bits.
                let rounded = x * std::$T::consts::LOG2_E + $ROUND;
                let n = rounded - $ROUND;
                let power =
                    (rounded.to_bits() as $Int).wrapping_sub(($ROUND as $T).to_bits() as $Int);
                let r = (-n).mul_add($LN2_LOW, (-n).mul_add($LN2_HIGH, x));
                let value = $exp(r);
                // In two steps, as 2ⁿ alone may be denormal or infinite where the result is not.
                let half = power >> 1;
                let scale =
                    |power: $Int| $T::from_bits((power.wrapping_add($BIAS) as $Bits) << $MANTISSA);
                value * scale(half) * scale(power.wrapping_sub(half))
            }

            /// Computes `ln(2ᵏ · (1 + f)) = k · ln(2) + ln(1 + f)` with `√½ ≤ 1 + f < √2`.
            #[inline(always)]
            fn ln(self) -> Self {
                let is_denormal = self < Self::MIN_POSITIVE;
                let x = Self::select(is_denormal, self * $DENORMAL_SCALE, self);
                let offset = ($SQRT_HALF as $T).to_bits();
                let bits = x.to_bits().wrapping_sub(offset);
                let exponent = (bits as $Int) >> $MANTISSA;
                let mantissa = $T::from_bits((bits & ((1 << $MANTISSA) - 1)).wrapping_add(offset));
                let k = (exponent - i32::from(is_denormal) as $Int * $DENORMAL_EXPONENT) as $T;
                let f = mantissa - 1.0;
                let s = f / (2.0 + f);
                let half_square = 0.5 * f * f;
                let series = s * (half_square + $ln(s * s));
                let value = k.mul_add(
                    $LN_LN2_HIGH,
                    f - (half_square - k.mul_add($LN_LN2_LOW, series)),
                );
                let value = Self::select(self == 0.0, Self::NEG_INFINITY, value);
                let value = Self::select(self == Self::INFINITY, self, value);
                // Also true of a NaN.
                #[expect(
                    clippy::neg_cmp_op_on_partial_ord,
                    reason = "a NaN is not at least zero either"
                )]
                let is_outside = !(self >= 0.0);
                Self::select(is_outside, Self::NAN, value)
            }

            #[inline(always)]
            fn tanh_near_zero(self) -> Self {
                self + self * $tanh(self * self)
            }

            /// Returns a polynomial near zero, else by way of `e²ˣ`.
            #[inline(always)]
            fn tanh(self) -> Self {
                let magnitude = self.abs();
                let near = magnitude.tanh_near_zero();
                // Not the standard library's function, which methods of numbers mean first: a call
                // for each element.
                let far = 1.0 - 2.0 / (Real::exp(magnitude + magnitude) + 1.0);
                // The sign comes last: with a sign of its own on each side, the loop is not
                // vectorised.
                Self::select(magnitude < 0.625, near, far).copysign(self)
            }
        }
    };
}

/// Horner's rule: coefficients from the highest power down.
#[inline(always)]
pub(crate) fn polynomial<T: Real, const TERMS: usize>(x: T, coefficients: [T; TERMS]) -> T {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

real!(
    f32,
    u32,
    i32,
    mantissa = 23,
    bias = 127,
    round = 12_582_912.0,
    exp_range = (-104.0, 89.0),
    ln2 = (0.693_145_75, 1.428_606_8e-6),
    // The polynomial with the least greatest error on the interval.
    exp = |r: f32| {
        let tail = polynomial(
            r,
            [
                1.987_569_1e-4,
                1.398_2e-3,
                8.333_452e-3,
                4.166_579_6e-2,
                0.166_666_65,
                0.500_000_06,
            ],
        );
        1.0 + (r * r).mul_add(tail, r)
    },
    ln_ln2 = (0.693_138_1, 9.058_001e-6),
    ln = |z: f32| z * polynomial(z, [0.242_790_79, 0.284_987_87, 0.400_009_72, 0.666_666_6]),
    tanh = |z: f32| {
        z * polynomial(
            z,
            [
                -5.704_988_6e-3,
                2.063_909e-2,
                -5.373_971_5e-2,
                0.133_314_42,
                -0.333_332_8,
            ],
        )
    },
    denormal_scale = 8_388_608.0,
    denormal_exponent = 23,
    sqrt_half = 0.707_106_77
);

real!(
    f64,
    u64,
    i64,
    mantissa = 52,
    bias = 1023,
    round = 6_755_399_441_055_744.0,
    exp_range = (-746.0, 710.0),
    ln2 = (6.931_457_519_531_25e-1, 1.428_606_820_309_417_2e-6),
    exp = |r: f64| {
        let square = r * r;
        let odd = r * polynomial(
            square,
            [1.261_771_930_748_105_9e-4, 3.029_944_077_074_419_6e-2, 1.0],
        );
        let even = polynomial(
            square,
            [
                3.001_985_051_386_644_6e-6,
                2.524_483_403_496_841e-3,
                2.272_655_482_081_550_3e-1,
                2.0,
            ],
        );
        1.0 + 2.0 * (odd / (even - odd))
    },
    ln_ln2 = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10),
    ln = |z: f64| {
        z * polynomial(
            z,
            [
                1.479_819_860_511_658_6e-1,
                1.531_383_769_920_937_3e-1,
                1.818_357_216_161_805e-1,
                2.222_219_843_214_978_4e-1,
                2.857_142_874_366_239e-1,
                3.999_999_999_940_942e-1,
                6.666_666_666_666_735e-1,
            ],
        )
    },
    tanh = |z: f64| {
        let numerator = polynomial(
            z,
            [
                -9.643_991_794_250_522e-1,
                -9.928_772_310_019_185e1,
                -1.614_687_684_417_084_5e3,
            ],
        );
        let denominator = polynomial(
            z,
            [
                1.0,
                1.128_116_784_916_329_3e2,
                2.235_488_390_601_004_5e3,
                4.844_063_053_251_255e3,
            ],
        );
        z * numerator / denominator
    },
    denormal_scale = 4_503_599_627_370_496.0,
    denormal_exponent = 52,
    sqrt_half = std::f64::consts::FRAC_1_SQRT_2
);

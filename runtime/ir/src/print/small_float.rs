//! Floating point numbers of eight bits.
//!
//! A format is a number of bits for exponent and fraction, a bias, and a rule for the codes of
//! infinities and NaN. Positive codes are in the order of their values, so rounding is a choice
//! between two neighbours.

use crate::types::FloatType;

/// What the codes beyond the finite numbers mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// The greatest exponent is for infinities and NaN.
    Ieee,
    /// Only the greatest code of each sign is NaN.
    GreatestIsNan,
    /// The code of negative zero is NaN.
    NegativeZeroIsNan,
    /// The code of all ones is NaN; there is no sign and no zero.
    Exponent,
}

/// A format of eight bits.
#[derive(Clone, Copy)]
pub(super) struct SmallFloat {
    fraction_bits: u32,
    bias: i32,
    special: Special,
}

const SIGN: u8 = 0x80;

impl SmallFloat {
    /// The format of a type of eight bits.
    pub(super) fn of(ty: FloatType) -> Self {
        let (fraction_bits, bias, special) = match ty {
            FloatType::F8E5M2 => (2, 15, Special::Ieee),
            FloatType::F8E4M3 => (3, 7, Special::Ieee),
            FloatType::F8E3M4 => (4, 3, Special::Ieee),
            FloatType::F8E5M2Fnuz => (2, 16, Special::NegativeZeroIsNan),
            FloatType::F8E4M3Fnuz => (3, 8, Special::NegativeZeroIsNan),
            FloatType::F8E4M3B11Fnuz => (3, 11, Special::NegativeZeroIsNan),
            FloatType::F8E8M0Fnu => (0, 127, Special::Exponent),
            // Wider types have no small format; the match lists all of eight bits.
            _ => (3, 7, Special::GreatestIsNan),
        };
        Self {
            fraction_bits,
            bias,
            special,
        }
    }

    /// The number of bits of a significand, with the leading one that is not stored.
    pub(super) fn significand_bits(self) -> usize {
        self.fraction_bits as usize + 1
    }

    /// The value of a positive code, as if it were finite.
    fn magnitude(self, code: u16) -> f64 {
        if self.special == Special::Exponent {
            return 2_f64.powi(i32::from(code) - self.bias);
        }
        let fraction = f64::from(code & ((1 << self.fraction_bits) - 1));
        let scale = 2_f64.powi(-(self.fraction_bits as i32));
        match i32::from(code >> self.fraction_bits) {
            0 => fraction * scale * 2_f64.powi(1 - self.bias),
            exponent => (1.0 + fraction * scale) * 2_f64.powi(exponent - self.bias),
        }
    }

    /// Returns the first positive code of infinity or NaN.
    fn first_special(self) -> u16 {
        match self.special {
            Special::Ieee => 0x80 - (1 << self.fraction_bits),
            Special::GreatestIsNan => 0x7F,
            Special::NegativeZeroIsNan => 0x80,
            Special::Exponent => 0xFF,
        }
    }

    /// The value of a code.
    pub(super) fn value(self, code: u8) -> f64 {
        if self.special == Special::Exponent {
            return match code {
                0xFF => f64::NAN,
                code => self.magnitude(u16::from(code)),
            };
        }
        if self.special == Special::NegativeZeroIsNan && code == SIGN {
            return f64::NAN;
        }
        let positive = u16::from(code & !SIGN);
        let first_special = self.first_special();
        let magnitude = if positive < first_special {
            self.magnitude(positive)
        } else if self.special == Special::Ieee && positive == first_special {
            f64::INFINITY
        } else {
            f64::NAN
        };
        if code & SIGN == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The code of the nearest value, the even one of two that are equally near. What is too large
    /// becomes infinity where there is one, else NaN.
    pub(super) fn bits(self, value: f64) -> u8 {
        let first_special = self.first_special();
        if self.special == Special::Exponent && (value.is_nan() || value.is_sign_negative()) {
            return 0xFF;
        }
        let sign = if value.is_sign_negative() { SIGN } else { 0 };
        let nan = match self.special {
            Special::Ieee => sign | first_special as u8 | 1 << (self.fraction_bits - 1),
            Special::GreatestIsNan => sign | 0x7F,
            Special::NegativeZeroIsNan => SIGN,
            Special::Exponent => 0xFF,
        };
        if value.is_nan() {
            return nan;
        }
        let magnitude = value.abs();
        let above = (0..first_special).find(|&code| self.magnitude(code) >= magnitude);
        let above = above.unwrap_or(first_special);
        let code = match above.checked_sub(1) {
            None => above,
            Some(below) => {
                let to_above = self.magnitude(above) - magnitude;
                let to_below = magnitude - self.magnitude(below);
                let is_even = above % 2 == 0;
                if to_above < to_below || to_above == to_below && is_even {
                    above
                } else {
                    below
                }
            }
        };
        if code < first_special {
            match (self.special, code) {
                (Special::NegativeZeroIsNan, 0) => 0,
                _ => sign | code as u8,
            }
        } else if self.special == Special::Ieee {
            sign | first_special as u8
        } else {
            nan
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [FloatType; 8] = [
        FloatType::F8E5M2,
        FloatType::F8E4M3,
        FloatType::F8E3M4,
        FloatType::F8E4M3Fn,
        FloatType::F8E4M3Fnuz,
        FloatType::F8E5M2Fnuz,
        FloatType::F8E4M3B11Fnuz,
        FloatType::F8E8M0Fnu,
    ];

    #[test]
    fn each_number_has_the_code_that_it_is_the_value_of() {
        for ty in ALL {
            let format = SmallFloat::of(ty);
            for code in 0..=u8::MAX {
                let value = format.value(code);
                if value.is_nan() {
                    assert!(format.value(format.bits(value)).is_nan(), "{ty:?} {code}");
                } else {
                    assert_eq!(format.bits(value), code, "{ty:?} {value}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_and_beyond_the_greatest_is_special() {
        let check = |ty: FloatType, value: f64, expected: u8| {
            assert_eq!(SmallFloat::of(ty).bits(value), expected, "{ty:?} {value}");
        };
        // 448 is the greatest number; 464 is halfway to the next one.
        check(FloatType::F8E4M3Fn, 448.0, 0x7E);
        check(FloatType::F8E4M3Fn, 463.9, 0x7E);
        check(FloatType::F8E4M3Fn, 470.0, 0x7F);
        check(FloatType::F8E5M2, 57344.0, 0x7B);
        check(FloatType::F8E5M2, -65536.0, 0xFC);
        check(FloatType::F8E4M3Fnuz, 1e9, 0x80);
        check(FloatType::F8E4M3Fnuz, -0.0, 0x00);
        // Halfway between 1 and 1.125: the even one.
        check(FloatType::F8E4M3Fn, 1.0625, 0x38);
        check(FloatType::F8E4M3Fn, 1.1875, 0x3A);
        check(FloatType::F8E8M0Fnu, 4.0, 0x81);
    }
}

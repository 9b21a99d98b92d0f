//! Floating point numbers of up to 8 bits.
//!
//! A format consists of the widths of exponent and fraction, a bias, and a rule for the encodings
//! of infinities and NaN. Positive encodings are in the order of their values, so rounding chooses
//! between two neighbours.

use crate::types::FloatType;

/// The rule for the encodings of infinities and NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// All encodings are finite numbers. Greater values become the greatest number, and NaN becomes
    /// negative zero.
    Never,
    /// The greatest exponent encodes infinities and NaN.
    Ieee,
    /// Only the greatest encoding of each sign is NaN.
    GreatestIsNan,
    /// The encoding of negative zero is NaN.
    NegativeZeroIsNan,
    /// The encoding with all bits set is NaN. The format has neither a sign nor a zero.
    Exponent,
}

/// A format of up to 8 bits.
#[derive(Clone, Copy)]
pub(super) struct SmallFloat {
    /// The bit of the sign, in formats with a sign: the greatest one.
    sign: u8,
    fraction_bits: u32,
    bias: i32,
    special: Special,
}

impl SmallFloat {
    /// Returns the format of a type of up to 8 bits.
    pub(super) fn of(ty: FloatType) -> Self {
        let (fraction_bits, bias, special) = match ty {
            FloatType::F4E2M1Fn => (1, 1, Special::Never),
            FloatType::F6E2M3Fn => (3, 1, Special::Never),
            FloatType::F6E3M2Fn => (2, 3, Special::Never),
            FloatType::F8E5M2 => (2, 15, Special::Ieee),
            FloatType::F8E4M3 => (3, 7, Special::Ieee),
            FloatType::F8E3M4 => (4, 3, Special::Ieee),
            FloatType::F8E5M2Fnuz => (2, 16, Special::NegativeZeroIsNan),
            FloatType::F8E4M3Fnuz => (3, 8, Special::NegativeZeroIsNan),
            FloatType::F8E4M3B11Fnuz => (3, 11, Special::NegativeZeroIsNan),
            FloatType::F8E8M0Fnu => (0, 127, Special::Exponent),
            // The other 8-bit type is `F8E4M3Fn`; wider types have no small format.
            _ => (3, 7, Special::GreatestIsNan),
        };
        Self {
            sign: 1 << (ty.width().min(8) - 1),
            fraction_bits,
            bias,
            special,
        }
    }

    /// Returns the number of bits of a significand, with its implicit leading bit.
    pub(super) fn significand_bits(self) -> usize {
        self.fraction_bits as usize + 1
    }

    /// Returns the value of a positive encoding, as if it were finite.
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

    /// Returns the first positive encoding of infinity or NaN.
    fn first_special(self) -> u16 {
        let sign = u16::from(self.sign);
        match self.special {
            Special::Ieee => sign - (1 << self.fraction_bits),
            Special::GreatestIsNan => sign - 1,
            Special::Never | Special::NegativeZeroIsNan => sign,
            Special::Exponent => 0xFF,
        }
    }

    /// Returns the value of an encoding.
    pub(super) fn value(self, code: u8) -> f64 {
        if self.special == Special::Exponent {
            return match code {
                0xFF => f64::NAN,
                code => self.magnitude(u16::from(code)),
            };
        }
        if self.special == Special::NegativeZeroIsNan && code == self.sign {
            return f64::NAN;
        }
        let positive = u16::from(code & (self.sign - 1));
        let first_special = self.first_special();
        let magnitude = if positive < first_special {
            self.magnitude(positive)
        } else if self.special == Special::Ieee && positive == first_special {
            f64::INFINITY
        } else {
            f64::NAN
        };
        if code & self.sign == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// Rounds a value to the nearest encoding, with ties to even. A value that is too large becomes
    /// infinity, or NaN in formats without infinity, or the greatest number in formats without
    /// both.
    pub(super) fn bits(self, value: f64) -> u8 {
        let first_special = self.first_special();
        if self.special == Special::Exponent && (value.is_nan() || value.is_sign_negative()) {
            return 0xFF;
        }
        let sign = if value.is_sign_negative() {
            self.sign
        } else {
            0
        };
        let nan = match self.special {
            Special::Never => self.sign,
            Special::Ieee => sign | first_special as u8 | 1 << (self.fraction_bits - 1),
            Special::GreatestIsNan => sign | (self.sign - 1),
            Special::NegativeZeroIsNan => self.sign,
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
        } else {
            match self.special {
                Special::Ieee => sign | first_special as u8,
                Special::Never => sign | (self.sign - 1),
                _ => nan,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [FloatType; 11] = [
        FloatType::F4E2M1Fn,
        FloatType::F6E2M3Fn,
        FloatType::F6E3M2Fn,
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
            for code in 0..=u8::MAX >> (8 - ty.width()) {
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
        // 448 is the greatest number. 464 is halfway to the next one.
        check(FloatType::F8E4M3Fn, 448.0, 0x7E);
        check(FloatType::F8E4M3Fn, 463.9, 0x7E);
        check(FloatType::F8E4M3Fn, 470.0, 0x7F);
        check(FloatType::F8E5M2, 57344.0, 0x7B);
        check(FloatType::F8E5M2, -65536.0, 0xFC);
        check(FloatType::F8E4M3Fnuz, 1e9, 0x80);
        check(FloatType::F8E4M3Fnuz, -0.0, 0x00);
        // Halfway between 1 and 1.125, and rounded to the even encoding.
        check(FloatType::F8E4M3Fn, 1.0625, 0x38);
        check(FloatType::F8E4M3Fn, 1.1875, 0x3A);
        check(FloatType::F8E8M0Fnu, 4.0, 0x81);
        check(FloatType::F4E2M1Fn, -100.0, 0xF);
        check(FloatType::F6E2M3Fn, 7.5, 0x1F);
        check(FloatType::F6E3M2Fn, 28.0, 0x1F);
        // Halfway between 0 and the least number.
        check(FloatType::F4E2M1Fn, 0.25, 0);
    }
}

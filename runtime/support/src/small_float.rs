//! Floating point numbers of up to 8 bits.
//!
//! A format consists of the widths of exponent and fraction, a bias, and a rule for the encodings
//! of infinities and NaN. Positive encodings are in the order of their values.
//!
//! | format | NaN, and numbers beyond the greatest one |
//! |---|---|
//! | `f8E5M2`, `f8E4M3`, `f8E3M4` | NaN and infinities |
//! | `f8E4M3FN` | both become NaN |
//! | `…FNUZ` | both become NaN; there is no negative zero |
//! | `f8E8M0FNU` | both become NaN, as negative numbers do; there are only powers of two |
//! | `f4…`, `f6…` | negative zero, and the greatest number |
//!
//! The formats are those of MLIR, which are described in the sources of LLVM's `APFloat`.

/// The rule for the encodings of infinities and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
///
/// ```
/// use tfrt_support::small_float::SmallFloat;
///
/// let format = SmallFloat::named("f8E4M3FN").expect("there is such a format");
/// assert_eq!(format.bits(448.0), 0x7E);
/// assert_eq!(format.value(0x7E), 448.0);
/// assert_eq!(format.round(1.1), 1.125);
/// assert_eq!(SmallFloat::named("f16"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFloat {
    name: &'static str,
    /// The bit of the sign, in formats with a sign: the greatest one.
    sign: u8,
    fraction_bits: u32,
    bias: i32,
    special: Special,
}

macro_rules! formats {
    ($($name:literal: $width:literal, $fraction_bits:literal, $bias:literal, $special:ident;)*) => {
        &[$(SmallFloat {
            name: $name,
            sign: 1 << ($width - 1),
            fraction_bits: $fraction_bits,
            bias: $bias,
            special: Special::$special,
        },)*]
    };
}

const FORMATS: &[SmallFloat] = formats! {
    "f4E2M1FN": 4, 1, 1, Never;
    "f6E2M3FN": 6, 3, 1, Never;
    "f6E3M2FN": 6, 2, 3, Never;
    "f8E5M2": 8, 2, 15, Ieee;
    "f8E4M3": 8, 3, 7, Ieee;
    "f8E3M4": 8, 4, 3, Ieee;
    "f8E4M3FN": 8, 3, 7, GreatestIsNan;
    "f8E5M2FNUZ": 8, 2, 16, NegativeZeroIsNan;
    "f8E4M3FNUZ": 8, 3, 8, NegativeZeroIsNan;
    "f8E4M3B11FNUZ": 8, 3, 11, NegativeZeroIsNan;
    "f8E8M0FNU": 8, 0, 127, Exponent;
};

/// Returns the exponent of a number that is not zero, infinite or NaN, as if subnormal numbers of
/// double precision were normal.
fn exponent_of(magnitude: f64) -> i32 {
    // At most eleven bits.
    (magnitude.to_bits() >> 52) as i32 - 1023
}

impl SmallFloat {
    /// Returns the format with the name that MLIR gives it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|format| format.name == name).copied()
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the number of bits of a significand, with its implicit leading bit.
    #[must_use]
    pub fn significand_bits(self) -> usize {
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
    #[must_use]
    pub fn value(self, code: u8) -> f64 {
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

    /// Returns the encoding nearest to a positive number, with ties to even ones, or the first
    /// special one if that is nearer than all others.
    fn nearest(self, magnitude: f64) -> u16 {
        let first_special = self.first_special();
        if magnitude.is_infinite() {
            return first_special;
        }
        let code = match self.special {
            // Between powers of two, an encoding is a whole exponent.
            Special::Exponent => {
                let exponent = exponent_of(magnitude).max(-self.bias);
                let code = exponent + self.bias;
                let is_odd = code % 2 == 1;
                let part = magnitude / 2_f64.powi(exponent);
                code + i32::from(part > 1.5 || part == 1.5 && is_odd)
            }
            _ => {
                let least = 1 - self.bias;
                let exponent = exponent_of(magnitude).max(least);
                let step = 2_f64.powi(exponent - self.fraction_bits as i32);
                // At most two to the power of the bits of a significand. A carry is the next
                // exponent.
                let steps = (magnitude / step).round_ties_even() as i32;
                ((exponent - least) << self.fraction_bits) + steps
            }
        };
        u16::try_from(code).map_or(first_special, |code| code.min(first_special))
    }

    /// Rounds a value to the nearest encoding, with ties to even. A value that is too large becomes
    /// infinity, or NaN in formats without infinity, or the greatest number in formats without
    /// both.
    #[must_use]
    pub fn bits(self, value: f64) -> u8 {
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
        let code = self.nearest(value.abs());
        if code < first_special {
            return match (self.special, code) {
                (Special::NegativeZeroIsNan, 0) => 0,
                _ => sign | code as u8,
            };
        }
        match self.special {
            Special::Ieee => sign | first_special as u8,
            Special::Never => sign | (self.sign - 1),
            _ => nan,
        }
    }

    /// Rounds a value to the nearest number of the format, as [`bits`](Self::bits) does.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        self.value(self.bits(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> SmallFloat {
        SmallFloat::named(name).unwrap()
    }

    fn greatest_code(format: SmallFloat) -> u8 {
        format.sign | (format.sign - 1)
    }

    #[test]
    fn each_number_has_the_code_that_it_is_the_value_of() {
        for &format in FORMATS {
            for code in 0..=greatest_code(format) {
                let value = format.value(code);
                if value.is_nan() {
                    assert!(format.round(value).is_nan(), "{} {code}", format.name);
                } else {
                    assert_eq!(format.bits(value), code, "{} {value}", format.name);
                }
            }
        }
    }

    /// The definition: of all finite numbers, and the one behind them as if it were finite, the
    /// nearest one, and of two the one with an even encoding.
    fn nearest_by_search(format: SmallFloat, magnitude: f64) -> u16 {
        let distance = |code: u16| (format.magnitude(code) - magnitude).abs();
        let codes = 0..=format.first_special();
        let found = codes.min_by(|&a, &b| {
            let order = distance(a).total_cmp(&distance(b));
            order.then((a % 2).cmp(&(b % 2)))
        });
        found.unwrap()
    }

    #[test]
    fn rounding_finds_the_nearest_number() {
        for &format in FORMATS {
            for code in 0..format.first_special() {
                let (low, high) = (format.magnitude(code), format.magnitude(code + 1));
                let middle = (low + high) / 2.0;
                let around = [low, middle, high].into_iter().flat_map(|x| {
                    let [below, above] = [-1_i64, 1].map(|step| {
                        let bits = x.to_bits().saturating_add_signed(step);
                        f64::from_bits(bits)
                    });
                    [below, x, above]
                });
                for x in around {
                    let expected = nearest_by_search(format, x);
                    assert_eq!(format.nearest(x), expected, "{} {x:e}", format.name);
                }
            }
            // Differences from these are not exact, so that a search would find any number.
            for (x, expected) in [(1e-310, 0), (1e300, format.first_special())] {
                assert_eq!(format.nearest(x), expected, "{} {x:e}", format.name);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_greatest_number_is_special() {
        let check = |name: &str, value: f64, expected: u8| {
            assert_eq!(named(name).bits(value), expected, "{name} {value}");
        };
        // 448 is the greatest number. 464 is halfway to the next one.
        check("f8E4M3FN", 448.0, 0x7E);
        check("f8E4M3FN", 464.0, 0x7E);
        check("f8E4M3FN", 470.0, 0x7F);
        check("f8E5M2", 57344.0, 0x7B);
        check("f8E5M2", -65536.0, 0xFC);
        check("f8E5M2", f64::INFINITY, 0x7C);
        check("f8E4M3FNUZ", 1e9, 0x80);
        check("f8E4M3FNUZ", -0.0, 0x00);
        check("f8E8M0FNU", 4.0, 0x81);
        check("f8E8M0FNU", 0.0, 0x00);
        check("f8E8M0FNU", -1.0, 0xFF);
        check("f4E2M1FN", -100.0, 0xF);
        check("f4E2M1FN", f64::NAN, 0x8);
        check("f6E2M3FN", 7.5, 0x1F);
        check("f6E3M2FN", f64::NEG_INFINITY, 0x3F);
    }

    #[test]
    fn signs_of_zeros_are_kept_where_there_are_two() {
        let is_negative = |name: &str| named(name).round(-1e-30).is_sign_negative();
        assert!(is_negative("f8E5M2") && is_negative("f4E2M1FN"));
        assert!(!is_negative("f8E5M2FNUZ"));
    }
}

//! Floating point formats of up to 8 bits. Tensors hold their numbers in single precision.
//!
//! | format | numbers beyond the greatest one |
//! |---|---|
//! | `f8E5M2`, `f8E4M3`, `f8E3M4` | become infinities |
//! | `f8E4M3FN` | become NaN |
//! | `…FNUZ` | become NaN; there is no negative zero |
//! | `f8E8M0FNU` | become NaN; there are only powers of two, neither negative numbers nor zero |
//! | `f4…`, `f6…` | become the greatest one; there is no NaN, which becomes negative zero |

/// What numbers become that a format cannot represent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Infinity,
    Nan,
    NanWithoutNegativeZero,
    Exponent,
    Greatest,
}

struct Format {
    name: &'static str,
    fraction_bits: i32,
    /// The exponent of the least number with all fraction bits.
    least_exponent: i32,
    greatest: f64,
    special: Special,
}

impl Format {
    /// Returns what a number beyond the greatest one becomes.
    fn beyond(&self, value: f64) -> f64 {
        match self.special {
            Special::Infinity => f64::INFINITY.copysign(value),
            Special::Greatest => self.greatest.copysign(value),
            _ => f64::NAN,
        }
    }
}

macro_rules! formats {
    ($($name:literal: $fraction:literal, $exponent:literal, $greatest:expr, $special:ident;)*) => {
        &[$(Format {
            name: $name,
            fraction_bits: $fraction,
            least_exponent: $exponent,
            greatest: $greatest,
            special: Special::$special,
        },)*]
    };
}

const FORMATS: &[Format] = formats! {
    "f4E2M1FN": 1, 0, 6.0, Greatest;
    "f6E2M3FN": 3, 0, 7.5, Greatest;
    "f6E3M2FN": 2, -2, 28.0, Greatest;
    "f8E3M4": 4, -2, 15.5, Infinity;
    "f8E4M3": 3, -6, 240.0, Infinity;
    "f8E4M3FN": 3, -6, 448.0, Nan;
    "f8E4M3FNUZ": 3, -7, 240.0, NanWithoutNegativeZero;
    "f8E4M3B11FNUZ": 3, -10, 30.0, NanWithoutNegativeZero;
    "f8E5M2": 2, -14, 57344.0, Infinity;
    "f8E5M2FNUZ": 2, -15, 57344.0, NanWithoutNegativeZero;
    // 2 to the power of 127.
    "f8E8M0FNU": 0, -127, f64::from_bits(0x47E0_0000_0000_0000), Exponent;
};

/// A format: its index in the table of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallFloat(usize);

impl SmallFloat {
    pub(super) fn named(name: &str) -> Option<Self> {
        let index = FORMATS.iter().position(|format| format.name == name);
        index.map(Self)
    }

    pub(super) fn name(self) -> &'static str {
        FORMATS[self.0].name
    }

    /// Rounds a number to the nearest one of the format, with ties to even.
    pub(super) fn round(self, value: f64) -> f64 {
        let format = &FORMATS[self.0];
        if value.is_nan() {
            return match format.special {
                Special::Greatest => -0.0,
                _ => value,
            };
        }
        if format.special == Special::Exponent && value.is_sign_negative() {
            return f64::NAN;
        }
        if value.is_infinite() {
            return format.beyond(value);
        }
        // Subnormal numbers of double precision are less than the numbers of all formats.
        let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
        let exponent = exponent.max(format.least_exponent);
        let step = 2_f64.powi(exponent - format.fraction_bits);
        let rounded = (value / step).round_ties_even() * step;
        if rounded.abs() > format.greatest {
            return format.beyond(value);
        }
        match format.special {
            // Adding positive zero to a zero makes it positive.
            Special::NanWithoutNegativeZero => rounded + 0.0,
            Special::Exponent => rounded.max(2_f64.powi(format.least_exponent)),
            _ => rounded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: f64, expected: f64) {
        let rounded = SmallFloat::named(name).unwrap().round(value);
        assert_eq!(rounded, expected, "{name} {value}");
        assert_eq!(rounded.is_sign_negative(), expected.is_sign_negative());
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_one_with_ties_to_even() {
        check("f8E4M3FN", 1.0625, 1.0);
        check("f8E4M3FN", 1.1875, 1.25);
        check("f8E4M3FN", -0.3, -0.3125);
        check("f8E4M3FN", 0.001, 2_f64.powi(-9));
        check("f8E4M3FN", 1e-310, 0.0);
        check("f8E5M2", -1e-9, -0.0);
        check("f8E5M2FNUZ", -1e-9, 0.0);
        check("f4E2M1FN", 2.25, 2.0);
        check("f4E2M1FN", 0.25, 0.0);
        check("f8E8M0FNU", 3.1, 4.0);
    }

    #[test]
    fn what_is_beyond_the_greatest_number_depends_on_the_format() {
        check("f8E4M3FN", 464.0, 448.0);
        check("f8E5M2", -61440.0, f64::NEG_INFINITY);
        check("f8E5M2", 61439.0, 57344.0);
        check("f6E3M2FN", f64::NEG_INFINITY, -28.0);
        check("f6E2M3FN", f64::NAN, -0.0);
        for (name, value) in [
            ("f8E4M3FN", 465.0),
            ("f8E4M3FNUZ", f64::INFINITY),
            ("f8E8M0FNU", -1.0),
            ("f8E3M4", f64::NAN),
        ] {
            assert!(SmallFloat::named(name).unwrap().round(value).is_nan());
        }
    }

    #[test]
    fn the_greatest_number_is_one_of_the_format() {
        for (index, format) in FORMATS.iter().enumerate() {
            let small = SmallFloat(index);
            assert_eq!(SmallFloat::named(small.name()), Some(small));
            assert_eq!(small.round(format.greatest), format.greatest);
        }
    }
}

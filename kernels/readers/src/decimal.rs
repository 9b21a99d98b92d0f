//! Short numbers in decimal notation, which most columns of text consist of.
//!
//! All digits are looked at in one step, so that the processor need not guess where a number ends.
//! What is not such a number is left to the parser of the standard library. The values are the
//! same: those of [`to_f32`](Decimal::to_f32) and [`to_f64`](Decimal::to_f64) are the quotient of
//! two numbers that the type has, which the division rounds as it must be rounded.

use std::ops::Range;

use crate::swar::{equal_bytes, repeated};

/// The largest number of digits and points.
const MAX_LEN: usize = 8;

/// The powers of ten up to that of the most digits behind a point. Both types have these numbers.
const POWERS_OF_TEN: [f32; MAX_LEN] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// Digits, perhaps with a point among them, perhaps behind a minus sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    digits: u32,
    /// The number of digits behind the point, if there is one.
    num_decimals: Option<u8>,
}

impl Decimal {
    /// Returns the number that a part of a text is; `None` if it is none, or a longer one.
    #[inline]
    pub(crate) fn parse(text: &[u8], Range { start, end }: Range<usize>) -> Option<Self> {
        let is_negative = text.get(start) == Some(&b'-');
        let start = start + usize::from(is_negative);
        let len = end.checked_sub(start)?;
        if len == 0 || len > MAX_LEN {
            return None;
        }
        let word = match text.get(start..)?.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let mut bytes = [0; 8];
                bytes[..len].copy_from_slice(text.get(start..end)?);
                u64::from_le_bytes(bytes)
            }
        };
        // The last digit is in the highest byte; in front of the first one, there are zeros.
        let num_padding_bits = 8 * (MAX_LEN - len);
        let padding = repeated(b'0') & !(u64::MAX << num_padding_bits);
        let mut word = word << num_padding_bits | padding;
        let mut num_decimals = None;
        let points = equal_bytes(word, repeated(b'.'));
        if points != 0 {
            if len == 1 {
                return None;
            }
            // The digits in front of the point move to its place.
            let place = points.trailing_zeros() / 8;
            let in_front = word & ((1 << (8 * place)) - 1);
            let behind = word & (u64::MAX << (8 * place) << 8);
            word = behind | in_front << 8 | u64::from(b'0');
            num_decimals = Some(MAX_LEN as u8 - 1 - place as u8);
        }
        Some(Self {
            is_negative,
            digits: eight_digits(word)?,
            num_decimals,
        })
    }

    /// Returns the nearest number of the type, unless it takes more than a division to find it.
    #[inline]
    pub(crate) fn to_f32(self) -> Option<f32> {
        // The type has all whole numbers up to this one.
        if self.digits > 1 << f32::MANTISSA_DIGITS {
            return None;
        }
        let number = self.digits as f32 / self.divisor();
        Some(if self.is_negative { -number } else { number })
    }

    /// Returns the nearest number of the type.
    #[inline]
    pub(crate) fn to_f64(self) -> f64 {
        let number = f64::from(self.digits) / f64::from(self.divisor());
        if self.is_negative { -number } else { number }
    }

    /// Returns the number if it is whole, and written without a point.
    #[inline]
    pub(crate) fn to_i32(self) -> Option<i32> {
        let digits = i32::try_from(self.digits).ok()?;
        let number = if self.is_negative { -digits } else { digits };
        self.num_decimals.is_none().then_some(number)
    }

    fn divisor(self) -> f32 {
        POWERS_OF_TEN[usize::from(self.num_decimals.unwrap_or(0))]
    }
}

/// Returns the number that eight bytes are, if they are digits, of which the lowest byte is the
/// first.
#[inline]
fn eight_digits(word: u64) -> Option<u32> {
    const HIGH: u64 = repeated(0x80);
    // Each addition sets the high bit of a byte outside of a range; a carry or a borrow comes only
    // from such a byte.
    let above = word.wrapping_add(repeated(0x7f - b'9'));
    let below = word.wrapping_sub(repeated(b'0'));
    if (word | above | below) & HIGH != 0 {
        return None;
    }
    // Pairs of digits, then fours, then all of them.
    let pairs = below.wrapping_mul(10).wrapping_add(below >> 8);
    const LOW_OF_FOUR: u64 = 0x0000_00ff_0000_00ff;
    let first = (pairs & LOW_OF_FOUR).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & LOW_OF_FOUR).wrapping_mul(1 + (10_000 << 32));
    Some((first.wrapping_add(second) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares a field of a text with the parser of the standard library. A field that it refuses
    /// must be refused here, too.
    fn check(field: &str) {
        for text in [
            field.to_owned(),
            format!("9{field},5-77.1234"),
            format!("-{field}\n"),
        ] {
            let start = text.find(field).expect("it is a part");
            let decimal = Decimal::parse(text.as_bytes(), start..start + field.len());
            let exact = |number: f64| number.to_bits();
            if let Some(decimal) = decimal {
                assert_eq!(
                    Some(exact(decimal.to_f64())),
                    field.parse().ok().map(exact),
                    "{field}"
                );
                if let Some(number) = decimal.to_f32() {
                    let expected = field.parse().map(f32::to_bits).ok();
                    assert_eq!(Some(number.to_bits()), expected, "{field}");
                }
                assert_eq!(decimal.to_i32(), field.parse().ok(), "{field}");
            }
        }
    }

    fn is_short(field: &str) -> bool {
        Decimal::parse(field.as_bytes(), 0..field.len()).is_some()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let short = [
            "0",
            "-0",
            "7",
            "-12345678",
            "99999999",
            "00000001",
            "123.4567",
            "-.5",
            "5.",
            "-0.0",
            "0.000001",
            "1677.721",
            "16777.21",
            "-999.9999",
            "16777217",
        ];
        for field in short {
            assert!(is_short(field), "{field}");
            check(field);
        }
        let others = [
            "",
            "-",
            ".",
            "-.",
            "--1",
            "+1",
            "1e3",
            "1.2.3",
            "1677.7216",
            "..1",
            "123456789",
            "1 ",
            " 1",
            "1_0",
            "0x1",
            "inf",
            "nan",
            "1:2",
            "1/2",
            "\u{b0}1",
            "\u{ff11}",
        ];
        for field in others {
            assert!(!is_short(field), "{field}");
        }
    }

    #[test]
    fn only_the_field_counts() {
        for (text, range) in [
            (&b"12,34"[..], 0..2),
            (b"12,34", 3..5),
            (b"x-5-5-5-5-5x", 3..5),
        ] {
            let expected = std::str::from_utf8(&text[range.clone()]).ok();
            let expected = expected.and_then(|field| field.parse().ok());
            let found = Decimal::parse(text, range).and_then(Decimal::to_i32);
            assert!(found.is_some() && found == expected);
        }
        // Nothing in front of a minus sign that is a delimiter.
        assert_eq!(Decimal::parse(b"-5", 0..0), None);
    }

    #[test]
    fn every_byte_is_a_digit_or_is_not() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let mut bytes = *b"12345678";
                bytes[place] = byte;
                let found = eight_digits(u64::from_le_bytes(bytes));
                let text = std::str::from_utf8(&bytes).ok();
                let is_number = bytes.iter().all(u8::is_ascii_digit);
                let expected = text
                    .filter(|_| is_number)
                    .and_then(|text| text.parse().ok());
                assert_eq!(found, expected, "{bytes:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::default() })]

        #[test]
        fn short_texts_are_numbers_or_are_not(field in "-?[0-9]{0,8}\\.?[0-9]{0,8}") {
            check(&field);
            let is_number = field.parse::<f64>().is_ok();
            let len = field.trim_start_matches('-').len();
            prop_assert_eq!(is_short(&field), is_number && len <= 8);
        }

        #[test]
        fn other_texts_are_not(field in "[-+.,0-9eE: \\x00-\\xff]{1,9}") {
            check(&field);
            prop_assert!(!is_short(&field) || field.parse::<f64>().is_ok());
        }
    }
}

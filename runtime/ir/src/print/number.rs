//! Numbers as MLIR prints them.
//!
//! A float is printed with six digits after the point if that round-trips, otherwise with as many
//! digits as its format needs, and as its bits if neither round-trips: infinities, NaN, large whole
//! numbers.

use half::{bf16, f16};
use tfrt_support::rounding::round_to_odd;
use tfrt_support::small_float::SmallFloat;

use crate::types::FloatType;

/// Returns the value of the bits of a format, as stored in [`crate::Attribute::Float`].
#[must_use]
pub fn float_value(format: FloatType, bits: u64) -> f64 {
    match format {
        FloatType::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        FloatType::F16 => f16::from_bits(bits as u16).to_f64(),
        FloatType::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatType::F64 | FloatType::F80 | FloatType::F128 => f64::from_bits(bits),
        small => small_float(small).value(bits as u8),
    }
}

/// Returns the format of a type of up to 8 bits.
fn small_float(ty: FloatType) -> SmallFloat {
    SmallFloat::named(ty.spelling()).expect("each type of up to 8 bits is a format")
}

/// Returns the bits of the number of a format that is nearest to `value`.
#[must_use]
pub fn float_bits(format: FloatType, value: f64) -> u64 {
    match format {
        FloatType::Bf16 => u64::from(bf16::from_f32(round_to_odd(value)).to_bits()),
        FloatType::F16 => u64::from(f16::from_f32(round_to_odd(value)).to_bits()),
        FloatType::F32 => u64::from((value as f32).to_bits()),
        FloatType::F64 | FloatType::F80 | FloatType::F128 => value.to_bits(),
        small => u64::from(small_float(small).bits(value)),
    }
}

/// Returns the number of digits that distinguishes every number of the format from its neighbours.
fn needed_digits(format: FloatType) -> usize {
    let significand_bits = match format {
        FloatType::Bf16 => 8,
        FloatType::F16 => 11,
        FloatType::F32 => 24,
        FloatType::F64 | FloatType::F80 | FloatType::F128 => 53,
        small => small_float(small).significand_bits(),
    };
    2 + significand_bits * 59 / 196
}

/// Appends a float.
pub fn print_float(format: FloatType, bits: u64, out: &mut String) {
    let value = float_value(format, bits);
    if value.is_finite() {
        let short = scientific(value, 6, false);
        if reads_as(&short, format, bits) {
            out.push_str(&short);
            return;
        }
        let exact = shortest_notation(value, needed_digits(format));
        if exact.contains('.') {
            out.push_str(&exact);
            return;
        }
    }
    out.push_str(&format!("0x{bits:X}"));
}

fn reads_as(text: &str, format: FloatType, bits: u64) -> bool {
    text.parse()
        .is_ok_and(|value| float_bits(format, value) == bits)
}

/// Returns the decimal digits of a number that is not zero, at most `precision` of them and without
/// trailing zeros, and the decimal exponent of the last one.
///
/// As in LLVM, in two steps: digits far beyond `precision` are truncated, where "far" is estimated
/// in bits; the rest is rounded half up from one excess digit. So a number is truncated rather than
/// rounded if the estimate is exact.
fn decimal_digits(value: f64, precision: usize) -> (Vec<u8>, i32) {
    let (significand, exponent) = odd_significand(value);
    let num_fraction_digits = exponent.min(0).unsigned_abs() as usize;
    let mut digits: Vec<u8> = format!("{:.*}", num_fraction_digits, value.abs())
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|digit| digit - b'0')
        .skip_while(|digit| *digit == 0)
        .collect();
    let mut last = exponent.min(0);

    let wanted_bits = (precision * 196).div_ceil(59);
    let num_cut = decimal_bits(significand, exponent).saturating_sub(wanted_bits) * 59 / 196;
    digits.truncate(digits.len() - num_cut);
    last += num_cut as i32;
    last += drop_trailing(&mut digits, 0);

    if let Some(&next) = digits.get(precision) {
        last += (digits.len() - precision) as i32;
        digits.truncate(precision);
        if next >= 5 {
            last += drop_trailing(&mut digits, 9);
            match digits.last_mut() {
                Some(digit) => *digit += 1,
                None => digits.push(1),
            }
        }
        last += drop_trailing(&mut digits, 0);
    }
    (digits, last)
}

/// Drops the trailing digits that are `unwanted`. Returns their number.
fn drop_trailing(digits: &mut Vec<u8>, unwanted: u8) -> i32 {
    let count = digits
        .iter()
        .rev()
        .take_while(|digit| **digit == unwanted)
        .count();
    digits.truncate(digits.len() - count);
    count as i32
}

/// Returns the number as an odd integer times a power of two.
fn odd_significand(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = match (bits >> 52) as i32 & 0x7FF {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    };
    let zeros = significand.trailing_zeros();
    (significand >> zeros, exponent + zeros as i32)
}

/// Returns the number of bits of the decimal digits of `significand * 2^exponent` as one integer,
/// without the point.
fn decimal_bits(significand: u64, exponent: i32) -> usize {
    let Ok(num_halvings) = u32::try_from(-exponent) else {
        return (64 - significand.leading_zeros() as i32 + exponent) as usize;
    };
    // A fraction of `n` binary places has `n` decimal ones: n * 2^-e = n * 5^e * 10^-e. The integer
    // is n * 5^e, in limbs of 32 bits, lowest first.
    let mut limbs = vec![significand as u32, (significand >> 32) as u32];
    for _ in 0..num_halvings {
        let mut carry = 0_u64;
        for limb in &mut limbs {
            carry += u64::from(*limb) * 5;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let top = limbs.iter().rposition(|limb| *limb != 0).unwrap_or(0);
    32 * (top + 1) - limbs[top].leading_zeros() as usize
}

/// Formats a number as `1.500000e+00`, or as `1.5E+0` if `is_short`.
fn scientific(value: f64, precision: usize, is_short: bool) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let (digits, last) = if value == 0.0 {
        (vec![0], 0)
    } else {
        decimal_digits(value, precision)
    };
    let mut exponent = last + digits.len() as i32 - 1;
    let mut out = format!("{sign}{}.", digits[0]);
    if is_short && digits.len() == 1 {
        out.push('0');
    }
    out.extend(digits[1..].iter().map(|digit| char::from(b'0' + digit)));
    if !is_short {
        out.extend(std::iter::repeat_n('0', precision + 1 - digits.len()));
    }
    out.push(if is_short { 'E' } else { 'e' });
    out.push(if exponent < 0 { '-' } else { '+' });
    exponent = exponent.abs();
    if is_short {
        out + &exponent.to_string()
    } else {
        out + &format!("{exponent:02}")
    }
}

/// Formats a number with `precision` digits, without an exponent if that takes at most three zeros.
fn shortest_notation(value: f64, precision: usize) -> String {
    const MAX_PADDING: i32 = 3;
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0".into()
        } else {
            "0".into()
        };
    }
    let (digits, last) = decimal_digits(value, precision);
    let count = digits.len() as i32;
    let first = last + count - 1;
    let is_scientific = if last >= 0 {
        last > MAX_PADDING || count + last > precision as i32
    } else {
        first < 0 && -first > MAX_PADDING
    };
    if is_scientific {
        return scientific(value, precision, true);
    }
    let digits: String = digits
        .iter()
        .map(|digit| char::from(b'0' + digit))
        .collect();
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if last >= 0 {
        return format!("{sign}{digits}{}", "0".repeat(last as usize));
    }
    if first >= 0 {
        let (whole, fraction) = digits.split_at(first as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{digits}", "0".repeat((-first - 1) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: FloatType, bits: u64, expected: &str) {
        let mut out = String::new();
        print_float(format, bits, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn each_narrow_type_has_a_format() {
        for ty in [
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
        ] {
            assert!(ty.width() <= 8);
            assert_eq!(float_value(ty, float_bits(ty, 2.0)), 2.0, "{ty:?}");
        }
    }

    #[test]
    fn six_digits_are_enough_for_most() {
        check(FloatType::F32, 1.0f32.to_bits().into(), "1.000000e+00");
        check(FloatType::F64, (-0.025f64).to_bits(), "-2.500000e-02");
        check(FloatType::F64, 0.1f64.to_bits(), "1.000000e-01");
        check(FloatType::F64, 1e-300f64.to_bits(), "1.000000e-300");
        check(FloatType::F32, (-0.0f32).to_bits().into(), "-0.000000e+00");
        check(FloatType::F16, 1, "5.960460e-08");
        check(
            FloatType::F16,
            u64::from(f16::from_f64(65504.0).to_bits()),
            "6.550400e+04",
        );
        check(
            FloatType::Bf16,
            float_bits(FloatType::Bf16, 3.0e38),
            "3.004060e+38",
        );
        check(FloatType::F80, 1.0f64.to_bits(), "1.000000e+00");
    }

    #[test]
    fn more_digits_are_printed_where_they_are_needed() {
        check(FloatType::F32, 0x4049_0FDB, "3.14159274");
        check(
            FloatType::F64,
            (-1_234_567.890_123_4_f64).to_bits(),
            "-1234567.8901233999",
        );
        check(
            FloatType::F64,
            f64::MIN_POSITIVE.to_bits(),
            "2.2250738585072014E-308",
        );
        check(FloatType::F32, f32::MAX.to_bits().into(), "3.40282347E+38");
    }

    #[test]
    fn ties_round_up() {
        check(
            FloatType::Bf16,
            float_bits(FloatType::Bf16, 1.953_125e-3),
            "1.953130e-03",
        );
    }

    #[test]
    fn what_no_digits_can_say_is_bits() {
        check(FloatType::F32, f32::INFINITY.to_bits().into(), "0x7F800000");
        check(FloatType::F32, 0x7FC0_0001, "0x7FC00001");
        check(
            FloatType::F32,
            16_777_216.0f32.to_bits().into(),
            "0x4B800000",
        );
        check(FloatType::F16, 0xFC00, "0xFC00");
    }
}

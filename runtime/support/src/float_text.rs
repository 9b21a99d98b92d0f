//! Floating point numbers as C prints them.

use std::fmt;

/// Prints as C's `%e`: six digits after the point and an exponent of at least two. NaN is `nan`;
/// infinities are `INF` or `-INF`.
///
/// ```
/// use tfrt_support::float_text::Scientific;
///
/// assert_eq!(Scientific(-0.25).to_string(), "-2.500000e-01");
/// assert_eq!(Scientific(f64::MAX).to_string(), "1.797693e+308");
/// assert_eq!(Scientific(f64::NEG_INFINITY).to_string(), "-INF");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scientific(pub f64);

impl fmt::Display for Scientific {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            return f.write_str("nan");
        }
        if self.0.is_infinite() {
            return f.write_str(if self.0 > 0.0 { "INF" } else { "-INF" });
        }
        let text = format!("{:.6e}", self.0);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |digits| ('-', digits));
        write!(f, "{mantissa}e{sign}{digits:0>2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_have_two_digits_at_least() {
        let check =
            |number: f64, expected: &str| assert_eq!(Scientific(number).to_string(), expected);
        check(0.0, "0.000000e+00");
        check(-0.0, "-0.000000e+00");
        check(9.999_999_5, "9.999999e+00");
        check(5e-324, "4.940656e-324");
        check(f64::from(16_777_216.0_f32), "1.677722e+07");
        check(f64::NAN, "nan");
        check(f64::INFINITY, "INF");
    }
}

//! C's `printf` with one number, sufficient to name a shard of a file.
//!
//! ```text
//! directive := '%' flag* width? ('.' precision?)? length? conversion          flag := '-' | '+' | ' ' | '0' | '#'
//! ```
//!
//! The first directive takes the number; `%%` is a percent sign. A text that requests something
//! undefined in C (a second number, a pointer, an unknown conversion) is an error.

use std::io::Write;
use std::iter::{Copied, Peekable};
use std::slice;

type Rest<'a> = Peekable<Copied<slice::Iter<'a, u8>>>;

/// The reasons why a text cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormatError {
    /// There is a directive for a second number.
    SecondNumber,
    /// The conversion takes no whole number, or the text ends before it.
    Conversion(Option<u8>),
    /// The width or the precision is larger than [`MAX_WIDTH`].
    Width,
}

/// The largest width and precision.
const MAX_WIDTH: usize = 4096;

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SecondNumber => f.write_str("the format contains more than one conversion"),
            Self::Conversion(Some(conversion)) => write!(
                f,
                "the format has `%{}`, which takes no whole number",
                conversion.escape_ascii()
            ),
            Self::Conversion(None) => f.write_str("the format ends inside of a directive"),
            Self::Width => write!(f, "the format has a width or precision above {MAX_WIDTH}"),
        }
    }
}

impl std::error::Error for FormatError {}

tfrt::support::convert_errors!(FormatError);

/// Expands `format` with `number`.
pub(crate) fn expand(format: &[u8], number: i32) -> Result<Vec<u8>, FormatError> {
    let mut text = Vec::with_capacity(format.len());
    let mut number = Some(number);
    let mut rest: Rest<'_> = format.iter().copied().peekable();
    while let Some(next) = rest.next() {
        match next {
            b'%' if rest.next_if_eq(&b'%').is_some() => text.push(b'%'),
            b'%' => {
                let directive = Directive::parse(&mut rest)?;
                let number = number.take().ok_or(FormatError::SecondNumber)?;
                directive.write(number, &mut text);
            }
            other => text.push(other),
        }
    }
    Ok(text)
}

/// The text from `%` to the end of the conversion.
#[derive(Clone, Copy, Debug, Default)]
struct Directive {
    is_left_aligned: bool,
    has_plus: bool,
    has_blank: bool,
    has_zeros: bool,
    is_alternative: bool,
    width: usize,
    precision: Option<usize>,
    conversion: Conversion,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Conversion {
    #[default]
    Decimal,
    Unsigned,
    LowerHex,
    UpperHex,
    Octal,
    Character,
}

impl Directive {
    fn parse(rest: &mut Rest<'_>) -> Result<Self, FormatError> {
        let mut directive = Self::default();
        while let Some(flag) = rest.next_if(|next| matches!(next, b'-' | b'+' | b' ' | b'0' | b'#'))
        {
            match flag {
                b'-' => directive.is_left_aligned = true,
                b'+' => directive.has_plus = true,
                b' ' => directive.has_blank = true,
                b'0' => directive.has_zeros = true,
                _ => directive.is_alternative = true,
            }
        }
        directive.width = parse_width(rest)?;
        if rest.next_if_eq(&b'.').is_some() {
            directive.precision = Some(parse_width(rest)?);
        }
        while rest
            .next_if(|next| matches!(next, b'h' | b'l' | b'j' | b'z' | b't'))
            .is_some()
        {}
        directive.conversion = match rest.next() {
            Some(b'd' | b'i') => Conversion::Decimal,
            Some(b'u') => Conversion::Unsigned,
            Some(b'x') => Conversion::LowerHex,
            Some(b'X') => Conversion::UpperHex,
            Some(b'o') => Conversion::Octal,
            Some(b'c') => Conversion::Character,
            other => return Err(FormatError::Conversion(other)),
        };
        Ok(directive)
    }

    fn write(self, number: i32, text: &mut Vec<u8>) {
        let bits = number.cast_unsigned();
        let (sign, mut digits) = match self.conversion {
            Conversion::Decimal => (self.sign(number), number.unsigned_abs().to_string()),
            Conversion::Unsigned => ("", bits.to_string()),
            Conversion::LowerHex => (
                if self.is_alternative && bits != 0 {
                    "0x"
                } else {
                    ""
                },
                format!("{bits:x}"),
            ),
            Conversion::UpperHex => (
                if self.is_alternative && bits != 0 {
                    "0X"
                } else {
                    ""
                },
                format!("{bits:X}"),
            ),
            Conversion::Octal => (
                "",
                format!(
                    "{}{bits:o}",
                    if self.is_alternative && bits != 0 {
                        "0"
                    } else {
                        ""
                    }
                ),
            ),
            // Written as a byte below.
            Conversion::Character => ("", String::from("?")),
        };
        if let Some(precision) = self.precision
            && self.conversion != Conversion::Character
        {
            digits = if precision == 0 && number == 0 {
                String::new()
            } else {
                format!("{digits:0>precision$}")
            };
        }
        let fill = self.width.saturating_sub(sign.len() + digits.len());
        let is_zero_filled =
            self.has_zeros && self.precision.is_none() && self.conversion != Conversion::Character;
        let (before, zeros, after) = match (self.is_left_aligned, is_zero_filled) {
            (true, _) => (0, 0, fill),
            (false, true) => (0, fill, 0),
            (false, false) => (fill, 0, 0),
        };
        // Writing into memory cannot fail.
        let _ = write!(text, "{:before$}{sign}{:0>zeros$}", "", "");
        match self.conversion {
            // C converts to `unsigned char`.
            Conversion::Character => text.push(bits.to_le_bytes()[0]),
            _ => text.extend_from_slice(digits.as_bytes()),
        }
        let _ = write!(text, "{:after$}", "");
    }

    fn sign(self, number: i32) -> &'static str {
        match number {
            ..0 => "-",
            _ if self.has_plus => "+",
            _ if self.has_blank => " ",
            _ => "",
        }
    }
}

/// Returns a decimal number, 0 if there is none.
fn parse_width(rest: &mut Rest<'_>) -> Result<usize, FormatError> {
    let mut width = 0;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        width = width * 10 + usize::from(digit - b'0');
        if width > MAX_WIDTH {
            return Err(FormatError::Width);
        }
    }
    Ok(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, number: i32, expected: &str) {
        assert_eq!(
            expand(format.as_bytes(), number).as_deref(),
            Ok(expected.as_bytes())
        );
    }

    #[test]
    fn directives_expand_as_in_c() {
        check("shard-%05d-of-00100", 42, "shard-00042-of-00100");
        check("shard-%05d-of-00100", -1, "shard--0001-of-00100");
        check("%d%%", i32::MIN, "-2147483648%");
        check("[%+d][%%]", 7, "[+7][%]");
        check("[% 4d]", 7, "[   7]");
        check("[%-4i]", 7, "[7   ]");
        check("[%6.3d]", -5, "[  -005]");
        check("[%.0d]", 0, "[]");
        check("%u", -1, "4294967295");
        check("%#x", 255, "0xff");
        check("%#06X", 255, "0X00FF");
        check("%#o", 8, "010");
        check("%3c", 65, "  A");
        check("%lld", 3, "3");
        check("without a number", 3, "without a number");
    }

    #[test]
    fn bytes_need_not_be_text() {
        let expanded = expand(b"\xff%3c\xfe%%", 0x1c3);
        assert_eq!(expanded.as_deref(), Ok(&b"\xff  \xc3\xfe%"[..]));
    }

    #[test]
    fn what_c_leaves_undefined_is_refused() {
        assert_eq!(expand(b"%d-%d", 1), Err(FormatError::SecondNumber));
        assert_eq!(expand(b"%s", 1), Err(FormatError::Conversion(Some(b's'))));
        assert_eq!(expand(b"100%", 1), Err(FormatError::Conversion(None)));
        assert_eq!(expand(b"%9999999999d", 1), Err(FormatError::Width));
    }
}

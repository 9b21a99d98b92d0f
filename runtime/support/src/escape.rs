//! Names and messages from files, printed so that they cannot steer a terminal.

use std::fmt::{self, Write};

/// Prints `text` with each control character as MLIR's strings spell it: two hexadecimal digits
/// behind a backslash, byte by byte.
///
/// For names: a name has no lines, so the end of a line is escaped, too. Everything else is
/// unchanged, including a backslash, so the output is for people and does not distinguish `\1B`
/// from an escape character.
///
/// ```
/// use tfrt_support::escape::escaped;
///
/// assert_eq!(escaped("conv1").to_string(), "conv1");
/// assert_eq!(escaped("\u{1b}[2J\n").to_string(), r"\1B[2J\0A");
/// ```
pub fn escaped(text: &str) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| write_escaped(text, char::is_control, f))
}

/// Prints `text` as [`escaped`] does, but leaves ends of lines and tabulators as they are.
///
/// For messages, which may have several lines.
///
/// ```
/// use tfrt_support::escape::escaped_lines;
///
/// assert_eq!(escaped_lines("two\nlines\r").to_string(), "two\nlines\\0D");
/// ```
pub fn escaped_lines(text: &str) -> impl fmt::Display + '_ {
    let is_escaped = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    fmt::from_fn(move |f| write_escaped(text, is_escaped, f))
}

fn write_escaped(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_escaped(*c)) {
        f.write_str(&rest[..at])?;
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            f.write_char('\\')?;
            write!(f, "{byte:02X}")?;
        }
        rest = &rest[at + c.len_utf8()..];
    }
    f.write_str(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_every_kind_are_escaped() {
        let text = "a\0b\u{7f}c\u{9b}d\té\\";
        assert_eq!(escaped(text).to_string(), r"a\00b\7Fc\C2\9Bd\09é\");
        assert_eq!(escaped_lines(text).to_string(), "a\\00b\\7Fc\\C2\\9Bd\té\\");
    }
}

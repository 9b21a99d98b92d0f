//! Lines of text on standard output.

use std::fmt;
use std::io::{self, Write};

/// Writes one line to standard output and flushes it, so that lines of kernels keep their order
/// among those of others.
pub(crate) fn print_line(line: impl fmt::Display) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// Writes one line of these parts, as [`print_line`] does: bytes that need not be text.
pub(crate) fn print_bytes(parts: &[&[u8]]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for part in parts {
        output.write_all(part)?;
    }
    output.write_all(b"\n")?;
    output.flush()
}

/// Writes one line, as [`print_line`] does, if a failure cannot be reported.
pub(crate) fn print_line_if_possible(line: impl fmt::Display) {
    let _ = print_line(line);
}

/// Prints as C's `%f`: six digits after the point, and `inf`, `-inf` or `nan`.
#[derive(Clone, Copy)]
pub(crate) struct Fixed(pub(crate) f64);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            f.write_str("nan")
        } else {
            write!(f, "{:.6}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_numbers_print_as_in_c() {
        let check = |number: f64, expected: &str| assert_eq!(Fixed(number).to_string(), expected);
        check(f64::from(0.1_f32), "0.100000");
        check(-1_234_567.890_123_4, "-1234567.890123");
        check(1.0e-9, "0.000000");
        check(-0.0, "-0.000000");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
        check(f64::NAN, "nan");
    }
}

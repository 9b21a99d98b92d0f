//! Printing of scalars: one line each on standard output.

use std::fmt::{self, Display};
use std::io;

use half::f16;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;

use crate::text::{Fixed, print_line};

/// A scalar that has a line of its own.
trait Printed {
    /// Writes the line without its end.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Printed for bool {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "int1 = {}", u8::from(*self))
    }
}

impl Printed for i32 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "int32 = {self}")
    }
}

impl Printed for i64 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "int64 = {self}")
    }
}

impl Printed for f16 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f16 = {}", self.to_bits())
    }
}

impl Printed for f32 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f32 = {}", Fixed(f64::from(*self)))
    }
}

impl Printed for f64 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f64 = {}", Fixed(*self))
    }
}

impl Printed for Complex<f32> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "complex64 = {}+{}i",
            Fixed(f64::from(self.re)),
            Fixed(f64::from(self.im))
        )
    }
}

impl Printed for Complex<f64> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "complex128 = {}+{}i", Fixed(self.re), Fixed(self.im))
    }
}

fn line<T: Printed>(value: &T) -> impl Display + '_ {
    fmt::from_fn(|f| value.write(f))
}

/// Prints the name of the type and the value: `int32 = 7`. Floating-point numbers are printed with
/// six digits after the point.
#[tfrt_kernel(
    "tfrt.print.{T}",
    T = [bool as "i1", i32, i64, f32, f64],
    side_effecting,
    format = "operands attr-dict",
)]
fn print<T: Printed>(value: T) -> io::Result<()> {
    print_line(line(&value))
}

/// Prints the name of the type and the value. Halves are printed as their bits, complex numbers as
/// both parts.
#[tfrt_kernel(
    "tfrt.print.{T}",
    T = [f16, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    side_effecting
)]
fn print_generic_form<T: Printed>(value: T) -> io::Result<()> {
    print_line(line(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_has_its_line() {
        assert_eq!(line(&true).to_string(), "int1 = 1");
        assert_eq!(line(&i32::MIN).to_string(), "int32 = -2147483648");
        assert_eq!(line(&i64::MIN).to_string(), "int64 = -9223372036854775808");
        assert_eq!(line(&f16::from_f32(1.5)).to_string(), "f16 = 15872");
        assert_eq!(line(&f32::INFINITY).to_string(), "f32 = inf");
        assert_eq!(
            line(&-1_234_567.890_123_4).to_string(),
            "f64 = -1234567.890123"
        );
        assert_eq!(
            line(&Complex::new(1.0_f32, 2.5)).to_string(),
            "complex64 = 1.000000+2.500000i"
        );
        assert_eq!(
            line(&Complex::new(-3.0, -0.125)).to_string(),
            "complex128 = -3.000000+-0.125000i"
        );
    }
}

//! Numbers that print a line when they are created, moved, copied and dropped, for tests of
//! lifetimes.
//!
//! Rust moves values silently. To make moves visible, the kernels here move their results by
//! calling [`TrackedValue::moved`], which leaves nothing to be dropped.

use std::io;

use tfrt::prelude::*;

use crate::text::{print_line, print_line_if_possible};

/// A number that prints the events of its lifetime.
///
/// ```
/// use tfrt_kernels::test::tracked_value::TrackedValue;
///
/// // Prints `constructed vt.value(7)`, `move constructed vt.value(7)` and `destroyed vt.value(7)`.
/// drop(TrackedValue::new(7).moved());
/// ```
#[derive(Debug, Value)]
#[value("!vt.value")]
pub struct TrackedValue {
    number: i32,
}

impl TrackedValue {
    /// Creates a new number. Prints `constructed vt.value(N)`.
    #[must_use]
    pub fn new(number: i32) -> Self {
        print_line_if_possible(format_args!("constructed vt.value({number})"));
        Self { number }
    }

    /// Moves the number. Prints `move constructed vt.value(N)`.
    #[must_use]
    pub fn moved(self) -> Self {
        print_line_if_possible(format_args!("move constructed vt.value({})", self.number));
        self
    }
}

impl Clone for TrackedValue {
    /// Copies the number. Prints `copy constructed vt.value(N)`.
    fn clone(&self) -> Self {
        print_line_if_possible(format_args!("copy constructed vt.value({})", self.number));
        Self {
            number: self.number,
        }
    }
}

impl Drop for TrackedValue {
    /// Prints `destroyed vt.value(N)`, unless the number is -1.
    fn drop(&mut self) {
        if self.number == -1 {
            return;
        }
        print_line_if_possible(format_args!("destroyed vt.value({})", self.number));
    }
}

/// Returns the constant number.
#[tfrt_kernel("vt.constant", attribute_names = free)]
fn constant(#[attr] value: i32) -> TrackedValue {
    TrackedValue::new(value).moved()
}

/// Returns the sum.
#[tfrt_kernel("vt.add")]
fn add(a: &TrackedValue, b: &TrackedValue) -> TrackedValue {
    TrackedValue::new(a.number.wrapping_add(b.number)).moved()
}

/// Prints `print vt_value(N)`.
#[tfrt_kernel("vt.print", side_effecting)]
fn print(value: &TrackedValue) -> io::Result<()> {
    print_line(format_args!("print vt_value({})", value.number))
}

/// Returns one number twice. It is not copied.
#[tfrt_kernel(
    "tfrt_test.share_to_two",
    raw,
    operands(value: ref TrackedValue),
    results(first: TrackedValue, second: TrackedValue),
)]
fn share_to_two(frame: &mut KernelFrame<'_>) {
    let value = frame.argument(0).clone();
    frame.results().fill(Some(value));
}

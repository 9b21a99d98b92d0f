//! Tests of kernels and of programs, in a line or two.
//!
//! [`kernel`] runs one kernel, [`program`] a program in MLIR text; both return a [`TestOutcome`],
//! whose methods check the results:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Divides.
//! #[tfrt_kernel("calc.divide")]
//! fn divide(number: i32, by: i32) -> Result<i32> {
//!     number.checked_div(by).ok_or_else(|| Error::new("division by zero").with_code(ErrorCode::InvalidArgument))
//! }
//!
//! // In functions marked `#[test]`:
//! testing::kernel("calc.divide").operands((7, 2)).run().expect_value(3);
//!
//! let quarter = testing::program(
//!     r#"
//!     func @quarter(%x: i32, %two: i32) -> i32 {
//!       %half = "calc.divide"(%x, %two) : (i32, i32) -> i32
//!       %quarter = "calc.divide"(%half, %two) : (i32, i32) -> i32
//!       tfrt.return %quarter : i32
//!     }
//!     "#,
//! )
//! .under_every_queue();
//! quarter.call("quarter", (100, 2)).expect_value(25);
//! quarter.call("quarter", (100, 0)).expect_error("division by zero").with_code(ErrorCode::InvalidArgument).on_line_with("%half =");
//! ```
//!
//! A failure names its location in the program:
//!
//! ```text
//! `@quarter` under the queue `s`: expected the value 25, found an error
//! program:3:15: error: division by zero (InvalidArgument, from `calc.divide`)
//!       %half = "calc.divide"(%x, %two) : (i32, i32) -> i32
//!               ^
//! ```
//!
//! # What every run does
//!
//! - The kernels are those linked into the test, checked against their declarations as `tfrt run`
//!   checks them: a program that does not parse, verify or load fails the test with the
//!   diagnostics.
//! - Each run has its own host, request and resources, so tests can run in parallel.
//! - A test runs under the queue `s`, or under each of the [queues](TestProgram::under) that it
//!   names. Under [`random:SEED`](TestProgram::under) the seed determines the order of tasks, which
//!   reveals effects that no chain orders.
//! - Results that do not become available within a minute are errors: a lost promise fails a test
//!   instead of blocking it.
//! - When the outcome is dropped, every value that the run created must have been dropped. A value
//!   that is still alive is a leak, and fails the test. (Only builds with debug assertions track
//!   values, and only those created on the thread of the test or in tasks of the queue.)
//!
//! # Operands
//!
//! A tuple of values, or a `Vec` of values of one type. A value of type `Value + Clone` is passed
//! as it is, and a text as a string of its bytes. [`later`] is a value that becomes available while
//! the program runs, [`error`] is an error, and [`value_from`] creates a value that cannot be
//! cloned. An [`AnyRef`](crate::prelude::AnyRef) is passed as it is.
//!
//! ```
//! # use tfrt::prelude::*;
//! # use tfrt::testing;
//! /// A number of things, which kernels change.
//! #[derive(Debug, PartialEq, Value)]
//! #[value("!my.tally", mutable)]
//! struct Tally(u32);
//!
//! /// Counts one more.
//! #[tfrt_kernel("my.count")]
//! fn count(tally: &mut Tally) -> u32 {
//!     tally.0 += 1;
//!     tally.0
//! }
//!
//! /// Waits for the number alone.
//! #[tfrt_kernel("my.is_there", non_strict)]
//! fn is_there(_number: i32, value: AnyRef) -> bool {
//!     value.is_available()
//! }
//!
//! testing::kernel("my.count").operands((testing::value_from(|| Tally(6)),)).run().expect_value(7_u32);
//! testing::kernel("my.count").operands((testing::error("no tally"),)).run().expect_error("no tally");
//! testing::kernel("my.is_there").non_strict().operands((1, testing::later(2))).run().expect_value(false);
//! testing::kernel("my.is_there").operands((1, testing::later(2))).run().expect_value(true);
//! ```
//!
//! Chains may be omitted: a kernel whose last operand is a chain receives one that is ready, and
//! chains among the results are not counted.

mod operand;

mod attribute;

mod schedule;

mod shuffle;

mod calls;

mod run;

mod program;

mod kernel;

mod outcome;

pub use attribute::{AttrText, IntoAttribute, mlir};
pub use kernel::{KernelTest, kernel};
pub use operand::{
    ByReference, ByText, ByValue, ErrorText, IntoOperand, IntoOperands, Operand, Ready, error,
    later, value_from,
};
pub use outcome::{ExpectedError, ExpectedValue, ExpectedValues, Mismatch, TestOutcome};
pub use program::{Refusal, TestProgram, program};

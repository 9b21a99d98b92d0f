//! What happens when a kernel fails.
//!
//! # An error is a value
//!
//! If a kernel returns `Err`, every one of its results is that error. Kernels that take one of them
//! are skipped and return the same error, so that it reaches everything that depends on the
//! failure, and nothing else:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns the square root.
//! #[tfrt_kernel("errors.sqrt")]
//! fn sqrt(number: f64) -> Result<f64> {
//!     if number < 0.0 {
//!         return Err(Error::new(format!("no root of {number}")).with_code(ErrorCode::OutOfRange));
//!     }
//!     Ok(number.sqrt())
//! }
//!
//! let roots = testing::program(
//!     r#"
//!     func @roots(%x: f64, %y: f64) -> (f64, f64) {
//!       %a = "errors.sqrt"(%x) : (f64) -> f64
//!       %b = "errors.sqrt"(%a) : (f64) -> f64
//!       %c = "errors.sqrt"(%y) : (f64) -> f64
//!       tfrt.return %b, %c : f64, f64
//!     }
//!     "#,
//! );
//! roots.call("roots", (16.0, 9.0)).expect_values((2.0, 3.0));
//!
//! let failed = roots.call("roots", (-1.0, 9.0));
//! failed.expect_error("no root of -1").with_code(ErrorCode::OutOfRange).from_kernel("errors.sqrt").on_line_with("%a =");
//! failed.with_value(1, |c: &f64| assert_eq!(*c, 3.0)); // It does not depend on the failure.
//! ```
//!
//! An [`Error`](crate::Error) has a message and a [code](crate::ErrorCode), `Unknown` unless
//! `with_code` says otherwise. The runtime adds the name of the kernel and its location in the
//! program. Each failure is reported once to the diagnostic handler of the
//! [host](super::embedding), where it happens, however far the error then propagates.
//!
//! # `?`
//!
//! A kernel may return a `Result` with any Rust error type that is `Send + Sync`:
//! [`tfrt::Result<T>`](crate::Result), `io::Result<T>`, `Result<T, ParseIntError>`,
//! `anyhow::Result<T>`. It becomes an `Error` that includes the messages of its causes:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns the sum of the numbers in a string.
//! #[tfrt_kernel("errors.sum")]
//! fn sum(numbers: &str) -> Result<i64, std::num::ParseIntError> {
//!     numbers.split(' ').map(str::parse::<i64>).sum()
//! }
//!
//! testing::kernel("errors.sum").operands(("1 2",)).run().expect_value(3_i64);
//! testing::kernel("errors.sum").operands(("1 x",)).run().expect_error("invalid digit found in string");
//! ```
//!
//! In a function that returns [`tfrt::Result`](crate::Result), `?` converts errors of the standard
//! library and strings. Errors of other crates are converted by
//! [`Error::other`](crate::Error::other); or the function returns
//! `Result<T, Box<dyn Error + Send + Sync>>` or `anyhow::Result<T>`, where `?` converts all of
//! them.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//! # use std::fmt;
//! # #[derive(Debug)]
//! # pub struct NoSuchColumn;
//! # impl fmt::Display for NoSuchColumn {
//! #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("no such column") }
//! # }
//! # impl std::error::Error for NoSuchColumn {}
//! # fn column(_: &str) -> std::result::Result<&str, NoSuchColumn> { Err(NoSuchColumn) }
//!
//! /// Returns the first number of a row.
//! #[tfrt_kernel("errors.first_number")]
//! fn first_number(row: &str) -> Result<i64> {
//!     let text = row.split(',').next().ok_or("an empty row")?;
//!     let number = if text == "?" { column(row).map_err(Error::other)? } else { text };
//!     Ok(number.parse()?)
//! }
//!
//! testing::kernel("errors.first_number").operands(("7,8",)).run().expect_value(7_i64);
//! testing::kernel("errors.first_number").operands(("x",)).run().expect_error("invalid digit found in string");
//! testing::kernel("errors.first_number").operands(("?",)).run().expect_error("no such column");
//! ```
//!
//! # Some results, not others
//!
//! Inside a tuple, each result can fail separately:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Divides, and returns the sign of the number.
//! #[tfrt_kernel("errors.divide", results(quotient, sign))]
//! fn divide(number: i32, by: i32) -> (Result<i32>, i32) {
//!     (number.checked_div(by).ok_or_else(|| Error::new("division by zero")), number.signum())
//! }
//!
//! let outcome = testing::kernel("errors.divide").operands((-7, 0)).run();
//! outcome.with_value(1, |sign: &i32| assert_eq!(*sign, -1));
//! outcome.expect_error("division by zero");
//! ```
//!
//! # Panics
//!
//! A kernel that panics has failed: its results are an error of code `Internal`, and the program
//! continues. Panic only if an invariant is broken; return an error for anything else. (In a
//! process built with `panic = "abort"`, a panic ends the process.)
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Takes the first element of a list, which is never empty.
//! #[tfrt_kernel("errors.first")]
//! fn first(numbers: Operands<'_, i32>) -> i32 {
//!     *numbers.get(0).expect("a list of one number at least")
//! }
//!
//! testing::kernel("errors.first")
//!     .run()
//!     .expect_error("kernel 'errors.first' panicked: a list of one number at least")
//!     .with_code(ErrorCode::Internal);
//! ```
//!
//! # Looking at errors
//!
//! A [`non_strict`](super::asynchrony#late-operands) kernel that takes references is called with
//! errors as well, and can handle them:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns the number, or a default if it is an error.
//! #[tfrt_kernel("errors.or_else", non_strict)]
//! async fn or_else(fallback: i32, number: AsyncValueRef<i32>) -> i32 {
//!     match number.await {
//!         Ok(number) => number.get().copied().unwrap_or(fallback),
//!         Err(_) => fallback,
//!     }
//! }
//!
//! let or_else = |number: testing::Operand| testing::kernel("errors.or_else").non_strict().operands((7, number)).run();
//! or_else(testing::later(1)).expect_value(1);
//! or_else(testing::error("lost")).expect_value(7);
//! ```
//!
//! # Cancellation
//!
//! A request can be [cancelled](crate::prelude::RequestContext::cancel), explicitly or by its
//! deadline. Kernels that have not started are then skipped and return the error of the
//! cancellation; futures of `async fn` kernels are dropped at their next `await`. A kernel that
//! runs for long should check [`is_cancelled`](crate::prelude::RequestContext::is_cancelled) from
//! time to time.

//! The outcome of a call, and the expectations about it.

use std::fmt::{self, Write};
use std::sync::Arc;

use tfrt_async::{AnyRef, BorrowError, ByteString, Value};
use tfrt_support::diagnostic_excerpt;
use tfrt_support::{Error, ErrorCode, Severity};

use super::operand::{ByText, ByValue};
use super::program::{is_on_line_with, line_of};
use super::run::Run;

/// The outcome of a call under each of its queues.
///
/// Each `expect_…` checks all runs, and panics at the line of the test with the actual outcome if
/// one does not match. Chains do not count as results.
///
/// Dropping the outcome panics if a value that the runs created is still alive; a clone of a result
/// that outlives the outcome is a leak, too.
///
/// ```
/// use tfrt::prelude::*;
/// use tfrt::testing;
///
/// /// Divides with remainder.
/// #[tfrt_kernel("fraction.divide", results(quotient, remainder))]
/// fn divide(number: i32, by: i32) -> Result<(i32, i32)> {
///     if by == 0 {
///         return Err(Error::new("division by zero"));
///     }
///     Ok((number / by, number % by))
/// }
///
/// let divide = |number: i32, by: i32| testing::kernel("fraction.divide").operands((number, by)).run();
/// divide(7, 2).expect_values((3, 1));
/// divide(7, 2).with_value(1, |remainder: &i32| assert!(*remainder < 2));
/// divide(7, 0).expect_error("by zero").with_code(ErrorCode::Unknown).from_kernel("fraction.divide");
/// ```
pub struct TestOutcome {
    subject: String,
    source: Arc<str>,
    runs: Vec<Run>,
}

impl TestOutcome {
    pub(super) fn new(subject: &str, source: Arc<str>, runs: Vec<Run>) -> Self {
        Self {
            subject: subject.to_owned(),
            source,
            runs,
        }
    }

    /// Expects one result with this value.
    ///
    /// # Panics
    /// If there is another number of results, or the result differs or is an error.
    #[track_caller]
    pub fn expect_value<How>(&self, expected: impl ExpectedValue<How>) -> &Self {
        self.expect_values((expected,))
    }

    /// Expects these results, given as a tuple of values.
    ///
    /// # Panics
    /// If the number of results differs, or a result differs or is an error.
    #[track_caller]
    pub fn expect_values<How>(&self, expected: impl ExpectedValues<How>) -> &Self {
        for run in &self.runs {
            let found = values(run);
            if found.len() != expected.len() {
                let message = format!(
                    "expected {} values, found {}",
                    expected.len(),
                    self.describe_all(run)
                );
                self.fail(run, &message);
            }
            if let Err((index, mismatch)) = expected.compare(&found) {
                let which = match found.len() {
                    1 => String::new(),
                    _ => format!("result {index}: "),
                };
                let found = self.describe(found[index], mismatch.found);
                let message = format!(
                    "{which}expected the value {}, found {found}",
                    mismatch.expected
                );
                self.fail(run, &message);
            }
        }
        self
    }

    /// Expects that nothing failed: no result is an error, and no kernel reported one.
    ///
    /// # Panics
    /// If an error was found.
    #[track_caller]
    pub fn expect_done(&self) -> &Self {
        for run in &self.runs {
            if let Some(error) = errors(run).next() {
                let message = format!("expected no error, found {}", self.render(error));
                self.fail(run, &message);
            }
        }
        self
    }

    /// Expects an error whose message contains `text`, among the results, or among the errors that
    /// kernels reported if no result is an error. If several results are errors, the message of
    /// each contains it.
    ///
    /// # Panics
    /// If there is no error, or its message differs.
    #[track_caller]
    pub fn expect_error(&self, text: &str) -> ExpectedError<'_> {
        let mut expected = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let mut errors = errors(run);
            let Some(first) = errors.next() else {
                let message = format!(
                    "expected an error with `{text}`, found {}",
                    self.describe_all(run)
                );
                self.fail(run, &message);
            };
            let others =
                errors.filter(|error| run.results.iter().any(|result| is_that(result, error)));
            let is_other = |error: &&Error| !error.message().contains(text);
            if let Some(error) = std::iter::once(first).chain(others).find(is_other) {
                let message = format!(
                    "expected an error with `{text}`, found {}",
                    self.render(error)
                );
                self.fail(run, &message);
            }
            expected.push((run, first));
        }
        ExpectedError {
            outcome: self,
            errors: expected,
        }
    }

    /// Expects exactly these calls of the named kernels, in this order. Calls of other kernels are
    /// ignored.
    ///
    /// Chains or values must order the named kernels, since the order must be the same under every
    /// queue.
    ///
    /// ```
    /// use tfrt::prelude::*;
    /// use tfrt::testing;
    ///
    /// /// Opens the door.
    /// #[tfrt_kernel("my.open", side_effecting)]
    /// fn open() {}
    ///
    /// /// Walks through.
    /// #[tfrt_kernel("my.walk", side_effecting)]
    /// fn walk() {}
    ///
    /// testing::program(
    ///     r#"
    ///     func @main(%ready: !tfrt.chain) -> !tfrt.chain {
    ///       %open = "my.open"(%ready) : (!tfrt.chain) -> !tfrt.chain
    ///       %through = "my.walk"(%open) : (!tfrt.chain) -> !tfrt.chain
    ///       tfrt.return %through : !tfrt.chain
    ///     }
    ///     "#,
    /// )
    /// .under_every_queue()
    /// .recording_calls()
    /// .call("main", (Chain,))
    /// .expect_done()
    /// .expect_calls(&["my.open", "my.walk"]);
    /// ```
    ///
    /// # Panics
    /// If the calls differ, or were not [recorded](super::TestProgram::recording_calls).
    #[track_caller]
    pub fn expect_calls(&self, expected: &[&str]) -> &Self {
        for run in &self.runs {
            let Some(calls) = &run.calls else {
                panic!("calls are not recorded: add `.recording_calls()` before `.call(…)`");
            };
            let mut found = calls.clone();
            found.retain(|name| expected.contains(name));
            if found != expected {
                let list = |names: &[&str]| format!("  {}", names.join("\n  "));
                let message = format!(
                    "expected these calls, in this order:\n{}\nfound:\n{}",
                    list(expected),
                    list(&found)
                );
                self.fail(run, &message);
            }
        }
        self
    }

    /// Passes the value of the result at `index` to `look`, once for every run, for more
    /// assertions.
    ///
    /// # Panics
    /// If the result does not exist, is an error, or has another type.
    #[track_caller]
    pub fn with_value<T: Value>(&self, index: usize, mut look: impl FnMut(&T)) -> &Self {
        for run in &self.runs {
            let values = values(run);
            let Some(value) = values.get(index) else {
                let message = format!(
                    "expected a result {index}, found {}",
                    self.describe_all(run)
                );
                self.fail(run, &message);
            };
            match value.try_read::<T>() {
                Ok(value) => look(&value),
                Err(_) => {
                    let message = format!(
                        "result {index}: expected a value of type `{}`, found {}",
                        T::MLIR_TYPE,
                        self.describe(value, None)
                    );
                    self.fail(run, &message);
                }
            }
        }
        self
    }

    /// Returns the results of the first run, without chains, for checks that no `expect_…` covers.
    #[must_use]
    pub fn results(&self) -> Vec<&AnyRef> {
        self.runs.first().map(values).unwrap_or_default()
    }

    /// Returns the errors that kernels of the first run reported, in order.
    #[must_use]
    pub fn reported(&self) -> &[Error] {
        self.runs.first().map_or(&[], |run| &run.reported)
    }

    #[track_caller]
    fn fail(&self, run: &Run, message: &str) -> ! {
        panic!("{}: {message}", self.heading(run))
    }

    fn heading(&self, run: &Run) -> String {
        format!("`{}` under the queue `{}`", self.subject, run.queue)
    }

    /// Describes a value; `shown` is the printed payload, if known.
    fn describe(&self, value: &AnyRef, shown: Option<String>) -> String {
        match (value.error_if_present(), shown) {
            (Some(error), _) => self.render(error),
            (None, Some(shown)) => shown,
            (None, None) => format!("a value of type `{}`", value.mlir_type().unwrap_or("none")),
        }
    }

    fn describe_all(&self, run: &Run) -> String {
        let values = values(run);
        if values.is_empty() {
            return errors(run).next().map_or_else(
                || String::from("no values"),
                |error| format!("no values, and {}", self.render(error)),
            );
        }
        let described: Vec<_> = values
            .iter()
            .map(|value| self.describe(value, None))
            .collect();
        described.join(", then ")
    }

    /// Formats an error with the line of the program where it occurred.
    fn render(&self, error: &Error) -> String {
        let mut message = format!("{} ({}", error.message(), error.code());
        if let Some(kernel) = error.kernel() {
            // Writing into a string cannot fail.
            let _ = write!(message, ", from `{kernel}`");
        }
        message.push(')');
        let mut rendered = String::from("an error\n");
        diagnostic_excerpt(
            error.place(),
            Severity::Error,
            &message,
            &self.source,
            &mut rendered,
        );
        rendered
    }
}

/// The results that are not chains.
fn values(run: &Run) -> Vec<&AnyRef> {
    let results = run.results.iter().zip(&run.are_chains);
    results
        .filter_map(|(result, is_chain)| (!is_chain).then_some(result))
        .collect()
}

/// The errors among the results; then those that were only reported.
fn errors(run: &Run) -> impl Iterator<Item = &Error> {
    let of_results = run.results.iter().filter_map(AnyRef::error_if_present);
    let is_new = |error: &&Error| !run.results.iter().any(|result| is_that(result, error));
    of_results.chain(run.reported.iter().filter(is_new))
}

fn is_that(result: &AnyRef, error: &Error) -> bool {
    result
        .error_if_present()
        .is_some_and(|of_result| of_result.is_same(error))
}

impl Drop for TestOutcome {
    fn drop(&mut self) {
        for index in 0..self.runs.len() {
            let leaked = self.runs[index].end();
            if !leaked.is_empty() && !std::thread::panicking() {
                let heading = self.heading(&self.runs[index]);
                panic!(
                    "{heading}: {} values are still alive: {}\na static, a thread, a reference \
                     cycle or a clone of a result keeps them alive",
                    leaked.len(),
                    leaked.join(", ")
                );
            }
        }
    }
}

impl fmt::Debug for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestOutcome")
            .field("subject", &self.subject)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

/// An expected error that was found, for further checks.
#[derive(Debug)]
pub struct ExpectedError<'a> {
    outcome: &'a TestOutcome,
    errors: Vec<(&'a Run, &'a Error)>,
}

impl ExpectedError<'_> {
    /// Expects that its message is exactly `message`.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn with_message(self, message: &str) -> Self {
        self.require(&format!("with the message `{message}`"), |error| {
            error.message() == message
        })
    }

    /// Expects that it has this code.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn with_code(self, code: ErrorCode) -> Self {
        self.require(&format!("with the code {code}"), |error| {
            error.code() == code
        })
    }

    /// Expects that this kernel failed.
    ///
    /// # Panics
    /// If it was not.
    #[track_caller]
    pub fn from_kernel(self, name: &str) -> Self {
        self.require(&format!("from `{name}`"), |error| {
            error.kernel() == Some(name)
        })
    }

    /// Expects that it occurred on this line of the program, counted from 1.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn on_line(self, line: u32) -> Self {
        self.require(&format!("on line {line}"), |error| {
            line_of(error.place()) == Some(line)
        })
    }

    /// Expects that it occurred on a line of the program that contains `text`.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn on_line_with(self, text: &str) -> Self {
        let source = Arc::clone(&self.outcome.source);
        self.require(&format!("on a line with `{text}`"), |error| {
            is_on_line_with(error.place(), &source, text)
        })
    }

    #[track_caller]
    fn require(self, what: &str, is_so: impl Fn(&Error) -> bool) -> Self {
        for (run, error) in &self.errors {
            if !is_so(error) {
                let found = self.outcome.render(error);
                self.outcome
                    .fail(run, &format!("expected an error {what}, found {found}"));
            }
        }
        self
    }
}

/// A type that a result can be compared with. The compiler infers `How`, which distinguishes values
/// from texts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with a result",
    label = "not a value",
    note = "compare with a value of type `Value + PartialEq + Debug`, a `&str` or a `String`"
)]
pub trait ExpectedValue<How> {
    /// Compares a result with the expected value.
    ///
    /// # Errors
    /// Returns the difference.
    fn compare(&self, found: &AnyRef) -> Result<(), Mismatch>;
}

impl<T: Value + PartialEq + fmt::Debug> ExpectedValue<ByValue> for T {
    fn compare(&self, found: &AnyRef) -> Result<(), Mismatch> {
        Mismatch::of(self, found)
    }
}

impl ExpectedValue<ByText> for &str {
    fn compare(&self, found: &AnyRef) -> Result<(), Mismatch> {
        Mismatch::of(&ByteString::from(*self), found)
    }
}

impl ExpectedValue<ByText> for String {
    fn compare(&self, found: &AnyRef) -> Result<(), Mismatch> {
        self.as_str().compare(found)
    }
}

/// A type that several results can be compared with: a tuple of values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with results",
    label = "not a tuple of values",
    note = "pass a tuple of values of types `Value + PartialEq + Debug`, such as `(3,)` for a \
            single value"
)]
pub trait ExpectedValues<How> {
    /// Returns the number of expected values.
    fn len(&self) -> usize;

    /// Returns `true` if no values are expected.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares the results with the expected values, which are equally many.
    ///
    /// # Errors
    /// Returns the index of the first result that differs, and the difference.
    fn compare(&self, found: &[&AnyRef]) -> Result<(), (usize, Mismatch)>;
}

/// A value that differs from the expected one.
#[derive(Debug)]
pub struct Mismatch {
    /// The printed form of the expected value.
    expected: String,
    /// The printed form of the found value, if it has the expected type.
    found: Option<String>,
}

impl Mismatch {
    fn of<T: Value + PartialEq + fmt::Debug>(expected: &T, found: &AnyRef) -> Result<(), Self> {
        let found = match found.try_read::<T>() {
            Ok(found) if *found == *expected => return Ok(()),
            Ok(found) => Some(format!("{:?}", &*found)),
            Err(error @ (BorrowError::Written | BorrowError::Read)) => Some(error.to_string()),
            Err(_) => None,
        };
        Err(Self {
            expected: format!("{expected:?}"),
            found,
        })
    }
}

macro_rules! impl_for_tuples {
    ($($len:literal ($($value:ident $how:ident $index:tt),*))*) => {$(
        impl<$($value: ExpectedValue<$how>, $how),*> ExpectedValues<($($how,)*)> for ($($value,)*) {
            fn len(&self) -> usize {
                $len
            }

            fn compare(&self, found: &[&AnyRef]) -> Result<(), (usize, Mismatch)> {
                $(
                    self.$index.compare(found[$index]).map_err(|mismatch| ($index, mismatch))?;
                )*
                Ok(())
            }
        }
    )*};
}

impl_for_tuples! {
    1 (A HowA 0)
    2 (A HowA 0, B HowB 1)
    3 (A HowA 0, B HowB 1, C HowC 2)
    4 (A HowA 0, B HowB 1, C HowC 2, D HowD 3)
    5 (A HowA 0, B HowB 1, C HowC 2, D HowD 3, E HowE 4)
    6 (A HowA 0, B HowB 1, C HowC 2, D HowD 3, E HowE 4, F HowF 5)
    7 (A HowA 0, B HowB 1, C HowC 2, D HowD 3, E HowE 4, F HowF 5, G HowG 6)
    8 (A HowA 0, B HowB 1, C HowC 2, D HowD 3, E HowE 4, F HowF 5, G HowG 6, H HowH 7)
}

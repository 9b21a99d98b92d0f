//! Failures that end a tool early.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};

use tfrt_support::escape::escaped_lines;

/// The reasons why a tool ends without having done its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to print.
    Error(CliError),
    /// An error to print, with a specific exit status.
    #[cfg_attr(not(all(feature = "grpc", unix)), expect(dead_code))]
    Status(u8, CliError),
    /// An error in the command line.
    Usage(String),
    /// The diagnostics have already been printed.
    Reported,
    /// Not a failure: the requested help was printed, and there is nothing else to do.
    HelpGiven,
    /// The output is a closed pipe, which is not reported.
    ClosedPipe,
}

/// An error of a tool: the failed action, and the reason.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl CliError {
    /// Creates an error without a cause.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Creates an error with a cause, which the message omits.
    pub(crate) fn caused(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            message: message.into(),
            source: Some(cause.into()),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CliError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

/// An error and the chain of its causes: `what: why: why that`.
///
/// A cause that the text before it already ends with is omitted.
pub(crate) struct WithCauses<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut next) = text_of(self.0);
        while let Some(cause) = next {
            let (why, its_cause) = text_of(cause);
            if !text.ends_with(&why) {
                text.push_str(": ");
                text.push_str(&why);
            }
            next = its_cause;
        }
        f.write_str(&text)
    }
}

/// Returns the text of one error, and its cause unless the text includes it.
fn text_of<'a>(error: &'a (dyn Error + 'static)) -> (String, Option<&'a (dyn Error + 'static)>) {
    if let Some(error) = error.downcast_ref::<tfrt_support::Error>() {
        // The message of an error of a graph includes its causes, and notes that follow them.
        (error.message().to_owned(), None)
    } else if let Some(error) = error.downcast_ref::<io::Error>() {
        (Reason(error).to_string(), error.source())
    } else {
        (error.to_string(), error.source())
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    /// Creates a failure without a cause.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        CliError::new(message).into()
    }

    /// Creates a failure with a cause, which the message omits.
    pub(crate) fn caused(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        CliError::caused(message, cause).into()
    }

    /// Creates a failure to write output.
    pub(crate) fn of_output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::caused("cannot write output", error)
        }
    }
}

/// Tells the user something.
pub(crate) fn write_message(message: &str) {
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(io::stderr(), "{}", escaped_lines(message));
}

/// An error of the operating system, without its number.
pub(crate) struct Reason<'a>(pub(crate) &'a io::Error);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(
            text.split_once(" (os error ")
                .map_or(&*text, |(reason, _)| reason),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(error: &CliError) -> String {
        WithCauses(error).to_string()
    }

    #[test]
    fn an_error_is_shown_with_its_causes() {
        let number = "x".parse::<i32>().unwrap_err();
        let row = CliError::caused("row 3", number);
        let file = CliError::caused("cannot read `rows`", row);
        let expected = "cannot read `rows`: row 3: invalid digit found in string";
        assert_eq!(shown(&file), expected);
        assert_eq!(file.to_string(), "cannot read `rows`");
    }

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let number = "x".parse::<i32>().unwrap_err();
        let row = CliError::caused(format!("row 3: {number}"), number);
        assert_eq!(shown(&row), "row 3: invalid digit found in string");
    }

    #[test]
    fn an_error_of_a_graph_is_shown_with_its_causes_once() {
        let number = "x".parse::<i32>().unwrap_err();
        let row = CliError::caused("row 3", number);
        let graph = tfrt_support::Error::other(row).with_note(" (kernel `k`)");
        assert_eq!(
            shown(&CliError::caused("error", graph)),
            "error: row 3: invalid digit found in string (kernel `k`)"
        );
    }

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        let missing = io::Error::from_raw_os_error(2);
        let shown = shown(&CliError::caused("cannot open `x`", missing));
        assert_eq!(shown, "cannot open `x`: No such file or directory");
    }
}

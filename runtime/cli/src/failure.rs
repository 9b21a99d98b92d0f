//! What ends a tool early.

use std::fmt;
use std::io::{self, Write};

use tfrt_support::escape::escaped_lines;

/// Why a tool ends without having done its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What to tell the user, in full.
    Message(String),
    /// What is wrong with the command line.
    Usage(String),
    /// The user was told already: diagnostics were printed.
    Reported,
    /// Nothing: the help that was asked for was printed, and there is nothing to do.
    HelpGiven,
    /// The output is a closed pipe, which is not reported.
    ClosedPipe,
}

impl Failure {
    /// A failure to write output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Message(format!("cannot write output: {}", Reason(error)))
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

//! Printing and verification of diagnostics.
//!
//! Libraries return [`Diagnostic`]s; only this module turns them into text. A [`Reporter`] either
//! prints each diagnostic with its source line, or compares it with the expectations in comments of
//! the source. The tools choose the destination, such as standard error.
//!
//! ```
//! use tfrt_cli::diagnostics::{Reporter, SourceMap};
//! use tfrt_support::{Diagnostic, Place};
//!
//! let mut sources = SourceMap::new();
//! sources.insert("p.mlir", "func @f() {\n  oops\n}\n");
//! let mut text = Vec::new();
//! let mut reporter = Reporter::printing(sources, &mut text);
//! reporter.report(&Diagnostic::error(Place::file("p.mlir", 2, 3), "custom op 'oops' is unknown"));
//! assert!(!reporter.finish());
//! drop(reporter);
//! assert_eq!(String::from_utf8_lossy(&text), "p.mlir:2:3: error: custom op 'oops' is unknown\n  oops\n  ^\n");
//! ```

mod source_map;

pub mod render;

pub mod expectations;

use std::fmt;
use std::io::Write;
use std::num::NonZeroUsize;

use tfrt_support::{Diagnostic, Severity};

pub use source_map::{SourceLine, SourceMap};

use expectations::Expectations;
use render::{Finding, Styles};

/// The default number of errors that are shown.
pub const DEFAULT_MAX_ERRORS: usize = 100;

/// Receives diagnostics and finally reports success or failure.
///
/// The number of shown errors is limited: the others are counted, and their number is printed at
/// the end, or when the reporter is dropped.
pub struct Reporter<W: Write> {
    sources: SourceMap,
    out: W,
    styles: Styles,
    mode: Mode,
    /// None if all errors are shown.
    max_errors: Option<NonZeroUsize>,
    num_errors: usize,
    has_failed: bool,
}

enum Mode {
    Print,
    Verify(Expectations),
}

impl<W: Write> Reporter<W> {
    /// Prints every diagnostic; all is well if none was an error.
    pub fn printing(sources: SourceMap, out: W) -> Self {
        Self::new(sources, out, Mode::Print)
    }

    /// Holds the diagnostics against the expectations in every source that is known now.
    ///
    /// All is well if each diagnostic was expected and each expectation was met.
    pub fn verifying(sources: SourceMap, out: W) -> Self {
        let expectations = Expectations::of_all(&sources);
        Self::new(sources, out, Mode::Verify(expectations))
    }

    /// Like [`verifying`](Self::verifying), but the expectations of a source count from its first
    /// diagnostic on: a source that nothing is reported about is not even opened.
    pub fn verifying_lazily(sources: SourceMap, out: W) -> Self {
        Self::new(sources, out, Mode::Verify(Expectations::default()))
    }

    fn new(sources: SourceMap, out: W, mode: Mode) -> Self {
        Self {
            sources,
            out,
            styles: Styles::PLAIN,
            mode,
            max_errors: NonZeroUsize::new(DEFAULT_MAX_ERRORS),
            num_errors: 0,
            has_failed: false,
        }
    }

    /// Shows at most `max_errors` errors, or all of them if it is 0.
    #[must_use]
    pub fn with_max_errors(mut self, max_errors: usize) -> Self {
        self.max_errors = NonZeroUsize::new(max_errors);
        self
    }

    /// Writes in these styles, for a terminal.
    #[must_use]
    pub fn with_styles(mut self, styles: Styles) -> Self {
        self.styles = styles;
        self
    }

    /// Returns `true` if the diagnostics are compared with expectations, rather than printed.
    pub fn is_verifying(&self) -> bool {
        matches!(self.mode, Mode::Verify(_))
    }

    /// Takes one diagnostic with its notes.
    pub fn report(&mut self, diagnostic: &Diagnostic) {
        match &mut self.mode {
            Mode::Print => {
                if diagnostic.severity != Severity::Error || self.shows_error() {
                    let (sources, styles) = (&mut self.sources, &self.styles);
                    render::print_diagnostic(diagnostic, sources, styles, &mut self.out);
                }
            }
            Mode::Verify(expectations) => {
                let surprises: Vec<_> = std::iter::once(diagnostic)
                    .chain(&diagnostic.notes)
                    .filter_map(|found| expectations.meet(found, &mut self.sources))
                    .collect();
                self.print_errors(&surprises);
            }
        }
    }

    /// Ends the report: reports the expectations that were not met, and returns `true` on success.
    #[must_use]
    pub fn finish(&mut self) -> bool {
        if let Mode::Verify(expectations) = &self.mode {
            let disappointments: Vec<_> = expectations.unmet().collect();
            self.print_errors(&disappointments);
        }
        self.tell_hidden_errors();
        !self.has_failed
    }

    fn print_errors(&mut self, errors: &[Finding]) {
        for error in errors {
            if self.shows_error() {
                error.print(&mut self.sources, &self.styles, &mut self.out);
            }
        }
    }

    /// Counts an error, and returns whether it is shown.
    fn shows_error(&mut self) -> bool {
        self.has_failed = true;
        self.num_errors += 1;
        self.max_errors
            .is_none_or(|max_errors| self.num_errors <= max_errors.get())
    }

    /// Prints the number of errors that were not shown, once.
    fn tell_hidden_errors(&mut self) {
        let shown = self.max_errors.map_or(usize::MAX, NonZeroUsize::get);
        if let num_hidden @ 1.. = self.num_errors.saturating_sub(shown) {
            let errors = if num_hidden == 1 { "error" } else { "errors" };
            let text = format!("... and {num_hidden} more {errors}; `--max-errors 0` shows all\n");
            // A failure to write a message cannot be reported.
            let _ = self.out.write_all(text.as_bytes());
        }
        self.num_errors = 0;
    }
}

impl<W: Write> Drop for Reporter<W> {
    fn drop(&mut self) {
        self.tell_hidden_errors();
    }
}

impl<W: Write> fmt::Debug for Reporter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("has_failed", &self.has_failed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_support::Place;

    const PROGRAM: &str = "75-bad-expectations.mlir";

    fn recorded(name: &str) -> String {
        let path = format!(
            "{}/../../tests/golden/rejected/{name}",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns the errors that the recorded translation of the program reports, without their
    /// notes.
    fn recorded_errors() -> Vec<Diagnostic> {
        let text = recorded("75-bad-expectations.translate.err.txt");
        let errors = text
            .lines()
            .filter_map(|line| line.strip_prefix(PROGRAM)?.split_once(": error: "));
        let error = |(place, message): (&str, &str)| {
            let (line, column) = place[1..].split_once(':').unwrap();
            Diagnostic::error(
                Place::file(PROGRAM, line.parse().unwrap(), column.parse().unwrap()),
                message,
            )
        };
        errors.map(error).collect()
    }

    fn sources() -> SourceMap {
        let mut sources = SourceMap::new();
        sources.insert(PROGRAM, recorded(PROGRAM));
        sources
    }

    #[test]
    fn wrong_expectations_are_reported_as_recorded() {
        let mut text = Vec::new();
        let mut reporter = Reporter::verifying(sources(), &mut text);
        recorded_errors()
            .iter()
            .for_each(|error| reporter.report(error));
        assert!(!reporter.finish());
        drop(reporter);
        assert_eq!(
            String::from_utf8_lossy(&text),
            recorded("75-bad-expectations.verify.err.txt")
        );
    }

    #[test]
    fn lazy_expectations_count_from_the_first_diagnostic() {
        let mut text = Vec::new();
        assert!(Reporter::verifying_lazily(sources(), &mut text).finish());
        assert!(text.is_empty());
        assert!(!Reporter::verifying(sources(), &mut text).finish());
        let mut reporter = Reporter::verifying_lazily(sources(), &mut text);
        reporter.report(&Diagnostic::error(
            Place::file(PROGRAM, 15, 1),
            "external functions are not allowed",
        ));
        assert!(
            !reporter.finish(),
            "the other expectations of the file count now"
        );
    }

    #[test]
    fn errors_beyond_the_limit_are_counted() {
        let report = |max_errors, num_errors| {
            let mut text = Vec::new();
            let mut reporter =
                Reporter::printing(SourceMap::new(), &mut text).with_max_errors(max_errors);
            for line in 1..=num_errors {
                reporter.report(&Diagnostic::error(Place::file("p", line, 1), "bad"));
                reporter.report(&Diagnostic::remark(Place::file("p", line, 1), "odd"));
            }
            assert!(!reporter.finish());
            drop(reporter);
            String::from_utf8(text).unwrap()
        };
        let text = report(2, 5);
        assert_eq!(text.matches("error: bad").count(), 2);
        assert_eq!(text.matches("remark: odd").count(), 5);
        assert!(text.ends_with("... and 3 more errors; `--max-errors 0` shows all\n"));
        assert!(report(4, 5).contains("... and 1 more error;"));
        assert_eq!(text.matches("more").count(), 1, "told once: {text}");
        for (max_errors, num_errors) in [(5, 5), (0, 500)] {
            let text = report(max_errors, num_errors);
            assert_eq!(text.matches("error: bad").count(), num_errors as usize);
            assert!(!text.contains("more"));
        }
    }

    #[test]
    fn surprises_beyond_the_limit_are_counted() {
        let mut text = Vec::new();
        let mut reporter = Reporter::verifying(sources(), &mut text).with_max_errors(1);
        let place = Place::file(PROGRAM, 1, 1);
        reporter.report(&Diagnostic::error(place.clone(), "bad").with_note(place, "why"));
        // Dropped unfinished.
        drop(reporter);
        assert!(text.ends_with(b"... and 1 more error; `--max-errors 0` shows all\n"));
    }

    #[test]
    fn an_expected_error_is_no_failure() {
        let mut sources = SourceMap::new();
        sources.insert(
            "p",
            "oops // expected-error {{bad}}\n// expected-note @above {{why}}",
        );
        let mut text = Vec::new();
        let mut reporter = Reporter::verifying(sources, &mut text);
        let place = Place::file("p", 1, 1);
        reporter.report(&Diagnostic::error(place.clone(), "bad thing").with_note(place, "why"));
        assert!(reporter.finish());
        drop(reporter);
        assert!(text.is_empty());
    }
}

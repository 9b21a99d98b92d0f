//! Diagnostics as the tools print and verify them.
//!
//! Libraries find things and say so as [`Diagnostic`]s; this module alone turns them into text. A [`Reporter`] stands
//! between the two: it either prints each diagnostic with the line it is about, or holds it against the expectations that
//! comments of the source state. Printing to standard error is the tools' choice: the reporter writes where it is told.
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
//! assert_eq!(String::from_utf8_lossy(&text), "p.mlir:2:3: error: custom op 'oops' is unknown\n  oops\n  ^\n");
//! ```

pub mod source_map;

pub mod render;

pub mod expectations;

use std::fmt;
use std::io::Write;

use tfrt_support::{Diagnostic, Severity};

pub use source_map::SourceMap;

use expectations::Expectations;

/// Takes diagnostics and, at the end, says whether all is well.
pub struct Reporter<W> {
    sources: SourceMap,
    out: W,
    mode: Mode,
    has_failed: bool,
}

enum Mode {
    Print,
    Verify(Expectations),
}

impl<W: Write> Reporter<W> {
    /// Prints every diagnostic; all is well if none was an error.
    pub fn printing(sources: SourceMap, out: W) -> Self {
        Self {
            sources,
            out,
            mode: Mode::Print,
            has_failed: false,
        }
    }

    /// Holds the diagnostics against the expectations in every source that is known now.
    ///
    /// All is well if each diagnostic was expected and each expectation was met.
    pub fn verifying(sources: SourceMap, out: W) -> Self {
        let expectations = Expectations::of_all(&sources);
        Self {
            sources,
            out,
            mode: Mode::Verify(expectations),
            has_failed: false,
        }
    }

    /// Like [`verifying`](Self::verifying), but the expectations of a source count from its first diagnostic on: a source
    /// that nothing is reported about is not even opened.
    pub fn verifying_lazily(sources: SourceMap, out: W) -> Self {
        Self {
            sources,
            out,
            mode: Mode::Verify(Expectations::default()),
            has_failed: false,
        }
    }

    /// Whether the diagnostics are held against expectations, rather than printed.
    pub fn is_verifying(&self) -> bool {
        matches!(self.mode, Mode::Verify(_))
    }

    /// Takes one diagnostic with its notes.
    pub fn report(&mut self, diagnostic: &Diagnostic) {
        match &mut self.mode {
            Mode::Print => {
                self.has_failed |= diagnostic.severity == Severity::Error;
                render::print_diagnostic(diagnostic, &mut self.sources, &mut self.out);
            }
            Mode::Verify(expectations) => {
                for found in std::iter::once(diagnostic).chain(&diagnostic.notes) {
                    if let Some(surprise) = expectations.meet(found, &mut self.sources) {
                        self.has_failed = true;
                        surprise.print(&mut self.sources, &mut self.out);
                    }
                }
            }
        }
    }

    /// Ends the report: reports the expectations that were not met, and says whether all is well.
    #[must_use]
    pub fn finish(&mut self) -> bool {
        if let Mode::Verify(expectations) = &self.mode {
            for disappointment in expectations.unmet() {
                self.has_failed = true;
                disappointment.print(&mut self.sources, &mut self.out);
            }
        }
        !self.has_failed
    }
}

impl<W> fmt::Debug for Reporter<W> {
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
        let path = format!("{}/../../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The errors that the recorded translation of the program reports, without their notes.
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
        assert!(text.is_empty());
    }
}

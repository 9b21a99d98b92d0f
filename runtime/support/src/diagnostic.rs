//! Diagnostics of parsers, verifiers and loaders about a source.
//!
//! A library creates diagnostics and passes them to a [`DiagnosticSink`]; only a tool prints them.

mod excerpt;

mod list;

use std::fmt;

use crate::place::Place;

pub use excerpt::{diagnostic_excerpt, render_diagnostics};
pub use list::Diagnostics;

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Adds to another diagnostic.
    Note,
    /// Reports something that is neither wrong nor suspicious.
    Remark,
    /// Something is probably wrong.
    Warning,
    /// Something is wrong.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One finding about a source, with notes that add to it.
///
/// ```
/// use tfrt_support::{Diagnostic, Place};
///
/// let found = Diagnostic::error(Place::file("p.mlir", 2, 5), "redefinition of SSA value '%a'")
///     .with_note(Place::file("p.mlir", 1, 3), "previously defined here");
/// assert_eq!(found.to_string(), "p.mlir:2:5: error: redefinition of SSA value '%a'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The location. A [`Place::Text`] contains it in the format of MLIR, such as `loc("name")`.
    pub place: Place,
    /// The message; lower case, no full stop.
    pub message: String,
    /// The notes, in order.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Creates a finding of the given severity, without notes.
    #[must_use]
    pub fn new(severity: Severity, place: Place, message: impl Into<String>) -> Self {
        Self {
            severity,
            place,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// Creates an error.
    #[must_use]
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place, message)
    }

    /// Creates a warning.
    #[must_use]
    pub fn warning(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place, message)
    }

    /// Creates a remark.
    #[must_use]
    pub fn remark(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, place, message)
    }

    /// Returns the same finding with one more note.
    #[must_use]
    pub fn with_note(mut self, place: Place, message: impl Into<String>) -> Self {
        self.notes.push(Self::new(Severity::Note, place, message));
        self
    }
}

impl fmt::Display for Diagnostic {
    /// Returns the finding on one line, without its notes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.severity, self.message)
    }
}

/// A finding can be why something fails.
impl std::error::Error for Diagnostic {}

/// Takes diagnostics as they are found.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot receive diagnostics",
    label = "does not implement `DiagnosticSink`",
    note = "a `Vec<Diagnostic>` collects them"
)]
pub trait DiagnosticSink {
    /// Takes one diagnostic with its notes.
    fn emit(&mut self, diagnostic: Diagnostic);
}

/// Keeps the diagnostics, in order.
impl DiagnosticSink for Vec<Diagnostic> {
    fn emit(&mut self, diagnostic: Diagnostic) {
        self.push(diagnostic);
    }
}

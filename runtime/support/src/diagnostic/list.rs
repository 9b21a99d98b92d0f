//! Lists of diagnostics as errors.

use std::fmt;
use std::ops::Deref;

use super::{Diagnostic, render_diagnostics};
use crate::place::Place;

/// Diagnostics in order: the error type of code that reads, checks and translates programs.
///
/// It is a [`std::error::Error`]. Both `{}` and `{:?}` print all diagnostics in readable form, with
/// their source lines if the [source](Self::with_source) is known.
///
/// ```
/// use tfrt_support::{Diagnostic, Diagnostics, Place};
///
/// let source = "func @f() {\n  tfrt.return %y : i32\n}";
/// let found = Diagnostic::error(Place::file("f.mlir", 2, 15), "use of undeclared SSA value name");
/// let found = Diagnostics::from(vec![found]);
/// assert_eq!(found.to_string(), "f.mlir:2:15: error: use of undeclared SSA value name");
/// assert_eq!(
///     found.with_source(source).to_string(),
///     "f.mlir:2:15: error: use of undeclared SSA value name\n  tfrt.return %y : i32\n              ^"
/// );
/// ```
#[derive(Clone, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
    source: Option<Box<str>>,
}

impl Diagnostics {
    /// Returns one error.
    #[must_use]
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        vec![Diagnostic::error(place, message)].into()
    }

    /// Sets the source, whose lines are then printed with the diagnostics.
    #[must_use]
    pub fn with_source(mut self, source: &str) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the findings alone.
    #[must_use]
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.found
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(found: Vec<Diagnostic>) -> Self {
        Self {
            found,
            source: None,
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(found: Diagnostic) -> Self {
        vec![found].into()
    }
}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.found
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.iter()
    }
}

/// Findings are equal wherever their source lies.
impl PartialEq for Diagnostics {
    fn eq(&self, other: &Self) -> bool {
        self.found == other.found
    }
}

impl Eq for Diagnostics {}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = render_diagnostics(&self.found, self.source.as_deref().unwrap_or_default());
        f.write_str(text.trim_end_matches('\n'))
    }
}

/// As `Display`: this is the output of a `main` that returns it, or of a test that unwraps it.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostics {}

crate::convert_errors!(Diagnostic, Diagnostics);

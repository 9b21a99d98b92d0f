//! Readable locations: the decoded form of a location.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A place in a source, decoded.
///
/// Prints as `file:line:col`, as its text, or as `UnknownLocation`.
///
/// ```
/// use tfrt_support::Place;
///
/// assert_eq!(Place::file("a.mlir", 3, 7).to_string(), "a.mlir:3:7");
/// assert_eq!(Place::Text("conv1".into()).to_string(), "conv1");
/// assert_eq!(Place::Unknown.to_string(), "UnknownLocation");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// Unknown.
    #[default]
    Unknown,
    /// A position in a file. Line and column count from 1; an out-of-range location decodes to
    /// `u32::MAX` in both.
    File {
        /// The file, as its producer named it.
        file: Arc<str>,
        /// The line, from 1.
        line: u32,
        /// The column, from 1, in bytes.
        column: u32,
    },
    /// A place that is not a position in a file: a name, a call site, or several places.
    Text(Arc<str>),
}

impl Place {
    /// Creates a position in a file.
    #[must_use]
    pub fn file(file: impl Into<Arc<str>>, line: u32, column: u32) -> Self {
        Self::File {
            file: file.into(),
            line,
            column,
        }
    }
}

impl From<&Location<'_>> for Place {
    /// A place in Rust code.
    fn from(place: &Location<'_>) -> Self {
        Self::file(place.file(), place.line(), place.column())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("UnknownLocation"),
            Self::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

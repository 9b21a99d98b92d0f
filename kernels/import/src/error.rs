//! Errors in models, with their locations.

use std::fmt;

/// An error in a model file: a message, and the parts of the model around it.
///
/// ```
/// use tfrt_import::ImportError;
///
/// let error = ImportError::new("expected 3 dimensions, found 2").within("tensor `w`");
/// assert_eq!(
///     error.within("model.onnx").to_string(),
///     "model.onnx: tensor `w`: expected 3 dimensions, found 2"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ImportError(Box<Located>);

#[derive(Clone, PartialEq, Eq)]
struct Located {
    message: String,
    /// The parts of the model that contain the error, innermost first.
    places: Vec<String>,
}

impl ImportError {
    /// Creates an error without a location.
    #[cold]
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Located {
            message: message.into(),
            places: Vec::new(),
        }))
    }

    /// Adds an enclosing part of the model to the location.
    #[cold]
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.0.places.push(place.into());
        self
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in self.0.places.iter().rev() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImportError({self})")
    }
}

impl std::error::Error for ImportError {}

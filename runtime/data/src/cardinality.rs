//! How many elements a dataset has, as far as its description tells.

/// The number of elements of a dataset.
///
/// ```
/// use tfrt_data::{Cardinality, Dataset};
///
/// let numbers = Dataset::range(0, 10, 3)?;
/// assert_eq!(numbers.cardinality(), Cardinality::Finite(4));
/// assert_eq!(numbers.repeat(-1)?.cardinality(), Cardinality::Infinite);
/// assert_eq!(numbers.filter(|x: i64| x > 1)?.cardinality(), Cardinality::Unknown);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// There are so many.
    Finite(u64),
    /// There is no end.
    Infinite,
    /// It depends on the elements, or on what is outside of the pipeline.
    Unknown,
}

impl Cardinality {
    /// Applies a function to a known number of elements.
    pub(crate) fn map(self, f: impl FnOnce(u64) -> u64) -> Self {
        match self {
            Self::Finite(len) => Self::Finite(f(len)),
            other => other,
        }
    }

    /// Returns the cardinality of a sequence that may lack some of the elements.
    pub(crate) fn at_most(self) -> Self {
        match self {
            Self::Finite(0) => Self::Finite(0),
            _ => Self::Unknown,
        }
    }

    /// Returns the cardinality of two sequences side by side.
    pub(crate) fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::Finite(0), _) | (_, Self::Finite(0)) => Self::Finite(0),
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Finite(len), Self::Finite(other)) => Self::Finite(len.min(other)),
            (Self::Finite(len), Self::Infinite) | (Self::Infinite, Self::Finite(len)) => {
                Self::Finite(len)
            }
            (Self::Infinite, Self::Infinite) => Self::Infinite,
        }
    }

    /// Returns the cardinality of two sequences one after the other.
    pub(crate) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Infinite, _) | (_, Self::Infinite) => Self::Infinite,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Finite(len), Self::Finite(other)) => Self::Finite(len.saturating_add(other)),
        }
    }

    /// Returns the cardinality of a number of passes; without a number, passes never end.
    pub(crate) fn times(self, num_passes: Option<u64>) -> Self {
        match (self, num_passes) {
            (_, Some(0)) | (Self::Finite(0), _) => Self::Finite(0),
            (Self::Finite(len), Some(num_passes)) => Self::Finite(len.saturating_mul(num_passes)),
            (Self::Unknown, _) => Self::Unknown,
            (Self::Infinite, _) | (Self::Finite(_), None) => Self::Infinite,
        }
    }
}

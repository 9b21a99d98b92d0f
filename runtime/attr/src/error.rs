//! Errors in encoded attributes.

use std::fmt;

use tfrt_support::DType;

use crate::code::AttrTypeCode;
use crate::limits;

/// The error for an encoded attribute that cannot be read, with its location.
///
/// ```
/// use tfrt_attr::FromAttr;
///
/// let error = u32::read(&[1, 2], 0).unwrap_err();
/// assert_eq!(error.to_string(), "attribute data at offset 0: expected 4 bytes, found 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttrError {
    offset: usize,
    problem: AttrProblem,
}

/// The reasons why an encoded attribute could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttrProblem {
    /// The section ends too early.
    Truncated {
        /// Bytes needed at the offset.
        expected: u64,
        /// Bytes there are.
        found: usize,
    },
    /// The offset, or the memory that holds the section, is not aligned.
    Misaligned {
        /// The alignment in bytes.
        expected: usize,
    },
    /// No known attribute type code.
    UnknownCode(u8),
    /// The attribute does not have the requested type.
    WrongType {
        /// The requested type.
        expected: &'static str,
        /// The type that the attribute has.
        found: AttrTypeCode,
    },
    /// The elements of a dense tensor do not have the requested type.
    WrongElementType {
        /// The requested type.
        expected: DType,
        /// The type that the elements have.
        found: DType,
    },
    /// A Boolean that is neither 0 nor 1, or an element type that does not exist.
    InvalidValue {
        /// The expected attribute.
        expected: &'static str,
        /// The byte there is.
        found: u8,
    },
    /// Text that is not UTF-8.
    NotUtf8,
    /// A field of a header contradicts another one.
    InvalidHeader {
        /// The field, in words.
        field: &'static str,
        /// The expected value, if there is only one.
        expected: u64,
        /// The actual value.
        found: u64,
    },
    /// An integer of variable length does not fit in 64 bits.
    IntegerTooLarge,
    /// Aggregates nest deeper than [`limits::MAX_NESTING`].
    TooDeep,
}

impl AttrError {
    #[cold]
    pub(crate) fn new(offset: usize, problem: AttrProblem) -> Self {
        Self { offset, problem }
    }

    /// Returns the offset of the error in the section, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn problem(&self) -> AttrProblem {
        self.problem
    }
}

impl fmt::Display for AttrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "attribute data at offset {}: {}",
            self.offset, self.problem
        )
    }
}

impl fmt::Display for AttrProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { expected, found } => {
                write!(f, "expected {expected} bytes, found {found}")
            }
            Self::Misaligned { expected } => {
                write!(f, "expected an address that is a multiple of {expected}")
            }
            Self::UnknownCode(code) => write!(f, "expected an attribute type code, found {code}"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::WrongElementType { expected, found } => {
                write!(f, "expected elements of type {expected}, found {found}")
            }
            Self::InvalidValue { expected, found } => {
                write!(f, "expected {expected}, found byte {found}")
            }
            Self::NotUtf8 => f.write_str("expected UTF-8 text"),
            Self::InvalidHeader {
                field,
                expected,
                found,
            } => write!(f, "expected {field} {expected}, found {found}"),
            Self::IntegerTooLarge => f.write_str("expected an integer of at most 64 bits"),
            Self::TooDeep => write!(
                f,
                "expected aggregates nested at most {} levels deep",
                limits::MAX_NESTING
            ),
        }
    }
}

impl std::error::Error for AttrError {}

tfrt_support::convert_errors!(AttrError);

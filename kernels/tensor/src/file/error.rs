//! The error of files of every format.

use std::fmt;
use std::io;

use tfrt_support::DType;

use crate::buffer::BufferConflict;
use crate::error::TensorError;
use crate::file::btf::{BtfError, BtfWriteError};
use crate::shape::ShapeError;

/// The reasons why a file cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// A binary tensor file is malformed.
    Btf(BtfError),
    /// A binary tensor file cannot be written.
    WriteBtf(BtfWriteError),
    /// A file of another format is malformed.
    Wrong {
        /// Where.
        offset: u64,
        /// What.
        message: String,
    },
    /// A part of an archive is malformed.
    Entry {
        /// The name of the part.
        name: String,
        /// The error, at an offset in the part.
        error: Box<FileError>,
    },
    /// The format does not support this element type.
    NoDType {
        /// The name of the format.
        format: &'static str,
        /// The type.
        dtype: DType,
    },
    /// The format does not support tensors of this kind.
    Kind {
        /// The name of the format.
        format: &'static str,
        /// The name of the tensor.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The format stores exactly one tensor.
    NotOne {
        /// The actual number.
        found: usize,
    },
    /// There is no memory for a tensor, it is being written, or such a tensor cannot exist.
    Tensor(TensorError),
    /// Reading or writing failed.
    Io(io::Error),
}

impl FileError {
    #[cold]
    pub(super) fn at(offset: usize, message: impl Into<String>) -> Self {
        Self::Wrong {
            offset: offset as u64,
            message: message.into(),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Btf(error) => error.fmt(f),
            Self::WriteBtf(error) => error.fmt(f),
            Self::Wrong { offset, message } => write!(f, "at offset {offset}: {message}"),
            Self::Entry { name, error } => write!(f, "`{name}`: {error}"),
            Self::NoDType { format, dtype } => {
                write!(
                    f,
                    "a file of format {format} cannot contain elements of type {dtype}"
                )
            }
            Self::Kind { format, name, kind } => {
                write!(
                    f,
                    "a file of format {format} cannot contain tensors of kind {kind}, such as \
                     `{name}`"
                )
            }
            Self::NotOne { found } => {
                write!(
                    f,
                    "expected one tensor for a file of format npy, found {found}"
                )
            }
            Self::Tensor(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

tfrt_support::convert_errors!(FileError);

impl From<BtfError> for FileError {
    fn from(error: BtfError) -> Self {
        Self::Btf(error)
    }
}

impl From<TensorError> for FileError {
    fn from(error: TensorError) -> Self {
        Self::Tensor(error)
    }
}

impl From<ShapeError> for FileError {
    fn from(error: ShapeError) -> Self {
        Self::Tensor(error.into())
    }
}

impl From<BufferConflict> for FileError {
    fn from(conflict: BufferConflict) -> Self {
        Self::Tensor(conflict.into())
    }
}

//! Errors of tensors in memory.

use std::fmt;

use tfrt_support::DType;

use crate::buffer::BufferConflict;
use crate::shape::{Shape, ShapeError};
use crate::tensor_type::TensorType;

/// The reason why an operation on a tensor failed. `?` in a kernel converts it to an error value.
///
/// ```
/// use tfrt_support::{DType, Error};
/// use tfrt_tensor::TensorError;
///
/// let error = TensorError::WrongDType { expected: DType::F32, found: DType::I64 };
/// assert_eq!(Error::from(error).message(), "expected elements of type f32, found i64");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// There is not enough memory.
    OutOfMemory {
        /// The requested size.
        size_bytes: usize,
    },
    /// An alignment is not a power of two.
    BadAlignment {
        /// The alignment.
        align_bytes: usize,
    },
    /// The elements have another type.
    WrongDType {
        /// The type that is needed.
        expected: DType,
        /// The type that there is.
        found: DType,
    },
    /// Elements of this type have no fixed size, so they cannot be stored in a buffer.
    NoElements {
        /// The type.
        dtype: DType,
    },
    /// Another number of elements is needed.
    WrongNumElements {
        /// The required number.
        expected: usize,
        /// The actual number.
        found: usize,
    },
    /// A buffer has another size than the elements of the tensor.
    WrongBufferSize {
        /// The size that is needed, in bytes.
        expected: usize,
        /// The size that there is.
        found: usize,
    },
    /// The address of the bytes is not a multiple of this.
    Misaligned {
        /// The alignment that is needed, in bytes.
        expected: usize,
    },
    /// A part extends beyond the end of its buffer.
    OutOfBounds {
        /// The offset of the part in bytes.
        offset_bytes: usize,
        /// Its size.
        size_bytes: usize,
        /// The size of the buffer.
        buffer_bytes: usize,
    },
    /// The bytes are in use.
    Conflict(BufferConflict),
    /// The shape is wrong.
    Shape(ShapeError),
    /// Two shapes differ that must be equal.
    WrongShape {
        /// The shape that is needed.
        expected: Box<Shape>,
        /// The shape that there is.
        found: Box<Shape>,
    },
    /// An entry of a sparse tensor lies outside of its shape.
    IndexOutOfRange {
        /// The index of the entry.
        entry: usize,
        /// Along which dimension.
        dimension: usize,
        /// The index.
        index: i64,
        /// The size of the dimension.
        limit: usize,
    },
    /// The tensor has another kind.
    WrongTensorType {
        /// The kind that is needed.
        expected: TensorType,
        /// The kind that there is.
        found: TensorType,
    },
    /// A sparse tensor with several elements is not one value.
    NotOneValue,
    /// No conversion between these kinds is registered.
    NoConversion {
        /// The kind that there is.
        from: TensorType,
        /// The kind that is wanted.
        to: TensorType,
    },
    /// The bytes are not the metadata of a tensor.
    BadMetadata(&'static str),
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { size_bytes } => {
                write!(f, "cannot allocate {size_bytes} bytes")
            }
            Self::BadAlignment { align_bytes } => {
                write!(
                    f,
                    "expected an alignment that is a power of two, found {align_bytes}"
                )
            }
            Self::WrongDType { expected, found } => {
                write!(f, "expected elements of type {expected}, found {found}")
            }
            Self::NoElements { dtype } => {
                write!(f, "elements of type {dtype} have no fixed size")
            }
            Self::WrongNumElements { expected, found } => {
                write!(f, "expected {expected} elements, found {found}")
            }
            Self::WrongBufferSize { expected, found } => {
                write!(f, "expected a buffer of {expected} bytes, found {found}")
            }
            Self::Misaligned { expected } => {
                write!(f, "expected bytes at a multiple of {expected}")
            }
            Self::OutOfBounds {
                offset_bytes,
                size_bytes,
                buffer_bytes,
            } => write!(
                f,
                "{size_bytes} bytes at offset {offset_bytes} exceed a buffer of {buffer_bytes} \
                 bytes"
            ),
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::WrongShape { expected, found } => {
                write!(f, "expected a tensor of shape {expected}, found {found}")
            }
            Self::IndexOutOfRange {
                entry,
                dimension,
                index,
                limit,
            } => write!(
                f,
                "entry {entry}: expected an index below {limit} along dimension {dimension}, \
                 found {index}"
            ),
            Self::WrongTensorType { expected, found } => {
                write!(
                    f,
                    "expected a tensor of kind {}, found {}",
                    expected.name(),
                    found.name()
                )
            }
            Self::NotOneValue => f.write_str("failed to convert coo tensor to scalar host tensor"),
            Self::NoConversion { from, to } => write!(
                f,
                "cannot find conversion function for [{}]->[{}]",
                from.name(),
                to.name()
            ),
            Self::BadMetadata(expected) => {
                write!(f, "malformed tensor metadata: expected {expected}")
            }
        }
    }
}

impl std::error::Error for TensorError {}

tfrt_support::convert_errors!(TensorError);

impl From<ShapeError> for TensorError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl From<BufferConflict> for TensorError {
    fn from(conflict: BufferConflict) -> Self {
        Self::Conflict(conflict)
    }
}

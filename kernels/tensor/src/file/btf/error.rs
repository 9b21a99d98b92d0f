//! Errors in binary tensor files.

use std::fmt;

use super::BtfLayout;
use super::dtype_name;
use crate::error::TensorError;
use crate::file::SourceError;

/// An error in a binary tensor file, with its location.
///
/// ```
/// use tfrt_tensor::HostBuffer;
/// use tfrt_tensor::file::btf::BtfReader;
///
/// let error = BtfReader::new(HostBuffer::from_owner([0_u8; 5])?).unwrap_err();
/// assert_eq!(error.offset(), 0);
/// assert_eq!(error.to_string(), "failed to read tensor num_tensors: at offset 0: expected 8 bytes, found 5");
/// assert_eq!(error.text("a.btf"), "failed to read tensor num_tensors from path a.btf");
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtfError(Box<Finding>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    problem: BtfProblem,
    offset: u64,
    detail: Option<String>,
}

/// The kind of an error in a binary tensor file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BtfProblem {
    /// The number of tensors cannot be read.
    NumTensors,
    /// There is no tensor at this index.
    NoTensor {
        /// The index.
        index: i64,
        /// The number of tensors.
        num_tensors: u64,
    },
    /// The offset of a tensor cannot be read.
    Offset {
        /// The index of the tensor.
        index: u64,
    },
    /// The header of a tensor cannot be read.
    Header,
    /// The element type is unknown, or not the expected one.
    DType {
        /// The code in the file.
        found: u8,
        /// The code that is wanted; none if any is.
        expected: Option<u8>,
    },
    /// The rank is not the expected one.
    Rank {
        /// The rank in the file.
        found: u64,
        /// The rank that is wanted.
        expected: u64,
    },
    /// The layout is unknown, or not the expected one.
    Layout {
        /// The code in the file.
        found: u8,
    },
    /// The dimensions of a tensor cannot be read, or such a tensor cannot exist.
    Dims,
    /// There is no memory for the tensor.
    OutOfMemory,
    /// The elements of a tensor cannot be read.
    Data,
    /// The numbers of coordinates and values of a sparse tensor differ, or the coordinates have
    /// another rank.
    EntriesDiffer {
        /// The number of values.
        num_values: u64,
    },
    /// An entry of a sparse tensor lies outside of its shape.
    IndexOutOfRange {
        /// The index of the entry.
        entry: u64,
        /// Along which dimension.
        dimension: u64,
        /// The index.
        index: i64,
        /// The size of the dimension.
        limit: u64,
    },
}

impl BtfProblem {
    /// Returns `true` if the description contains the offset.
    fn says_offset(&self) -> bool {
        matches!(self, Self::Header | Self::Dims | Self::Data)
    }
}

impl BtfError {
    #[cold]
    pub(super) fn new(problem: BtfProblem, offset: u64) -> Self {
        Self(Box::new(Finding {
            problem,
            offset,
            detail: None,
        }))
    }

    /// With what exactly was expected and found there.
    #[cold]
    pub(super) fn because(mut self, detail: impl fmt::Display) -> Self {
        self.0.detail = Some(detail.to_string());
        self
    }

    /// Creates a problem that shows when bytes at `offset` are read from the source.
    #[cold]
    pub(super) fn reading(problem: BtfProblem, offset: u64, cause: &SourceError) -> Self {
        let problem = match cause {
            SourceError::Tensor(TensorError::OutOfMemory { .. }) => BtfProblem::OutOfMemory,
            _ => problem,
        };
        Self::new(problem, offset).because(cause)
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn problem(&self) -> &BtfProblem {
        &self.0.problem
    }

    /// Returns the offset in the file at which the error was found.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the message of kernels for a file at `path`.
    #[must_use]
    pub fn text(&self, path: &str) -> String {
        self.describe(&format!(" from path {path}"), path)
    }

    /// Describes the error. `from` identifies the file in messages that mention it.
    fn describe(&self, from: &str, path: &str) -> String {
        let offset = self.offset();
        match self.problem() {
            BtfProblem::NumTensors => format!("failed to read tensor num_tensors{from}"),
            BtfProblem::NoTensor { index, num_tensors } => format!(
                "invalid tensor index {index} to read tensor{from} which contains {num_tensors} \
                 tensors"
            ),
            BtfProblem::Offset { index } => {
                format!("failed to read tensor offset from {path} for tensor index {index}")
            }
            BtfProblem::Header => {
                format!("failed to read tensor header from stream at offset {offset}")
            }
            BtfProblem::DType {
                found,
                expected: Some(expected),
            } => format!(
                "unexpected tensor dtype {}. Expected dtype is {}",
                dtype_name(*found),
                dtype_name(*expected)
            ),
            BtfProblem::DType {
                found,
                expected: None,
            } => format!("unexpected tensor dtype {}", dtype_name(*found)),
            BtfProblem::Rank { found, expected } => {
                format!("unexpected tensor rank {found}. Expected rank is {expected}")
            }
            BtfProblem::Layout { found } => match BtfLayout::from_code(*found) {
                Some(layout) => format!("unexpected tensor layout {layout}"),
                None => "unexpected tensor layout Unknown".to_owned(),
            },
            BtfProblem::Dims => format!("failed to read tensor dims at offset {offset}"),
            BtfProblem::OutOfMemory => "cannot allocate result tensor".to_owned(),
            BtfProblem::Data => {
                format!("failed to read tensor data from stream at offset {offset}")
            }
            BtfProblem::EntriesDiffer { num_values } => format!(
                "the tensor is not corectly formatted, the indices and values tensors do not \
                 match in size {num_values}"
            ),
            BtfProblem::IndexOutOfRange {
                entry,
                dimension,
                index,
                limit,
            } => format!(
                "the indices tensor has an element at position {entry}, {dimension} that bigger \
                 than the respective dimension. Element: {index}, limit: {limit}"
            ),
        }
    }
}

impl fmt::Display for BtfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.describe("", "the file");
        f.write_str(&what)?;
        if !self.problem().says_offset() {
            write!(f, ": at offset {}", self.offset())?;
        }
        match &self.0.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for BtfError {}

tfrt_support::convert_errors!(BtfError);

//! Binary tensor files (BTF): several dense or sparse tensors without names. All numbers are little
//! endian.
//!
//! ```text
//!  file     u64 num_tensors, u64 offset[num_tensors], records
//!  record   u64 rank, u8 dtype, u8 layout, 6 zero bytes, payload, zero bytes up to a multiple of 8
//!  payload  dense:  u64 dims[rank], elements
//!           sparse: u64 dims[rank], u64 n, u64 rank, i64 indices[n, rank], u64 n, elements[n]
//! ```
//!
//! Reading and writing are inverses of each other, except for the padding, which is ignored.

mod error;

mod read;

mod write;

use std::fmt;

use tfrt_support::DType;

pub use error::{BtfError, BtfProblem};
pub use read::{BtfReader, BtfTensor, Header};
pub use write::{BtfWriteError, write};

/// Records start at a multiple of this, in bytes.
const ALIGN_BYTES: u64 = 8;

/// The bytes of a record before its dimensions.
const HEADER_BYTES: u64 = 16;

/// The layout of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtfLayout {
    /// All elements, row-major.
    Dense,
    /// Coordinates and values of the elements that are not zero.
    Coo,
}

impl BtfLayout {
    /// Returns the code in files.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Dense => 0,
            Self::Coo => 1,
        }
    }

    /// Returns the layout of a code. Descriptions of the format use 2 for sparse tensors, but files
    /// use 1: both are read.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Dense),
            1 | 2 => Some(Self::Coo),
            _ => None,
        }
    }
}

impl fmt::Display for BtfLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dense => "Row-Major Dense tensor",
            Self::Coo => "COOrdinate list sparse tensor",
        })
    }
}

/// The element types, in order of their codes.
const DTYPES: [DType; 10] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F32,
    DType::F64,
    DType::Ui8,
    DType::Ui16,
    DType::Ui32,
    DType::Ui64,
];

/// Returns the code of an element type in files, if files can have it.
fn dtype_code(dtype: DType) -> Option<u8> {
    (0_u8..)
        .zip(DTYPES)
        .find(|&(_, known)| known == dtype)
        .map(|(code, _)| code)
}

/// Returns the name of the element type of a code, as messages have it.
fn dtype_name(code: u8) -> String {
    match DTYPES.get(usize::from(code)) {
        Some(DType::Ui8) => "ui8".to_owned(),
        Some(DType::Ui16) => "ui16".to_owned(),
        Some(DType::Ui32) => "ui32".to_owned(),
        Some(DType::Ui64) => "ui64".to_owned(),
        Some(dtype) => dtype.to_string(),
        None => format!("BadDtype({code})"),
    }
}

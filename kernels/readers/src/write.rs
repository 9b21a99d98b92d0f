//! Writing rows, in whatever format.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, I1, StringHostTensor};

use crate::schema::Cell;

/// A file of columns that is being written.
///
/// What was written is a whole file only after [`finish`](Self::finish).
pub trait WriteColumns {
    /// Writes rows: one tensor for each column, all with as many rows.
    ///
    /// # Errors
    /// If the file cannot be written, or cannot have such columns.
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error>;

    /// Writes the end of the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn finish(&mut self) -> Result<(), Error>;
}

/// A column of rows to be written.
#[derive(Debug)]
pub(crate) enum Rows {
    Dense {
        tensor: DenseHostTensor,
        /// How many elements each row has.
        row_len: usize,
    },
    Strings {
        strings: Arc<StringHostTensor>,
        row_len: usize,
    },
}

impl Rows {
    /// The rows of a tensor.
    pub(crate) fn of(value: &AnyRef) -> Result<Self, Error> {
        let (rows, dims) = if let Some(tensor) = value.get::<DenseHostTensor>() {
            let dims = tensor.shape().dims().to_vec();
            let tensor = tensor.clone();
            (Self::Dense { tensor, row_len: 1 }, dims)
        } else if let Ok(strings) = value.try_read::<StringHostTensor>() {
            let dims = strings.shape().dims().to_vec();
            let strings = Arc::new((*strings).clone());
            (
                Self::Strings {
                    strings,
                    row_len: 1,
                },
                dims,
            )
        } else {
            let found = value.mlir_type().unwrap_or("none");
            return Err(invalid(format!(
                "expected a tensor to write, found `{found}`"
            )));
        };
        let Some((_, row_dims)) = dims.split_first() else {
            return Err(invalid(
                "expected a tensor with rows, found a single value".to_owned(),
            ));
        };
        let len = row_dims.iter().product();
        Ok(match rows {
            Self::Dense { tensor, .. } => Self::Dense {
                tensor,
                row_len: len,
            },
            Self::Strings { strings, .. } => Self::Strings {
                strings,
                row_len: len,
            },
        })
    }

    /// How many rows there are.
    pub(crate) fn num_rows(&self) -> usize {
        match self {
            Self::Dense { tensor, .. } => tensor.shape().dim(0).unwrap_or(0),
            Self::Strings { strings, .. } => strings.shape().dim(0).unwrap_or(0),
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Dense { tensor, .. } => tensor.dtype(),
            Self::Strings { .. } => DType::String,
        }
    }

    /// The values of a row.
    pub(crate) fn row(&self, index: usize) -> Result<Vec<Cell>, Error> {
        macro_rules! cells {
            ($tensor:ident, $row_len:ident, $($dtype:ident => $ty:ty, |$x:ident| $cell:expr;)+) => {
                match $tensor.dtype() {
                    $(DType::$dtype => {
                        let elements = $tensor.elements::<$ty>()?;
                        let row = elements.get(index * $row_len..(index + 1) * $row_len);
                        row.unwrap_or_default().iter().map(|&$x| $cell).collect()
                    })+
                    dtype => return Err(invalid(format!("elements of type {dtype} cannot be written"))),
                }
            };
        }
        Ok(match self {
            Self::Strings { strings, row_len } => {
                let row = strings
                    .strings()
                    .get(index * row_len..(index + 1) * row_len);
                row.unwrap_or_default()
                    .iter()
                    .cloned()
                    .map(Cell::Bytes)
                    .collect()
            }
            Self::Dense { tensor, row_len } => {
                let row_len = *row_len;
                cells! {
                    tensor, row_len,
                    I1 => I1, |x| Cell::Truth(x.into());
                    I8 => i8, |x| Cell::Integer(x.into());
                    I16 => i16, |x| Cell::Integer(x.into());
                    I32 => i32, |x| Cell::Integer(x.into());
                    I64 => i64, |x| Cell::Integer(x.into());
                    Ui8 => u8, |x| Cell::Integer(x.into());
                    Ui16 => u16, |x| Cell::Integer(x.into());
                    Ui32 => u32, |x| Cell::Integer(x.into());
                    Ui64 => u64, |x| Cell::Integer(x.into());
                    F32 => f32, |x| Cell::Float(x.into());
                    F64 => f64, |x| Cell::Float(x);
                }
            }
        })
    }
}

/// How many rows a column has; none if it is not a tensor.
pub(crate) fn num_rows_of(column: &AnyRef) -> usize {
    if let Some(tensor) = column.get::<DenseHostTensor>() {
        return tensor.shape().dim(0).unwrap_or(0);
    }
    let strings = column.try_read::<StringHostTensor>();
    strings.map_or(0, |strings| strings.shape().dim(0).unwrap_or(0))
}

/// The columns of as many rows each.
pub(crate) fn rows_of(columns: &[AnyRef], num_columns: usize) -> Result<(Vec<Rows>, usize), Error> {
    if columns.len() != num_columns {
        let found = columns.len();
        return Err(invalid(format!(
            "expected {num_columns} columns, found {found}"
        )));
    }
    let rows: Vec<Rows> = columns.iter().map(Rows::of).collect::<Result<_, _>>()?;
    let num_rows = rows.first().map_or(0, Rows::num_rows);
    match rows.iter().find(|other| other.num_rows() != num_rows) {
        None => Ok((rows, num_rows)),
        Some(other) => {
            let found = other.num_rows();
            Err(invalid(format!(
                "expected columns of {num_rows} rows each, found one of {found}"
            )))
        }
    }
}

#[cold]
pub(crate) fn invalid(message: String) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

//! Writing binary tensor files.

use std::fmt;
use std::io::{self, Write};

use super::{ALIGN_BYTES, BtfLayout, HEADER_BYTES, dtype_code};
use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::error::TensorError;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// The reasons why a file cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum BtfWriteError {
    /// A tensor is neither dense nor sparse.
    Kind,
    /// Files do not support its element type.
    DType,
    /// Its elements are being written.
    Tensor(TensorError),
    /// A part could not be written: the part, and the error of the system.
    Part(&'static str, io::Error),
}

impl fmt::Display for BtfWriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("unhandled tensor type when writing btf"),
            Self::DType => f.write_str("failed to cast DType to TensorDType"),
            Self::Tensor(error) => error.fmt(f),
            Self::Part(part, _) => write!(f, "failed to {part}"),
        }
    }
}

impl std::error::Error for BtfWriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Part(_, error) => Some(error),
            _ => None,
        }
    }
}

tfrt_support::convert_errors!(BtfWriteError);

impl From<TensorError> for BtfWriteError {
    fn from(error: TensorError) -> Self {
        Self::Tensor(error)
    }
}

/// A tensor that a file can have.
#[derive(Clone, Copy)]
enum Record<'a> {
    Dense(&'a DenseHostTensor),
    Coo(&'a CooHostTensor),
}

impl<'a> Record<'a> {
    fn new(tensor: &'a dyn Tensor) -> Result<Self, BtfWriteError> {
        let dense = tensor.downcast_ref().map(Self::Dense);
        let record = dense.or_else(|| tensor.downcast_ref().map(Self::Coo));
        let record = record.ok_or(BtfWriteError::Kind)?;
        dtype_code(tensor.dtype()).ok_or(BtfWriteError::DType)?;
        Ok(record)
    }

    fn tensor(self) -> &'a dyn Tensor {
        match self {
            Self::Dense(tensor) => tensor,
            Self::Coo(tensor) => tensor,
        }
    }

    fn layout(self) -> BtfLayout {
        match self {
            Self::Dense(_) => BtfLayout::Dense,
            Self::Coo(_) => BtfLayout::Coo,
        }
    }

    /// Returns the size of the record without its padding.
    fn len_bytes(self) -> u64 {
        let dims_bytes = |shape: &Shape| shape.rank() as u64 * 8;
        let dense_bytes = |tensor: &DenseHostTensor| {
            dims_bytes(tensor.shape()) + tensor.buffer().len_bytes() as u64
        };
        let payload_bytes = match self {
            Self::Dense(tensor) => dense_bytes(tensor),
            Self::Coo(tensor) => {
                dims_bytes(tensor.shape())
                    + dense_bytes(tensor.indices())
                    + dense_bytes(tensor.values())
            }
        };
        HEADER_BYTES + payload_bytes
    }
}

/// Writes a file of these tensors, dense and sparse ones.
///
/// # Errors
/// [`BtfWriteError`]. The output is then incomplete; it is empty if a file does not support one of
/// the tensors.
pub fn write(output: &mut impl Write, tensors: &[&dyn Tensor]) -> Result<(), BtfWriteError> {
    let records: Vec<Record<'_>> = tensors
        .iter()
        .map(|tensor| Record::new(*tensor))
        .collect::<Result<_, _>>()?;
    write_u64(output, records.len() as u64, "write num_tensors")?;
    let mut offset = 8 * (1 + records.len() as u64);
    for record in &records {
        write_u64(output, offset, "write offsets")?;
        offset += record.len_bytes().next_multiple_of(ALIGN_BYTES);
    }
    records
        .into_iter()
        .try_for_each(|record| write_record(output, record))
}

fn write_record(output: &mut impl Write, record: Record<'_>) -> Result<(), BtfWriteError> {
    let tensor = record.tensor();
    let dtype = dtype_code(tensor.dtype()).ok_or(BtfWriteError::DType)?;
    write_u64(output, tensor.shape().rank() as u64, "write tensor header")?;
    let codes = [dtype, record.layout().code(), 0, 0, 0, 0, 0, 0];
    write_bytes(output, &codes, "write tensor header")?;
    match record {
        Record::Dense(tensor) => write_dense(output, tensor)?,
        Record::Coo(tensor) => {
            write_dims(output, tensor.shape())?;
            write_dense(output, tensor.indices())?;
            write_dense(output, tensor.values())?;
        }
    }
    let len_bytes = record.len_bytes();
    let padding = len_bytes.next_multiple_of(ALIGN_BYTES) - len_bytes;
    let zeros = [0; ALIGN_BYTES as usize];
    write_bytes(output, &zeros[..padding as usize], "pad tensor")
}

fn write_dense(output: &mut impl Write, tensor: &DenseHostTensor) -> Result<(), BtfWriteError> {
    write_dims(output, tensor.shape())?;
    write_bytes(output, &tensor.buffer().read()?, "write tensor data")
}

fn write_dims(output: &mut impl Write, shape: &Shape) -> Result<(), BtfWriteError> {
    shape
        .dims()
        .iter()
        .try_for_each(|&dim| write_u64(output, dim as u64, "write tensor dims"))
}

fn write_u64(
    output: &mut impl Write,
    number: u64,
    part: &'static str,
) -> Result<(), BtfWriteError> {
    write_bytes(output, &number.to_le_bytes(), part)
}

fn write_bytes(
    output: &mut impl Write,
    bytes: &[u8],
    part: &'static str,
) -> Result<(), BtfWriteError> {
    output
        .write_all(bytes)
        .map_err(|error| BtfWriteError::Part(part, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;
    use crate::{I1, ScalarHostTensor};

    fn text(tensor: &dyn Tensor) -> String {
        write(&mut Vec::new(), &[tensor]).unwrap_err().to_string()
    }

    #[test]
    fn tensors_that_no_file_can_have_are_refused() {
        let shape = || Shape::new(&[2]).unwrap();
        assert_eq!(
            text(&ScalarHostTensor::new(shape(), 1_i32)),
            "unhandled tensor type when writing btf"
        );
        let truths = DenseHostTensor::filled(&malloc(), shape(), I1::from(true)).unwrap();
        assert_eq!(text(&truths), "failed to cast DType to TensorDType");
    }

    #[test]
    fn a_full_disk_is_told_by_part() {
        let tensor = DenseHostTensor::filled(&malloc(), Shape::new(&[2]).unwrap(), 1_u8).unwrap();
        let fails_at = |len_bytes: usize| {
            let mut disk = vec![0; len_bytes];
            let written = write(&mut disk.as_mut_slice(), &[&tensor]);
            written.map_err(|error| error.to_string())
        };
        let failed = |part: &str| Err(format!("failed to {part}"));
        assert_eq!(fails_at(0), failed("write num_tensors"));
        assert_eq!(fails_at(8), failed("write offsets"));
        assert_eq!(fails_at(16), failed("write tensor header"));
        assert_eq!(fails_at(32), failed("write tensor dims"));
        assert_eq!(fails_at(41), failed("write tensor data"));
        assert_eq!(fails_at(44), failed("pad tensor"));
        assert_eq!(fails_at(48), Ok(()));
    }
}

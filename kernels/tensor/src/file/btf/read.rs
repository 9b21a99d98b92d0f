//! Reading binary tensor files.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;
use tfrt_support::DType;

use super::{BtfError, BtfLayout, BtfProblem, DTYPES, HEADER_BYTES, dtype_code};
use crate::buffer::HostBuffer;
use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::element;
use crate::error::TensorError;
use crate::file::source::{self, Source, Stream};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Reads the tensors of a file, one by one.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::file::btf::{self, BtfReader};
/// use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let tensor = DenseHostTensor::from_elements(&allocator, Shape::new(&[3])?, &[1_i32, 2, 3])?;
/// let mut file = Vec::new();
/// btf::write(&mut file, &[&tensor])?;
///
/// let mut reader = BtfReader::new(HostBuffer::from_owner(file)?)?;
/// assert_eq!(reader.num_tensors(), 1);
/// assert_eq!(reader.read(0)?.as_tensor().to_string(), tensor.to_string());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BtfReader<S> {
    source: S,
    num_tensors: u64,
}

/// The start of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The offset of the record in the file.
    pub offset: u64,
    /// The number of dimensions.
    pub rank: u64,
    /// The code of the element type.
    pub dtype_code: u8,
    /// The code of the layout.
    pub layout_code: u8,
}

/// A tensor of a file.
#[derive(Clone, Debug)]
pub enum BtfTensor {
    /// All elements.
    Dense(DenseHostTensor),
    /// The elements that are not zero.
    Coo(CooHostTensor),
}

impl BtfTensor {
    /// Returns the tensor as one of any kind.
    #[must_use]
    pub fn as_tensor(&self) -> &dyn Tensor {
        match self {
            Self::Dense(tensor) => tensor,
            Self::Coo(tensor) => tensor,
        }
    }
}

impl BtfReader<Stream<File>> {
    /// Opens a file whose tensors are read into memory of the allocator. The outer error is that of
    /// opening.
    ///
    /// # Errors
    /// The error of the system; the inner error is [`BtfProblem::NumTensors`].
    pub fn open(
        path: impl AsRef<Path>,
        allocator: &Arc<dyn HostAllocator>,
    ) -> io::Result<Result<Self, BtfError>> {
        Stream::open(path, allocator).map(Self::new)
    }
}

impl BtfReader<HostBuffer> {
    /// Maps a file. Its tensors are read-only parts of the mapping. The outer error is that of
    /// mapping.
    ///
    /// # Errors
    /// The error of the system; the inner error is [`BtfProblem::NumTensors`].
    ///
    /// # Safety
    /// 1. The file must not be changed or shortened while the reader, or a tensor that it returned,
    ///    lives.
    #[expect(unsafe_code, reason = "states the duty of whoever maps a file")]
    pub unsafe fn map(path: impl AsRef<Path>) -> io::Result<Result<Self, BtfError>> {
        // SAFETY: duty 1.
        unsafe { source::map(path) }.map(Self::new)
    }
}

impl<S: Source> BtfReader<S> {
    /// Creates a reader of a file.
    ///
    /// # Errors
    /// [`BtfProblem::NumTensors`].
    pub fn new(mut source: S) -> Result<Self, BtfError> {
        let num_tensors = read_u64(&mut source, 0, BtfProblem::NumTensors)?;
        Ok(Self {
            source,
            num_tensors,
        })
    }

    /// Returns the number of tensors that the file states.
    #[must_use]
    pub fn num_tensors(&self) -> u64 {
        self.num_tensors
    }

    /// Returns the start of a record.
    ///
    /// # Errors
    /// [`BtfProblem::NoTensor`], [`BtfProblem::Offset`] and [`BtfProblem::Header`].
    pub fn header(&mut self, index: i64) -> Result<Header, BtfError> {
        let num_tensors = self.num_tensors;
        let index = u64::try_from(index)
            .ok()
            .filter(|&index| index < num_tensors)
            .ok_or_else(|| BtfError::new(BtfProblem::NoTensor { index, num_tensors }, 0))?;
        let place = index.saturating_add(1).saturating_mul(8);
        let offset = read_u64(&mut self.source, place, BtfProblem::Offset { index })?;
        let mut bytes = [0; HEADER_BYTES as usize];
        self.source
            .read_at(offset, &mut bytes)
            .map_err(|cause| BtfError::reading(BtfProblem::Header, offset, &cause))?;
        let [rank @ .., dtype_code, layout_code, _, _, _, _, _, _] = bytes;
        Ok(Header {
            offset,
            rank: u64::from_le_bytes(rank),
            dtype_code,
            layout_code,
        })
    }

    /// Reads a tensor of any type and rank.
    ///
    /// # Errors
    /// [`BtfError`], with the kind and the location of the error.
    pub fn read(&mut self, index: i64) -> Result<BtfTensor, BtfError> {
        let header = self.header(index)?;
        let dtype = DTYPES.get(usize::from(header.dtype_code)).copied();
        let dtype = dtype.ok_or_else(|| header.wrong_dtype(None))?;
        match BtfLayout::from_code(header.layout_code) {
            Some(BtfLayout::Dense) => self.read_dense(&header, dtype).map(BtfTensor::Dense),
            Some(BtfLayout::Coo) => self.read_coo(&header, dtype).map(BtfTensor::Coo),
            None => Err(header.wrong_layout()),
        }
    }

    /// Reads a dense tensor of this type and rank.
    ///
    /// # Errors
    /// [`BtfError`], with the kind and the location of the error.
    pub fn read_dense_as(
        &mut self,
        index: i64,
        dtype: DType,
        rank: usize,
    ) -> Result<DenseHostTensor, BtfError> {
        let header = self.header(index)?;
        header.expect(dtype, rank, BtfLayout::Dense)?;
        self.read_dense(&header, dtype)
    }

    /// Reads a sparse tensor of this type and rank.
    ///
    /// # Errors
    /// [`BtfError`], with the kind and the location of the error.
    pub fn read_coo_as(
        &mut self,
        index: i64,
        dtype: DType,
        rank: usize,
    ) -> Result<CooHostTensor, BtfError> {
        let header = self.header(index)?;
        header.expect(dtype, rank, BtfLayout::Coo)?;
        self.read_coo(&header, dtype)
    }

    fn read_dense(&mut self, header: &Header, dtype: DType) -> Result<DenseHostTensor, BtfError> {
        let (shape, end) = self.read_dims(header.offset + HEADER_BYTES, header.rank)?;
        let (tensor, _) = self.read_elements(end, dtype, shape)?;
        Ok(tensor)
    }

    fn read_coo(&mut self, header: &Header, dtype: DType) -> Result<CooHostTensor, BtfError> {
        let (shape, end) = self.read_dims(header.offset + HEADER_BYTES, header.rank)?;
        let (indices_shape, indices_start) = self.read_dims(end, 2)?;
        let (indices, end) = self.read_elements(indices_start, DType::I64, indices_shape)?;
        let (values_shape, values_start) = self.read_dims(end, 1)?;
        let (values, _) = self.read_elements(values_start, dtype, values_shape)?;
        let num_values = values.num_elements() as u64;
        let sparse = CooHostTensor::new(shape, indices, values).map_err(|error| {
            BtfError::new(BtfProblem::EntriesDiffer { num_values }, end).because(error)
        })?;
        match sparse.check_indices() {
            Ok(()) => Ok(sparse),
            Err(error) => Err(bad_entry(&sparse, indices_start, error)),
        }
    }

    /// Reads dimensions, and returns where they end.
    fn read_dims(&mut self, offset: u64, rank: u64) -> Result<(Shape, u64), BtfError> {
        let wrong = || BtfError::new(BtfProblem::Dims, offset);
        let len_bytes = rank.saturating_mul(8);
        // Looked at before anything is allocated for them.
        let found = self.source.len_bytes().saturating_sub(offset);
        if len_bytes > found {
            return Err(wrong().because(format!("expected {len_bytes} bytes, found {found}")));
        }
        let mut bytes = vec![0; len_bytes as usize];
        self.source
            .read_at(offset, &mut bytes)
            .map_err(|cause| BtfError::reading(BtfProblem::Dims, offset, &cause))?;
        let (dims, _) = bytes.as_chunks::<8>();
        let dims: Vec<i64> = dims.iter().map(|dim| i64::from_le_bytes(*dim)).collect();
        let shape = Shape::from_signed(&dims).map_err(|error| wrong().because(error))?;
        Ok((shape, offset + len_bytes))
    }

    /// Reads elements, and returns where they end.
    fn read_elements(
        &mut self,
        offset: u64,
        dtype: DType,
        shape: Shape,
    ) -> Result<(DenseHostTensor, u64), BtfError> {
        let wrong = |error: TensorError| BtfError::new(BtfProblem::Data, offset).because(error);
        let len_bytes = element::size_bytes(dtype, &shape).map_err(wrong)? as u64;
        let buffer = self
            .source
            .buffer_at(offset, len_bytes)
            .map_err(|cause| BtfError::reading(BtfProblem::Data, offset, &cause))?;
        let buffer = source::aligned(buffer, dtype).map_err(wrong)?;
        let tensor = DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(wrong)?;
        Ok((tensor, offset + len_bytes))
    }
}

/// Converts the error of `check_indices` for entries whose coordinates start at an offset.
fn bad_entry(sparse: &CooHostTensor, indices_start: u64, error: TensorError) -> BtfError {
    match error {
        TensorError::IndexOutOfRange {
            entry,
            dimension,
            index,
            limit,
        } => {
            let position = entry * sparse.shape().rank() + dimension;
            let problem = BtfProblem::IndexOutOfRange {
                entry: entry as u64,
                dimension: dimension as u64,
                index,
                limit: limit as u64,
            };
            BtfError::new(problem, indices_start + 8 * position as u64)
        }
        error => BtfError::new(BtfProblem::Data, indices_start).because(error),
    }
}

impl Header {
    /// Checks that the record has this type, rank and layout.
    fn expect(&self, dtype: DType, rank: usize, layout: BtfLayout) -> Result<(), BtfError> {
        let expected = dtype_code(dtype);
        if Some(self.dtype_code) != expected {
            return Err(self.wrong_dtype(expected));
        }
        if self.rank != rank as u64 {
            let problem = BtfProblem::Rank {
                found: self.rank,
                expected: rank as u64,
            };
            return Err(BtfError::new(problem, self.offset));
        }
        if BtfLayout::from_code(self.layout_code) != Some(layout) {
            return Err(self.wrong_layout());
        }
        Ok(())
    }

    fn wrong_dtype(&self, expected: Option<u8>) -> BtfError {
        let found = self.dtype_code;
        BtfError::new(BtfProblem::DType { found, expected }, self.offset + 8)
    }

    fn wrong_layout(&self) -> BtfError {
        let found = self.layout_code;
        BtfError::new(BtfProblem::Layout { found }, self.offset + 9)
    }
}

fn read_u64(source: &mut impl Source, offset: u64, problem: BtfProblem) -> Result<u64, BtfError> {
    let mut bytes = [0; 8];
    match source.read_at(offset, &mut bytes) {
        Ok(()) => Ok(u64::from_le_bytes(bytes)),
        Err(cause) => Err(BtfError::reading(problem, offset, &cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::btf::write;
    use crate::testing::malloc;
    use std::io::Cursor;

    fn dense(dims: &[usize], elements: &[i32]) -> DenseHostTensor {
        DenseHostTensor::from_elements(&malloc(), Shape::new(dims).unwrap(), elements).unwrap()
    }

    fn sample() -> Vec<u8> {
        let first = dense(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let odd = DenseHostTensor::filled(&malloc(), Shape::new(&[3]).unwrap(), 7_u8).unwrap();
        let sparse = CooHostTensor::from_dense(&dense(&[2, 2], &[0, 4, 0, 7]), &malloc()).unwrap();
        let mut file = Vec::new();
        write(&mut file, &[&first, &odd, &sparse]).unwrap();
        file
    }

    fn reader(file: Vec<u8>) -> BtfReader<Stream<Cursor<Vec<u8>>>> {
        BtfReader::new(Stream::new(Cursor::new(file), &malloc()).unwrap()).unwrap()
    }

    /// Returns the sample with a number in place of what is at an offset.
    fn damaged(offset: usize, number: u64) -> Vec<u8> {
        let mut file = sample();
        file[offset..offset + 8].copy_from_slice(&number.to_le_bytes());
        file
    }

    #[test]
    fn what_was_written_is_read_from_streams_and_from_memory() {
        let texts = [
            "DenseHostTensor dtype = i32, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]",
            "DenseHostTensor dtype = u8, shape = [3], values = [7, 7, 7]",
            "CooHostTensor dtype = i32, shape = [2, 2], indices = [0, 1, 1, 1], values = [4, 7]\n",
        ];
        let mut from_stream = reader(sample());
        let mut from_memory = BtfReader::new(HostBuffer::from_owner(sample()).unwrap()).unwrap();
        assert_eq!(from_stream.num_tensors(), 3);
        for (index, text) in (0..).zip(texts) {
            assert_eq!(
                from_stream.read(index).unwrap().as_tensor().to_string(),
                text
            );
            assert_eq!(
                from_memory.read(index).unwrap().as_tensor().to_string(),
                text
            );
        }
    }

    #[test]
    fn tensors_of_a_stream_can_be_written() {
        let mut tensor = reader(sample()).read_dense_as(0, DType::I32, 2).unwrap();
        assert!(tensor.is_exclusive());
        assert!(tensor.elements_mut::<i32>().is_ok());
    }

    #[test]
    fn damage_is_described_as_kernels_do() {
        let text = |file: Vec<u8>, read: &dyn Fn(&mut BtfReader<_>) -> Result<(), BtfError>| {
            read(&mut reader(file)).unwrap_err().text("a.btf")
        };
        let dense = |index, dtype, rank| {
            move |reader: &mut BtfReader<_>| reader.read_dense_as(index, dtype, rank).map(|_| ())
        };
        let coo = |index, dtype, rank| {
            move |reader: &mut BtfReader<_>| reader.read_coo_as(index, dtype, rank).map(|_| ())
        };
        let i32_2 = dense(0, DType::I32, 2);
        assert_eq!(
            text(sample(), &dense(3, DType::I32, 2)),
            "invalid tensor index 3 to read tensor from path a.btf which contains 3 tensors"
        );
        assert_eq!(
            text(sample(), &dense(-1, DType::I32, 2)),
            "invalid tensor index -1 to read tensor from path a.btf which contains 3 tensors"
        );
        assert_eq!(
            text(damaged(0, u64::MAX), &dense(1_000_000, DType::I32, 2)),
            "failed to read tensor offset from a.btf for tensor index 1000000"
        );
        assert_eq!(
            text(damaged(8, u64::MAX), &i32_2),
            "failed to read tensor header from stream at offset 18446744073709551615"
        );
        assert_eq!(
            text(sample(), &dense(0, DType::Ui8, 2)),
            "unexpected tensor dtype i32. Expected dtype is ui8"
        );
        assert_eq!(
            text(damaged(40, 77), &i32_2),
            "unexpected tensor dtype BadDtype(77). Expected dtype is i32"
        );
        assert_eq!(
            text(sample(), &dense(0, DType::I32, 1)),
            "unexpected tensor rank 2. Expected rank is 1"
        );
        assert_eq!(
            text(sample(), &coo(0, DType::I32, 2)),
            "unexpected tensor layout Row-Major Dense tensor"
        );
        assert_eq!(
            text(sample(), &dense(2, DType::I32, 2)),
            "unexpected tensor layout COOrdinate list sparse tensor"
        );
        assert_eq!(
            text(damaged(40, 0x0902), &i32_2),
            "unexpected tensor layout Unknown"
        );
        assert_eq!(
            text(damaged(48, u64::MAX), &i32_2),
            "failed to read tensor dims at offset 48"
        );
        assert_eq!(
            text(damaged(48, 1 << 40), &i32_2),
            "failed to read tensor data from stream at offset 64"
        );
        assert_eq!(
            text(sample()[..60].to_vec(), &i32_2),
            "failed to read tensor dims at offset 48"
        );
        // The third record starts at 120; its coordinates at 168 and its values, with their number,
        // at 200.
        assert_eq!(
            text(damaged(168, 5), &coo(2, DType::I32, 2)),
            "the indices tensor has an element at position 0, 0 that bigger than the respective \
             dimension. Element: 5, limit: 2"
        );
        assert_eq!(
            text(damaged(200, 1), &coo(2, DType::I32, 2)),
            "the tensor is not corectly formatted, the indices and values tensors do not match in \
             size 1"
        );
    }

    #[test]
    fn a_rank_that_no_file_has_takes_no_memory() {
        let error = reader(damaged(32, u64::MAX)).read(0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed to read tensor dims at offset 48: expected 18446744073709551615 bytes, found \
             168"
        );
    }

    #[test]
    fn records_in_odd_places_are_read_from_memory_too() {
        let mut file = sample();
        let (head, record) = file.split_at(32);
        let mut moved = head.to_vec();
        moved[8..16].copy_from_slice(&33_u64.to_le_bytes());
        moved.push(0);
        moved.extend_from_slice(record);
        file = moved;
        let mut reader = BtfReader::new(HostBuffer::from_owner(file).unwrap()).unwrap();
        let tensor = reader.read_dense_as(0, DType::I32, 2).unwrap();
        assert_eq!(*tensor.elements::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    }
}

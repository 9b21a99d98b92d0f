//! The common interface of file formats: lists of named tensors.

use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;

use crate::buffer::HostBuffer;
use crate::file::btf::{self, BtfReader, BtfTensor};
use crate::file::error::FileError;
use crate::file::named::NamedTensor;
use crate::file::npy;
use crate::tensor::Tensor;

#[cfg(feature = "formats")]
use crate::file::{npz, safetensors};

/// A format of tensor files.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::file::{FileFormat, NamedTensor};
/// use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let tensor = DenseHostTensor::filled(&allocator, Shape::new(&[2])?, 1.5_f32)?;
/// let file = FileFormat::Npy.write(&[NamedTensor::new("x", tensor)])?;
/// assert_eq!(FileFormat::detect(&file), FileFormat::Npy);
/// let read = FileFormat::Npy.read(&HostBuffer::from_owner(file)?, &allocator)?;
/// assert_eq!(read[0].tensor.shape().dims(), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Binary tensor files: dense and sparse tensors without names.
    Btf,
    /// One NumPy array.
    Npy,
    /// NumPy arrays in a ZIP archive.
    #[cfg(feature = "formats")]
    Npz,
    /// Dense tensors after a JSON header.
    #[cfg(feature = "formats")]
    Safetensors,
}

impl FileFormat {
    /// Every format, in the order of help texts.
    pub const ALL: &'static [Self] = &[
        Self::Btf,
        Self::Npy,
        #[cfg(feature = "formats")]
        Self::Npz,
        #[cfg(feature = "formats")]
        Self::Safetensors,
    ];

    /// Returns the name, which is the extension of files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Btf => "btf",
            Self::Npy => "npy",
            #[cfg(feature = "formats")]
            Self::Npz => "npz",
            #[cfg(feature = "formats")]
            Self::Safetensors => "safetensors",
        }
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
    }

    /// Detects the format of a file. Binary tensor files have no signature, so a file without one
    /// is treated as such.
    #[must_use]
    pub fn detect(file: &[u8]) -> Self {
        match file {
            _ if file.starts_with(npy::MAGIC) => Self::Npy,
            #[cfg(feature = "formats")]
            [b'P', b'K', 3 | 5, ..] => Self::Npz,
            #[cfg(feature = "formats")]
            [_, _, _, _, _, _, _, _, b'{', ..] => Self::Safetensors,
            _ => Self::Btf,
        }
    }

    /// Reads all tensors of a file. They share its memory where they can.
    ///
    /// # Errors
    /// [`FileError`], with the kind and the location of the error.
    pub fn read(
        self,
        file: &HostBuffer,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<Vec<NamedTensor>, FileError> {
        match self {
            Self::Btf => read_btf(file),
            Self::Npy => Ok(vec![NamedTensor::new("0", npy::read(file, allocator)?)]),
            #[cfg(feature = "formats")]
            Self::Npz => npz::read(file, allocator),
            #[cfg(feature = "formats")]
            Self::Safetensors => safetensors::read(file),
        }
    }

    /// Writes a file of these tensors.
    ///
    /// # Errors
    /// If the format does not support one of them, or its elements are being written.
    pub fn write(self, tensors: &[NamedTensor]) -> Result<Vec<u8>, FileError> {
        match self {
            Self::Btf => write_btf(tensors),
            Self::Npy => match tensors {
                [tensor] => {
                    let mut file = Vec::new();
                    npy::write(&mut file, tensor.expect_dense("npy")?)?;
                    Ok(file)
                }
                _ => Err(FileError::NotOne {
                    found: tensors.len(),
                }),
            },
            #[cfg(feature = "formats")]
            Self::Npz => npz::write(tensors),
            #[cfg(feature = "formats")]
            Self::Safetensors => safetensors::write(tensors),
        }
    }
}

/// The records of a binary tensor file may overlap. To follow that further than this many times the
/// size of the file would let a small file cost much.
const MAX_OVERLAP: usize = 16;

fn read_btf(file: &HostBuffer) -> Result<Vec<NamedTensor>, FileError> {
    let mut reader = BtfReader::new(file.clone())?;
    let num_tensors = i64::try_from(reader.num_tensors()).unwrap_or(i64::MAX);
    let mut total_bytes = 0_usize;
    // The list grows as tensors are found, each of which has its offset in the file.
    let mut tensors = Vec::new();
    for index in 0..num_tensors {
        let name = index.to_string();
        let (tensor, len_bytes) = match reader.read(index)? {
            BtfTensor::Dense(tensor) => {
                let len_bytes = tensor.buffer().len_bytes();
                (NamedTensor::new(name, tensor), len_bytes)
            }
            BtfTensor::Coo(tensor) => {
                let len_bytes =
                    tensor.indices().buffer().len_bytes() + tensor.values().buffer().len_bytes();
                (NamedTensor::new(name, tensor), len_bytes)
            }
        };
        tensors.push(tensor);
        total_bytes = total_bytes.saturating_add(len_bytes);
        if total_bytes / MAX_OVERLAP > file.len_bytes() {
            let offset = reader.header(index)?.offset;
            let message = format!(
                "the first {} tensors share most of their bytes",
                tensors.len()
            );
            return Err(FileError::Wrong { offset, message });
        }
    }
    Ok(tensors)
}

fn write_btf(tensors: &[NamedTensor]) -> Result<Vec<u8>, FileError> {
    let tensors: Vec<&dyn Tensor> = tensors.iter().map(|named| &*named.tensor).collect();
    let mut file = Vec::new();
    btf::write(&mut file, &tensors).map_err(FileError::WriteBtf)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coo::CooHostTensor;
    use crate::dense::DenseHostTensor;
    use crate::shape::Shape;
    use crate::testing::malloc;

    fn sample() -> Vec<NamedTensor> {
        let dense =
            DenseHostTensor::from_elements(&malloc(), Shape::new(&[2, 2]).unwrap(), &[1, 0, 0, 2])
                .unwrap();
        let sparse = CooHostTensor::from_dense(&dense, &malloc()).unwrap();
        vec![NamedTensor::new("0", dense), NamedTensor::new("1", sparse)]
    }

    #[test]
    fn every_format_reads_what_it_writes_and_is_told_by_its_start() {
        for &format in FileFormat::ALL {
            let tensors = &sample()[..1];
            let file = format.write(tensors).unwrap();
            assert_eq!(FileFormat::detect(&file), format);
            assert_eq!(FileFormat::from_name(format.name()), Some(format));
            let read = format
                .read(&HostBuffer::from_owner(file).unwrap(), &malloc())
                .unwrap();
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].tensor.to_string(), tensors[0].tensor.to_string());
        }
    }

    #[test]
    fn sparse_tensors_have_one_format() {
        for &format in FileFormat::ALL {
            let is_written = format.write(&sample()[1..]).is_ok();
            assert_eq!(is_written, format == FileFormat::Btf);
        }
        let two = FileFormat::Npy.write(&sample()).unwrap_err();
        assert_eq!(
            two.to_string(),
            "expected one tensor for a file of format npy, found 2"
        );
    }

    #[test]
    fn records_that_share_all_their_bytes_are_refused_in_the_end() {
        let tensor = DenseHostTensor::filled(&malloc(), Shape::new(&[8000]).unwrap(), 1_i8);
        let mut one = Vec::new();
        btf::write(&mut one, &[&tensor.unwrap()]).unwrap();
        let num_tensors = 1000_u64;
        let mut file = num_tensors.to_le_bytes().to_vec();
        for _ in 0..num_tensors {
            file.extend((8 * (1 + num_tensors)).to_le_bytes());
        }
        file.extend(&one[16..]);
        let error = FileFormat::Btf.read(&HostBuffer::from_owner(file).unwrap(), &malloc());
        assert_eq!(
            error.unwrap_err().to_string(),
            "at offset 8008: the first 33 tensors share most of their bytes"
        );
    }
}

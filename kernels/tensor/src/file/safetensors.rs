//! Safetensors files: named dense tensors behind a JSON header.

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use tfrt_support::DType;

use crate::buffer::HostBuffer;
use crate::dense::DenseHostTensor;
use crate::file::format::{FileError, NamedTensor};
use crate::file::source::aligned;
use crate::shape::Shape;

/// The element types that files can have and we, too.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::I1, Dtype::BOOL),
    (DType::Ui8, Dtype::U8),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::Ui16, Dtype::U16),
    (DType::F16, Dtype::F16),
    (DType::Bf16, Dtype::BF16),
    (DType::I32, Dtype::I32),
    (DType::Ui32, Dtype::U32),
    (DType::F32, Dtype::F32),
    (DType::Complex64, Dtype::C64),
    (DType::F64, Dtype::F64),
    (DType::I64, Dtype::I64),
    (DType::Ui64, Dtype::U64),
];

/// The size of what precedes the JSON header, in bytes.
const PREFIX_BYTES: usize = 8;

/// Reads all tensors of a file, in the order of their elements there. They share its memory.
///
/// # Errors
/// [`FileError`], which says what is wrong.
pub fn read(file: &HostBuffer) -> Result<Vec<NamedTensor>, FileError> {
    let (header_bytes, metadata) =
        SafeTensors::read_metadata(&file.read()?).map_err(|error| wrong(&error))?;
    let start = PREFIX_BYTES + header_bytes;
    metadata
        .offset_keys()
        .into_iter()
        .filter_map(|name| metadata.info(&name).map(|info| (name, info)))
        .map(|(name, info)| {
            let (from, to) = info.data_offsets;
            let dtype = DTYPES.iter().find(|(_, theirs)| *theirs == info.dtype);
            let (dtype, _) = dtype.ok_or_else(|| {
                FileError::at(
                    start + from,
                    format!(
                        "elements of type `{}` of tensor `{name}` are no elements of tensors",
                        info.dtype
                    ),
                )
            })?;
            let shape = Shape::new(&info.shape)?;
            let elements = aligned(file.slice(start + from, to - from)?, *dtype)?;
            let tensor = DenseHostTensor::from_buffer(*dtype, shape, elements)?;
            Ok(NamedTensor::new(name, tensor))
        })
        .collect()
}

/// Writes a file of these tensors. The order in the file is that of the format: by size of the elements, then by name.
///
/// # Errors
/// If a tensor is not dense, or files cannot have elements of its type.
pub fn write(tensors: &[NamedTensor]) -> Result<Vec<u8>, FileError> {
    let dense: Vec<(&str, &DenseHostTensor)> = tensors
        .iter()
        .map(|named| Ok((named.name.as_str(), named.expect_dense("safetensors")?)))
        .collect::<Result<_, FileError>>()?;
    let elements = dense
        .iter()
        .map(|(_, tensor)| tensor.buffer().read())
        .collect::<Result<Vec<_>, _>>()?;
    let views = dense
        .iter()
        .zip(&elements)
        .map(|((name, tensor), elements)| {
            let dtype = DTYPES.iter().find(|(ours, _)| *ours == tensor.dtype());
            let (_, dtype) = dtype.ok_or(FileError::NoDType {
                format: "safetensors",
                dtype: tensor.dtype(),
            })?;
            let view = TensorView::new(*dtype, tensor.shape().dims().to_vec(), elements);
            Ok((*name, view.map_err(|error| wrong(&error))?))
        })
        .collect::<Result<Vec<_>, FileError>>()?;
    safetensors::serialize(views, None).map_err(|error| wrong(&error))
}

#[cold]
fn wrong(error: &SafeTensorError) -> FileError {
    FileError::at(0, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;
    use crate::{CooHostTensor, Element, with_element};

    fn read_all(file: Vec<u8>) -> Result<Vec<NamedTensor>, FileError> {
        read(&HostBuffer::from_owner(file).unwrap())
    }

    #[test]
    fn every_type_that_files_have_comes_back_under_its_name() {
        for (dtype, _) in DTYPES {
            let shape = Shape::new(&[2, 3]).unwrap();
            let tensor = with_element!(dtype, T => {
                DenseHostTensor::filled(&malloc(), shape.clone(), <T as Element>::ZERO)
            });
            let tensor = tensor.unwrap().unwrap();
            let expected = tensor.to_string();
            let file = write(&[NamedTensor::new("a.b", tensor)]).unwrap();
            let read = read_all(file).unwrap();
            assert_eq!(
                (read[0].name.as_str(), read[0].tensor.to_string()),
                ("a.b", expected)
            );
        }
    }

    #[test]
    fn what_files_cannot_have_is_refused() {
        let dense = DenseHostTensor::filled(&malloc(), Shape::scalar(), 1_i32).unwrap();
        let sparse = CooHostTensor::from_dense(&dense, &malloc()).unwrap();
        assert_eq!(
            write(&[NamedTensor::new("s", sparse)])
                .unwrap_err()
                .to_string(),
            "a file of format safetensors cannot have tensors of kind CooHost, such as `s`"
        );
    }

    #[test]
    fn damaged_headers_are_refused() {
        for file in [
            vec![],
            vec![0; 8],
            [&[255; 8][..], b"{}"].concat(),
            [&2_u64.to_le_bytes()[..], b"{]"].concat(),
            [&2_u64.to_le_bytes()[..], b"{}", b"rest"].concat(),
        ] {
            assert!(read_all(file).is_err());
        }
        let header = br#"{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}"#;
        let file = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 2]].concat();
        let error = read_all(file).unwrap_err().to_string();
        assert!(
            error.ends_with("elements of type `F8_E4M3` of tensor `x` are no elements of tensors"),
            "{error}"
        );
    }
}

//! Safetensors files: named dense tensors behind a JSON header.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::{self, Write};

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors};
use serde::Deserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use tfrt_support::DType;
use tfrt_support::escape::escaped;

use crate::buffer::HostBuffer;
use crate::dense::DenseHostTensor;
use crate::file::error::FileError;
use crate::file::named::NamedTensor;
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

/// Reads all tensors of a file, in the order of its header. They share the memory of the file.
///
/// # Errors
/// [`FileError`], with the kind of the error.
pub fn read(file: &HostBuffer) -> Result<Vec<NamedTensor>, FileError> {
    let bytes = file.read()?;
    let (header_bytes, metadata) =
        SafeTensors::read_metadata(&bytes).map_err(|error| wrong(&error))?;
    let start = PREFIX_BYTES + header_bytes;
    let names = names_in_order(&bytes[PREFIX_BYTES..start])?;
    drop(bytes);
    names
        .into_iter()
        .filter_map(|name| metadata.info(&name).map(|info| (name, info)))
        .map(|(name, info)| {
            let (from, to) = info.data_offsets;
            let dtype = DTYPES.iter().find(|(_, theirs)| *theirs == info.dtype);
            let (dtype, _) = dtype.ok_or_else(|| {
                FileError::at(
                    start + from,
                    format!(
                        "tensor `{name}` has elements of the unsupported type `{}`",
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

/// Returns the keys of the header, which must be distinct, in the order in which they are written.
/// The library keeps them by offset.
fn names_in_order(header: &[u8]) -> Result<Vec<String>, FileError> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut names, mut seen) = (Vec::new(), HashSet::new());
            while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
                if !seen.insert(name.clone()) {
                    return Err(A::Error::custom(found_twice(&name)));
                }
                names.push(name);
            }
            Ok(names)
        }
    }
    serde_json::Deserializer::from_slice(header)
        .deserialize_map(Keys)
        .map_err(|error| FileError::at(PREFIX_BYTES, error.to_string()))
}

fn found_twice(name: &str) -> String {
    let name = escaped(name);
    format!("expected a distinct name for each tensor, found `{name}` twice")
}

/// The key of the header's metadata.
const METADATA: &str = "__metadata__";

/// The alignment of a file's elements, in bytes: that of the widest registers.
const ALIGNMENT: usize = 64;

/// Writes a file of these tensors. The header lists them in order; the elements are stored by the
/// power of two that divides their size, so that all are aligned for their type, and those of a
/// multiple of 64 bytes to 64 bytes. The format does not allow gaps.
///
/// # Errors
/// If a tensor is not dense, files do not support its element type, or two tensors have the same
/// name.
pub fn write(tensors: &[NamedTensor]) -> Result<Vec<u8>, FileError> {
    write_with_metadata(tensors, &[])
}

/// Like [`write()`], with texts by name, which readers of the format show.
///
/// ```
/// use tfrt_tensor::DenseHostTensor;
/// use tfrt_tensor::file::{NamedTensor, safetensors};
///
/// let weights = [NamedTensor::new("w", DenseHostTensor::vector(&[0.5_f32, 2.0])?)];
/// let file = safetensors::write_with_metadata(&weights, &[("model", "net.onnx".to_owned())])?;
/// assert!(file.windows(8).any(|part| part == b"net.onnx"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `write`.
pub fn write_with_metadata(
    tensors: &[NamedTensor],
    metadata: &[(&str, String)],
) -> Result<Vec<u8>, FileError> {
    let dense: Vec<(&str, &DenseHostTensor)> = tensors
        .iter()
        .map(|named| Ok((named.name.as_str(), named.expect_dense("safetensors")?)))
        .collect::<Result<_, FileError>>()?;
    let elements = dense
        .iter()
        .map(|(_, tensor)| tensor.buffer().read())
        .collect::<Result<Vec<_>, _>>()?;
    let mut names = HashSet::new();
    if let Some((name, _)) = dense
        .iter()
        .find(|(name, _)| *name == METADATA || !names.insert(*name))
    {
        return Err(FileError::at(0, found_twice(name)));
    }
    let mut by_alignment: Vec<usize> = (0..dense.len()).collect();
    by_alignment.sort_by_key(|&index| {
        let len_bytes = elements[index].len() | ALIGNMENT;
        Reverse(len_bytes.trailing_zeros())
    });
    let mut offsets = vec![[0; 2]; dense.len()];
    let mut end = 0;
    for &index in &by_alignment {
        let start = end;
        end += elements[index].len();
        offsets[index] = [start, end];
    }
    let mut header = String::from("{");
    if !metadata.is_empty() {
        let texts = metadata.iter().map(|(name, text)| {
            let [name, text] = [*name, text].map(serde_json::Value::from);
            format!("{name}:{text}")
        });
        let texts: Vec<String> = texts.collect();
        let _ = write!(header, "\"{METADATA}\":{{{}}}", texts.join(","));
    }
    for ((name, tensor), offsets) in dense.iter().zip(&offsets) {
        let dtype = DTYPES.iter().find(|(ours, _)| *ours == tensor.dtype());
        let (_, dtype) = dtype.ok_or(FileError::NoDType {
            format: "safetensors",
            dtype: tensor.dtype(),
        })?;
        let comma = if header.len() == 1 { "" } else { "," };
        let name = serde_json::Value::from(*name);
        let (dims, [start, end]) = (tensor.shape().dims(), offsets);
        let _ = write!(
            header,
            "{comma}{name}:{{\"dtype\":\"{dtype}\",\"shape\":{dims:?},\"data_offsets\":[{start},{end}]}}"
        );
    }
    header.push('}');
    let header_bytes = (PREFIX_BYTES + header.len()).next_multiple_of(ALIGNMENT) - PREFIX_BYTES;
    let mut file = Vec::with_capacity(PREFIX_BYTES + header_bytes + end);
    file.extend((header_bytes as u64).to_le_bytes());
    file.extend(header.bytes());
    file.resize(PREFIX_BYTES + header_bytes, b' ');
    by_alignment
        .iter()
        .for_each(|&index| file.extend_from_slice(&elements[index]));
    Ok(file)
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
    fn the_order_of_tensors_is_kept() {
        let scalar = Shape::scalar;
        let names = ["z", "a", "\"\u{1b}", "m"];
        let tensors = [
            NamedTensor::new(
                names[0],
                DenseHostTensor::filled(&malloc(), scalar(), 1_i8).unwrap(),
            ),
            NamedTensor::new(
                names[1],
                DenseHostTensor::filled(&malloc(), scalar(), 2_i64).unwrap(),
            ),
            NamedTensor::new(
                names[2],
                DenseHostTensor::filled(&malloc(), scalar(), 3_i8).unwrap(),
            ),
            NamedTensor::new(
                names[3],
                DenseHostTensor::filled(&malloc(), scalar(), 4_i32).unwrap(),
            ),
        ];
        let read = read_all(write(&tensors).unwrap()).unwrap();
        let found: Vec<&str> = read.iter().map(|named| named.name.as_str()).collect();
        assert_eq!(found, names);
        for (before, after) in tensors.iter().zip(&read) {
            assert_eq!(before.tensor.to_text(), after.tensor.to_text());
        }
        for name in ["a", METADATA] {
            let twice = ["a", name].map(|name| {
                let one = DenseHostTensor::filled(&malloc(), scalar(), 1_i8).unwrap();
                NamedTensor::new(name, one)
            });
            assert!(write(&twice).is_err(), "{name}");
        }
    }

    #[test]
    fn elements_are_aligned() {
        // Sizes of 3, 64, 24, 0, 128 and 12 bytes.
        let lens = [(3, 0), (16, 1), (3, 2), (0, 1), (32, 1), (3, 1)];
        let tensors = lens.iter().enumerate().map(|(index, &(len, kind))| {
            let shape = Shape::new(&[len]).unwrap();
            let tensor = match kind {
                0 => DenseHostTensor::filled(&malloc(), shape, 1_i8),
                1 => DenseHostTensor::filled(&malloc(), shape, 1_f32),
                _ => DenseHostTensor::filled(&malloc(), shape, 1_f64),
            };
            NamedTensor::new(format!("t{index}"), tensor.unwrap())
        });
        let file = write(&tensors.collect::<Vec<_>>()).unwrap();
        let header_bytes = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
        let start = PREFIX_BYTES + header_bytes;
        assert_eq!(start % 64, 0);
        let header = std::str::from_utf8(&file[PREFIX_BYTES..start]).unwrap();
        let header: serde_json::Value = serde_json::from_str(header).unwrap();
        let offset = |index: usize| header[format!("t{index}")]["data_offsets"][0].as_u64();
        let offsets: Vec<_> = (0..lens.len()).filter_map(offset).collect();
        assert_eq!(offsets, [228, 0, 192, 64, 64, 216]);
    }

    #[test]
    fn what_files_cannot_have_is_refused() {
        let dense = DenseHostTensor::filled(&malloc(), Shape::scalar(), 1_i32).unwrap();
        let sparse = CooHostTensor::from_dense(&dense, &malloc()).unwrap();
        assert_eq!(
            write(&[NamedTensor::new("s", sparse)])
                .unwrap_err()
                .to_string(),
            "a file of format safetensors cannot contain tensors of kind CooHost, such as `s`"
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
        let tensor = r#""x":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}"#;
        let header = format!("{{{tensor},{tensor}}}");
        let len = (header.len() as u64).to_le_bytes();
        let error = read_all([&len[..], header.as_bytes(), &[0]].concat()).unwrap_err();
        assert!(error.to_string().contains("found `x` twice"), "{error}");
        let header = br#"{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}"#;
        let file = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 2]].concat();
        let error = read_all(file).unwrap_err().to_string();
        assert!(
            error.ends_with("tensor `x` has elements of the unsupported type `F8_E4M3`"),
            "{error}"
        );
    }
}

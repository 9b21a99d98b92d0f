//! Files with one value each: `input_0.pb`.

use bytes::Bytes;
use prost::Message;
use tfrt_import::ModelValue;
use tfrt_import::files::FolderFiles;
use tfrt_import::{ImportError, Limits};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, ListHostTensor};

use crate::element_type::ElementType;
use crate::graph::ValueType;
use crate::proto::TensorProto;
use crate::tensor::{Tensor, TensorReader};

/// A list of tensors, as `onnx-data.proto` defines it.
#[derive(Clone, PartialEq, prost::Message)]
struct SequenceProto {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(int32, optional, tag = "2")]
    elem_type: Option<i32>,
    #[prost(message, repeated, tag = "3")]
    tensor_values: Vec<TensorProto>,
}

/// A value that may be absent, as `onnx-data.proto` defines it.
#[derive(Clone, PartialEq, prost::Message)]
struct OptionalProto {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(int32, optional, tag = "2")]
    elem_type: Option<i32>,
    #[prost(message, optional, tag = "3")]
    tensor_value: Option<TensorProto>,
    #[prost(message, optional, tag = "5")]
    sequence_value: Option<SequenceProto>,
}

/// Reads a file with one value of a type that a model declares.
///
/// # Errors
/// Errors in the file, or an unsupported element type.
pub fn read_value(
    bytes: Vec<u8>,
    ty: &ValueType,
    limits: &Limits,
) -> Result<ModelValue, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let undecodable = |error: prost::DecodeError| ImportError::new(error.to_string());
    let file = HostBuffer::from_owner(bytes).map_err(failed)?;
    let bytes = Bytes::from_owner(file.elements_owned::<u8>().map_err(failed)?);
    let reader = TensorReader {
        file,
        external: FolderFiles::default(),
        limits: limits.clone(),
    };
    let dense = |proto: &TensorProto| -> Result<DenseHostTensor, ImportError> {
        let tensor = reader.read(proto)?;
        let found = tensor.dense().cloned();
        found.ok_or_else(|| {
            ImportError::new(format!(
                "tensors of {} are not supported",
                tensor.element_type
            ))
        })
    };
    let list = |proto: &SequenceProto, element: &ValueType| -> Result<ModelValue, ImportError> {
        let tensors = proto.tensor_values.iter().map(dense);
        let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
        let declared = match element {
            ValueType::Tensor { element_type, .. } => element_type.and_then(ElementType::dtype),
            _ => None,
        };
        let first = tensors.first().map(DenseHostTensor::dtype);
        let dtype = first.or(declared).unwrap_or(DType::F32);
        Ok(ListHostTensor::new(dtype, tensors).map_err(failed)?.into())
    };
    match ty {
        ValueType::Sequence(element) => {
            list(&SequenceProto::decode(bytes).map_err(undecodable)?, element)
        }
        ValueType::Optional(inner) => {
            let proto = OptionalProto::decode(bytes).map_err(undecodable)?;
            match (&proto.tensor_value, &proto.sequence_value, &**inner) {
                (Some(tensor), _, _) => Ok(dense(tensor)?.into()),
                (None, Some(sequence), ValueType::Sequence(element)) => list(sequence, element),
                (None, Some(sequence), other) => list(sequence, other),
                (None, None, _) => Ok(ListHostTensor::absent().into()),
            }
        }
        _ => Ok(dense(&TensorProto::decode(bytes).map_err(undecodable)?)?.into()),
    }
}

/// Returns the bytes of a file with one value of a type that a model declares.
///
/// # Errors
/// If ONNX does not have its element type.
pub fn write_value(name: &str, value: &ModelValue, ty: &ValueType) -> Result<Vec<u8>, ImportError> {
    const TENSOR: i32 = 1;
    const SEQUENCE: i32 = 3;
    let sequence = |list: &ListHostTensor| -> Result<SequenceProto, ImportError> {
        let tensors = list.tensors().unwrap_or_default().iter();
        Ok(SequenceProto {
            name: Some(name.to_owned()),
            elem_type: Some(TENSOR),
            tensor_values: tensors
                .map(|tensor| proto("", tensor))
                .collect::<Result<_, _>>()?,
        })
    };
    let is_optional = matches!(ty, ValueType::Optional(_));
    let mut optional = OptionalProto {
        name: Some(name.to_owned()),
        ..OptionalProto::default()
    };
    match value {
        ModelValue::Tensor(tensor) if is_optional => {
            (optional.elem_type, optional.tensor_value) = (Some(TENSOR), Some(proto("", tensor)?));
        }
        ModelValue::Tensor(tensor) => return write(name, tensor),
        ModelValue::List(list) if list.tensors().is_none() => {}
        ModelValue::List(list) if is_optional => {
            (optional.elem_type, optional.sequence_value) = (Some(SEQUENCE), Some(sequence(list)?));
        }
        ModelValue::List(list) => return Ok(sequence(list)?.encode_to_vec()),
    }
    Ok(optional.encode_to_vec())
}

/// Reads a file with one tensor.
///
/// ```
/// use tfrt_import::Limits;
/// use tfrt_onnx::tensor_file;
/// use tfrt_tensor::DenseHostTensor;
///
/// let file = tensor_file::write("x", &DenseHostTensor::vector(&[1.0_f32, 2.0])?)?;
/// let tensor = tensor_file::read(file, &Limits::default())?;
/// assert_eq!(*tensor.dense().unwrap().elements::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors in the file.
pub fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Tensor, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let file = HostBuffer::from_owner(bytes).map_err(failed)?;
    let bytes = Bytes::from_owner(file.elements_owned::<u8>().map_err(failed)?);
    let proto = TensorProto::decode(bytes);
    let proto = proto.map_err(|error| ImportError::new(error.to_string()))?;
    let reader = TensorReader {
        file,
        external: FolderFiles::default(),
        limits: limits.clone(),
    };
    reader.read(&proto)
}

/// Returns the bytes of a file with one tensor.
///
/// # Errors
/// If ONNX does not have its element type.
pub fn write(name: &str, tensor: &DenseHostTensor) -> Result<Vec<u8>, ImportError> {
    Ok(proto(name, tensor)?.encode_to_vec())
}

fn proto(name: &str, tensor: &DenseHostTensor) -> Result<TensorProto, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let element_type = ElementType::from_dtype(tensor.dtype())
        .ok_or_else(|| ImportError::new(format!("ONNX has no type for {}", tensor.dtype())))?;
    let bytes = tensor.buffer().read().map_err(failed)?.to_vec();
    Ok(TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(element_type.code()),
        dims: tensor
            .shape()
            .dims()
            .iter()
            .map(|&extent| extent as i64)
            .collect(),
        raw_data: Some(bytes.into()),
        ..TensorProto::default()
    })
}

//! Files with one tensor each: `input_0.pb`.

use bytes::Bytes;
use prost::Message;
use tfrt_import::{ImportError, Limits};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

use crate::element_type::ElementType;
use crate::external::ExternalFiles;
use crate::proto::TensorProto;
use crate::tensor::{Tensor, TensorReader};

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
/// What is wrong with the file.
pub fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Tensor, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let file = HostBuffer::from_owner(bytes).map_err(failed)?;
    let bytes = Bytes::from_owner(file.elements_owned::<u8>().map_err(failed)?);
    let proto = TensorProto::decode(bytes);
    let proto = proto.map_err(|error| ImportError::new(error.to_string()))?;
    let reader = TensorReader {
        file,
        external: ExternalFiles::default(),
        limits: limits.clone(),
    };
    reader.read(&proto)
}

/// The bytes of a file with one tensor.
///
/// # Errors
/// If ONNX does not have its element type.
pub fn write(name: &str, tensor: &DenseHostTensor) -> Result<Vec<u8>, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let element_type = ElementType::from_dtype(tensor.dtype())
        .ok_or_else(|| ImportError::new(format!("onnx has no {}", tensor.dtype())))?;
    let bytes = tensor.buffer().read().map_err(failed)?.to_vec();
    let proto = TensorProto {
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
    };
    Ok(proto.encode_to_vec())
}

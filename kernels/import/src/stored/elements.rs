//! The elements of small weights, as attributes.

use tfrt_ir::DenseElements;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use crate::error::ImportError;
use crate::malloc;
use crate::program::{self, Attr};

/// Returns the elements of a tensor as an attribute of one dimension. Floating-point numbers are
/// spelled by their bits.
pub(super) fn spelled(tensor: &DenseHostTensor) -> Result<String, ImportError> {
    let dtype = tensor.dtype();
    let failed = || ImportError::new(format!("a weight of {dtype} cannot be part of a program"));
    let bytes = tensor.buffer().read().map_err(|_| failed())?;
    let width = dtype.size_bytes().ok_or_else(failed)?;
    let elements = bytes.chunks_exact(width).map(|bytes| {
        let mut all = [0_u8; 8];
        all.get_mut(..width)?.copy_from_slice(bytes);
        let bits = u64::from_le_bytes(all);
        Some(match dtype {
            DType::F16 | DType::Bf16 => format!("0x{bits:04X}"),
            DType::F32 => format!("0x{bits:08X}"),
            DType::F64 => format!("0x{bits:016X}"),
            DType::I1 => (bits != 0).to_string(),
            DType::I8 => (bits as u8 as i8).to_string(),
            DType::I16 => (bits as u16 as i16).to_string(),
            DType::I32 => (bits as u32 as i32).to_string(),
            DType::I64 => (bits as i64).to_string(),
            DType::Ui8 | DType::Ui16 | DType::Ui32 | DType::Ui64 => bits.to_string(),
            _ => return None,
        })
    });
    let elements = elements.collect::<Option<Vec<_>>>().ok_or_else(failed)?;
    let list = match elements.is_empty() {
        true => String::new(),
        false => format!("[{}]", elements.join(", ")),
    };
    let ty = program::spelled(&Attr::Type(dtype));
    Ok(format!("dense<{list}> : tensor<{}x{ty}>", elements.len()))
}

/// Returns the tensor of an attribute, whose type was checked.
pub(super) fn read(
    dtype: DType,
    shape: Shape,
    elements: &DenseElements,
) -> Result<DenseHostTensor, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let width = dtype.size_bytes().unwrap_or(1);
    let expected = shape.num_elements().saturating_mul(width);
    let bytes = match elements {
        DenseElements::List(bytes) => bytes.to_vec(),
        DenseElements::Splat(one)
            if one.len() == width && expected <= super::MAX_CONSTANT_BYTES =>
        {
            one.repeat(shape.num_elements())
        }
        _ => Vec::new(),
    };
    if bytes.len() != expected {
        return Err(ImportError::new(format!(
            "expected {expected} bytes of elements of {dtype} {shape}, found {}",
            bytes.len()
        )));
    }
    let buffer = HostBuffer::copied(&malloc(), &bytes).map_err(failed)?;
    DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(failed)
}

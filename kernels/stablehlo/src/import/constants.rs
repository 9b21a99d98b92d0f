//! Lowers constants to weights.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::Value;
use tfrt_ir::{AttrId, Attribute, DenseElements, OpId};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::{Lowered, Lowering};
use crate::model::{ElementType, element_type};

impl Lowering<'_> {
    /// Returns the element type of a constant and the bytes of its elements: of one element if all
    /// are equal.
    pub(super) fn constant_bytes(&self, op: OpId) -> Result<(ElementType, Vec<u8>), ImportError> {
        let ty = self.result(op, 0)?.element;
        Ok((ty, self.element_bytes(op, ty)?))
    }

    /// Returns the bytes of the elements of the attribute `value`, as tensors hold them.
    pub(super) fn element_bytes(&self, op: OpId, ty: ElementType) -> Result<Vec<u8>, ImportError> {
        let dtype = ty.dtype;
        // Texts have a byte for each narrow element.
        let size = match ty.wider() {
            Some(_) => 1,
            None => dtype.size_bytes().unwrap_or(1),
        };
        let value = self.module.attr(op, "value");
        let bytes = match value.map(|value| self.module.attribute(value)) {
            Some(Attribute::Dense {
                elements: DenseElements::Splat(bytes) | DenseElements::List(bytes),
                ..
            }) => bytes.to_vec(),
            Some(Attribute::Resource { key, .. }) => {
                let found = self.module.resource_bytes(key);
                let found = found.ok_or_else(|| {
                    ImportError::new(format!("there is no resource `{}`", shown(key)))
                })?;
                found.to_vec()
            }
            _ => return Err(ImportError::new("expected dense elements as `value`")),
        };
        if !bytes.len().is_multiple_of(size) {
            let message = format!("expected elements of {dtype}, found {} bytes", bytes.len());
            return Err(ImportError::new(message));
        }
        Ok(match (ty.small_float(), ty.wider()) {
            (Some(format), _) => {
                let numbers = bytes.iter().map(|&byte| format.value(byte) as f32);
                numbers.flat_map(f32::to_le_bytes).collect()
            }
            (None, Some(_)) => extended(ty, bytes),
            (None, None) => bytes,
        })
    }

    pub(super) fn constant(&mut self, op: OpId) -> Result<Value, ImportError> {
        let (ty, bytes) = self.constant_bytes(op)?;
        let dims = self.result(op, 0)?.static_dims()?;
        self.tensor_constant(op, ty.dtype, &dims, &bytes)
    }

    pub(super) fn tensor_constant(
        &mut self,
        op: OpId,
        dtype: DType,
        dims: &[usize],
        bytes: &[u8],
    ) -> Result<Value, ImportError> {
        let size = dtype.size_bytes().unwrap_or(1);
        let shape = Shape::new(dims).map_err(|error| ImportError::new(error.to_string()))?;
        if bytes.len() == size && shape.num_elements() != 1 {
            // The constant is a splat.
            let one = self.weight(dense(dtype, Shape::scalar(), bytes)?);
            return Ok(self.broadcast(op, one, dims, Vec::new()));
        }
        Ok(self.weight(dense(dtype, shape, bytes)?))
    }

    /// Adds a vector of integers.
    pub(super) fn vector(&mut self, numbers: &[i64]) -> Result<Value, ImportError> {
        let vector = DenseHostTensor::vector(numbers);
        let vector = vector.map_err(|error| ImportError::new(error.to_string()))?;
        Ok(self.weight(vector))
    }

    /// Fills a tensor of the shape of the operand with the attribute `value`.
    pub(super) fn constant_like(&mut self, op: OpId, x: Value) -> Lowered {
        let ty = self.result(op, 0)?;
        let value = self.module.attr(op, "value");
        let element = value.and_then(|value| self.number_bytes(value, ty.element));
        let element = element.ok_or_else(|| {
            ImportError::new("attribute `value`: expected a number of the type of the elements")
        })?;
        let one = self.tensor_constant(op, ty.element.dtype, &[], &element)?;
        Ok(Some(vec![match ty.known_dims() {
            Some(dims) => self.broadcast(op, one, &dims, Vec::new()),
            None => self.emit(op, "hlo.BroadcastTogether", &[one, x], &[], 2)[0],
        }]))
    }

    /// Returns the bytes of a number as an element.
    fn number_bytes(&self, value: AttrId, ty: ElementType) -> Option<Vec<u8>> {
        let size = ty.dtype.size_bytes()?;
        let bits = match self.module.attribute(value) {
            Attribute::Float { bits, ty: found } => {
                let found = element_type(self.module, *found)?;
                let own = (found == ty).then_some(*bits)?;
                match ty.small_float() {
                    Some(format) => (format.value(own as u8) as f32).to_bits().into(),
                    None => own,
                }
            }
            _ if ty.name == "i1" => u64::from(self.module.attribute_int(value)? != 0),
            _ if ty.is_integer() => self.module.attribute_int(value)? as u64,
            _ => return None,
        };
        (!ty.is_complex()).then(|| bits.to_le_bytes()[..size].to_vec())
    }
}

/// Extends integers of less than 8 bits to bytes. Digits in hexadecimal form have only their bits.
fn extended(ty: ElementType, mut bytes: Vec<u8>) -> Vec<u8> {
    let shift = 8 - ty.bits();
    for byte in &mut bytes {
        *byte = match ty.dtype {
            DType::I8 => ((*byte << shift) as i8 >> shift) as u8,
            _ => *byte << shift >> shift,
        };
    }
    bytes
}

/// Creates a tensor from bytes.
fn dense(dtype: DType, shape: Shape, bytes: &[u8]) -> Result<DenseHostTensor, ImportError> {
    let wrong = |error: &dyn std::fmt::Display| ImportError::new(error.to_string());
    let allocator: std::sync::Arc<dyn tfrt_host::allocator::HostAllocator> =
        std::sync::Arc::new(tfrt_host::allocator::Malloc);
    let buffer = HostBuffer::copied(&allocator, bytes).map_err(|error| wrong(&error))?;
    DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(|error| wrong(&error))
}

/// Creates a scalar tensor.
pub(super) fn scalar<T: tfrt_tensor::Element>(value: T) -> Result<DenseHostTensor, ImportError> {
    let allocator: std::sync::Arc<dyn tfrt_host::allocator::HostAllocator> =
        std::sync::Arc::new(tfrt_host::allocator::Malloc);
    DenseHostTensor::from_elements(&allocator, Shape::scalar(), &[value])
        .map_err(|error| ImportError::new(error.to_string()))
}

//! Lists of tensors, as one value.

use std::fmt::Write;
use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_support::DType;

use crate::dense::DenseHostTensor;
use crate::error::TensorError;
use crate::identity;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;

/// A list of dense tensors, or the mark that a value is absent. Its shape is its length. Clones
/// share the tensors.
///
/// ```
/// use tfrt_support::DType;
/// use tfrt_tensor::{DenseHostTensor, ListHostTensor};
///
/// let list = ListHostTensor::new(DType::I32, vec![DenseHostTensor::vector(&[1, 2])?])?;
/// assert_eq!(list.to_string(), "ListHostTensor dtype = i32, tensors = [i32 [2]]");
/// assert!(ListHostTensor::absent().tensors().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ListHostTensor {
    dtype: DType,
    shape: Shape,
    /// Without them, the value is absent.
    tensors: Option<Arc<[DenseHostTensor]>>,
}

impl ListHostTensor {
    /// Creates a list of these tensors, which have the same element type.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`] for a tensor of another type.
    pub fn new(dtype: DType, tensors: Vec<DenseHostTensor>) -> Result<Self, TensorError> {
        if let Some(other) = tensors.iter().find(|tensor| tensor.dtype() != dtype) {
            return Err(TensorError::WrongDType {
                expected: dtype,
                found: other.dtype(),
            });
        }
        Ok(Self {
            dtype,
            shape: Shape::new(&[tensors.len()])?,
            tensors: Some(tensors.into()),
        })
    }

    /// Creates the mark that a value is absent.
    #[must_use]
    pub fn absent() -> Self {
        Self {
            dtype: DType::Ui8,
            shape: Shape::scalar(),
            tensors: None,
        }
    }

    /// Returns the tensors in order, or `None` if the value is absent.
    #[must_use]
    pub fn tensors(&self) -> Option<&[DenseHostTensor]> {
        self.tensors.as_deref()
    }

    /// Returns the type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }
}

impl Tensor for ListHostTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::LIST_HOST
    }

    fn to_text(&self) -> Result<String, TensorError> {
        let Some(tensors) = self.tensors() else {
            return Ok("ListHostTensor absent".to_owned());
        };
        let mut text = format!("ListHostTensor dtype = {}, tensors = [", self.dtype);
        for (position, tensor) in tensors.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            // Writing to a text cannot fail.
            let _ = write!(text, "{comma}{}", tensor.metadata());
        }
        text.push(']');
        Ok(text)
    }
}

tensor::impl_text!(ListHostTensor);

impl Value for ListHostTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for ListHostTensor {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_a_list_are_of_one_type() {
        let ints = DenseHostTensor::vector(&[1_i32]).unwrap();
        let floats = DenseHostTensor::vector(&[1.0_f32]).unwrap();
        let list = ListHostTensor::new(DType::I32, vec![ints.clone(), ints.clone()]).unwrap();
        assert_eq!(list.shape().dims(), [2]);
        assert!(matches!(
            ListHostTensor::new(DType::I32, vec![ints, floats]),
            Err(TensorError::WrongDType { .. })
        ));
    }

    #[test]
    fn an_empty_list_is_not_an_absent_one() {
        let empty = ListHostTensor::new(DType::F32, vec![]).unwrap();
        assert_eq!(empty.tensors().map(<[_]>::len), Some(0));
        assert_eq!(
            ListHostTensor::absent().to_string(),
            "ListHostTensor absent"
        );
    }
}

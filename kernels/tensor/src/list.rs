//! Lists of tensors, as one value.

use std::fmt::Write;
use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, BorrowError, Value};
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
    tensors: Option<Arc<Vec<DenseHostTensor>>>,
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
            tensors: Some(Arc::new(tensors)),
        })
    }

    /// Returns the list of a value. If this is the only reference to the value, the list is moved
    /// out, and the value becomes [absent](Self::absent): what changes the list then copies none of
    /// its tensors.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_support::DType;
    /// use tfrt_tensor::{DenseHostTensor, ListHostTensor};
    ///
    /// let numbers = AnyRef::available(ListHostTensor::new(DType::I32, vec![])?);
    /// let mut list = ListHostTensor::take(&numbers)?;
    /// list.insert(0, DenseHostTensor::vector(&[1, 2])?)?;
    /// assert_eq!(list.tensors().map(<[_]>::len), Some(1));
    /// assert!(numbers.try_read::<ListHostTensor>()?.tensors().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the value is not a list, or is being read or written.
    pub fn take(value: &AnyRef) -> Result<Self, BorrowError> {
        if value.is_unique_through_links() {
            let mut list = value.try_write::<Self>()?;
            return Ok(std::mem::replace(&mut *list, Self::absent()));
        }
        Ok(value.try_read::<Self>()?.clone())
    }

    /// Inserts a tensor before the one at a position, or at the end. If clones share the tensors,
    /// they are copied first.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`] for a tensor of another type, and
    /// [`TensorError::WrongNumElements`] if there is no such position, or no list.
    pub fn insert(&mut self, at: usize, tensor: DenseHostTensor) -> Result<(), TensorError> {
        if tensor.dtype() != self.dtype {
            return Err(TensorError::WrongDType {
                expected: self.dtype,
                found: tensor.dtype(),
            });
        }
        let tensors = self.tensors_until(at)?;
        tensors.insert(at, tensor);
        self.shape = Shape::new(&[tensors.len()])?;
        Ok(())
    }

    /// Removes the tensor at a position. If clones share the tensors, they are copied first.
    ///
    /// # Errors
    /// [`TensorError::WrongNumElements`] if there is no such position, or no list.
    pub fn remove(&mut self, at: usize) -> Result<DenseHostTensor, TensorError> {
        let tensors = self.tensors_until(at.saturating_add(1))?;
        let removed = tensors.remove(at);
        self.shape = Shape::new(&[tensors.len()])?;
        Ok(removed)
    }

    /// Returns the tensors to change, of which there are at least `len`.
    fn tensors_until(&mut self, len: usize) -> Result<&mut Vec<DenseHostTensor>, TensorError> {
        let found = self.tensors().map_or(0, <[_]>::len);
        let tensors = self.tensors.as_mut().filter(|_| len <= found);
        tensors
            .map(Arc::make_mut)
            .ok_or(TensorError::WrongNumElements {
                expected: len,
                found,
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
        self.tensors.as_deref().map(Vec::as_slice)
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
    // `take` writes to values that nobody else can reach.
    const IS_MUTABLE: bool = true;
}

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
    fn a_list_moves_out_of_the_only_reference_to_it() {
        let ints = |number: i32| DenseHostTensor::vector(&[number]).unwrap();
        let numbers = |list: &ListHostTensor| -> Vec<i32> {
            let tensors = list.tensors().unwrap().iter();
            tensors.map(|t| t.elements::<i32>().unwrap()[0]).collect()
        };
        let list = ListHostTensor::new(DType::I32, vec![ints(0), ints(2)]).unwrap();
        let first = list.tensors().unwrap().as_ptr();
        let value = AnyRef::available(list);
        let shared = {
            let _other = value.clone();
            ListHostTensor::take(&value).unwrap()
        };
        assert_eq!(numbers(&value.try_read().unwrap()), [0, 2]);
        drop(shared);
        let mut moved = ListHostTensor::take(&value).unwrap();
        assert!(
            value
                .try_read::<ListHostTensor>()
                .unwrap()
                .tensors()
                .is_none()
        );
        moved.remove(1).unwrap();
        assert_eq!(moved.tensors().unwrap().as_ptr(), first);
        // A clone keeps its tensors.
        let clone = moved.clone();
        moved.insert(1, ints(3)).unwrap();
        moved.insert(1, ints(1)).unwrap();
        assert_eq!((numbers(&moved), numbers(&clone)), (vec![0, 1, 3], vec![0]));
        assert_eq!(moved.shape().dims(), [3]);
        assert!(moved.insert(4, ints(4)).is_err());
        assert!(moved.remove(3).is_err());
        let floats = DenseHostTensor::vector(&[1.0_f32]).unwrap();
        assert!(moved.insert(0, floats).is_err());
        assert!(ListHostTensor::absent().remove(0).is_err());
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

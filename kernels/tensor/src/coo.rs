//! Sparse tensors: the elements that are not zero, each with its coordinates.

use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_host::allocator::HostAllocator;
use tfrt_support::DType;

use crate::dense::DenseHostTensor;
use crate::element::Element;
use crate::error::TensorError;
use crate::identity;
use crate::scalar::ScalarHostTensor;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;
use crate::with_element;

/// A tensor that keeps only entries: a list of values, and a row of coordinates for each. Elements
/// without an entry are zero; if an element has several entries, the last one counts.
///
/// # Shapes
/// `indices`: `[n, rank]`, of type i64. `values`: `[n]`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{CooHostTensor, DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let indices = DenseHostTensor::from_elements(&allocator, Shape::new(&[2, 2])?, &[0_i64, 0, 1, 1])?;
/// let values = DenseHostTensor::from_elements(&allocator, Shape::new(&[2])?, &[4_i32, 7])?;
/// let diagonal = CooHostTensor::new(Shape::new(&[2, 2])?, indices, values)?;
/// assert_eq!(*diagonal.to_dense(&allocator)?.elements::<i32>()?, [4, 0, 0, 7]);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
// The coordinates are not known to be within the shape: their buffer may be shared with somebody
// who writes it. Who uses them checks them.
#[derive(Clone)]
pub struct CooHostTensor {
    dtype: DType,
    shape: Shape,
    indices: DenseHostTensor,
    values: DenseHostTensor,
}

impl CooHostTensor {
    /// Creates a tensor from these entries.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`] and [`TensorError::WrongShape`] if `indices` and `values` do not
    /// match each other or the shape.
    pub fn new(
        shape: Shape,
        indices: DenseHostTensor,
        values: DenseHostTensor,
    ) -> Result<Self, TensorError> {
        if indices.dtype() != DType::I64 {
            return Err(TensorError::WrongDType {
                expected: DType::I64,
                found: indices.dtype(),
            });
        }
        let num_entries = values.num_elements();
        values.expect_shape(&Shape::new(&[num_entries])?)?;
        indices.expect_shape(&Shape::new(&[num_entries, shape.rank()])?)?;
        Ok(Self {
            dtype: values.dtype(),
            shape,
            indices,
            values,
        })
    }

    /// Creates a sparse tensor of the non-zero elements of a dense one, in row-major order.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`], and [`TensorError::Conflict`] if the elements are being
    /// written.
    pub fn from_dense(
        dense: &DenseHostTensor,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<Self, TensorError> {
        with_element!(dense.dtype(), T => Self::from_dense_of::<T>(dense, allocator)?)
    }

    fn from_dense_of<T: Element>(
        dense: &DenseHostTensor,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<Self, TensorError> {
        let elements = dense.elements::<T>()?;
        let entries: Vec<usize> = (0..elements.len())
            .filter(|&position| elements[position] != T::ZERO)
            .collect();
        let shape = dense.shape();
        let (rank, strides) = (shape.rank(), shape.strides());
        let values = DenseHostTensor::from_fn(allocator, Shape::new(&[entries.len()])?, |entry| {
            elements[entries[entry]]
        })?;
        let indices =
            DenseHostTensor::from_fn(allocator, Shape::new(&[entries.len(), rank])?, |at| {
                let (entry, axis) = (at / rank, at % rank);
                // S1: positions fit.
                (entries[entry] / strides[axis] % shape.dims()[axis]) as i64
            })?;
        Self::new(shape.clone(), indices, values)
    }

    /// Returns the sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the coordinates: one row for each entry.
    #[must_use]
    pub fn indices(&self) -> &DenseHostTensor {
        &self.indices
    }

    /// Returns the values: one for each entry.
    #[must_use]
    pub fn values(&self) -> &DenseHostTensor {
        &self.values
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn num_entries(&self) -> usize {
        self.values.num_elements()
    }

    /// Checks that every entry lies within the shape.
    ///
    /// # Errors
    /// [`TensorError::IndexOutOfRange`] for the first one that does not, and
    /// [`TensorError::Conflict`].
    pub fn check_indices(&self) -> Result<(), TensorError> {
        let indices = self.indices.elements::<i64>()?;
        let strides = self.shape().strides();
        (0..self.num_entries())
            .try_for_each(|entry| self.position(&indices, &strides, entry).map(|_| ()))
    }

    /// Returns the row-major position of an entry.
    fn position(
        &self,
        indices: &[i64],
        strides: &[usize],
        entry: usize,
    ) -> Result<usize, TensorError> {
        let dims = self.shape().dims();
        let row = &indices[entry * dims.len()..];
        let mut position = 0;
        for (dimension, (&limit, stride)) in dims.iter().zip(strides).enumerate() {
            let index = row[dimension];
            let within = usize::try_from(index).ok().filter(|&index| index < limit);
            position += stride
                * within.ok_or(TensorError::IndexOutOfRange {
                    entry,
                    dimension,
                    index,
                    limit,
                })?;
        }
        Ok(position)
    }

    /// Converts the tensor to a dense one.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`], [`TensorError::IndexOutOfRange`], and
    /// [`TensorError::Conflict`] if the elements are being written; the entries.
    pub fn to_dense(
        &self,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor, TensorError> {
        with_element!(self.dtype(), T => {
            let mut dense = DenseHostTensor::zeroed(allocator, self.dtype, self.shape.clone())?;
            let indices = self.indices.elements::<i64>()?;
            let values = self.values.elements::<T>()?;
            let strides = self.shape().strides();
            let mut elements = dense.elements_mut::<T>()?;
            for (entry, value) in values.iter().enumerate() {
                elements[self.position(&indices, &strides, entry)?] = *value;
            }
            drop(elements);
            dense
        })
    }

    /// Converts the tensor to one value for all elements: zero if there is no entry, the entry if
    /// there is only one element.
    ///
    /// # Errors
    /// [`TensorError::NotOneValue`], [`TensorError::IndexOutOfRange`], and
    /// [`TensorError::Conflict`] if the elements are being written; the entries.
    pub fn to_scalar(&self) -> Result<ScalarHostTensor, TensorError> {
        if self.num_entries() != 0 && self.shape().num_elements() > 1 {
            return Err(TensorError::NotOneValue);
        }
        self.check_indices()?;
        with_element!(self.dtype(), T => {
            let value = self.values.elements::<T>()?.last().copied();
            ScalarHostTensor::new(self.shape().clone(), value.unwrap_or(T::ZERO))
        })
    }
}

impl Tensor for CooHostTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::COO_HOST
    }

    /// Returns all entries as text, which ends in a newline.
    fn to_text(&self) -> Result<String, TensorError> {
        let indices = self.indices.elements::<i64>()?;
        with_element!(self.dtype(), T => {
            let values = self.values.elements::<T>()?;
            let (indices, values) = (tensor::List(&indices), tensor::List(&values));
            format!(
                "CooHostTensor dtype = {}, shape = {}, indices = [{indices}], values = [{values}]\n",
                self.dtype(),
                self.shape(),
            )
        })
    }
}

tensor::impl_text!(CooHostTensor);

impl Value for CooHostTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for CooHostTensor {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;

    fn dense(dims: &[usize], elements: &[f32]) -> DenseHostTensor {
        DenseHostTensor::from_elements(&malloc(), Shape::new(dims).unwrap(), elements).unwrap()
    }

    fn coo(dims: &[usize], indices: &[i64], values: &[f32]) -> CooHostTensor {
        let shape = Shape::new(&[values.len(), dims.len()]).unwrap();
        let indices = DenseHostTensor::from_elements(&malloc(), shape, indices).unwrap();
        CooHostTensor::new(
            Shape::new(dims).unwrap(),
            indices,
            dense(&[values.len()], values),
        )
        .unwrap()
    }

    #[test]
    fn a_dense_tensor_comes_back_from_its_entries() {
        for (dims, elements) in [
            (&[3, 2][..], &[0.0, 1.0, 2.0, 0.0, 0.0, -3.0][..]),
            (&[2, 1, 2], &[0.0, 0.0, 7.0, 0.0]),
            (&[], &[4.0]),
            (&[], &[0.0]),
            (&[0, 3], &[]),
        ] {
            let tensor = dense(dims, elements);
            let sparse = CooHostTensor::from_dense(&tensor, &malloc()).unwrap();
            let back = sparse.to_dense(&malloc()).unwrap();
            assert_eq!(back.shape(), tensor.shape());
            assert_eq!(*back.elements::<f32>().unwrap(), *elements);
        }
    }

    #[test]
    fn entries_outside_of_the_shape_are_refused() {
        for (indices, dimension, index) in [([0, 2], 1, 2), ([-1, 0], 0, -1), ([3, 0], 0, 3)] {
            let error = coo(&[3, 2], &indices, &[1.0]).to_dense(&malloc());
            let limit = [3, 2][dimension];
            let expected = TensorError::IndexOutOfRange {
                entry: 0,
                dimension,
                index,
                limit,
            };
            assert_eq!(error.unwrap_err(), expected);
        }
    }

    #[test]
    fn entries_that_do_not_fit_each_other_are_refused() {
        let shape = Shape::new(&[3, 2]).unwrap();
        let indices = |dims: &[usize], indices: &[i64]| {
            DenseHostTensor::from_elements(&malloc(), Shape::new(dims).unwrap(), indices).unwrap()
        };
        let make = |indices, values| CooHostTensor::new(shape.clone(), indices, values);
        assert!(make(indices(&[1, 2], &[0, 0]), dense(&[1], &[1.0])).is_ok());
        assert!(make(indices(&[1, 2], &[0, 0]), dense(&[2], &[1.0, 1.0])).is_err());
        assert!(make(indices(&[2, 1], &[0, 0]), dense(&[2], &[1.0, 1.0])).is_err());
        assert!(make(indices(&[1, 2], &[0, 0]), dense(&[1, 1], &[1.0])).is_err());
        assert!(make(dense(&[1, 2], &[0.0, 0.0]), dense(&[1], &[1.0])).is_err());
    }

    #[test]
    fn only_what_is_one_value_becomes_a_scalar() {
        let value = |tensor: &CooHostTensor| tensor.to_scalar().map(|scalar| scalar.value::<f32>());
        assert_eq!(value(&coo(&[1, 1], &[0, 0], &[3.0])), Ok(Ok(3.0)));
        assert_eq!(value(&coo(&[5], &[], &[])), Ok(Ok(0.0)));
        assert_eq!(
            value(&coo(&[5], &[1], &[3.0])),
            Err(TensorError::NotOneValue)
        );
        assert!(value(&coo(&[1], &[1], &[3.0])).is_err());
    }

    #[test]
    fn entries_are_printed_all() {
        assert_eq!(
            coo(&[2, 2], &[0, 0, 1, 1], &[4.0, 7.0]).to_string(),
            "CooHostTensor dtype = f32, shape = [2, 2], indices = [0, 0, 1, 1], \
             values = [4.000000e+00, 7.000000e+00]\n"
        );
    }
}

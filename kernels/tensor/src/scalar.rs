//! Scalar tensors: one value for all elements.

use std::sync::Arc;

use tfrt_async::Value;
use tfrt_async::identity::TypeIdentity;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::DType;

use crate::dense::DenseHostTensor;
use crate::element::Element;
use crate::error::TensorError;
use crate::identity;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;
use crate::with_element;

/// A tensor whose elements all have one value, stored without a buffer.
///
/// ```
/// use tfrt_tensor::{ScalarHostTensor, Shape};
///
/// let tensor = ScalarHostTensor::new(Shape::new(&[2, 2])?, 1.5_f32);
/// assert_eq!(tensor.value::<f32>(), Ok(1.5));
/// assert!(tensor.value::<f64>().is_err());
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone)]
pub struct ScalarHostTensor {
    dtype: DType,
    shape: Shape,
    /// The bytes of the value, and zeros.
    value: Bytes,
}

/// The bytes of the widest element, aligned for every one.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Bytes([u8; 16]);

impl ScalarHostTensor {
    /// Creates a tensor of this shape, all of it `value`.
    #[must_use]
    pub fn new<T: Element>(shape: Shape, value: T) -> Self {
        Self {
            dtype: T::DTYPE,
            shape,
            value: Bytes(value.to_bytes()),
        }
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

    /// Returns the value.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`].
    pub fn value<T: Element>(&self) -> Result<T, TensorError> {
        if self.dtype() == T::DTYPE {
            Ok(T::from_bytes(self.value.0))
        } else {
            Err(TensorError::WrongDType {
                expected: T::DTYPE,
                found: self.dtype(),
            })
        }
    }

    /// Converts the tensor to a dense one.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn to_dense(
        &self,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor, TensorError> {
        with_element!(self.dtype(), T => {
            DenseHostTensor::filled(allocator, self.shape().clone(), self.value::<T>()?)?
        })
    }
}

impl Tensor for ScalarHostTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::SCALAR_HOST
    }

    fn to_text(&self) -> Result<String, TensorError> {
        with_element!(self.dtype(), T => {
            let value = [self.value::<T>()?];
            let value = tensor::List(&value);
            format!("ScalarHostTensor dtype = {}, shape = {}, value = {value}", self.dtype(), self.shape())
        })
    }
}

tensor::impl_text!(ScalarHostTensor);

impl Value for ScalarHostTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
    const IS_MUTABLE: bool = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;
    use crate::{I1, Quantized};
    use half::f16;
    use tfrt_support::complex::Complex;

    #[test]
    fn values_of_every_width_come_back() {
        fn check<T: Element>(value: T) {
            let tensor = ScalarHostTensor::new(Shape::new(&[3]).unwrap(), value);
            assert_eq!(tensor.value::<T>(), Ok(value));
            let dense = tensor.to_dense(&malloc()).unwrap();
            assert_eq!(*dense.elements::<T>().unwrap(), [value; 3]);
        }
        check(I1::from(true));
        check(-5_i8);
        check(f16::from_f32(1.5));
        check(u32::MAX);
        check(f64::MIN_POSITIVE);
        check(Complex::new(1.0_f32, -2.0));
        check(Complex::new(1.0_f64, -2.0));
        check(Quantized(-7_i16));
    }
}

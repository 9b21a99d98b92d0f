//! The common interface of all kinds of tensors.

use std::any::Any;
use std::fmt;

use tfrt_support::DType;
use tfrt_support::TensorMetadata;

use crate::element::Element;
use crate::error::TensorError;
use crate::shape::Shape;
use crate::tensor_type::TensorType;

/// The MLIR spelling of every kind of tensor.
pub const TENSOR_MLIR_TYPE: &str = "!t.tensor";

/// A tensor of whatever kind.
///
/// ```
/// use tfrt_tensor::{ScalarHostTensor, Shape, Tensor, TensorType};
///
/// let tensor = ScalarHostTensor::new(Shape::new(&[2])?, 5_i32);
/// let any: &dyn Tensor = &tensor;
/// assert_eq!((any.tensor_type(), any.shape().rank()), (TensorType::SCALAR_HOST, 1));
/// assert_eq!(any.to_string(), "ScalarHostTensor dtype = i32, shape = [2], value = 5");
/// assert!(any.downcast_ref::<ScalarHostTensor>().is_some());
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor",
    label = "does not implement `Tensor`",
    note = "`DenseHostTensor`, `ScalarHostTensor`, `StringHostTensor` and `CooHostTensor` \
            implement `Tensor`"
)]
pub trait Tensor: Any + Send + Sync + fmt::Display + fmt::Debug {
    /// Returns the type of the elements.
    fn dtype(&self) -> DType;

    /// Returns the sizes of the dimensions.
    fn shape(&self) -> &Shape;

    /// Returns the kind of the tensor.
    fn tensor_type(&self) -> TensorType;

    /// Returns the tensor in the format that programs print.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if the elements are being written.
    fn to_text(&self) -> Result<String, TensorError>;

    /// Returns the exact bytes that programs print: [`to_text`](Self::to_text), except for strings
    /// that are not UTF-8.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if the elements are being written.
    fn to_bytes(&self) -> Result<Vec<u8>, TensorError> {
        self.to_text().map(String::into_bytes)
    }

    /// Returns the type of the elements and the shape.
    fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(self.dtype(), self.shape())
    }
}

impl dyn Tensor {
    /// Returns the tensor as a `T`, if it has this kind.
    #[must_use]
    pub fn downcast_ref<T: Tensor>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }

    /// Returns the tensor as a `T`.
    ///
    /// # Errors
    /// [`TensorError::WrongTensorType`]; `expected` is the kind of `T`.
    pub fn expect<T: Tensor>(&self, expected: TensorType) -> Result<&T, TensorError> {
        self.downcast_ref().ok_or(TensorError::WrongTensorType {
            expected,
            found: self.tensor_type(),
        })
    }
}

/// Prints elements, with commas between them.
pub(crate) struct List<'a, T>(pub(crate) &'a [T]);

impl<T: Element> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, element) in self.0.iter().enumerate() {
            if position != 0 {
                f.write_str(", ")?;
            }
            element.write_text(f)?;
        }
        Ok(())
    }
}

/// Prints tensors by [`Tensor::to_text`]; what cannot be read at the moment, by its metadata alone.
macro_rules! impl_text {
    ($tensor:ty) => {
        impl ::std::fmt::Display for $tensor {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                use $crate::Tensor;

                match self.to_text() {
                    Ok(text) => f.write_str(&text),
                    Err(error) => write!(f, "{}: {error}", Tensor::metadata(self)),
                }
            }
        }

        impl ::std::fmt::Debug for $tensor {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}

pub(crate) use impl_text;

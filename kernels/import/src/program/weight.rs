//! The weights of programs.

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape, TensorError};

use super::constant::Constant;

/// A tensor that is passed to a program when it is loaded.
///
/// ```
/// use std::sync::Arc;
///
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_import::program::Weight;
/// use tfrt_tensor::{DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let bias = [0.5_f32, 0.25, 0.0];
/// let bias = DenseHostTensor::from_elements(&allocator, Shape::new(&[3])?, &bias)?;
/// let weight = Weight::new("layer.bias", bias);
/// assert_eq!(weight.shape().dims(), [3]);
/// assert_eq!(*weight.tensor()?.elements::<f32>()?, [0.5, 0.25, 0.0]);
/// assert_eq!(weight.len_bytes(), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weight {
    /// Its name, which may be empty.
    pub name: String,
    pub(crate) constant: Constant,
}

impl Weight {
    /// Returns a weight.
    #[must_use]
    pub fn new(name: &str, tensor: DenseHostTensor) -> Self {
        Self {
            name: name.to_owned(),
            constant: tensor.into(),
        }
    }

    /// Returns its tensor. If rules have changed filters of convolutions, the first call makes a
    /// copy with the changes; other threads may do so, too, and use the same one afterwards.
    ///
    /// # Errors
    /// If filters are to be changed: [`TensorError::OutOfMemory`], and [`TensorError::Conflict`] if
    /// somebody writes to the original ones.
    pub fn tensor(&self) -> Result<&DenseHostTensor, TensorError> {
        self.constant.tensor()
    }

    /// Returns its element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.constant.dtype()
    }

    /// Returns its shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.constant.shape()
    }

    /// Returns how many bytes all its elements take.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.constant.len_bytes()
    }
}

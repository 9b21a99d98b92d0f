//! Tensors of files, with their names.

use crate::dense::DenseHostTensor;
use crate::file::error::FileError;
use crate::tensor::Tensor;

/// A tensor of a file.
#[derive(Debug)]
pub struct NamedTensor {
    /// Its name; its index if the format has no names.
    pub name: String,
    /// The tensor.
    pub tensor: Box<dyn Tensor>,
}

impl NamedTensor {
    /// Creates a named tensor.
    #[must_use]
    pub fn new(name: impl Into<String>, tensor: impl Tensor) -> Self {
        Self {
            name: name.into(),
            tensor: Box::new(tensor),
        }
    }

    /// Returns the tensor as a dense one.
    pub(super) fn expect_dense(&self, format: &'static str) -> Result<&DenseHostTensor, FileError> {
        self.tensor.downcast_ref().ok_or_else(|| FileError::Kind {
            format,
            name: self.name.clone(),
            kind: self.tensor.tensor_type().name(),
        })
    }
}

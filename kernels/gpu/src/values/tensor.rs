//! Dense tensors in the memory of a GPU.

use std::fmt;

use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor, TensorError, TensorKind, TensorType};

use super::GpuContext;
use super::memory::{Buffer, Part};
use crate::api::DevicePtr;

/// A dense tensor, row-major, in a buffer of a GPU. Clones share the buffer.
#[derive(Clone, Debug, Value)]
#[value("!t.tensor")]
pub struct DenseGpuTensor {
    dtype: DType,
    shape: Shape,
    part: Part,
}

impl DenseGpuTensor {
    /// Creates a tensor from the bytes of a buffer, which it shares. Messages start with `kernel`.
    ///
    /// # Errors
    /// If the buffer is empty, or its size differs from that of the tensor.
    pub fn new(kernel: &str, dtype: DType, shape: Shape, buffer: &Buffer) -> Result<Self> {
        let Some(part) = buffer.part() else {
            return Err(Error::new(
                "Cannot make tensor from invalid (moved from?) buffer",
            ));
        };
        let element_bytes = dtype.size_bytes().unwrap_or(0);
        let expected = shape.num_elements().checked_mul(element_bytes);
        if expected != Some(part.num_bytes) {
            return Err(Error::new(format!(
                "{kernel} failed: buffer_size ({}) is not equal to the number of elements in \
                 shape ({shape}) times element size ({element_bytes})",
                part.num_bytes
            )));
        }
        Ok(Self { dtype, shape, part })
    }

    /// Returns the same elements in another shape.
    ///
    /// # Errors
    /// If the shape has another number of elements.
    pub fn reshaped(&self, shape: Shape) -> Result<Self> {
        if shape.num_elements() != self.shape.num_elements() {
            return Err(Error::new(format!(
                "expected a shape of {} elements, found {shape}",
                self.shape.num_elements()
            ))
            .with_code(ErrorCode::InvalidArgument));
        }
        Ok(Self {
            shape,
            ..self.clone()
        })
    }

    /// Returns the address of the first element; null of a tensor without elements.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.part.pointer
    }

    /// Returns the size of the elements.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.part.num_bytes
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// Returns the context that the memory belongs to; none for memory of the embedder, and for no
    /// memory.
    #[must_use]
    pub fn context(&self) -> Option<GpuContext> {
        self.part.context()
    }
}

inventory::submit! { TensorKind::of::<DenseGpuTensor>() }

impl fmt::Display for DenseGpuTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, shape, part } = self;
        write!(
            f,
            "DenseGpuTensor<dtype={dtype}, shape={shape}, pointer={}>",
            part.pointer
        )
    }
}

impl Tensor for DenseGpuTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::DENSE_GPU
    }

    fn to_text(&self) -> Result<String, TensorError> {
        Ok(self.to_string())
    }
}

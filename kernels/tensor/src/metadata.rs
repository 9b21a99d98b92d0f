//! What is known of a tensor without its data, as the runtime asks for it: see [`TensorMetadata`].

use tfrt_host::ExecutionContext;
use tfrt_host::kernel::{Preallocated, Shaped};
use tfrt_support::metadata::TensorMetadata;
use tfrt_support::{DType, Error};

use crate::dense::DenseHostTensor;
use crate::element::element_bytes;
use crate::error::TensorError;
use crate::shape::Shape;

/// How many bytes the elements of a tensor take.
///
/// # Errors
/// [`TensorError::NoElements`] for types without a size, [`TensorError::OutOfMemory`] for more than can be addressed.
pub fn size_bytes(dtype: DType, shape: &Shape) -> Result<usize, TensorError> {
    let element_bytes = element_bytes(dtype)?;
    let num_elements = shape.num_elements();
    num_elements
        .checked_mul(element_bytes)
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| TensorError::OutOfMemory {
            size_bytes: num_elements.saturating_mul(element_bytes),
        })
}

impl Shaped for DenseHostTensor {
    fn metadata(&self) -> TensorMetadata {
        self.metadata()
    }
}

impl Preallocated for DenseHostTensor {
    fn allocate(ctx: &ExecutionContext, metadata: &TensorMetadata) -> Result<Self, Error> {
        let shape = Shape::try_from(&metadata.extents)?;
        Ok(Self::zeroed(ctx.allocator(), metadata.dtype, shape)?)
    }
}

//! The interface through which kernels get the metadata of dense tensors, and preallocated tensors:
//! see [`TensorMetadata`].

use tfrt_host::ExecutionContext;
use tfrt_host::kernel::{Preallocated, Shaped};
use tfrt_support::Error;
use tfrt_support::TensorMetadata;

use crate::dense::DenseHostTensor;
use crate::shape::Shape;

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

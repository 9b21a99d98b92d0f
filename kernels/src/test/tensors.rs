//! Tensors from constants, for tests.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::dense_tensors::create::from_attribute;

/// Creates a tensor of a dense attribute.
#[tfrt_kernel("tfrt_test.const_dense_attr", results(tensor), attribute_names = free)]
fn const_dense_attr(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    from_attribute(value, ctx)
}

/// Creates a tensor of a dense attribute.
#[tfrt_kernel("tfrt_test.sync.const_dense_attr", sync, results(tensor), attribute_names = free)]
fn const_dense_attr_sync(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    from_attribute(value, ctx)
}

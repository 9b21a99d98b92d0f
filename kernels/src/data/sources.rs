//! Datasets without an input.

use tfrt::data::Dataset;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::op_verifiers::verify_range;

/// Creates a dataset of numbers from `start` in steps of `step`, up to but excluding `stop`.
///
/// Integers wrap to the element type, floats are rounded, and the bits of an `f16` are the low bits
/// of the number. A step of zero yields an empty range. For other element types every draw fails
/// with `Unsupported data type`.
#[tfrt_kernel(
    "tfrt_data.range_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_range
)]
fn range_dataset(start: i64, stop: i64, step: i64, #[attr] element_type: DType) -> Result<Dataset> {
    Dataset::range_of(element_type, start, stop, step)
}

/// Creates a dataset with each operand as an element.
#[tfrt_kernel(
    "tfrt_data.make_dataset_from_values.{T}",
    T = [i32, i64, ByteString as "str", DenseHostTensor as "tensor"],
    results(dataset)
)]
fn make_dataset_from_values<T: Value + Clone>(
    _chain: Chain,
    values: Operands<'_, T>,
) -> Result<Dataset> {
    let values: Vec<AnyRef> = values.iter().cloned().map(AnyRef::available).collect();
    Dataset::from_values(&values)
}

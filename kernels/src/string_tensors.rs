//! `tfrt_sht.*` and `tfrt_sht_sync.*`: tensors of byte strings.

use tfrt::attr::{AttrError, AttrRef, AttrTypeCode};
use tfrt::prelude::*;
use tfrt_tensor::{Shape, StringHostTensor};

use crate::dense_tensors::create::cannot_allocate;

/// Returns a tensor of strings that an attribute lists.
fn create(shape: &[i64], values: AggregateView<'_>) -> Result<StringHostTensor> {
    let shape = Shape::from_signed(shape).map_err(|_| Error::new("Failed to create SHT"))?;
    let strings = values.iter().map(bytes_of).collect::<Result<Vec<_>, _>>()?;
    StringHostTensor::new(shape, strings).map_err(|_| Error::new("Shape mismatch"))
}

/// Returns the bytes of a string, which need not be text.
pub(crate) fn bytes_of(value: AttrRef<'_>) -> Result<Vec<u8>, AttrError> {
    match value.code() {
        AttrTypeCode::STRING => value.read::<&[u8]>().map(<[u8]>::to_vec),
        _ => value.read::<&str>().map(|text| text.as_bytes().to_vec()),
    }
}

/// Creates a tensor from its strings.
///
/// # Errors
/// `Failed to create SHT` if the shape is invalid, `Shape mismatch` if it has another number of
/// elements.
#[tfrt_kernel("tfrt_sht.create_tensor", results(tensor), attribute_names = free)]
fn create_tensor(
    #[attr] shape: &[i64],
    #[attr] values: AggregateView<'_>,
) -> Result<StringHostTensor> {
    create(shape, values)
}

/// Creates a tensor from its strings.
///
/// # Errors
/// `Failed to create SHT` if the shape is invalid, `Shape mismatch` if it has another number of
/// elements.
#[tfrt_kernel("tfrt_sht_sync.create_tensor", sync, results(tensor), attribute_names = free)]
fn create_tensor_sync(
    #[attr] shape: &[i64],
    #[attr] values: AggregateView<'_>,
) -> Result<StringHostTensor> {
    create(shape, values)
}

/// Creates a tensor of empty strings.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_sht_sync.create_uninitialized_tensor",
    sync,
    results(tensor),
    attribute_names = free,
)]
fn create_uninitialized_tensor_sync(#[attr] shape: &[i64]) -> Result<StringHostTensor> {
    StringHostTensor::empty_strings(Shape::from_signed(shape)?).map_err(cannot_allocate)
}

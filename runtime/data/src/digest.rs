//! Values as a checksum, by which descriptions of pipelines tell them apart.

use tfrt_async::{AnyRef, ByteString};
use tfrt_tensor::{DenseHostTensor, serialize};

use crate::checkpoint::checksum;
use crate::numbers::scalar;
use crate::result::are_available;

/// Returns the checksum of values, or `None` while one is pending. Values of types that checkpoints
/// cannot hold count by their type.
pub(crate) fn digest_of(values: &[AnyRef]) -> Option<u64> {
    if !are_available(values) {
        return None;
    }
    let mut bytes = Vec::new();
    for value in values {
        add_value(value, &mut bytes);
    }
    Some(checksum(&bytes))
}

/// Appends what identifies an available value.
pub(crate) fn add_value(value: &AnyRef, to: &mut Vec<u8>) {
    to.extend_from_slice(value.mlir_type().unwrap_or("error").as_bytes());
    if let Some((dtype, number)) = scalar(value) {
        to.push(dtype.code());
        to.extend_from_slice(&number);
    } else if let Some(string) = value.get::<ByteString>() {
        to.extend_from_slice(string.as_bytes());
    } else if let Some(tensor) = value.get::<DenseHostTensor>() {
        to.extend_from_slice(&serialize::metadata(tensor.dtype(), tensor.shape()));
        if let Ok(elements) = tensor.buffer().read() {
            to.extend_from_slice(&elements);
        }
    } else if let Some(error) = value.error_if_present() {
        to.extend_from_slice(error.message().as_bytes());
    }
}

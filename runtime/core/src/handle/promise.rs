//! Handles of which nothing is known yet.

use tfrt_async::{AnyRef, AsyncValueRef, IndirectPromise, Promise};
use tfrt_host::device::DeviceRef;
use tfrt_support::Error;

use super::{DevicePart, MetadataPart, MetadataValue, TensorHandle};

/// The right to say which handle a pending one is. If it is dropped, the handle becomes an error.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_core::TensorHandle;
/// use tfrt_core::HandlePromise;
/// use tfrt_host::device::{CpuDevice, DeviceRef};
/// use tfrt_tensor::{DenseHostTensor, TensorError};
///
/// let (promise, pending) = HandlePromise::new();
/// assert_eq!(pending.to_string(), "fully future TensorHandle with unresolved metadata");
/// let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
/// promise.forward_to(&TensorHandle::of_tensor(cpu, DenseHostTensor::vector(&[7_i32])?));
/// assert_eq!(pending.to_string(), "DenseHostTensor dtype = i32, shape = [1], values = [7]");
/// # Ok::<(), TensorError>(())
/// ```
#[derive(Debug)]
#[must_use = "a promise that is dropped makes its handle an error"]
pub struct HandlePromise {
    tensor: IndirectPromise,
    device: Promise<DeviceRef>,
    metadata: Promise<MetadataValue>,
}

impl HandlePromise {
    /// Creates a handle whose parts are all pending, and the promise for them.
    pub fn new() -> (Self, TensorHandle) {
        let (tensor, pending_tensor) = AnyRef::indirect();
        let (device, pending_device) = AsyncValueRef::unconstructed();
        let (metadata, pending_metadata) = AsyncValueRef::unconstructed();
        let promise = Self {
            tensor,
            device,
            metadata,
        };
        let handle = TensorHandle::new(pending_device, pending_metadata, pending_tensor);
        (promise, handle)
    }

    /// Says that the handle is this one, parts of which may be pending.
    pub fn forward_to(self, handle: &TensorHandle) {
        let (Some(tensor), Some(device), Some(metadata)) = (
            handle.tensor(),
            handle.device_part(),
            handle.metadata_part(),
        ) else {
            return self.fail(&Error::new("a function returned an invalid tensor handle"));
        };
        let promise = self.device;
        match device {
            DevicePart::Known(device) => promise.emplace(device.clone()),
            DevicePart::Pending(pending) => pending.and_then(move |pending| match pending.get() {
                Some(device) => promise.emplace(device.clone()),
                None => promise.set_error(error_of(pending.as_any())),
            }),
        }
        let promise = self.metadata;
        match metadata {
            MetadataPart::Known(metadata) => promise.emplace(MetadataValue(metadata)),
            MetadataPart::Pending(pending) => {
                pending.and_then(move |pending| match pending.get() {
                    Some(metadata) => promise.emplace(metadata.clone()),
                    None => promise.set_error(error_of(pending.as_any())),
                });
            }
        }
        self.tensor.forward_to(tensor.clone());
    }

    /// Makes the handle an error.
    pub fn fail(self, error: &Error) {
        // First the tensor: who waits for the others asks it for the error.
        self.tensor.set_error(error.clone());
        self.device.set_error(error.clone());
        self.metadata.set_error(error.clone());
    }
}

fn error_of(value: &AnyRef) -> Error {
    let error = value.error_if_present().cloned();
    error.unwrap_or_else(|| Error::new("a value has a type other than the promised one"))
}

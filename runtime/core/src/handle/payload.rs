//! Handles that are payloads of values: what functions of programs take and return.

use tfrt_async::AnyRef;
use tfrt_host::device::DeviceRef;
use tfrt_support::{Error, TensorMetadata};

use super::{HandlePromise, TensorHandle};

impl TensorHandle {
    /// Returns the handle that is the payload of a value. If the value is pending, so is every part
    /// of the handle. If the value is an error, or holds something else, the handle is an error.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_core::EagerContext;
    /// use tfrt_core::TensorHandle;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let (promise, value) = AnyRef::indirect();
    /// let handle = TensorHandle::from_value(&value);
    /// assert_eq!(handle.to_string(), "fully future TensorHandle with unresolved metadata");
    /// promise.forward_to(AnyRef::available(eager.tensor([7])?));
    /// assert_eq!(eager.to_vec::<i32>(&handle)?, [7]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn from_value(value: &AnyRef) -> Self {
        Self::now_or_later(value, AnyRef::is_available, None)
    }

    /// Does the same as [`from_value`](Self::from_value) for a handle whose device and metadata are
    /// known before: of a pending value, only the tensor is pending.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_core::EagerContext;
    /// use tfrt_core::TensorHandle;
    /// use tfrt_host::HostContext;
    /// use tfrt_support::{DType, TensorMetadata};
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let device = eager.devices().next().unwrap();
    /// let (promise, value) = AnyRef::indirect();
    /// let metadata = TensorMetadata::new(DType::I32, [1]);
    /// let handle = TensorHandle::from_value_on(&value, device, &metadata);
    /// assert_eq!(handle.to_string(), "future TensorHandle with metadata i32 [1]");
    /// promise.forward_to(AnyRef::available(eager.tensor([7])?));
    /// assert_eq!(eager.to_vec::<i32>(&handle)?, [7]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn from_value_on(value: &AnyRef, device: &DeviceRef, metadata: &TensorMetadata) -> Self {
        Self::now_or_later(value, AnyRef::is_available, Some((device, metadata)))
    }

    /// Returns the payload of a value, or a handle that will be the payload.
    ///
    /// `is_available` is the only question about a value that may be pending, and the first one: a
    /// pending value may become an error between any two questions.
    fn now_or_later(
        value: &AnyRef,
        is_available: impl FnOnce(&AnyRef) -> bool,
        known: Option<(&DeviceRef, &TensorMetadata)>,
    ) -> Self {
        if is_available(value) {
            return Self::from_available(value);
        }
        let Some((device, metadata)) = known else {
            let (promise, handle) = HandlePromise::new();
            value.and_then(move |value| promise.forward_to(&Self::from_available(value)));
            return handle;
        };
        let (promise, tensor) = AnyRef::indirect();
        value.and_then(
            move |value| match Self::from_available(value).release_tensor() {
                Some(tensor) => promise.forward_to(tensor),
                None => {
                    promise.set_error(Error::new("a function returned an invalid tensor handle"))
                }
            },
        );
        Self::new(device.clone(), metadata.clone(), tensor)
    }

    /// Returns the handle that is the payload of an available value.
    fn from_available(value: &AnyRef) -> Self {
        if let Some(error) = value.error_if_present() {
            return Self::error(error.clone());
        }
        match value.try_read::<Self>() {
            Ok(handle) => handle.clone(),
            Err(error) => Self::error(Error::new(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::device::CpuDevice;
    use tfrt_support::DType;

    use super::*;

    fn device() -> DeviceRef {
        DeviceRef(Arc::new(CpuDevice::new("CPU:0")))
    }

    fn metadata() -> TensorMetadata {
        TensorMetadata::new(DType::I32, [1])
    }

    #[test]
    fn a_value_that_becomes_an_error_meanwhile_is_that_error() {
        let (device, metadata) = (device(), metadata());
        for known in [None, Some((&device, &metadata))] {
            for is_error_before in [true, false] {
                let (promise, value) = AnyRef::indirect();
                let handle = TensorHandle::now_or_later(
                    &value,
                    // Another thread makes the value an error while it is asked.
                    |value| {
                        let was_available = value.is_available();
                        promise.set_error(Error::new("no value"));
                        is_error_before || was_available
                    },
                    known,
                );
                let message = handle.error_if_present().map(Error::message);
                assert_eq!(message, Some("no value"));
            }
        }
    }

    #[test]
    fn what_is_known_before_is_known_of_a_pending_value() {
        let (promise, value) = AnyRef::indirect();
        let handle = TensorHandle::from_value_on(&value, &device(), &metadata());
        assert_eq!(handle.metadata(), Some(metadata()));
        assert!(handle.device().is_some());
        promise.forward_to(AnyRef::available(TensorHandle::INVALID));
        assert_eq!(
            handle.to_string(),
            "Error TensorHandle: 'a function returned an invalid tensor handle'"
        );
    }

    #[test]
    fn other_values_are_errors() {
        for value in [AnyRef::available(7_i32), AnyRef::ready_chain()] {
            let error = TensorHandle::from_value(&value);
            assert!(error.error_if_present().is_some());
        }
    }
}

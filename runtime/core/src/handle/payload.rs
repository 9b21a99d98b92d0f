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
        if value.is_available() {
            return Self::from_available(value);
        }
        let (promise, handle) = HandlePromise::new();
        value.and_then(move |value| promise.forward_to(&Self::from_available(value)));
        handle
    }

    /// Does the same as [`from_value`](Self::from_value) for a handle whose device and metadata are
    /// known before: of a pending value, only the tensor is pending.
    #[must_use]
    pub fn from_value_on(value: &AnyRef, device: &DeviceRef, metadata: &TensorMetadata) -> Self {
        if value.is_available() {
            return Self::from_available(value);
        }
        let (promise, tensor) = AnyRef::indirect();
        value.and_then(move |value| {
            let tensor = Self::from_available(value).release_tensor();
            match tensor {
                Some(tensor) => promise.forward_to(tensor),
                None => {
                    promise.set_error(Error::new("a function returned an invalid tensor handle"));
                }
            }
        });
        Self::new(device.clone(), metadata.clone(), tensor)
    }

    /// Returns the handle that is the payload of an available value.
    // Callers ask whether the value is available before they ask anything else: a pending value may
    // become an error between any two questions.
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
    use std::hint::spin_loop;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tfrt_host::device::CpuDevice;
    use tfrt_support::DType;

    use super::*;

    fn device() -> DeviceRef {
        DeviceRef(Arc::new(CpuDevice::new("CPU:0")))
    }

    fn metadata() -> TensorMetadata {
        TensorMetadata::new(DType::I32, [1])
    }

    /// Makes handles of values that another thread makes errors at the same time.
    fn check_race(handle_of: impl Fn(&AnyRef) -> TensorHandle) {
        const NUM_ROUNDS: usize = 20_000;
        let (promises, values): (Vec<_>, Vec<_>) =
            (0..NUM_ROUNDS).map(|_| AnyRef::indirect()).unzip();
        // Both threads count their steps, so that they meet at each value.
        let steps = [const { AtomicUsize::new(0) }; 2];
        let meet = |thread: usize, round: usize| {
            steps[thread].store(round + 1, Ordering::Release);
            let mut num_looks = 0_u32;
            while steps[1 - thread].load(Ordering::Acquire) <= round {
                spin_loop();
                num_looks += 1;
                // The other thread may wait for this processor.
                if num_looks.is_multiple_of(256) {
                    std::thread::yield_now();
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (round, promise) in promises.into_iter().enumerate() {
                    let error = Error::new("no value");
                    meet(0, round);
                    (0..round % 97).for_each(|_| spin_loop());
                    promise.set_error(error);
                }
            });
            for (round, value) in values.iter().enumerate() {
                meet(1, round);
                (0..round % 89).for_each(|_| spin_loop());
                let handle = handle_of(value);
                while !handle.tensor().is_some_and(AnyRef::is_available) {
                    std::thread::yield_now();
                }
                let message = handle.error_if_present().map(Error::message);
                assert_eq!(message, Some("no value"));
            }
        });
    }

    #[test]
    fn a_value_that_becomes_an_error_meanwhile_is_that_error() {
        check_race(TensorHandle::from_value);
        let (device, metadata) = (device(), metadata());
        check_race(|value| TensorHandle::from_value_on(value, &device, &metadata));
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

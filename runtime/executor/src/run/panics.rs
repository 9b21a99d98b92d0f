//! What panics on the way between the executor and what it calls: caught, told, and dropped without another panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_host::kernel::panic::panic_error;
use tfrt_support::Error;

/// Runs what must not keep the caller from going on.
pub(crate) fn catch(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_quietly(payload);
    }
}

/// The error of a kernel that panicked with `payload`.
#[cold]
pub(crate) fn panicked(kernel: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = panic_error(kernel, &*payload);
    drop_quietly(payload);
    error
}

/// Drops what may panic once more while it goes away.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Whatever a panic brought along that panics itself is better leaked than dropped.
        std::mem::forget(payload);
    }
}

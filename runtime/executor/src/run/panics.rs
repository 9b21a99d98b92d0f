//! Panics between the executor and the code that it calls: caught, reported, and dropped without
//! another panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_host::__runtime::panic_error;
use tfrt_support::Error;

/// Runs `f`, and swallows its panic so that the caller can continue.
pub(crate) fn catch(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_quietly(payload);
    }
}

/// Returns the error of a kernel that panicked with `payload`.
#[cold]
pub(crate) fn panicked(kernel: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = panic_error(kernel, &*payload);
    drop_quietly(payload);
    error
}

/// Drops a value whose destructor may panic.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // A panic payload may itself panic when dropped, so it is leaked.
        std::mem::forget(payload);
    }
}

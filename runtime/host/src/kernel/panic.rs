//! Panics of kernels as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_support::{Error, ErrorCode};

/// Returns the error of a kernel that panicked with `payload`: `kernel 'NAME' panicked: MESSAGE`.
///
/// ```
/// use tfrt_host::__runtime::panic_error;
///
/// let error = panic_error("my.add", &"overflow");
/// assert_eq!(error.message(), "kernel 'my.add' panicked: overflow");
/// ```
#[cold]
#[must_use]
pub fn panic_error(kernel: &str, payload: &(dyn Any + Send)) -> Error {
    let message = panic_message(payload);
    Error::new(format!("kernel '{kernel}' panicked: {message}")).with_code(ErrorCode::Internal)
}

/// Runs the work of a kernel or an op, and converts a panic to an error.
///
/// ```
/// use tfrt_host::__runtime::catch;
///
/// assert_eq!(catch("my.add", || Ok(3)).ok(), Some(3));
/// let error = catch("my.add", || -> Result<(), _> { std::panic::resume_unwind(Box::new("overflow")) });
/// assert_eq!(error.unwrap_err().message(), "kernel 'my.add' panicked: overflow");
/// ```
///
/// # Errors
/// The error of the work, or that of its panic.
pub fn catch<T>(kernel: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // Half-finished state belongs to the kernel, whose results are errors.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(kernel, payload)))
}

/// Returns the error of a kernel that panicked with `payload`, which is dropped here. A second
/// panic in its destructor is ignored.
#[cold]
pub(crate) fn panicked(kernel: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = panic_error(kernel, &*payload);
    drop_quietly(payload);
    error
}

/// Drops a value whose destructor may panic.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    quietly(|| drop(value));
}

/// Runs code that may panic, and discards the panic.
#[inline]
pub(crate) fn quietly(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        // Leak a panic payload rather than risk that its destructor panics.
        std::mem::forget(payload);
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

//! Panics of kernels as errors.

use std::any::Any;

use tfrt_support::{Error, ErrorCode};

/// The error of a kernel that panicked with `payload`: `kernel 'NAME' panicked: MESSAGE`.
///
/// ```
/// use tfrt_host::kernel::panic::panic_error;
///
/// let error = panic_error("my.add", &"overflow");
/// assert_eq!(error.message(), "kernel 'my.add' panicked: overflow");
/// ```
#[cold]
#[must_use]
pub fn panic_error(kernel: &str, payload: &(dyn Any + Send)) -> Error {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Error::new(format!("kernel '{kernel}' panicked: {message}")).with_code(ErrorCode::Internal)
}

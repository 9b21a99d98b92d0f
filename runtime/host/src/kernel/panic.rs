//! Panics of kernels as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_async::AnyRef;
use tfrt_support::{Error, ErrorCode};

use crate::kernel::registry::NativeCall;

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

/// Calls a native function. If it panics, that is the error of every result that it has not set.
///
/// Where the function is part of a kernel library, its caller could not catch the panic.
pub fn call_native(name: &str, call: NativeCall<'_>, function: impl FnOnce(NativeCall<'_>)) {
    let NativeCall {
        host,
        arguments,
        results,
    } = call;
    let call = NativeCall {
        host,
        arguments,
        results: &mut *results,
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| function(call))) {
        let error = AnyRef::error(panic_error(name, &*payload));
        let unset = results.iter_mut().filter(|result| result.is_none());
        unset.for_each(|result| *result = Some(error.clone()));
    }
}

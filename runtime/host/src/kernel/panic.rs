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
    let message = panic_message(payload);
    Error::new(format!("kernel '{kernel}' panicked: {message}")).with_code(ErrorCode::Internal)
}

/// Does the work of a kernel or an op. If it panics, that is its error.
///
/// ```
/// use tfrt_host::kernel::panic::catch;
///
/// assert_eq!(catch("my.add", || Ok(3)).ok(), Some(3));
/// let error = catch("my.add", || -> Result<(), _> { std::panic::resume_unwind(Box::new("overflow")) });
/// assert_eq!(error.unwrap_err().message(), "kernel 'my.add' panicked: overflow");
/// ```
///
/// # Errors
/// That of the work; that it panicked.
pub fn catch<T>(kernel: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // What is left half done belongs to the kernel, whose results are errors.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(kernel, payload)))
}

/// The error of a kernel that panicked with `payload`, which is dropped here. A second panic in its destructor is ignored.
#[cold]
pub(crate) fn panicked(kernel: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = panic_error(kernel, &*payload);
    drop_quietly(payload);
    error
}

/// Drops what may panic while it goes away.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    quietly(|| drop(value));
}

/// Does what may panic, and survives that.
#[inline]
pub(crate) fn quietly(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        // A payload that panics itself is better leaked than dropped.
        std::mem::forget(payload);
    }
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Calls a native function. If it panics, that is the error of every result, also of those that it has set: it did not do
/// what they say.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::HostContext;
/// use tfrt_host::kernel::panic::call_native;
/// use tfrt_host::kernel::registry::NativeCall;
///
/// let host = HostContext::builder().build();
/// let mut results = [None, None];
/// let call = NativeCall { host: &host, arguments: &[], results: &mut results };
/// call_native("my_native", call, |call| {
///     call.results[0] = Some(AnyRef::ready_chain());
///     std::panic::resume_unwind(Box::new("overflow"));
/// });
/// for result in results {
///     let error = result.unwrap().error_if_present().cloned().unwrap();
///     assert_eq!(error.message(), "kernel 'my_native' panicked: overflow");
/// }
/// ```
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
        let error = AnyRef::error(panicked(name, payload));
        for result in results {
            // What a result holds may panic as it goes away, too.
            drop_quietly(result.replace(error.clone()));
        }
    }
}

//! Native functions: Rust functions that programs call like their own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_async::AnyRef;
use tfrt_ods::SourcePlace;
use tfrt_support::name_table::Named;

use crate::kernel::panic::{drop_quietly, panicked};
use crate::services::host::HostContext;

/// A Rust function that programs call like their own functions, collected at link time.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::kernel::NativeFunction;
///
/// fn native_sink(_call: tfrt_host::kernel::NativeCall<'_>) {}
///
/// tfrt_host::__private::submit! {
///     NativeFunction {
///         name: "native_sink",
///         place: tfrt_ods::SourcePlace { file: file!(), line: line!() },
///         execute: native_sink,
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NativeFunction {
    /// The name under which programs declare it.
    pub name: &'static str,
    /// The location of its registration.
    pub place: SourcePlace,
    /// Runs it once all arguments are available, including errors. It fills every result slot. In a
    /// kernel library it must not panic; `tfrt::native_function!` ensures that.
    pub execute: fn(NativeCall<'_>),
}

inventory::collect!(NativeFunction);

/// One call of a [`NativeFunction`].
#[derive(Debug)]
pub struct NativeCall<'a> {
    /// The host.
    pub host: &'a HostContext,
    /// The arguments.
    pub arguments: &'a [AnyRef],
    /// The slots of its results.
    pub results: &'a mut [Option<AnyRef>],
}

impl Named for NativeFunction {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// Calls a native function. If it panics, every result becomes an error, including those that it
/// has set: the function did not complete.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::HostContext;
/// use tfrt_host::__runtime::call_native;
/// use tfrt_host::kernel::NativeCall;
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
/// If the function is in a kernel library, its caller could not catch the panic.
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
            // Dropping the previous value may panic, too.
            drop_quietly(result.replace(error.clone()));
        }
    }
}

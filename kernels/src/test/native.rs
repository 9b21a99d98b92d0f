//! Native functions: Rust functions that programs declare without a body and call like their own.
//!
//! A native function runs when its arguments are available. It must check them for errors, unlike a
//! kernel, which would not run.

use tfrt::kernel::NativeCall;
use tfrt::prelude::*;
use tfrt::queue::Task;

tfrt::native_function!("native_sink", sink);
tfrt::native_function!("native_async_sink", async_sink);
tfrt::native_function!("native_add", add);
tfrt::native_function!("native_async_add", async_add);
tfrt::native_function!("native_error", error);

/// Takes anything, returns nothing.
fn sink(_call: NativeCall<'_>) {}

/// Takes anything, returns a chain.
fn async_sink(call: NativeCall<'_>) {
    give(call, AnyRef::ready_chain());
}

/// Returns the sum of two numbers.
fn add(call: NativeCall<'_>) {
    let sum =
        numbers(&call).map_or_else(|error| error, |(a, b)| AnyRef::available(a.wrapping_add(b)));
    give(call, sum);
}

/// Returns the sum of two numbers, from a task of the work queue.
fn async_add(call: NativeCall<'_>) {
    let sum = match numbers(&call) {
        Ok((a, b)) => {
            let (promise, sum) = AsyncValueRef::unconstructed();
            call.host
                .queue()
                .add_task(Task::new(move || promise.emplace(a.wrapping_add(b))));
            sum.into_any()
        }
        Err(error) => error,
    };
    give(call, sum);
}

/// Fails. No handler is notified.
fn error(call: NativeCall<'_>) {
    give(call, AnyRef::error(Error::new("something bad happened")));
}

/// The only result is `value`.
fn give(call: NativeCall<'_>, value: AnyRef) {
    call.results.fill(Some(value));
}

/// Returns the arguments, which are two numbers, or the reason why they are not.
fn numbers(call: &NativeCall<'_>) -> Result<(i32, i32), AnyRef> {
    // The last error counts, as among the operands of a kernel.
    if let Some(error) = call
        .arguments
        .iter()
        .rev()
        .find(|argument| argument.is_error())
    {
        return Err(error.clone());
    }
    match call.arguments {
        [a, b] => a.get().copied().zip(b.get().copied()),
        _ => None,
    }
    .ok_or_else(|| {
        let error = Error::new("a native sum takes two operands of type `i32`")
            .with_code(ErrorCode::InvalidArgument);
        AnyRef::error(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(arguments: &[AnyRef]) -> AnyRef {
        let host = HostContext::builder().build();
        let mut results = [None];
        add(NativeCall {
            host: &host,
            arguments,
            results: &mut results,
        });
        let [sum] = results;
        sum.unwrap_or_else(|| AnyRef::error(Error::new("no result")))
    }

    #[test]
    fn numbers_add_up() {
        assert_eq!(
            sum_of(&[AnyRef::available(40), AnyRef::available(2)]).get::<i32>(),
            Some(&42)
        );
    }

    #[test]
    fn the_last_error_among_the_arguments_is_the_result() {
        let [first, last] = ["first", "last"].map(|text| AnyRef::error(Error::new(text)));
        let sum = sum_of(&[first, last]);
        assert_eq!(sum.error_if_present().map(Error::message), Some("last"));
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        assert!(sum_of(&[AnyRef::available(1.5_f32), AnyRef::available(2)]).is_error());
        assert!(sum_of(&[AnyRef::available(1)]).is_error());
    }
}

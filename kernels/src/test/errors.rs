//! Kernels that fail in every possible way, and one that cancels its request.

use tfrt::prelude::*;

const SOMETHING_BAD: &str = "something bad happened";

const SOMETHING_BAD_LATER: &str = "something bad happened asynchronously";

/// Fails.
#[tfrt_kernel("tfrt_test.fail")]
fn fail() -> Result<i32> {
    Err(Error::new(SOMETHING_BAD))
}

/// Returns one good result and one error.
#[tfrt_kernel("tfrt_test.partial_fail", results(good, bad))]
fn partial_fail() -> (i32, Result<i32>) {
    (1, Err(Error::new(SOMETHING_BAD)))
}

/// Returns a chain that is an error.
#[tfrt_kernel("tfrt_test.error_chain")]
fn error_chain(_chain: Chain) -> Result<Chain> {
    Err(Error::new("error chain"))
}

/// Returns a tensor handle that is an error.
#[tfrt_kernel("tfrt_test.error_tensorhandle", results(handle))]
fn error_tensorhandle() -> Result<AnyRef> {
    Err(Error::new("invalid tensorhandle"))
}

/// Fails in a task of the work queue.
#[tfrt_kernel("tfrt_test.report_error_async")]
fn report_error_async(ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    let task_ctx = ctx.clone();
    ctx.enqueue(move || promise.set_error(task_ctx.emit_error(Error::new(SOMETHING_BAD_LATER))));
    result
}

/// Returns zero for zero, in a task of the work queue, and fails there for every other number.
#[tfrt_kernel("tfrt_test.report_error_concrete_async")]
fn report_error_concrete_async(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::constructed(number);
    let task_ctx = ctx.clone();
    ctx.enqueue(move || match number {
        0 => promise.set_concrete(),
        _ => promise.set_error(task_ctx.emit_error(Error::new(SOMETHING_BAD_LATER))),
    });
    result
}

/// Returns zero for zero, in a task of the work queue, and fails there for every other number. The
/// result is an indirect value.
#[tfrt_kernel(
    "tfrt_test.report_error_indirect_async",
    raw,
    operands(number: i32),
    results(result: i32),
)]
fn report_error_indirect_async(frame: &mut KernelFrame<'_>) {
    let number = match frame.value::<i32>(0) {
        Ok(number) => *number,
        Err(error) => return frame.report_error(error),
    };
    let (promise, result) = AnyRef::indirect();
    frame.set_result(0, result);
    let task_ctx = frame.exec_ctx().clone();
    frame.exec_ctx().enqueue(move || match number {
        0 => promise.forward_to(AnyRef::available(0)),
        _ => promise.set_error(task_ctx.emit_error(Error::new(SOMETHING_BAD_LATER))),
    });
}

/// Cancels the request. The results of this kernel are valid.
#[tfrt_kernel("tfrt_test.cancel", effect = "io", results(zero, done))]
fn cancel(chain: Chain, request: &RequestContext) -> (i32, Chain) {
    request.cancel();
    (0, chain)
}

/// Fails.
#[tfrt_kernel("tfrt_test.fail_s", sync)]
fn fail_s() -> Result<i32> {
    Err(Error::new(SOMETHING_BAD))
}

/// Fails without setting its results.
#[tfrt_kernel("tfrt_test.error_s", raw, sync, results(never_set: i32))]
fn error_s(frame: &mut KernelFrame<'_>) {
    frame.report_error(Error::new(SOMETHING_BAD));
}

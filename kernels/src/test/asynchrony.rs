//! Kernels with results that become available later, and kernels that wait or sleep.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use tfrt::async_value::run_when_ready;
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::Breach;
use tfrt::prelude::*;
use tfrt::queue::Task;

use crate::control_flow::Pending;
use crate::op_verifiers::check_body;
use crate::text::print_line_if_possible;

/// Returns the constant, from a task of the work queue.
#[tfrt_kernel("tfrt_test.async_constant.{T}", T = [bool as "i1", i32], attribute_names = free)]
fn async_constant<T: Value>(#[attr] value: T, ctx: &ExecutionContext) -> AsyncValueRef<T> {
    later(ctx, move || value)
}

/// Returns the sum, from a task of the work queue.
#[tfrt_kernel("tfrt_test.async_add.i32")]
fn async_add(a: i32, b: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    later(ctx, move || a.wrapping_add(b))
}

/// Returns the number, from a task of the work queue.
#[tfrt_kernel("tfrt_test.async_copy.i32")]
fn async_copy(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    later(ctx, move || number)
}

/// Returns the number, from a task of the work queue that moves it into an unconstructed value.
#[tfrt_kernel("tfrt_test.async_copy_2.i32")]
fn async_copy_2(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(number));
    result
}

/// Returns the number, from a task of the work queue that sleeps first.
#[tfrt_kernel("tfrt_test.async_copy.with_delay.{T}", T = [i32, i64])]
fn async_copy_with_delay<T: Value>(number: T, ctx: &ExecutionContext) -> AsyncValueRef<T> {
    later(ctx, move || {
        thread::sleep(some_milliseconds());
        number
    })
}

/// Returns the number after a sleep on the thread that runs the program, which real kernels must
/// not do.
#[tfrt_kernel("tfrt_test.copy.with_delay.{T}", T = [i32, i64])]
fn copy_with_delay<T>(number: T) -> T {
    thread::sleep(some_milliseconds());
    number
}

/// Runs the region as a task of the work queue. The results may become available later.
#[tfrt_kernel(
    "tfrt_test.do.async",
    non_strict,
    forwards,
    isolated,
    results(values),
    format = "$arguments attr-dict-with-keyword `:` signature($arguments, $values) region($body, \
              $arguments)",
    verify = verify_do_async
)]
fn do_async(
    arguments: &[AnyRef],
    #[region] body: FunctionRef,
    ctx: &ExecutionContext,
) -> Vec<AnyRef> {
    let (pending, values) = Pending::new(body.num_results());
    let (task_ctx, arguments) = (ctx.clone(), arguments.to_vec());
    ctx.enqueue(move || {
        let results = body.execute(&task_ctx, &arguments);
        drop(arguments);
        pending.forward_to(results);
    });
    values
}

fn verify_do_async(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    check_body(op, &op.operand_types(), breaches);
}

/// Sleeps on the blocking pool and prints `Slept for N microseconds`. There is no result to wait
/// for.
///
/// If the pool accepts no more work, a line on standard error reports it.
// Without a declared effect, so that programs may order it with a chain or leave that out.
#[tfrt_kernel("tfrt_test.usleep")]
fn usleep(microseconds: i32, ctx: &ExecutionContext) {
    let _ = enqueue_sleep(microseconds, ctx, || ());
}

/// Sleeps on the blocking pool, prints `Slept for N microseconds`, and completes the chain.
///
/// # Errors
/// `Failed to enqueue blocking work.` if the pool accepts no more work, which a line on standard
/// error reports, too.
#[tfrt_kernel("tfrt_test.blocking.usleep", effect = "io")]
fn blocking_usleep(microseconds: i32, ctx: &ExecutionContext) -> Result<AsyncValueRef<Chain>> {
    let (promise, done) = AsyncValueRef::unconstructed();
    enqueue_sleep(microseconds, ctx, move || promise.emplace(Chain))?;
    Ok(done)
}

fn enqueue_sleep(
    microseconds: i32,
    ctx: &ExecutionContext,
    on_done: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let task = Task::new(move || {
        thread::sleep(Duration::from_micros(
            u64::try_from(microseconds).unwrap_or(0),
        ));
        print_line_if_possible(format_args!("Slept for {microseconds} microseconds"));
        on_done();
    });
    ctx.queue()
        .add_blocking_task_for(ctx.request().tag(), task, true)
        .map_err(|_| {
            eprintln!(
                "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."
            );
            Error::new("Failed to enqueue blocking work.")
        })
}

/// Runs all tasks of the work queue before it returns.
///
/// # Errors
/// On a thread of the work queue, which would wait for itself.
#[tfrt_kernel("tfrt_test.quiesce", effect = "io")]
fn quiesce(chain: Chain, host: &HostContext) -> Result<Chain> {
    host.quiesce()?;
    Ok(chain)
}

/// Returns a chain that is ready once every operand is available.
#[tfrt_kernel("tfrt_test.as_chain")]
fn as_chain(values: &[AnyRef]) -> AsyncValueRef<Chain> {
    let (promise, done) = AsyncValueRef::unconstructed();
    run_when_ready(values, move || promise.emplace(Chain));
    done
}

/// Returns a small number that identifies the thread: zero on the first thread.
#[tfrt_kernel("tfrt_test.get_thread_id", effect = "io")]
fn get_thread_id(_chain: Chain) -> i32 {
    // Only uniqueness matters, no other memory is ordered by it: relaxed.
    static NEXT: AtomicI32 = AtomicI32::new(0);
    thread_local!(static ID: Cell<Option<i32>> = const { Cell::new(None) });
    ID.with(|id| {
        let known = id
            .get()
            .unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
        id.set(Some(known));
        known
    })
}

/// Returns the result of `work`, which a task of the work queue runs.
fn later<T: Value>(
    ctx: &ExecutionContext,
    work: impl FnOnce() -> T + Send + 'static,
) -> AsyncValueRef<T> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(work()));
    result
}

/// Returns one to ten milliseconds.
fn some_milliseconds() -> Duration {
    // Every state hashes differently: randomness enough to shuffle tasks.
    Duration::from_millis(1 + RandomState::new().hash_one(()) % 10)
}

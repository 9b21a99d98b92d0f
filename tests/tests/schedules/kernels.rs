//! Kernels whose effects, drops and failures can be told from outside.

use tfrt::prelude::*;

use super::super::log;

/// Says when it is dropped.
#[derive(Debug, Value)]
#[value("!wide.tracked")]
pub(super) struct Tracked(pub(super) i32);

impl Drop for Tracked {
    fn drop(&mut self) {
        log(format!("drop {}", self.0));
    }
}

/// Panics when it is dropped, if the number is even.
#[derive(Debug, Value)]
#[value("!wide.fragile")]
struct Fragile(i32);

impl Drop for Fragile {
    fn drop(&mut self) {
        log(format!("drop fragile {}", self.0));
        assert!(self.0 % 2 != 0 || std::thread::panicking(), "fragile");
    }
}

#[tfrt_kernel("wide.not", pure)]
fn not(bit: bool) -> bool {
    !bit
}

#[tfrt_kernel("wide.make", pure)]
fn make(number: i32) -> Tracked {
    Tracked(number)
}

#[tfrt_kernel("wide.make_later")]
fn make_later(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<Tracked> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Tracked(number)));
    result
}

#[tfrt_kernel("wide.look", pure)]
fn look(tracked: &Tracked) -> i32 {
    tracked.0
}

#[tfrt_kernel("wide.make_fragile")]
fn make_fragile(number: i32) -> Fragile {
    Fragile(number)
}

#[tfrt_kernel("wide.look_at_fragile")]
fn look_at_fragile(fragile: &Fragile) -> i32 {
    fragile.0
}

/// Fails if the number is a multiple of three.
#[tfrt_kernel("wide.not_three", pure)]
fn not_three(number: i32) -> Result<i32> {
    match number % 3 {
        0 => Err(Error::new(format!("{number} is a multiple of three"))),
        _ => Ok(number),
    }
}

/// The same, from a task.
#[tfrt_kernel("wide.not_three_later")]
fn not_three_later(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || match not_three(number) {
        Ok(number) => promise.emplace(number),
        Err(error) => promise.set_error(error),
    });
    result
}

/// Returns the number, once a task has run.
#[tfrt_kernel("wide.turns")]
async fn turns(number: i32, ctx: &ExecutionContext) -> Result<i32> {
    let (promise, turn) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Chain));
    turn.await?;
    log(format!("turned {number}"));
    Ok(number)
}

/// Returns the number plus one, when it is first polled.
#[tfrt_kernel("wide.at_once")]
async fn at_once(number: i32) -> i32 {
    number.wrapping_add(1)
}

/// Returns the number and an object, when it is first polled. Fails if the number is 4.
#[tfrt_kernel("wide.both_at_once")]
async fn both_at_once(number: i32) -> Result<(i32, Tracked)> {
    match number {
        4 => Err(Error::new("a four")),
        _ => Ok((number, Tracked(number))),
    }
}

/// Returns the number from the blocking pool.
#[tfrt_kernel("wide.blocks", blocking)]
fn blocks(number: i32) -> i32 {
    number.wrapping_mul(3)
}

/// Waits for all tasks, if this thread may wait.
#[tfrt_kernel("wide.wait")]
fn wait(number: i32, ctx: &ExecutionContext) -> i32 {
    let _ = ctx.queue().quiesce();
    number
}

/// Cancels the request, if the number is odd.
#[tfrt_kernel("wide.cancel")]
fn cancel(number: i32, ctx: &ExecutionContext) -> i32 {
    if number % 2 != 0 {
        ctx.request().cancel_with(Error::new("enough"));
    }
    number
}

/// Calls a function, from the kernel.
#[tfrt_kernel("wide.now", results(values))]
fn now(
    arguments: &[AnyRef],
    #[function] callee: FunctionRef,
    ctx: &ExecutionContext,
) -> Vec<AnyRef> {
    callee.execute(ctx, arguments)
}

/// Calls a function twice, and returns the results of the first call.
#[tfrt_kernel("wide.twice", results(values))]
fn twice(
    arguments: &[AnyRef],
    #[function] callee: FunctionRef,
    ctx: &ExecutionContext,
) -> Vec<AnyRef> {
    let first = callee.execute(ctx, arguments);
    drop(callee.execute(ctx, arguments));
    first
}

/// Calls a function from a task. Operands need not be available.
#[tfrt_kernel("wide.in_task", non_strict, results(values))]
fn in_task(
    arguments: &[AnyRef],
    #[function] callee: FunctionRef,
    ctx: &ExecutionContext,
) -> Vec<AnyRef> {
    let (promises, values): (Vec<_>, Vec<_>) = (0..callee.num_results())
        .map(|_| AnyRef::indirect())
        .unzip();
    let (task_ctx, arguments) = (ctx.clone(), arguments.to_vec());
    ctx.enqueue(move || {
        let results = callee.execute(&task_ctx, &arguments);
        drop(arguments);
        for (promise, result) in promises.into_iter().zip(results) {
            promise.forward_to(result);
        }
    });
    values
}

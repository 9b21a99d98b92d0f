//! Starting functions.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

use tfrt_async::{AnyRef, IndirectPromise, run_when_ready};
use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_host::kernel::panic::call_native as call_native_guarded;
use tfrt_host::kernel::registry::{NativeCall, NativeFunction};
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::{Error, ErrorCode};

use crate::body::Body;
use crate::call_loop::CallLoop;
use crate::invocation::InvocationRef;
use crate::program::{FunctionBody, Program};
use crate::ready;

/// How many functions may start inside one another on the stack of one thread. A function that starts deeper does so as a
/// task, on a stack of its own.
///
/// In a debug build one level takes about 4 KiB, so that 128 of them fit many times into the 2 MiB of a test thread.
const MAX_NESTED_STARTS: u32 = 128;

thread_local! {
    static NUM_NESTED_STARTS: Cell<u32> = const { Cell::new(0) };
}

/// Starts function `id`; see [`FunctionTable::execute`](tfrt_host::function::FunctionTable::execute).
pub(crate) fn execute(
    program: Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) {
    if let Err(error) = try_execute(program, id, ctx, arguments, results) {
        let error = AnyRef::error(error).into_given();
        results
            .iter_mut()
            .filter(|result| result.is_none())
            .for_each(|result| *result = Some(error.clone()));
    }
}

fn try_execute(
    program: Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    let function = program.entry(id);
    function.check_counts(arguments.len(), results.len())?;
    function.check_types(arguments)?;
    match program.body(id)? {
        FunctionBody::Async(body) => {
            if !tracing::is_active(TracingLevel::Debug)
                && ctx.request().cancel_value().is_none()
                && ctx.call_depth() < ctx.host().limits().max_call_depth
                && run_at_once(body, &program, ctx, arguments, results)
            {
                return Ok(());
            }
            let body = NonNull::from(&**body);
            start(program, body, ctx, arguments, results)
        }
        FunctionBody::Native(function) => {
            call_native(*function, ctx, arguments, results);
            Ok(())
        }
        FunctionBody::Sync(_) => {
            let name = &function.name;
            Err(Error::new(format!(
                "function `{name}` is synchronous and cannot be executed asynchronously"
            ))
            .with_code(ErrorCode::Unimplemented))
        }
    }
}

/// Runs a function in a form that gives its results at once. False, and nothing done, if it cannot be run so this time.
fn run_at_once(
    body: &Body,
    program: &Arc<Program>,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> bool {
    if let Some(call_loop) = &body.call_loop {
        return run_loop(call_loop, program, ctx, arguments, results);
    }
    let nest = body.nest.as_ref();
    nest.is_some_and(|nest| nest.run(program, ctx, arguments, results))
}

/// Runs a function as a loop of calls. False, and nothing done, if it cannot be run so this time.
fn run_loop(
    call_loop: &CallLoop,
    program: &Arc<Program>,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> bool {
    if call_loop.is_leaf() {
        // It calls nothing, so that nothing starts inside of it.
        return call_loop.run_async(program, ctx, arguments, results);
    }
    NestedStart::enter()
        .is_some_and(|_nesting| call_loop.run_async(program, ctx, arguments, results))
}

/// One function that has started on the stack of this thread, and has not returned.
#[derive(Debug)]
struct NestedStart;

impl NestedStart {
    /// Nothing if there are too many.
    fn enter() -> Option<Self> {
        let num_nested = NUM_NESTED_STARTS.get();
        if num_nested >= MAX_NESTED_STARTS {
            return None;
        }
        NUM_NESTED_STARTS.set(num_nested + 1);
        Some(Self)
    }
}

impl Drop for NestedStart {
    fn drop(&mut self) {
        NUM_NESTED_STARTS.set(NUM_NESTED_STARTS.get() - 1);
    }
}

/// Starts a function of `program`, which `body` is of.
fn start(
    program: Arc<Program>,
    body: NonNull<Body>,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    ctx.enter_invocation()?;
    let callee_ctx = ctx.for_callee(Arc::clone(&program) as _);
    let starts_at_once = arguments.iter().all(AnyRef::is_available);
    let Some(invocation) = InvocationRef::new(program, body, callee_ctx, starts_at_once) else {
        ctx.host().leave_invocation();
        let error = Error::new("the host has no memory for the state of a function")
            .with_code(ErrorCode::ResourceExhausted);
        return Err(ctx.emit_error(error));
    };
    if let Some(_nesting) = NestedStart::enter() {
        ready::start(&invocation, arguments);
    } else {
        let (invocation, arguments) = (invocation.clone(), arguments.to_vec());
        ctx.enqueue(move || ready::start(&invocation, &arguments));
    }
    take_results(&invocation, results);
    Ok(())
}

/// Fills the results of a function that was started.
fn take_results(invocation: &InvocationRef, results: &mut [Option<AnyRef>]) {
    let body = invocation.body();
    for index in 0..results.len() {
        let register = body.results[index];
        let returned = body.registers[register as usize].returned;
        let returned = returned.expect("a register that is returned has a result slot");
        let first = body.first_results[index] as usize;
        results[index] = Some(if first == index {
            invocation.result_slot(returned).take()
        } else {
            results[first]
                .clone()
                .expect("the first of two equal results was taken before")
        });
    }
}

/// Calls a native function: now if its arguments are available, else when they are. It is called with errors too.
fn call_native(
    function: NativeFunction,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) {
    if arguments.iter().all(AnyRef::is_available) {
        return run_native(function, ctx, arguments, results);
    }
    let promises: Vec<IndirectPromise> = results
        .iter_mut()
        .map(|result| {
            let (promise, value) = AnyRef::indirect();
            *result = Some(value);
            promise
        })
        .collect();
    let ctx = ctx.clone();
    let owned = arguments.to_vec();
    run_when_ready(arguments, move || {
        let mut results = vec![None; promises.len()];
        run_native(function, &ctx, &owned, &mut results);
        for (promise, result) in promises.into_iter().zip(results) {
            // `run_native` fills every slot; a promise that is dropped fails its value.
            if let Some(result) = result {
                promise.forward_to(result);
            }
        }
    });
}

fn run_native(
    function: NativeFunction,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) {
    let call = NativeCall {
        host: ctx.host(),
        arguments,
        results: &mut *results,
    };
    call_native_guarded(function.name, call, function.execute);
    if results.iter().any(Option::is_none) {
        let error = Error::new(format!(
            "native function `{}` did not set every result",
            function.name
        ));
        let error = AnyRef::error(error.with_code(ErrorCode::Internal));
        results
            .iter_mut()
            .filter(|result| result.is_none())
            .for_each(|result| *result = Some(error.clone()));
    }
}

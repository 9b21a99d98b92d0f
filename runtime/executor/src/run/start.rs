//! Starting functions: selects how a call runs.

use std::sync::Arc;

use tfrt_async::{AnyRef, IndirectPromise, run_when_ready};
use tfrt_bef::FunctionId;
use tfrt_host::__runtime::call_native as call_native_guarded;
use tfrt_host::ExecutionContext;
use tfrt_host::kernel::{NativeCall, NativeFunction};
use tfrt_support::{Error, ErrorCode};

use super::body::Body;
use super::in_order;
use super::invocation::InvocationRef;
use super::nesting::{self, Nesting};
use super::program::{FunctionBody, Program};
use super::ready;
use super::sequence::{self, Outcome};

/// Starts function `id`; see
/// [`FunctionTable::execute`](tfrt_host::__runtime::FunctionTable::execute).
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
            if ctx.call_depth() < ctx.host().limits().max_call_depth
                && sequence::is_followed(body, ctx)
                && sequence::run(&program, body, ctx, arguments, results) == Outcome::Finished
            {
                return Ok(());
            }
            start(&program, body, ctx, arguments, results)
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

/// Starts the function of `program` whose body is `body`.
fn start(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    ctx.enter_invocation(nesting::num_runs())?;
    let callee_ctx = ctx.for_callee(Arc::clone(program) as _);
    let starts_at_once = arguments.iter().all(AnyRef::is_available);
    let is_in_order = starts_at_once && sequence::has_segments(body, ctx);
    let ready_counts: Option<&[u32]> = match starts_at_once {
        true if is_in_order => None,
        true => Some(&body.code.start.at_once.ready_counts),
        false => Some(&body.code.ready_counts),
    };
    let invocation = InvocationRef::new(Arc::clone(program), body, callee_ctx, ready_counts);
    let Some(mut invocation) = invocation else {
        ctx.host().leave_invocation();
        return Err(ctx.emit_error(sequence::no_memory()));
    };
    let frame = invocation.frame();
    body.constants
        .put(frame, program.attribute_section(), invocation.ctx());
    invocation.set_constants(body.constants.are_made());
    let begin = move |invocation: &InvocationRef, arguments: &[AnyRef]| match starts_at_once {
        true if is_in_order => in_order::start(invocation, arguments),
        true => ready::start_at_once(invocation, arguments),
        false => ready::start(invocation, arguments),
    };
    if let Some(_nesting) = Nesting::enter() {
        begin(&invocation, arguments);
    } else {
        let (invocation, arguments) = (invocation.clone(), arguments.to_vec());
        ctx.enqueue(move || begin(&invocation, &arguments));
    }
    invocation.take_results(results);
    Ok(())
}

/// Calls a native function once all arguments are available, which may be now. Arguments may be
/// errors.
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

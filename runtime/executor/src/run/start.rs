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
use super::program::{CallSite, Called, FunctionBody, Program};
use super::ready;
use super::sequence::{self, Callee, Outcome, take_result};

/// Starts function `id`; see
/// [`FunctionTable::execute`](tfrt_host::__runtime::FunctionTable::execute).
pub(crate) fn execute(
    program: Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) {
    if sequence::execute_leaf(&program, id, ctx, arguments, results) {
        return;
    }
    execute_in_general(&program, id, ctx, arguments, results);
}

#[inline(never)]
fn execute_in_general(
    program: &Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) {
    if let Err(error) = try_execute(program, id, ctx, arguments, results) {
        let error = AnyRef::error(ctx.emit_failure(error)).into_given();
        results
            .iter_mut()
            .filter(|result| result.is_none())
            .for_each(|result| *result = Some(error.clone()));
    }
}

fn try_execute(
    program: &Arc<Program>,
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
                && sequence::run(program, body, ctx, arguments, results) == Outcome::Finished
            {
                return Ok(());
            }
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

/// Starts the function of `program` whose body is `body`.
fn start(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    let beginning = match arguments.iter().all(AnyRef::is_available) {
        true => Beginning::at_once(body, ctx),
        false => Beginning::Counted,
    };
    let invocation = make_invocation(program, body, ctx, beginning)?;
    if let Some(_nesting) = Nesting::enter() {
        beginning.begin(&invocation, arguments);
    } else {
        let (invocation, arguments) = (invocation.clone(), arguments.to_vec());
        ctx.enqueue(move || beginning.begin(&invocation, &arguments));
    }
    invocation.take_results(results);
    Ok(())
}

/// Runs or starts a function that a kernel of another frame calls, passing values from place to
/// place. A [`CallInPlace`](super::program::CallInPlace).
pub(crate) fn call_in_place(site: &CallSite<'_>, results: &mut Vec<Option<AnyRef>>) -> Called {
    let Some(callee) = Callee::of(site) else {
        return Called::Unsuited;
    };
    if site.ctx.call_depth() >= site.ctx.host().limits().max_call_depth {
        Called::Unsuited
    } else if sequence::is_followed(callee.body, site.ctx) {
        sequence::call_in_place(site, &callee, results)
    } else {
        start_in_place(site, &callee, results)
    }
}

/// Starts a function whose schedule is not followed, if all arguments are copied from cell to cell.
fn start_in_place(
    site: &CallSite<'_>,
    callee: &Callee<'_>,
    results: &mut Vec<Option<AnyRef>>,
) -> Called {
    let code = &callee.body.code;
    let Some(copies) = &callee.link.arguments else {
        return Called::Unsuited;
    };
    // A function that would start too deep becomes a task, which needs a list of its arguments.
    let Some(_nesting) = Nesting::enter() else {
        return Called::Unsuited;
    };
    let num_results = code.results.len();
    let beginning = Beginning::at_once(callee.body, site.ctx);
    let invocation = match make_invocation(site.program, callee.body, site.ctx, beginning) {
        Ok(invocation) => invocation,
        Err(error) => {
            let error = AnyRef::error(error).into_given();
            results.resize(num_results, Some(error));
            return Called::Listed;
        }
    };
    let frame = invocation.frame();
    frame.copy_cells(copies, site.frame);
    for argument in &code.start.arguments {
        if let Some(returned) = code.register(argument.register).returned {
            let value = take_result(frame, argument.register, true);
            // The caller has not asked for it yet, so no waiter runs.
            invocation.result_slot(returned).give(value);
        }
    }
    // The arguments are in their places.
    beginning.begin(&invocation, &[]);
    results.resize(num_results, None);
    invocation.take_results(results);
    Called::Listed
}

/// How an invocation begins.
#[derive(Clone, Copy, Debug)]
enum Beginning {
    /// In the order of its segments. All arguments are available.
    InOrder,
    /// With the kernels that are ready once all arguments are available, which they are.
    AtOnce,
    /// With those kernels of which all operands are available.
    Counted,
}

impl Beginning {
    /// Returns how an invocation begins all of whose arguments are available.
    fn at_once(body: &Body, ctx: &ExecutionContext) -> Self {
        match sequence::has_segments(body, ctx) {
            true => Self::InOrder,
            false => Self::AtOnce,
        }
    }

    /// Runs the kernels that are ready. Arguments that are not listed are in their places.
    fn begin(self, invocation: &InvocationRef, arguments: &[AnyRef]) {
        match self {
            Self::InOrder => in_order::start(invocation, arguments),
            Self::AtOnce => ready::start_at_once(invocation, arguments),
            Self::Counted => ready::start(invocation, arguments),
        }
    }
}

/// Returns the state of an invocation, with the constants in their places.
///
/// # Errors
/// Fails if calls nest too deep, or if there is no room for an invocation.
fn make_invocation(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    beginning: Beginning,
) -> Result<InvocationRef, Error> {
    ctx.enter_invocation(nesting::num_runs())?;
    let ready_counts: Option<&[u32]> = match beginning {
        Beginning::InOrder => None,
        Beginning::AtOnce => Some(&body.code.start.at_once.ready_counts),
        Beginning::Counted => Some(&body.code.ready_counts),
    };
    let callee_ctx = ctx.for_callee(Arc::clone(program) as _);
    let invocation = InvocationRef::new(Arc::clone(program), body, callee_ctx, ready_counts);
    let Some(mut invocation) = invocation else {
        ctx.host().leave_invocation();
        return Err(ctx.emit_error(sequence::no_memory()));
    };
    let frame = invocation.frame();
    body.constants
        .put(frame, || program.attribute_section(), invocation.ctx());
    invocation.set_constants(body.constants.are_made());
    Ok(invocation)
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

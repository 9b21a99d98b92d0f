//! Leaves: functions of plain kernels, whose values are all copied payloads.
//!
//! The kernels of a leaf receive only their operands, and adapters catch the panics of kernels. So
//! a run of a leaf makes no context, catches no panics, and has no operands to drop. If a kernel
//! uses functions and values that it stores elsewhere, the usual bounds and reports apply: a leaf
//! counts as nested, and is refused wherever another run would be.
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_async::dropping::Observing;
use tfrt_async::pool::Pooled;
use tfrt_bef::FunctionId;
use tfrt_host::__runtime::{BorrowedContext, DirectCall};
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::Error;
use tfrt_support::entity::EntityId;

use super::are_followed;
use super::left::Left;
use super::state::Run;
use super::transfer::{CallerPlaces, Outcome, Transfer, Values, put_values, take_values};
use crate::lower::code::{KernelDetails, KernelId};
use crate::run::body::Body;
use crate::run::frame::{Frame, SmallFrame};
use crate::run::links::Link;
use crate::run::nesting::Nesting;
use crate::run::program::{Called, Program};

/// Runs function `id` for a caller in Rust, if it is a leaf and if nothing requires the general
/// way. Returns `false` without doing anything otherwise.
///
/// All checks of the general way are made here, in one place and in one frame of the native stack.
#[inline]
pub(crate) fn execute(
    program: &Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> bool {
    // The general way makes the body and the constants of a function when it first runs.
    let Some(body) = program.made_body(id) else {
        return false;
    };
    let (host, code) = (&**ctx.host(), &body.code);
    // The schedule of a leaf is exact, so it is followed under every queue.
    let is_suited = is_leaf(body)
        && are_followed()
        && ctx.call_depth() < host.limits().max_call_depth
        && arguments.len() == code.start.arguments.len()
        && results.len() == code.results.len()
        && (arguments.is_empty() || program.entry(id).check_types(arguments).is_ok());
    if !is_suited {
        return false;
    }
    let Some(nesting) = Nesting::enter_run(host) else {
        return false;
    };
    // SAFETY: 1: it is dropped at the end of this call, which borrows the context.
    let _observing = unsafe { Observing::by(ctx) };
    if !SmallFrame::fits(code) {
        let mut values = Values { arguments, results };
        return follow_leaf(program, body, ctx, &nesting, &mut values) == Outcome::Finished;
    }
    // In this frame of the native stack, like the run itself: another one would cost as much as a
    // short run.
    let mut memory = SmallFrame::new();
    let frame = memory.frame(code);
    body.constants.put_made(frame);
    if !put_values(arguments, frame) {
        return false;
    }
    match run_kernels::<false>(frame, &DirectCall::idle(ctx)) {
        Ok(()) => take_values(frame, results),
        Err(left) => {
            let (left, mut values) = (left.into_inner(), Values { arguments, results });
            go_on(program, body, ctx, frame, &nesting, left, &mut values);
        }
    }
    true
}

/// Runs a leaf. Returns `None` without doing anything if the function is not a leaf or has to run
/// in another way this time.
#[inline]
pub(crate) fn follow(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    transfer: &mut impl Transfer,
) -> Option<Outcome> {
    if !is_leaf(body) {
        return None;
    }
    let Some(nesting) = Nesting::enter_run(caller.host()) else {
        return Some(Outcome::Refused);
    };
    Some(follow_leaf(program, body, caller, &nesting, transfer))
}

/// Runs a function that [is a leaf](is_leaf) now.
#[inline(never)]
fn follow_leaf(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    nesting: &Nesting,
    transfer: &mut impl Transfer,
) -> Outcome {
    Frame::with(&body.code, |frame| {
        body.constants.put_made(frame);
        let idle = DirectCall::idle(caller);
        follow_in(program, body, &idle, frame, nesting, transfer)
    })
}

/// Runs a function that [is a leaf](is_leaf) now, in a frame that is empty except for the made
/// constants. `idle` is a call in the context of the caller.
#[inline]
pub(crate) fn follow_in(
    program: &Arc<Program>,
    body: &Body,
    idle: &DirectCall<'_>,
    frame: Frame<'_>,
    nesting: &Nesting,
    transfer: &mut impl Transfer,
) -> Outcome {
    if !transfer.put_arguments(frame) {
        return Outcome::Refused;
    }
    match run_kernels::<false>(frame, idle) {
        Ok(()) => transfer.take_results(frame),
        Err(left) => go_on(
            program,
            body,
            idle.exec_ctx,
            frame,
            nesting,
            left.into_inner(),
            transfer,
        ),
    }
    Outcome::Finished
}

/// Where a called leaf has left its results.
pub(crate) enum Results {
    /// In their places in the frame of the caller.
    Placed,
    /// In a list. They may be unavailable, or errors.
    Listed(Vec<Option<AnyRef>>),
}

/// Runs a leaf for a kernel of another run that calls it and does nothing else, if all values are
/// copied. Returns `None` without doing anything if the function has to be called in another way. A
/// link exists once the function has been called in another way. A leaf has a single stream, so a
/// run that follows its schedule may follow that of the leaf. `idle` is a call in the context of
/// the run.
#[inline]
pub(crate) fn call(
    run: &Run<'_>,
    details: &KernelDetails,
    idle: &DirectCall<'_>,
) -> Option<Results> {
    let is_second = |condition| u32::from(!run.frame.is_true(condition));
    let number = details.condition.map_or(0, is_second);
    let link = run.body.links.made(details, number)?;
    if !link.is_small_leaf {
        return None;
    }
    let (arguments, copied_results) = (link.arguments.as_ref()?, link.results.as_ref()?);
    let body = run.program.made_body(link.callee)?;
    let host = &**run.ctx.host();
    if !is_leaf(body) || run.ctx.call_depth() >= host.limits().max_call_depth {
        return None;
    }
    let nesting = Nesting::enter_run(host)?;
    // In this frame of the native stack: another one would cost as much as a short run.
    let mut memory = SmallFrame::new();
    let frame = memory.frame(&body.code);
    frame.copy_cells(arguments, run.frame);
    body.constants.put_made(frame);
    Some(match run_kernels::<false>(frame, idle) {
        Ok(()) => {
            run.frame.copy_cells(copied_results, frame);
            Results::Placed
        }
        Err(left) => {
            let left = left.into_inner();
            Results::Listed(go_on_from(run, details, link, body, frame, &nesting, left))
        }
    })
}

/// Runs a synchronous leaf whose arguments and constants are in the frame. Returns `None` without
/// doing anything if the function is not a leaf or has to run in another way this time.
#[inline]
pub(crate) fn run_sync(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    frame: Frame<'_>,
) -> Option<Result<(), Error>> {
    if !is_leaf(body) {
        return None;
    }
    let nesting = Nesting::enter_sync()?;
    Some(match run_kernels::<true>(frame, &DirectCall::idle(ctx)) {
        Ok(()) => Ok(()),
        Err(left) => {
            let ctx = BorrowedContext::inside(ctx, program);
            Err(Run::of_leaf(program, body, frame, &ctx, &nesting).end(left.into_inner()))
        }
    })
}

/// Returns `true` if a body can run as a leaf now.
#[inline]
pub(crate) fn is_leaf(body: &Body) -> bool {
    // A trace shows every kernel.
    body.code.leaf.is_some()
        && body.constants.are_ready(&body.code)
        && !tracing::is_active(TracingLevel::Debug)
}

/// Runs the kernels of a leaf whose arguments and constants are in the frame. If the run has to be
/// left, returns where and why.
///
/// `idle` is a call in the context of the caller. A synchronous function runs to its end even if
/// its request is cancelled.
// Inlined in its callers, each of which has one frame of the native stack for the whole run.
#[inline(always)]
fn run_kernels<const IS_SYNC: bool>(
    frame: Frame<'_>,
    idle: &DirectCall<'_>,
) -> Result<(), Pooled<Left>> {
    let request = &**idle.exec_ctx.request();
    for kernel in frame.code.leaf.as_deref().unwrap_or_default() {
        if !IS_SYNC && request.cancel_value().is_some() {
            return stop_before(frame, Some(kernel.id));
        }
        // SAFETY: 1: each kernel runs once, in the order of the schedule. 2: its operands come from
        // the kernels before it, from the constants, which have been made, or from the arguments
        // (C1); all of these have put what it reads (C5).
        if let Err(error) = unsafe { frame.run(kernel.offsets, kernel.run, idle) } {
            return Err(Pooled::new(Left::Failed(kernel.id, error)));
        }
    }
    if !IS_SYNC && request.cancel_value().is_some() {
        return stop_before(frame, None);
    }
    Ok(())
}

/// Leaves a run whose request is cancelled behind the last kernel that has run: before `next`, or
/// at the end. Constants that follow it are skipped like other kernels; if nothing follows, the run
/// has ended.
#[cold]
#[inline(never)]
fn stop_before(frame: Frame<'_>, next: Option<KernelId>) -> Result<(), Pooled<Left>> {
    let kernels = frame.code.leaf.as_deref().unwrap_or_default();
    let done = kernels.iter().take_while(|kernel| Some(kernel.id) != next);
    let num_done = done.last().map_or(0, |last| last.id.index() + 1);
    if num_done == frame.code.kernels.len() {
        return Ok(());
    }
    Err(Pooled::new(Left::Before(KernelId::from_index(num_done))))
}

#[cold]
#[inline(never)]
fn go_on(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    frame: Frame<'_>,
    nesting: &Nesting,
    left: Left,
    transfer: &mut impl Transfer,
) {
    let ctx = BorrowedContext::inside(caller, program);
    Run::of_leaf(program, body, frame, &ctx, nesting).go_on(caller, left, transfer);
}

#[cold]
#[inline(never)]
fn go_on_from(
    run: &Run<'_>,
    details: &KernelDetails,
    link: &Link,
    body: &Body,
    frame: Frame<'_>,
    nesting: &Nesting,
    left: Left,
) -> Vec<Option<AnyRef>> {
    let mut results = Vec::new();
    let _running = run.enter(details);
    let mut places = CallerPlaces {
        program: run.program,
        caller: run.frame,
        operands: &[],
        details,
        link,
        list: &mut results,
        called: Called::Unsuited,
    };
    go_on(
        run.program,
        body,
        run.ctx,
        frame,
        nesting,
        left,
        &mut places,
    );
    results
}

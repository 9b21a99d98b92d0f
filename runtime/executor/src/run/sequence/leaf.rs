//! Leaves: functions of plain kernels, whose values are all copied payloads.
//!
//! The kernels of a leaf look at nothing but their operands, and a direct kernel returns an error instead of panicking. So a run
//! of a leaf needs no context of its own, catches nothing, calls nothing, and has nothing to drop. It is refused wherever another
//! run would be.
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::kernel::direct::DirectCall;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_host::{BorrowedContext, ExecutionContext};
use tfrt_support::Error;

use super::left::Left;
use super::state::Run;
use super::transfer::{CallerPlaces, Outcome, Transfer};
use crate::lower::code::{Extras, Kernel, KernelDetails};
use crate::run::body::Body;
use crate::run::frame::Frame;
use crate::run::links::Link;
use crate::run::nesting;
use crate::run::program::{Called, FunctionBody, Program};

/// Runs a leaf. Returns `None`, and does nothing, if the function is not one or has to be run in another way this time.
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
    if !has_room(caller) {
        return Some(Outcome::Refused);
    }
    let outcome = Frame::with(&body.code, |frame| {
        if !transfer.put_arguments(frame) {
            return Outcome::Refused;
        }
        body.constants.put_made(frame);
        match run_kernels::<false>(frame, caller) {
            Ok(()) => transfer.take_results(frame),
            Err(left) => go_on(program, body, caller, frame, *left, transfer),
        }
        Outcome::Finished
    });
    Some(outcome)
}

/// Where the results of a leaf are that a kernel has called.
pub(crate) enum Results {
    Placed,
    /// In a list. They may be unavailable, or errors.
    Listed(Vec<Option<AnyRef>>),
}

/// Runs a leaf for a kernel of another run that calls it and does nothing else, if all values are copied. Returns `None`, and does
/// nothing, if it has to be called in another way.
#[inline]
pub(crate) fn call(run: &Run<'_>, details: &KernelDetails) -> Option<Results> {
    let code = run.frame.code;
    let number = match details.functions.len() {
        1 => 0,
        _ => {
            let &condition = code.words(details.operands).first()?;
            let condition = &code.registers[condition as usize];
            u32::from(!run.frame.is_true(condition))
        }
    };
    let link = run.body.links.made(details, number)?;
    let copies = link.of_leaf.as_ref()?;
    let Ok(FunctionBody::Async(body)) = run.program.body(link.callee) else {
        return None;
    };
    let limits = run.ctx.host().limits();
    if !is_leaf(body) || run.ctx.call_depth() >= limits.max_call_depth || !has_room(run.ctx) {
        return None;
    }
    let called = Frame::with(&body.code, |frame| {
        frame.copy_cells(&copies.arguments, run.frame);
        body.constants.put_made(frame);
        match run_kernels::<false>(frame, run.ctx) {
            Ok(()) => {
                run.frame.copy_cells(&copies.results, frame);
                Results::Placed
            }
            Err(left) => Results::Listed(go_on_from(run, details, link, body, frame, *left)),
        }
    });
    Some(called)
}

/// Runs a synchronous leaf whose arguments and constants are in the frame. Returns `None`, and does nothing, if the function is
/// not one or has to be run in another way this time.
#[inline]
pub(crate) fn run_sync(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    frame: Frame<'_>,
) -> Option<Result<(), Error>> {
    if !is_leaf(body) || !nesting::has_room_for_sync() {
        return None;
    }
    Some(match run_kernels::<true>(frame, ctx) {
        Ok(()) => Ok(()),
        Err(left) => {
            let ctx = BorrowedContext::inside(ctx, program);
            Err(Run::of_leaf(program, body, frame, &ctx).end(*left))
        }
    })
}

/// Whether a body can be run as a leaf now.
#[inline]
fn is_leaf(body: &Body) -> bool {
    // A trace shows every kernel.
    body.code.is_leaf
        && body.constants.are_ready(&body.code)
        && !tracing::is_active(TracingLevel::Debug)
}

/// Whether limits leave room for one more function.
#[inline]
fn has_room(caller: &ExecutionContext) -> bool {
    let num_runs = nesting::num_runs();
    nesting::has_room() && caller.host().has_room_for_invocation(num_runs)
}

/// Runs the kernels of a leaf whose arguments and constants are in the frame. If the run has to be left, says where and why.
///
/// `ctx` is the context of the caller. A synchronous function runs to its end even if its request is cancelled.
// A function of its own, so that all that its loop needs is in registers of the processor.
#[inline(never)]
fn run_kernels<const IS_SYNC: bool>(
    frame: Frame<'_>,
    ctx: &ExecutionContext,
) -> Result<(), Box<Left>> {
    let (idle, request) = (DirectCall::idle(ctx), &**ctx.request());
    for kernel in &frame.code.kernels {
        if !IS_SYNC && request.cancel_value().is_some() {
            return Err(stop(frame, kernel, None));
        }
        let (Some(run), false) = (kernel.direct, kernel.extras.contains(Extras::CONSTANT)) else {
            continue;
        };
        // SAFETY: 1: each kernel runs once, in the order of the schedule. 2: the kernels before it, the constants or the arguments
        // are what its operands come from (C1); all of them have put what it reads (C5).
        if let Err(error) = unsafe { frame.run(kernel, run, &idle) } {
            return Err(stop(frame, kernel, Some(error)));
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn stop(frame: Frame<'_>, kernel: &Kernel, error: Option<Error>) -> Box<Left> {
    let id = frame.code.id_of(kernel);
    Box::new(match error {
        Some(error) => Left::Failed(id, error),
        None => Left::Before(id),
    })
}

#[cold]
#[inline(never)]
fn go_on(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    frame: Frame<'_>,
    left: Left,
    transfer: &mut impl Transfer,
) {
    let ctx = BorrowedContext::inside(caller, program);
    Run::of_leaf(program, body, frame, &ctx).go_on(caller, left, transfer);
}

#[cold]
#[inline(never)]
fn go_on_from(
    run: &Run<'_>,
    details: &KernelDetails,
    link: &Link,
    body: &Body,
    frame: Frame<'_>,
    left: Left,
) -> Vec<Option<AnyRef>> {
    let mut results = Vec::new();
    run.ctx.set_location_token(details.location);
    let mut places = CallerPlaces {
        caller: run.frame,
        operands: &[],
        details,
        link,
        list: &mut results,
        called: Called::Unsuited,
    };
    go_on(run.program, body, run.ctx, frame, left, &mut places);
    results
}

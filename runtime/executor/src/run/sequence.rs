//! Functions that run on one path in a known order: the schedule of their code.
//!
//! The kernels of a function that has a schedule are called one after the other in a frame on the
//! stack. Nothing is counted or listed, and nothing outlives the call. The ready loop would do the
//! same in the same order, so the difference is not observable, whatever the kernels do. This works
//! as long as the results of every kernel are available when it returns.
//!
//! ```text
//!   arguments ─► frame ─► kernel ─► kernel ─► kernel ─► results ─► caller
//!                            │ a result is not available, or an error; the kernel fails; the request is cancelled;
//!                            │ several threads would be faster
//!                            ▼
//!                      invocation with the same frame, which goes on in the ready loop from where the run is
//! ```
//!
//! If nothing else could run before a result is available, the invocation does not need the ready
//! loop: it [waits](waiting) for the result, and then goes on in its schedule.
//!
//! Until it leaves its schedule, a run does only what the ready loop would have done, and none of
//! it is repeated. So a single place handles failures: the ready loop.
//!
//! # When a schedule is followed
//!
//! - If kernels of two streams are never ready at the same time, the schedule is the order under
//!   every queue, and it is always followed.
//! - Otherwise, a queue that runs tasks in order has a different order, which users rely on: see
//!   [`super::in_order`]. The schedule is followed only under a queue of several threads, which
//!   does not promise an order, and only as long as one thread is enough: see [`super::pace`].
//!
//! A synchronous function always has a schedule: program order. Where another run would leave its
//! schedule, a synchronous one ends.
//!
//! If a callee has a schedule too, its frame lies on top of the caller's. Arguments and results are
//! copied from cell to cell, as worked out by the first call of that kernel ([`super::links`]).
//! Calls nest on the native stack up to a bound.
//!
//! A function of plain kernels whose values are all copied is a [`leaf`]: its kernels receive only
//! their operands, so nothing else is prepared before they are called.
//!
//! A loop that carries only payloads that are copied runs its [`rounds`] in two frames.
//!
//! # What it is worth
//!
//! Instructions, with kernels that declare nothing (`tfrt-benches instructions`, callgrind, queue
//! `s`):
//!
//! | program | ready loop | schedule or segments | and leaves |
//! |---|---:|---:|---:|
//! | chain of additions, per kernel | 109 | 28 | |
//! | effects on one chain, per kernel | 100 | 23 | |
//! | tree of additions, per kernel | 182 | 67 | |
//! | diamonds of additions, per kernel | 410 | 258 | |
//! | chain of kernels that hand a tensor on, per kernel | 701 | 306 | |
//! | call of a function of one kernel, by a kernel | 2590 | 574 | 263 |
//! | call of a function of one kernel, from Rust | 1732 | 649 | 338 |

mod left;

mod transfer;

mod state;

mod leaving;

mod waiting;

mod leaf;

mod kernels;

mod rounds;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_bef::FunctionId;
use tfrt_host::__runtime::BorrowedContext;
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

pub(crate) use self::leaf::execute as execute_leaf;
pub(crate) use self::leaving::no_memory;
use self::left::{Left, Stop};
pub(crate) use self::rounds::run as run_rounds;
use self::state::Run;
use self::transfer::{CallerPlaces, Transfer, Values, take_results};
pub(crate) use self::transfer::{Outcome, take_result};
use super::body::Body;
use super::frame::Frame;
use super::links::Link;
use super::nesting::{self, Nesting};
use super::pace::Watch;
use super::path::Progress;
use super::program::{CallSite, Called, FunctionBody, Program};
use crate::lower::code::{Code, KernelId, Schedule};

/// Whether schedules are followed at all.
static IS_FOLLOWED: AtomicBool = AtomicBool::new(true);

/// Sets whether asynchronous functions of this process follow their schedules, which is the
/// default, or run in the ready loop.
///
/// For tests and measurements that compare the two: only their time differs.
#[doc(hidden)]
pub fn follow_schedules(is_followed: bool) {
    IS_FOLLOWED.store(is_followed, Ordering::Relaxed);
}

/// Returns `true` if schedules are followed at all.
#[inline]
fn are_followed() -> bool {
    // Relaxed: it is set before and after the runs that are compared.
    IS_FOLLOWED.load(Ordering::Relaxed)
}

/// Returns `true` if the schedule of a body is to be followed in this context: either it is the
/// order under every queue, or the queue does not promise an order.
#[inline]
pub(crate) fn is_followed(body: &Body, ctx: &ExecutionContext) -> bool {
    if !are_followed() {
        return false;
    }
    match body.code.schedule {
        Some(Schedule::Exact) => true,
        Some(Schedule::Segmented(_)) => {
            ctx.queue().parallelism_level() > 1 && body.pace.is_for_one_thread()
        }
        None => false,
    }
}

/// Returns `true` if an invocation of a body in this context, whose arguments are available, is to
/// begin in the order of its segments.
pub(crate) fn has_segments(body: &Body, ctx: &ExecutionContext) -> bool {
    matches!(body.code.schedule, Some(Schedule::Segmented(_)))
        && are_followed()
        && ctx.queue().parallelism_level() == 1
        && body.habit.is_in_order()
}

/// Runs a function that Rust code calls, if the values are of the types that its kernels read.
/// [`execute_leaf`] has been tried.
pub(crate) fn run(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Outcome {
    let mut values = Values { arguments, results };
    report_to(ctx, || {
        let watch = watch(body, ctx);
        follow(program, body, ctx, watch.as_ref(), &mut values)
    })
}

/// Runs a synchronous function with values that have payloads.
///
/// # Errors
/// Returns the error of the first kernel that fails, or an error if an argument is not of the type
/// that the kernels read or if calls nest too deep.
pub(crate) fn run_sync(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    Frame::with(&body.code, |frame| {
        if !(Values { arguments, results }).put_arguments(frame) {
            return Err(mismatched_argument(&body.code, arguments));
        }
        body.constants
            .put(frame, || program.attribute_section(), ctx);
        run_filled(program, body, ctx, frame, results)
    })
}

/// Like [`run_sync`], with the arguments and the constants already in the frame. Takes the values
/// out of all slots, also on failure.
#[inline]
pub(crate) fn run_filled(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    frame: Frame<'_>,
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    let outcome = report_to(ctx, || {
        leaf::run_sync(program, body, ctx, frame)
            .unwrap_or_else(|| run_sync_guarded(program, body, ctx, frame))
    });
    if outcome.is_ok() {
        take_results(frame, results, false);
    }
    outcome
}

#[inline(never)]
fn run_sync_guarded(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    frame: Frame<'_>,
) -> Result<(), Error> {
    let nesting = Nesting::enter_sync();
    let run = Run {
        program,
        body,
        frame,
        ctx: &BorrowedContext::inside_sync(ctx, program),
        has_constants: body.constants.are_made(),
        is_traced: tracing::is_active(TracingLevel::Debug),
        is_sync: true,
        stays_in_place: ctx.location_source().is_some(),
        watch: None,
        nesting: nesting.as_ref(),
        invocation: None,
        number: Cell::new(None),
        progress: Cell::new(Progress::Idle),
    };
    let outcome = match nesting {
        Some(_) => run.run_guarded(0),
        None => Err(Stop::left(Left::Failed(
            KernelId::from_index(0),
            nesting::too_deep(),
        ))),
    };
    outcome.map_err(|stop| run.end(stop.into_left()))
}

/// A function that a kernel of another frame calls, and how values are passed to it.
pub(crate) struct Callee<'a> {
    pub(crate) body: &'a Body,
    pub(crate) link: &'a Link,
    /// The registers of the arguments.
    operands: &'a [u32],
}

impl<'a> Callee<'a> {
    /// Returns the function that a kernel calls now, or `None` if values cannot be passed to it
    /// from place to place.
    #[inline]
    pub(crate) fn of(site: &CallSite<'a>) -> Option<Self> {
        let code = site.frame.code;
        let details = code.details(site.kernel);
        let operands = code.words(details.operands);
        let (number, operands) = match details.condition {
            None => (0, operands),
            Some(condition) => (
                u32::from(!site.frame.is_true(condition)),
                operands.get(1..)?,
            ),
        };
        if let Some(link) = site.body.links.made(details, number)
            && let Some(body) = site.program.made_body(link.callee)
        {
            return Some(Self {
                body,
                link,
                operands,
            });
        }
        Self::find(site)
    }

    /// Like [`of`](Self::of), for a kernel that has not called the function before.
    #[cold]
    #[inline(never)]
    fn find(site: &CallSite<'a>) -> Option<Self> {
        let code = site.frame.code;
        let details = code.details(site.kernel);
        let operands = code.words(details.operands);
        let functions = code.words(details.functions);
        let (number, id, operands) = match (details.condition, functions, operands) {
            (None, &[callee], operands) => (0, callee, operands),
            (Some(condition), &[first, second], [_, operands @ ..]) => {
                match site.frame.is_true(condition) {
                    true => (0, first, operands),
                    false => (1, second, operands),
                }
            }
            _ => return None,
        };
        let id = FunctionId::from_index(id as usize);
        let Ok(FunctionBody::Async(body)) = site.program.body(id) else {
            return None;
        };
        let link = site.body.links.get(details, number, || {
            let fixed_arguments = &site.program.entry(id).fixed_arguments;
            Link::between(code, operands, details, id, &body.code, fixed_arguments)
        })?;
        Some(Self {
            body,
            link,
            operands,
        })
    }
}

/// Runs a function that a kernel of another frame calls, and whose schedule is to be followed,
/// passing values from place to place.
pub(crate) fn call_in_place(
    site: &CallSite<'_>,
    callee: &Callee<'_>,
    results: &mut Vec<Option<AnyRef>>,
) -> Called {
    let body = callee.body;
    let mut places = CallerPlaces {
        program: site.program,
        caller: site.frame,
        operands: callee.operands,
        details: site.frame.code.details(site.kernel),
        link: callee.link,
        list: results,
        called: Called::Unsuited,
    };
    if let Some(outcome) = leaf::follow(site.program, body, site.ctx, &mut places) {
        return places.called(outcome);
    }
    let own_watch = match site.watch {
        Some(_) => None,
        None => watch(body, site.ctx),
    };
    let watch = site.watch.or(own_watch.as_ref());
    let outcome = follow(site.program, body, site.ctx, watch, &mut places);
    places.called(outcome)
}

/// Returns the clock of a run on one thread, or `None` if the run cannot be shared with other
/// threads.
#[inline]
fn watch(body: &Body, ctx: &ExecutionContext) -> Option<Watch> {
    let is_segmented = matches!(body.code.schedule, Some(Schedule::Segmented(_)));
    is_segmented.then(|| body.pace.watch(ctx.queue().parallelism_level() - 1))
}

fn follow(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    watch: Option<&Watch>,
    transfer: &mut impl Transfer,
) -> Outcome {
    let Some(nesting) = Nesting::enter_run(caller.host()) else {
        return Outcome::Refused;
    };
    Frame::with(&body.code, |frame| {
        follow_in(program, body, caller, frame, &nesting, watch, transfer)
    })
}

/// Like [`follow`], in a frame of the body that is empty.
#[inline]
fn follow_in(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    frame: Frame<'_>,
    nesting: &Nesting,
    watch: Option<&Watch>,
    transfer: &mut impl Transfer,
) -> Outcome {
    if !transfer.put_arguments(frame) {
        return Outcome::Refused;
    }
    let ctx = BorrowedContext::inside(caller, program);
    if body.code.frame.has_constants() {
        body.constants
            .put(frame, || program.attribute_section(), &ctx);
    }
    let run = Run {
        program,
        body,
        frame,
        ctx: &ctx,
        has_constants: body.constants.are_made(),
        is_traced: tracing::begin_path(),
        is_sync: false,
        stays_in_place: false,
        watch,
        nesting: Some(nesting),
        invocation: None,
        number: Cell::new(None),
        progress: Cell::new(Progress::Idle),
    };
    match run.run_guarded(0) {
        Ok(()) => transfer.take_results(frame),
        Err(stop) => run.go_on(caller, stop.into_left(), transfer),
    }
    Outcome::Finished
}

/// Returns the error of a synchronous function that got an argument of another type than its
/// kernels read.
#[cold]
fn mismatched_argument(code: &Code, arguments: &[AnyRef]) -> Error {
    for details in &code.details {
        let operands = code.words(details.operands);
        let types = &details.descriptor.types().operands;
        for (index, &register) in operands.iter().enumerate() {
            if details.takes_reference(index) || types.get(index, operands.len()).is_none() {
                continue;
            }
            let Some(found) = arguments.get(register as usize).map(AnyRef::type_id) else {
                continue;
            };
            let expected = code.registers[register as usize].ty;
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                let error = details.descriptor.operand_mismatch(index, expected, found);
                error.set_kernel_if_unset(details.descriptor.name());
                return error;
            }
        }
    }
    Error::new("an argument of a synchronous function has no payload")
        .with_code(ErrorCode::InvalidArgument)
}

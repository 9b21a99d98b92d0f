//! Running the segments of a function in order, under a queue that runs tasks in order.
//!
//! Under such a queue, a function of several streams runs as several tasks, and users rely on their
//! order. If all arguments are available and every kernel's results are available when it returns,
//! the order is known in advance: see [`crate::lower::segments`]. The tasks are the same and are
//! enqueued at the same points, but each knows which kernels it runs, so that nothing is counted or
//! listed. The same code as in the ready loop handles values, failures, cancelled requests and
//! traces.
//!
//! ```text
//!   call ─► segment 0 ──────────► caller goes on        a result is not available, or a task comes when it is not its turn
//!               │ hands over                                   │
//!               ▼                                              ▼
//!            task: segment 1 ──► task: segment 2 ──►    ready loop: operands are counted, as if they always had been
//! ```
//!
//! [`super::turn`] tells whose turn it is, and where the order was left. Finding out where the
//! order was left costs more than counting, so a function that had to leave its order runs in the
//! ready loop for a while: see [`super::habit`].
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_host::__runtime::{DirectCall, DirectFn, FileInputs, FunctionList};
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::Error;

use super::frame::Frame;
use super::framed;
use super::invocation::InvocationRef;
use super::panics;
use super::path::{Path, Progress};
use super::plain::PLAIN_CONSTANT;
use super::position::InOrder;
use super::ready::run_path;
use super::turn::Phase;
use crate::lower::code::{Code, Extras, Kernel, Schedule};
use crate::lower::replay::Replay;
use crate::lower::segments::Segments;

/// What a kernel may need besides the call that the loop over plain kernels does for it.
const IN_PLACE: Extras = Extras::READS_CALL
    .and(Extras::TAKES_SLOTS)
    .and(Extras::PUBLISHES)
    .and(Extras::SETTLES);

/// Why the loop over plain kernels stopped.
enum Stop {
    /// The segment has ended. A segment that is to be enqueued after its last kernel has not been
    /// enqueued.
    Ended,
    /// The kernel at the position has been started. It is not plain, or has to be inspected.
    Other,
    /// The kernel at the position failed.
    Failed(Error),
    /// Another task has left the order. If the kernel at the position was started, it has run.
    Left,
}

/// Starts an invocation that runs in the order of its segments. All its arguments are available.
pub(crate) fn start(invocation: &InvocationRef, arguments: &[AnyRef]) {
    let start = &invocation.code().start;
    run_path(invocation, start.at_once.stream, &[], |path| {
        for (result, argument) in start.arguments.iter().zip(arguments) {
            path.put(result.register, argument);
        }
        path.in_order = InOrder::begin(path.invocation, 0);
    });
}

/// Runs a segment as a task. If the order has been left, runs the kernels of the task in the ready
/// loop instead.
fn run_segment(invocation: &InvocationRef, number: usize) {
    let code = invocation.code();
    let Some(mut at) = InOrder::begin(invocation, number) else {
        invocation.leave_order();
        let first = segments_of(code).first_of(number);
        return run_path(invocation, code.start.stream, first, |_| ());
    };
    // Most segments run without a path. A trace shows every kernel.
    let is_traced = tracing::is_active(TracingLevel::Debug);
    let mut run = || at.run_plain_kernels(invocation, is_traced);
    let stop = match code.frame.has_slots {
        // Operands are dropped, some of which may panic.
        true => report_to(invocation.ctx(), run),
        false => run(),
    };
    match stop {
        Stop::Ended => at.hand_over_at_end(invocation),
        stop => run_path(invocation, code.start.stream, &[], |path| {
            path.in_order = Some(InOrder::at(path.code, at));
            path.after(stop);
        }),
    }
}

/// Enqueues a segment.
// A function of its own, so that it takes no machine registers from the loop over plain kernels.
#[inline(never)]
fn enqueue(invocation: &InvocationRef, number: usize) {
    let shared = invocation.clone();
    invocation
        .ctx()
        .enqueue(move || run_segment(&shared, number));
}

fn segments_of(code: &Code) -> &Segments {
    match &code.schedule {
        Some(Schedule::Segmented(segments)) => segments,
        _ => unreachable!("only code that has segments is run in their order"),
    }
}

/// Returns `true` if a kernel is a constant whose results are in their cells, and needs nothing
/// else.
#[inline(never)]
fn is_made_constant(invocation: &InvocationRef, kernel: &Kernel) -> bool {
    kernel.extras.contains(Extras::CONSTANT)
        && kernel.extras.is_within(PLAIN_CONSTANT)
        && invocation.has_constants()
}

/// Runs the kernel at the position, whose results are not those of the function, and settles its
/// operands and results.
///
/// Nothing here panics: a direct kernel returns an error instead, and a payload that panics as it
/// is dropped is reported.
///
/// # Errors
/// Fails if the kernel does. Its operands are then still in their places.
#[inline(never)]
fn run_in_place(
    invocation: &InvocationRef,
    frame: Frame<'_>,
    kernel: &Kernel,
    run: DirectFn,
    idle_call: &DirectCall<'_>,
) -> Result<(), Error> {
    let code = frame.code;
    let call = |call: &DirectCall<'_>| {
        // SAFETY: as in `run_plain_kernels`, which calls this.
        unsafe { frame.run(kernel.offsets, run, call) }
    };
    if kernel.extras.contains(Extras::READS_CALL) {
        let details = code.details(code.id_of(kernel));
        let ctx = invocation.path_ctx();
        let _running = ctx.enter_kernel(details.location);
        let file = FileInputs {
            attributes: framed::attributes(invocation.program(), code, details),
            functions: FunctionList {
                table: Some(invocation.table()),
                ids: code.words(details.functions),
            },
        };
        call(&DirectCall {
            exec_ctx: &ctx,
            file: &file,
        })?;
    } else {
        call(idle_call)?;
    }
    framed::settle_in_place(frame, kernel);
    Ok(())
}

impl<'a> InOrder<'a> {
    /// Begins a segment if it is its turn.
    fn begin(invocation: &'a InvocationRef, number: usize) -> Option<Self> {
        let segments = segments_of(invocation.code());
        let segment = segments.get(number);
        let mut at = Self {
            segments,
            position: segment.positions.start,
            is_running: false,
            end: segment.positions.end,
            next_segment: segment.next,
            handed_at: segments.handed_at(segment.next),
        };
        let phase = at.phase_at(at.position);
        at.is_running = phase == Phase::Running;
        invocation.turn().begin(at.position, phase).then_some(at)
    }

    /// Returns the same place with the lifetime of `code`.
    fn at(code: &'a Code, place: InOrder<'_>) -> Self {
        Self {
            segments: segments_of(code),
            ..place
        }
    }

    /// Runs kernels as long as they are plain, and enqueues segments. No kernel counts as plain if
    /// `is_looked_at`.
    // A function of its own, so that everything its loop needs stays in machine registers.
    #[inline(never)]
    fn run_plain_kernels(&mut self, invocation: &InvocationRef, is_looked_at: bool) -> Stop {
        let (code, frame, ctx) = (invocation.code(), invocation.frame(), invocation.ctx());
        let (turn, failures, request) =
            (invocation.turn(), invocation.failures(), &**ctx.request());
        let idle_call = DirectCall::idle(ctx);
        while self.position != self.end {
            if !self.is_running {
                if !self.go_on(invocation) {
                    return Stop::Left;
                }
                continue;
            }
            let position = self.position;
            let kernel = code.kernel(self.segments.order[position]);
            let is_disturbed =
                is_looked_at || !failures.is_empty() || request.cancel_value().is_some();
            let (Some(run), false) = (kernel.direct, is_disturbed) else {
                return Stop::Other;
            };
            if kernel.extras == Extras::NONE {
                // SAFETY: 1: a kernel runs once (T2 of `turn`), and only it writes its results
                // (C1). 2: its operands are written by kernels before it in the order, which have
                // run (T3), and have the types that it reads (C5); values that they could not write
                // are among the failures, of which there are none (L1 of `failures`). The call does
                // not panic: a direct kernel returns an error instead.
                if let Err(error) = unsafe { frame.run(kernel.offsets, run, &idle_call) } {
                    return Stop::Failed(error);
                }
            } else if kernel.extras.is_within(IN_PLACE) {
                if let Err(error) = run_in_place(invocation, frame, kernel, run, &idle_call) {
                    return Stop::Failed(error);
                }
            } else if !is_made_constant(invocation, kernel) {
                return Stop::Other;
            }
            let next = self.phase_at(position + 1);
            if !turn.finish(position, next) {
                return Stop::Left;
            }
            (self.position, self.is_running) = (position + 1, next == Phase::Running);
        }
        Stop::Ended
    }

    /// Continues within a segment at a position where another one is to be enqueued: enqueues it,
    /// then starts the next kernel. Returns `false` if another task has left the order.
    fn go_on(&mut self, invocation: &InvocationRef) -> bool {
        self.hand_over(invocation);
        self.is_running = invocation.turn().go_on(self.position);
        self.is_running
    }

    /// Enqueues the next segment.
    fn hand_over(&mut self, invocation: &InvocationRef) {
        let number = self.next_segment;
        self.next_segment += 1;
        self.handed_at = self.segments.handed_at(self.next_segment);
        // A queue that panics may have accepted the task nevertheless, so it must not be enqueued
        // again.
        panics::catch(|| enqueue(invocation, number));
    }

    /// Enqueues the segment that is to be enqueued once this one has ended, if there is one.
    #[inline]
    fn hand_over_at_end(&mut self, invocation: &InvocationRef) {
        if self.position == self.handed_at {
            self.hand_over(invocation);
        }
    }

    /// Ends the kernel at the position, which has run. Returns `false` if another task has left the
    /// order.
    fn finish(&mut self, invocation: &InvocationRef) -> bool {
        let next = self.phase_at(self.position + 1);
        let is_finished = invocation.turn().finish(self.position, next);
        if is_finished {
            self.position += 1;
            self.is_running = next == Phase::Running;
        }
        is_finished
    }
}

impl Path<'_> {
    /// Runs the kernels of the segment. If the order is left, the lists hold the ready kernels.
    pub(crate) fn run_in_order(&mut self) {
        while let Some(at) = &mut self.in_order {
            let stop = at.run_plain_kernels(self.invocation, self.is_traced);
            self.after(stop);
        }
    }

    /// Handles the kernel or the position at which the loop over plain kernels stopped.
    fn after(&mut self, stop: Stop) {
        let Some(at) = self.in_order else {
            return;
        };
        match stop {
            Stop::Ended => self.end_segment(),
            Stop::Other => {
                self.stream = self.code.kernel(at.kernel()).stream;
                self.run_kernel(at.kernel());
                self.finish_in_order();
            }
            Stop::Failed(error) => {
                self.stream = self.code.kernel(at.kernel()).stream;
                self.fail(at.kernel(), error);
                self.finish_in_order();
            }
            Stop::Left => self.leave_order(usize::MAX),
        }
    }

    fn end_segment(&mut self) {
        if let Some(mut at) = self.in_order.take() {
            at.hand_over_at_end(self.invocation);
        }
    }

    /// Moves on from the current kernel, which has run and whose results are settled. Does nothing
    /// if the order has been left.
    pub(crate) fn finish_in_order(&mut self) {
        if let Some(at) = &mut self.in_order
            && !at.finish(self.invocation)
        {
            self.leave_order(usize::MAX);
        }
    }

    /// Leaves the order because a result of the current kernel is not available. The results before
    /// it have been handed to their users.
    #[cold]
    pub(crate) fn leave_order_at_result(&mut self) {
        let num_results = match self.progress {
            Progress::Publishing(_, number) | Progress::HandingOver(_, number) => number - 1,
            _ => unreachable!("only results of kernels are published in order"),
        };
        self.invocation.body().habit.order_was_left();
        self.leave_order(num_results as usize);
    }

    /// Continues in the ready loop. If a kernel was running, its first `num_results` results, or
    /// all of them, have been handed to their users.
    #[cold]
    fn leave_order(&mut self, num_results: usize) {
        let Some(at) = self.in_order.take() else {
            return;
        };
        let left = self.invocation.leave_order();
        assert_eq!(
            (left.index, left.is_running),
            (at.position, at.is_running),
            "the order is left where the path is"
        );
        let replay = Replay::at(self.code, at.position, at.is_running);
        self.follow_counts();
        self.stream = replay.stream;
        self.batch = at.segments.handed(replay.batch);
        self.lists.inline.extend(replay.inline);
        if at.is_running {
            let results = &self.code.details(at.kernel()).results;
            for result in results.iter().take(num_results) {
                self.count_down(result.users);
            }
        }
    }
}

//! When a kernel runs: the ready loop takes a ready kernel, calls it, publishes its results, and
//! makes their users ready.
//!
//! A [path](Path) is one sequential run through ready kernels, on one thread. Ready kernels of the
//! current stream wait inline, those of other streams outline. Inline kernels run on the path, the
//! last one first: since users are listed in reverse program order, they run in program order.
//! Outline kernels are enqueued, unless the path has nothing else to do and moves to the first of
//! their streams. The loop does not recurse: kernels that become ready are appended to a list.
//!
//! Kernels that are enqueued together are one task, a [batch](super::batch). The path that runs it
//! goes through its streams one after the other, just as a path for each stream would in order.
//!
//! A value that is not available when it is published gets a waiter, which continues on its own
//! path.
//!
//! Functions whose order is known in advance do not need this loop: see [`super::sequence`] and
//! [`super::in_order`].

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_host::__runtime::panic_error;
use tfrt_host::ExecutionContext;
use tfrt_host::tracing;

use super::batch::{self, Estimate};
use super::invocation::InvocationRef;
use super::panics::{self, drop_quietly};
use super::path::{Lists, Path, Progress, Stop};
use crate::lower::code::{AtOnce, Extras, KernelId, KernelResult, StreamId};

/// Starts an invocation all of whose arguments are available.
pub(crate) fn start_at_once(invocation: &InvocationRef, arguments: &[AnyRef]) {
    let start = &invocation.code().start;
    run_path(invocation, start.at_once.stream, &[], |path| {
        for (&result, argument) in start.arguments.iter().zip(arguments) {
            path.put(result.register, argument);
        }
        path.start_at_once(&start.at_once);
    });
}

/// Starts an invocation: makes the kernels without operands ready, and those whose operands are
/// available arguments.
pub(crate) fn start(invocation: &InvocationRef, arguments: &[AnyRef]) {
    let start = &invocation.code().start;
    run_path(invocation, start.stream, &[], |path| {
        path.count_down(start.roots);
        for (&result, argument) in start.arguments.iter().zip(arguments) {
            path.publish(result, argument.clone());
        }
    });
}

/// Runs a path: `begin` makes the first kernels ready. The kernels of `batch`, ordered by stream,
/// run when the path has nothing else to do.
pub(crate) fn run_path(
    invocation: &InvocationRef,
    stream: StreamId,
    batch: &[KernelId],
    begin: impl FnOnce(&mut Path<'_>),
) {
    let ctx = invocation.path_ctx();
    let is_traced = tracing::begin_path();
    let mut path = Path::new(invocation, &ctx, stream, batch, is_traced);
    let mut begin = Some(begin);
    let mut run = |path: &mut Path<'_>| {
        if let Some(begin) = begin.take() {
            begin(path);
        }
        path.run_ready_kernels();
    };
    report_to::<ExecutionContext, _>(&ctx, || {
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(&mut path))) {
            path.recover(&*payload);
            drop_quietly(payload);
        }
    });
    path.lists.give_back();
}

impl Path<'_> {
    fn run_ready_kernels(&mut self) {
        match self.progress {
            Progress::Idle | Progress::InPlace(_) | Progress::Framed(_) => {}
            Progress::Publishing(kernel, num_published) => {
                self.publish_results(kernel, num_published as usize);
                self.finish_in_order();
            }
            Progress::HandingOver(kernel, num_handed) => {
                self.hand_over_results(kernel, num_handed as usize);
                self.finish_in_order();
            }
        }
        if self.in_order.is_some() {
            self.run_in_order();
        }
        loop {
            if self.has_outline() {
                self.distribute();
            }
            match self.run_plain_kernels() {
                Stop::Idle => return,
                Stop::Distribute => {}
                Stop::Next(id) => self.run_kernel(id),
                Stop::Failed(id, error) => self.fail(id, error),
            }
        }
    }

    /// Runs a kernel that is not plain.
    pub(crate) fn run_kernel(&mut self, id: KernelId) {
        let kernel = self.code.kernel(id);
        if let Some(direct) = kernel.direct {
            self.run_in_place(id, direct);
        } else if !kernel.extras.contains(Extras::CALLS) || !self.run_call(id) {
            self.run_framed(id);
        }
    }

    /// Sets the value of a register, now or once it is available, and makes its users ready.
    pub(crate) fn publish(&mut self, result: KernelResult, value: AnyRef) {
        if value.is_available() || result.users.len() == 0 {
            self.put(result.register, &value);
            self.count_down(result.users);
            return;
        }
        if self.in_order.is_some() {
            self.leave_order_at_result();
        }
        let (invocation, stream) = (self.share_invocation(), self.stream);
        value.and_then(move |value| {
            run_path(&invocation, stream, &[], |path| {
                path.put(result.register, value);
                path.count_down(result.users);
            });
        });
    }

    /// Makes the kernels ready that are ready from the start.
    fn start_at_once(&mut self, start: &AtOnce) {
        let inline = self.code.kernel_ids(start.inline);
        self.lists.inline.extend(inline);
        if !start.outline.is_empty() {
            self.is_alone = false;
            enqueue_start(self.ctx, self.invocation, 0..start.outline.len());
        }
    }

    /// Moves to another stream if the current one has no ready kernels, and enqueues the rest.
    #[cold]
    fn distribute(&mut self) {
        if self.has_no_inline() {
            self.change_stream();
        }
        if self.has_outline() {
            self.enqueue_outline();
        }
    }

    fn enqueue_outline(&mut self) {
        self.is_alone = false;
        let (ctx, invocation) = (self.ctx, self.invocation);
        let Lists { outline, spare, .. } = &mut *self.lists;
        // A queue that panics may have accepted the task nevertheless, so these kernels must not be
        // enqueued again.
        panics::catch(|| enqueue(ctx, invocation, outline, spare));
        self.lists.outline.clear();
    }

    /// Recovers from a panic: the kernel that was being called fails; results that were being
    /// published remain.
    #[cold]
    fn recover(&mut self, payload: &(dyn Any + Send)) {
        drop_quietly(std::mem::take(&mut self.lists.operands));
        let kernel = match self.progress {
            Progress::InPlace(kernel) => {
                panics::catch(|| self.release_operands(self.code.details(kernel)));
                kernel
            }
            Progress::Framed(kernel) => kernel,
            Progress::Idle | Progress::Publishing(..) | Progress::HandingOver(..) => return,
        };
        let details = self.code.details(kernel);
        let error = panic_error(details.descriptor.name(), payload);
        let error = self.emit(details, error);
        drop_quietly(std::mem::take(&mut self.lists.results));
        self.lists
            .results
            .resize(details.results.len(), Some(error));
        self.progress = Progress::Publishing(kernel, 0);
    }
}

/// Enqueues ready kernels. `spare` is scratch space, left empty.
fn enqueue(
    ctx: &ExecutionContext,
    invocation: &InvocationRef,
    ready: &mut [KernelId],
    spare: &mut Vec<u32>,
) {
    if let [kernel] = *ready {
        // A single kernel needs no list, and so no allocation: it fits into the task.
        let invocation = invocation.clone();
        ctx.enqueue(move || run_batch(&invocation, IsStart(false), &[kernel], |_| ()));
        return;
    }
    batch::sort_by_stream(invocation.code(), ready, spare);
    enqueue_sorted(ctx, invocation, ready);
}

fn enqueue_sorted(ctx: &ExecutionContext, invocation: &InvocationRef, ready: &[KernelId]) {
    let (invocation, ready) = (invocation.clone(), Box::<[KernelId]>::from(ready));
    ctx.enqueue(move || {
        let mut rest = &*ready;
        run_batch(&invocation, IsStart(false), &ready, |at| {
            let (kept, given) = rest.split_at(at);
            rest = kept;
            enqueue_sorted(invocation.ctx(), &invocation, given);
        });
    });
}

/// Enqueues a range of the kernels that are ready from the start.
fn enqueue_start(ctx: &ExecutionContext, invocation: &InvocationRef, range: Range<usize>) {
    let invocation = invocation.clone();
    ctx.enqueue(move || {
        let start = range.start;
        let mut end = range.end;
        let ready = &invocation.code().start.at_once.outline[range];
        run_batch(&invocation, IsStart(true), ready, |at| {
            let given = start + at..end;
            end = start + at;
            enqueue_start(invocation.ctx(), &invocation, given);
        });
    });
}

/// Whether a batch consists of kernels that are ready from the start.
#[derive(Clone, Copy, Debug)]
struct IsStart(bool);

/// Runs a batch. `give_from` enqueues the kernels from a position on.
fn run_batch(
    invocation: &InvocationRef,
    IsStart(is_start): IsStart,
    mut ready: &[KernelId],
    mut give_from: impl FnMut(usize),
) {
    let (ctx, body) = (invocation.ctx(), invocation.body());
    let stream = body.code.start.stream;
    if ctx.queue().parallelism_level() == 1 {
        return run_path(invocation, stream, ready, |_| ());
    }
    let cost: &Estimate = match is_start {
        true => &body.group_cost.start,
        false => &body.group_cost.later,
    };
    while cost.is_divided(batch::num_groups(&body.code, ready)) {
        let middle = batch::middle_of(&body.code, ready);
        // A queue that panics may have accepted the task nevertheless; the kept part runs either
        // way.
        panics::catch(|| give_from(middle));
        ready = &ready[..middle];
    }
    let begin = Instant::now();
    run_path(invocation, stream, ready, |_| ());
    cost.learn(batch::num_groups(&body.code, ready), begin.elapsed());
}

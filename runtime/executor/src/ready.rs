//! The ready loop: takes a ready kernel, calls it, publishes its results, releases its users.
//!
//! A [`Path`] is one sequential run through ready kernels, on one thread. Kernels of the current stream wait *inline*, those
//! of other streams *outline*. Inline ones run here, the last one first: since users are listed in reverse program order,
//! that is program order. Outline ones are handed to the work queue, unless this path has nothing else to do and moves over
//! to the first of their streams. The loop does not recurse: what a kernel makes ready is appended to a list.
//!
//! What is handed over at once is one task, a [batch](crate::batch): the path that runs it goes through its streams one after the
//! other, as a path of its own for each would, were they run in order.
//!
//! Most kernels are [plain](crate::plain): called, counted down, done. The others, and all of them once something has
//! failed, is cancelled or is traced, go through the functions of [`crate::publish`], which look at more.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tfrt_async::AnyRef;
use tfrt_host::kernel::direct::DirectCall;
use tfrt_host::kernel::panic::panic_error;
use tfrt_host::tracing;

use crate::batch::{self, KeptBatch};
use crate::body::{AtOnce, Body};
use crate::call::{self, drop_quietly};
use crate::company::{Busy, Resting};
use crate::invocation::{InvocationRef, PathContext};
use crate::plain::Stop;

/// The lists of a path, kept from one path to the next on the same thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    inline: Vec<u32>,
    outline: Vec<u32>,
    /// For putting the above in order.
    spare: Vec<u32>,
    pub(crate) operands: Vec<AnyRef>,
    pub(crate) results: Vec<Option<AnyRef>>,
    /// Other lists that no path uses at the moment.
    unused: Option<Box<Scratch>>,
}

thread_local! {
    /// Lists that no path uses at the moment. Nested paths take one set each.
    static UNUSED: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Scratch {
    fn take() -> Box<Self> {
        let mut scratch = UNUSED
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default();
        let _ = UNUSED.try_with(|unused| unused.set(scratch.unused.take()));
        scratch
    }

    fn give_back(mut self: Box<Self>) {
        let _ = UNUSED.try_with(|unused| {
            self.unused = unused.take();
            unused.set(Some(self));
        });
    }
}

/// How far the current kernel has come, for the case that something panics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Idle,
    Calling {
        kernel: u32,
    },
    /// Publishing what is in the list of results.
    Publishing {
        kernel: u32,
        num_published: u32,
    },
    /// Handing over what a kernel that ran in place has left there.
    Handing {
        kernel: u32,
        num_handed: u32,
    },
}

/// One sequential run through ready kernels.
pub(crate) struct Path<'a> {
    pub(crate) invocation: &'a InvocationRef,
    pub(crate) body: &'a Body,
    pub(crate) ctx: &'a PathContext<'a>,
    /// What kernels get that do not look at it.
    idle_call: DirectCall<'a>,
    stream: u32,
    /// What is left of the batch.
    batch: &'a [u32],
    /// The batch, if the path keeps it that made it ready.
    kept: Option<KeptBatch>,
    /// Whether nobody but this path can touch the state of the invocation.
    is_alone: bool,
    is_traced: bool,
    /// The kernel to run next, as if it were the last one of the inline list; 0 if there is none.
    next: u32,
    pub(crate) scratch: Box<Scratch>,
    pub(crate) step: Step,
    busy: Busy,
}

/// Starts an invocation: makes the kernels without operands ready, and those whose operands are available arguments.
pub(crate) fn start(invocation: &InvocationRef, arguments: &[AnyRef]) {
    let start = &invocation.body().start;
    if invocation.starts_at_once() {
        return Path::run(invocation, start.at_once.stream, &[], |path| {
            for (&result, argument) in start.arguments.iter().zip(arguments) {
                path.put(result.register, argument);
            }
            path.start_at_once(&start.at_once);
        });
    }
    Path::run(invocation, start.stream, &[], |path| {
        path.count_down(start.roots);
        for (&result, argument) in start.arguments.iter().zip(arguments) {
            path.publish(result, argument.clone());
        }
    });
}

/// Runs ready kernels, ordered by stream, and what they make ready.
pub(crate) fn resume(invocation: &InvocationRef, batch: &[u32]) {
    Path::run(invocation, 0, batch, |_| ());
}

impl<'a> Path<'a> {
    /// Runs a path: `begin` makes the first kernels ready. Those of `batch`, ordered by stream, follow when there is nothing
    /// else to do.
    pub(crate) fn run(
        invocation: &'a InvocationRef,
        stream: u32,
        batch: &'a [u32],
        begin: impl FnOnce(&mut Path<'_>),
    ) {
        let ctx = invocation.path_ctx();
        let mut path = Path {
            invocation,
            body: invocation.body(),
            ctx: &ctx,
            idle_call: DirectCall::idle(&ctx),
            stream,
            batch,
            kept: None,
            is_alone: invocation.is_alone(),
            is_traced: tracing::begin_path(),
            next: 0,
            scratch: Scratch::take(),
            step: Step::Idle,
            busy: Busy::enter(),
        };
        let mut begin = Some(begin);
        let mut run = |path: &mut Path<'_>| {
            if let Some(begin) = begin.take() {
                begin(path);
            }
            path.run_ready_kernels();
        };
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(&mut path))) {
            path.recover(&*payload);
            drop_quietly(payload);
        }
        if let Some(kept) = path.kept {
            kept.finish(path.body);
        }
        path.scratch.give_back();
    }

    fn run_ready_kernels(&mut self) {
        match self.step {
            Step::Idle | Step::Calling { .. } => {}
            Step::Publishing {
                kernel,
                num_published,
            } => self.publish_results(kernel as usize, num_published as usize),
            Step::Handing { kernel, num_handed } => {
                self.hand_over_results(kernel as usize, num_handed as usize);
            }
        }
        loop {
            if self.has_outline() {
                self.distribute();
            }
            match self.run_plain_kernels() {
                Stop::Idle => return,
                Stop::Distribute => {}
                Stop::Next(number) => {
                    let index = number as usize - 1;
                    match self.body.kernels[index].direct {
                        Some(direct) => self.run_in_place(index, direct),
                        None => self.run_framed(index),
                    }
                }
                Stop::Failed(index, error) => self.fail(index as usize, error),
            }
        }
    }

    /// The kernel of the current stream to run now: the last one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        match std::mem::take(&mut self.next) {
            0 => self.scratch.inline.pop(),
            next => Some(next),
        }
    }

    /// What is left of the batch.
    #[inline]
    pub(crate) fn batch(&self) -> &'a [u32] {
        self.batch
    }

    /// Goes on with a stream, after which this is left of the batch.
    #[inline]
    pub(crate) fn set_batch(&mut self, stream: u32, rest: &'a [u32]) {
        (self.stream, self.batch) = (stream, rest);
    }

    /// Goes on with the kernels of the next stream of the batch, and gives the first one to run.
    #[cold]
    pub(crate) fn take_group(&mut self) -> Option<u32> {
        let (stream, group, rest) = batch::split_group(self.body, self.batch);
        self.set_batch(stream, rest);
        self.scratch.inline.extend_from_slice(group);
        self.scratch.inline.pop()
    }

    /// Makes ready what is ready from the start.
    fn start_at_once(&mut self, start: &AtOnce) {
        match *self.body.words(start.inline) {
            [number] => self.next = number,
            ref numbers => self.scratch.inline.extend_from_slice(numbers),
        }
        if start.outline.len() == 0 {
            return;
        }
        let body = self.body;
        self.kept = KeptBatch::if_worth_it(self.ctx, body, start.num_outline_groups);
        if self.kept.is_some() {
            self.batch = body.words(start.outline);
        } else {
            self.is_alone = false;
            batch::enqueue_range(self.ctx, self.invocation, start.outline);
        }
    }

    /// Whether kernels may have to be skipped, or be told of.
    pub(crate) fn must_look(&self) -> bool {
        self.is_traced
            || !self.invocation.failures().is_empty()
            || self.ctx.request().cancel_value().is_some()
    }

    /// Whether the path records what it does.
    pub(crate) fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// The stream of the path.
    pub(crate) fn stream(&self) -> u32 {
        self.stream
    }

    /// What the path gives to kernels that look at none of it.
    pub(crate) fn idle_call(&self) -> DirectCall<'a> {
        self.idle_call
    }

    /// A reference to the invocation for somebody who goes on with it elsewhere.
    pub(crate) fn share_invocation(&mut self) -> InvocationRef {
        self.is_alone = false;
        self.invocation.clone()
    }

    /// Whether nobody but this path can touch the state of the invocation.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Whether kernels of other streams are ready, which are to be handed on.
    #[inline]
    pub(crate) fn has_outline(&self) -> bool {
        !self.scratch.outline.is_empty()
    }

    /// That the path has nothing to do but what it does, if that is so.
    pub(crate) fn rest(&self) -> Option<Resting> {
        let is_idle = self.next == 0
            && self.scratch.inline.is_empty()
            && self.batch.is_empty()
            && !self.has_outline();
        is_idle.then(|| self.busy.rest())
    }

    /// Lists a kernel as ready.
    #[inline]
    pub(crate) fn make_ready(&mut self, number: u32, stream: u32) {
        if stream != self.stream {
            self.scratch.outline.push(number);
            return;
        }
        if self.next != 0 {
            self.scratch.inline.push(self.next);
        }
        self.next = number;
    }

    /// Moves over to another stream if this one has nothing to do, and hands the rest to the work queue.
    #[cold]
    fn distribute(&mut self) {
        if self.next == 0 && self.scratch.inline.is_empty() {
            self.change_stream();
        }
        if !self.scratch.outline.is_empty() {
            self.enqueue_outline();
        }
    }

    fn change_stream(&mut self) {
        let body = self.body;
        let stream_of = |number: u32| body.kernels[number as usize - 1].stream;
        self.stream = stream_of(self.scratch.outline[0]);
        let stream = self.stream;
        if let [number] = *self.scratch.outline {
            self.next = number;
            return self.scratch.outline.clear();
        }
        let Scratch {
            inline, outline, ..
        } = &mut *self.scratch;
        outline.retain(|&number| {
            let is_ours = stream_of(number) == stream;
            if is_ours {
                inline.push(number);
            }
            !is_ours
        });
    }

    fn enqueue_outline(&mut self) {
        self.is_alone = false;
        let (ctx, invocation) = (self.ctx, self.invocation);
        let Scratch { outline, spare, .. } = &mut *self.scratch;
        // A queue that panics may have taken the task all the same, so that these kernels must not be handed over again.
        call::catch(|| batch::enqueue(ctx, invocation, outline, spare));
        self.scratch.outline.clear();
    }

    /// Prepares to go on after a panic: the kernel that was being called fails; results that were being published stay.
    #[cold]
    fn recover(&mut self, payload: &(dyn Any + Send)) {
        drop_quietly(std::mem::take(&mut self.scratch.operands));
        if let Step::Calling { kernel } = self.step {
            let details = &self.body.details[kernel as usize];
            self.ctx.set_location_token(details.location);
            let error = panic_error(details.descriptor.name(), payload);
            let error = AnyRef::error(self.ctx.emit_error(error));
            drop_quietly(std::mem::take(&mut self.scratch.results));
            self.scratch
                .results
                .resize(details.results.len(), Some(error));
            self.step = Step::Publishing {
                kernel,
                num_published: 0,
            };
        }
    }
}

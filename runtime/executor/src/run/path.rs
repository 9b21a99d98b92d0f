//! A path: one sequential run through ready kernels, on one thread, and its state.
//!
//! Ready kernels of the current stream wait *inline*, those of other streams *outline*. A path may
//! access the places of a kernel that it has found ready: only the path that counted down its last
//! operand runs it (F1 and F2 of [`super::frame`]).
//!
//! Other modules say what a path does with kernels: [`super::plain`] runs most of them,
//! [`super::publish`] the others, and [`super::ready`] decides which one is next.

use std::cell::Cell;

use tfrt_async::AnyRef;
use tfrt_host::__runtime::{BorrowedContext, DirectCall};
use tfrt_support::entity::EntityId;

use super::frame::Frame;
use super::invocation::InvocationRef;
use super::position::InOrder;
use super::ready_count::ReadyCount;
use crate::lower::code::{Code, KernelId, StreamId};

/// Lists that runners use, reused by later runners of the same thread.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) inline: Vec<KernelId>,
    pub(crate) outline: Vec<KernelId>,
    /// Scratch space for sorting the lists above.
    pub(crate) spare: Vec<u32>,
    pub(crate) operands: Vec<AnyRef>,
    pub(crate) results: Vec<Option<AnyRef>>,
    /// Further unused lists.
    unused: Option<Box<Lists>>,
}

thread_local! {
    /// The lists that are not in use. Nested runners take one set each.
    static UNUSED: Cell<Option<Box<Lists>>> = const { Cell::new(None) };
}

impl Lists {
    /// Returns empty lists.
    #[inline]
    pub(crate) fn take() -> Box<Self> {
        let mut lists = UNUSED
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default();
        let _ = UNUSED.try_with(|unused| unused.set(lists.unused.take()));
        lists
    }

    /// Keeps the lists, which must be empty, for the next runner.
    #[inline]
    pub(crate) fn give_back(mut self: Box<Self>) {
        let _ = UNUSED.try_with(|unused| {
            self.unused = unused.take();
            unused.set(Some(self));
        });
    }
}

/// The progress of the current kernel, in case something panics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Progress {
    Idle,
    /// It is being called in place; its operands are in their slots.
    InPlace(KernelId),
    /// It is being called with a list of operands.
    Framed(KernelId),
    /// Its results are in the list and being published. The number counts those that are done or
    /// must not be tried again.
    Publishing(KernelId, u32),
    /// Its results are in its places and being handed over. The number counts those that are done
    /// or must not be tried again.
    HandingOver(KernelId, u32),
}

/// Why the inner loop has ended.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Nothing is ready.
    Idle,
    /// Kernels of other streams are ready.
    Distribute,
    /// This kernel is next, and is not plain.
    Next(KernelId),
    /// This kernel failed.
    Failed(KernelId, tfrt_support::Error),
}

/// One sequential run through ready kernels.
pub(crate) struct Path<'a> {
    pub(crate) invocation: &'a InvocationRef,
    pub(crate) code: &'a Code,
    pub(crate) frame: Frame<'a>,
    /// The counts of operands. Empty as long as the path follows an order.
    ready_counts: &'a [ReadyCount],
    /// The order that the path follows, if there is one.
    pub(crate) in_order: Option<InOrder<'a>>,
    pub(crate) ctx: &'a BorrowedContext<'a>,
    /// The call that is passed to kernels that do not look at it.
    pub(crate) idle_call: DirectCall<'a>,
    pub(crate) stream: StreamId,
    /// The rest of the batch.
    pub(crate) batch: &'a [KernelId],
    /// Whether only this path can access the state of the invocation.
    pub(crate) is_alone: bool,
    pub(crate) is_traced: bool,
    /// The kernel to run next, as if it were the last one of the inline list.
    pub(crate) next: Option<KernelId>,
    pub(crate) lists: Box<Lists>,
    pub(crate) progress: Progress,
}

impl<'a> Path<'a> {
    /// Returns a path whose only work so far is a batch of kernels, ordered by stream.
    pub(crate) fn new(
        invocation: &'a InvocationRef,
        ctx: &'a BorrowedContext<'a>,
        stream: StreamId,
        batch: &'a [KernelId],
        is_traced: bool,
    ) -> Self {
        Self {
            invocation,
            code: invocation.code(),
            frame: invocation.frame(),
            ready_counts: invocation.ready_counts(),
            in_order: None,
            ctx,
            idle_call: DirectCall::idle(ctx),
            stream,
            batch,
            is_alone: invocation.is_alone(),
            is_traced,
            next: None,
            lists: Lists::take(),
            progress: Progress::Idle,
        }
    }

    /// Returns `true` if kernels may have to be skipped or traced.
    pub(crate) fn must_look(&self) -> bool {
        self.is_traced
            || !self.invocation.failures().is_empty()
            || self.ctx.request().cancel_value().is_some()
    }

    /// Returns a reference to the invocation for a task or a waiter that continues it.
    pub(crate) fn share_invocation(&mut self) -> InvocationRef {
        self.is_alone = false;
        self.invocation.clone()
    }

    /// Returns `true` if kernels of other streams are ready, which are to be passed on.
    #[inline]
    pub(crate) fn has_outline(&self) -> bool {
        !self.lists.outline.is_empty()
    }

    /// Returns `true` if no kernel of the current stream is ready.
    #[inline]
    pub(crate) fn has_no_inline(&self) -> bool {
        self.next.is_none() && self.lists.inline.is_empty()
    }

    /// Returns the kernel to run now: the last one of the current stream, or else the first one of
    /// the batch.
    #[inline]
    pub(crate) fn next_kernel(&mut self) -> Option<KernelId> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        if let Some(next) = self.lists.inline.pop() {
            return Some(next);
        }
        let (&kernel, rest) = self.batch.split_first()?;
        let stream = self.code.kernel(kernel).stream;
        match rest {
            [next, ..] if self.code.kernel(*next).stream == stream => self.take_group(stream),
            _ => {
                (self.stream, self.batch) = (stream, rest);
                Some(kernel)
            }
        }
    }

    /// Continues with the kernels of the next stream of the batch.
    #[cold]
    fn take_group(&mut self, stream: StreamId) -> Option<KernelId> {
        let is_same = |kernel: &&KernelId| self.code.kernel(**kernel).stream == stream;
        let num_kernels = self.batch.iter().take_while(is_same).count();
        let (group, rest) = self.batch.split_at(num_kernels);
        (self.stream, self.batch) = (stream, rest);
        self.lists.inline.extend_from_slice(group);
        self.lists.inline.pop()
    }

    /// Lists a kernel as ready.
    #[inline]
    pub(crate) fn make_ready(&mut self, kernel: KernelId) {
        if self.code.kernel(kernel).stream != self.stream {
            self.lists.outline.push(kernel);
            return;
        }
        if let Some(before) = self.next.replace(kernel) {
            self.lists.inline.push(before);
        }
    }

    /// Moves to the stream of the first ready kernel of the other streams.
    pub(crate) fn change_stream(&mut self) {
        let code = self.code;
        let stream = code.kernel(self.lists.outline[0]).stream;
        self.stream = stream;
        let Lists {
            inline, outline, ..
        } = &mut *self.lists;
        if let [kernel] = **outline {
            self.next = Some(kernel);
            return outline.clear();
        }
        outline.retain(|&kernel| {
            let is_ours = code.kernel(kernel).stream == stream;
            if is_ours {
                inline.push(kernel);
            }
            !is_ours
        });
    }

    /// Counts operands from now on; other paths may do so, too.
    pub(crate) fn follow_counts(&mut self) {
        self.ready_counts = self.invocation.ready_counts();
        self.is_alone = false;
    }

    /// Counts an operand of each of these kernels as available, and lists the kernels that become
    /// ready. Does nothing as long as the path follows an order, in which the ready kernels are
    /// known.
    #[inline(always)]
    pub(crate) fn count_down(&mut self, users: crate::lower::code::Words) {
        if users.len() > 0 && self.in_order.is_none() {
            self.count_some_down(users);
        }
    }

    fn count_some_down(&mut self, users: crate::lower::code::Words) {
        let (ready_counts, is_alone) = (self.ready_counts, self.is_alone);
        for user in self.code.kernel_ids(users) {
            if ready_counts[user.index()].count_down(is_alone) {
                self.make_ready(user);
            }
        }
    }
}

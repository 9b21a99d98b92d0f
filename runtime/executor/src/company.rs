//! Whether anything else could happen before a function that is about to start gives its results.
//!
//! A queue that runs tasks in order runs a program's side effects in an order that is always the same, and recorded. A function of
//! several streams gives its results later, and what is ready or queued meanwhile comes first. If nothing is, later is the same as
//! now: then the function may be run at once, without anybody seeing a difference.
//!
//! What could happen on this thread is what the [paths](crate::ready) below on its stack have left to do, and what is in the queue.
//! What else is on the stack, such as a kernel that calls functions, or a waiter, goes on before the results come: these come from a
//! task of their own. What other threads do comes at any time in any case.

use std::cell::Cell;

use tfrt_host::ExecutionContext;

thread_local! {
    /// How many paths on the stack of this thread may have more to do than to wait for what is on top of them.
    static NUM_BUSY: Cell<u32> = const { Cell::new(0) };
}

/// A path on the stack of this thread, as long as it is there.
#[derive(Debug)]
pub(crate) struct Busy;

impl Busy {
    #[inline]
    pub(crate) fn enter() -> Self {
        NUM_BUSY.set(NUM_BUSY.get() + 1);
        Self
    }

    /// The path has nothing to do, for as long as this is there, but to wait for what it calls.
    #[inline]
    pub(crate) fn rest(&self) -> Resting {
        NUM_BUSY.set(NUM_BUSY.get() - 1);
        Resting
    }
}

impl Drop for Busy {
    #[inline]
    fn drop(&mut self) {
        NUM_BUSY.set(NUM_BUSY.get() - 1);
    }
}

/// A path that has nothing to do.
#[derive(Debug)]
pub(crate) struct Resting;

impl Drop for Resting {
    #[inline]
    fn drop(&mut self) {
        NUM_BUSY.set(NUM_BUSY.get() + 1);
    }
}

/// Whether what is started in `ctx` now, by a path that rests or by nobody's, is all there is to do.
#[inline]
pub(crate) fn is_alone(ctx: &ExecutionContext) -> bool {
    NUM_BUSY.get() == 0 && ctx.queue().num_pending_tasks() == Some(0)
}

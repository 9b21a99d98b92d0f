//! Waiting until a queue is at rest, which is when no task is pending or running on either of its sides.
//!
//! # How to see it
//!
//! The sides cannot be looked at in one moment, and a task of one may add a task to the other. So the blocking side is looked at,
//! then the compute side, then the blocking side again: if it was at rest both times and has accepted no task in between,
//! it had none all that time, and so nobody was there who could have added one to the compute side after that was found at
//! rest.
//!
//! # How to be told
//!
//! Whoever brings a side to rest tells those who wait, if there are any. The one who waits counts itself, passes a fence, and then
//! looks at the sides; the one who brings a side to rest does so, passes a fence, and then looks at the count. Of the two
//! fences one comes first: either the count is seen, or the side is seen at rest. The lock keeps the notification from
//! falling between the look and the wait.

use std::sync::PoisonError;

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, fence};

/// Those who wait for rest.
#[derive(Debug)]
pub(crate) struct Rest {
    num_waiting: AtomicUsize,
    lock: Mutex<()>,
    /// One of the sides has come to rest.
    reached: Condvar,
}

/// Whether both sides are at rest: see the module's doc. `blocking` gives equal looks only if no task came in between.
pub(crate) fn is_at_rest<L: PartialEq>(
    blocking: impl Fn() -> Option<L>,
    compute: impl FnOnce() -> bool,
) -> bool {
    let before = blocking();
    before.is_some() && compute() && blocking() == before
}

impl Rest {
    /// Nobody waits.
    pub(crate) fn new() -> Self {
        Self {
            num_waiting: AtomicUsize::new(0),
            lock: Mutex::new(()),
            reached: Condvar::new(),
        }
    }

    /// Tells those who wait that a side has come to rest.
    pub(crate) fn reached(&self) {
        // Orders what made the side come to rest before the look at the count; pairs with the fence in `wait`.
        fence(Ordering::SeqCst);
        // Relaxed: the fence orders it.
        if self.num_waiting.load(Ordering::Relaxed) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.reached.notify_all();
        }
    }

    /// Whether somebody waits, for those who might bring a side to rest sooner.
    pub(crate) fn is_awaited(&self) -> bool {
        // Relaxed: who sees it too late keeps somebody waiting a little longer.
        self.num_waiting.load(Ordering::Relaxed) > 0
    }

    /// Blocks until `is_at_rest`.
    pub(crate) fn wait(&self, is_at_rest: impl Fn() -> bool) {
        // Relaxed: the fence orders it.
        self.num_waiting.fetch_add(1, Ordering::Relaxed);
        // Orders the count before the looks at the sides; pairs with the fence in `reached`.
        fence(Ordering::SeqCst);
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_at_rest() {
            guard = self
                .reached
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        // Relaxed: a count that is too high for a moment costs a notification.
        self.num_waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_models;

//! Waiting until a queue is quiescent: no task is pending or running on its compute side or on its
//! blocking side.
//!
//! # Detecting quiescence
//!
//! The two sides cannot be inspected at the same instant, and a task of one side may add a task to
//! the other. So the blocking side is inspected first, then the compute side, then the blocking
//! side again. If the blocking side was quiescent both times and accepted no task in between, it
//! had no task for the whole time. Then no task could have been added to the compute side after it
//! was found quiescent.
//!
//! # Waking the waiters
//!
//! A thread that makes a side quiescent notifies the waiters, if there are any. A waiter increments
//! the count of waiters, passes a fence, and then inspects the sides. A thread that makes a side
//! quiescent does so, passes a fence, and then reads the count. One of the two fences comes first:
//! either the count is seen, or the side is seen quiescent. The lock keeps a notification from
//! falling between the inspection and the wait.

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, fence, lock, wait};

/// The threads that wait for quiescence.
#[derive(Debug)]
pub(crate) struct Quiescence {
    num_waiting: AtomicUsize,
    lock: Mutex<()>,
    /// Notified when one of the sides became quiescent.
    changed: Condvar,
}

/// Returns `true` if both sides are quiescent; see the module documentation. `blocking` returns a
/// snapshot if its side is quiescent; two snapshots are equal only if no task was accepted in
/// between.
pub(crate) fn is_quiescent<L: PartialEq>(
    blocking: impl Fn() -> Option<L>,
    compute: impl FnOnce() -> bool,
) -> bool {
    let before = blocking();
    before.is_some() && compute() && blocking() == before
}

impl Quiescence {
    /// Returns a state without waiters.
    pub(crate) fn new() -> Self {
        Self {
            num_waiting: AtomicUsize::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Notifies the waiters that a side became quiescent.
    pub(crate) fn notify(&self) {
        // Orders the change that made the side quiescent before the load of the count; pairs with
        // the fence in `wait`.
        fence(Ordering::SeqCst);
        // Relaxed: the fence orders it.
        if self.num_waiting.load(Ordering::Relaxed) > 0 {
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }

    /// Returns `true` if a thread waits, so that workers should become quiescent soon.
    pub(crate) fn is_awaited(&self) -> bool {
        // Relaxed: a worker that sees the count late keeps the waiter waiting a little longer.
        self.num_waiting.load(Ordering::Relaxed) > 0
    }

    /// Blocks until `is_quiescent`.
    pub(crate) fn wait(&self, is_quiescent: impl Fn() -> bool) {
        // Relaxed: the fence orders it.
        self.num_waiting.fetch_add(1, Ordering::Relaxed);
        // Orders the count before the inspection of the sides; pairs with the fence in `notify`.
        fence(Ordering::SeqCst);
        let mut guard = lock(&self.lock);
        while !is_quiescent() {
            guard = wait(&self.changed, guard);
        }
        drop(guard);
        // Relaxed: a count that is too high for a moment costs one notification.
        self.num_waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_models;

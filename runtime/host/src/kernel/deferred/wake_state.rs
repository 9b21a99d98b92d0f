//! The state that decides which thread has the turn with a waiting future.
//!
//! ```text
//!            wake: adds a task             the task comes
//!  waiting ───────────────────► DUE ──────────────────────► POLLING
//!     ▲                          ▲                          │  │ wake
//!     │ the poll ends            │ the poll ends:           │  ▼
//!     └──────────────────────────┼──────────────────────────┘  POLLING | DUE
//!                                └ adds a task ────────────────┘
//! ```
//!
//! Cancelling the request adds `CANCELLED`, and `POLLING` if no thread polls: the canceller then
//! has the last turn. Otherwise the end of the poll finds the flag, and that turn is the last.
//!
//! - S1. There is at most one task to poll the future, and none while it is polled. A task is added
//!   only by the operation that sets `DUE` in a state without any flag, or that clears `POLLING` in
//!   a state with `DUE`.
//! - S2. One thread at a time has the turn: the one whose operation set `POLLING`, until it clears
//!   it. A flag stays set after the last turn, so no later wake adds a task.
//! - S3. A wake is not lost: it sets `DUE`. Either a task is pending, or the poll in progress finds
//!   the flag at its end.
//! - S4. Cancelling a request gives the last turn to exactly one thread, unless the future has
//!   finished.
//! - S5. The thread that gets the turn sees everything done in earlier turns, and everything done
//!   before each wake so far. All operations are read-modify-writes, so an acquire among them pairs
//!   with every earlier release.

#[cfg(all(test, loom))]
mod loom_models;

use crate::sync::{AtomicU8, Ordering};

/// The state of one future. Its creator has the first turn.
#[derive(Debug)]
pub(super) struct WakeState(AtomicU8);

/// The future is to be polled: by a task that was added, or by one added at the end of the current
/// poll.
const DUE: u8 = 1;

/// A thread has the turn.
const POLLING: u8 = 2;

/// The request is cancelled.
const CANCELLED: u8 = 4;

/// What to do at the end of a poll after which the future waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum AfterPoll {
    /// Nothing.
    Wait,
    /// Add a task: the future was woken meanwhile.
    Enqueue,
    /// Keep the turn, which is the last one: the request was cancelled meanwhile.
    Cancel,
}

impl WakeState {
    /// Creates a state in which the creator has the turn.
    pub(super) fn polling() -> Self {
        Self(AtomicU8::new(POLLING))
    }

    /// Records a wake. Returns `true` if the caller must add a task.
    #[must_use]
    pub(super) fn wake(&self) -> bool {
        // Release pairs with the acquires of the thread that gets the turn (S5). Acquire pairs with
        // the release in `end_poll`: adding a task reads what the first turn has left.
        self.0.fetch_or(DUE, Ordering::AcqRel) == 0
    }

    /// Requests the turn for a task. Returns `false` if the request was cancelled before.
    #[must_use]
    pub(super) fn begin_poll(&self) -> bool {
        // Acquire pairs with the releases in `wake` and `end_poll` (S5). Relaxed on failure:
        // nothing is read then.
        let turn = self
            .0
            .compare_exchange(DUE, POLLING, Ordering::Acquire, Ordering::Relaxed);
        turn.is_ok()
    }

    /// Ends a poll after which the future waits.
    pub(super) fn end_poll(&self) -> AfterPoll {
        // Release pairs with the acquires of the next thread to get the turn (S5). If the request
        // is cancelled, the turn stays with the caller: `cancel` and `begin_poll` no longer grant
        // it.
        let before = self.0.fetch_and(!POLLING, Ordering::Release);
        if before & CANCELLED != 0 {
            AfterPoll::Cancel
        } else if before & DUE != 0 {
            AfterPoll::Enqueue
        } else {
            AfterPoll::Wait
        }
    }

    /// Cancels the request. Returns `true` if the caller has the last turn.
    #[must_use]
    pub(super) fn cancel(&self) -> bool {
        // Acquire pairs with the release in `end_poll` (S5).
        let before = self.0.fetch_or(CANCELLED | POLLING, Ordering::Acquire);
        before & (CANCELLED | POLLING) == 0
    }
}

//! Whose turn it is with a future that waits.
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
//! A request that is cancelled adds `CANCELLED`, and `POLLING` if nobody polls: the canceller has the last turn. If somebody
//! does, the end of that poll finds the flag, and that turn is the last.
//!
//! - S1. There is at most one task to poll the future, and none while it is polled. A task is added only by the operation that
//!   makes `DUE` out of a state without any flag, or out of one where `POLLING` ends.
//! - S2. One thread at a time has the turn: the one whose operation added `POLLING`, until it takes that away. Who has the last
//!   turn leaves it, so that no later wake adds a task.
//! - S3. A wake is not lost: it leaves `DUE` behind. Either a task is still to come, or the poll under way finds it at its end.
//! - S4. A request that is cancelled gives the last turn to exactly one thread, unless the future is done before.
//! - S5. Who gets the turn sees what was done in the turns before, and what was done before each wake up to then. All operations
//!   read and write at once, so that an acquire among them pairs with every release in front of it.

#[cfg(all(test, loom))]
mod loom_models;

use crate::sync::{AtomicU8, Ordering};

/// The state of one future. Initially its creator polls it.
#[derive(Debug)]
pub(super) struct WakeState(AtomicU8);

/// The future is to be polled: by a task that was added, or by one that is added when the poll under way ends.
const DUE: u8 = 1;

/// A thread has the turn.
const POLLING: u8 = 2;

/// The request is cancelled.
const CANCELLED: u8 = 4;

/// What is to be done at the end of a poll after which the future waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum AfterPoll {
    /// Nothing.
    Wait,
    /// It was woken meanwhile: a task is to be added.
    Enqueue,
    /// Its request was cancelled meanwhile: the turn goes on, and is the last one.
    Cancel,
}

impl WakeState {
    /// The creator of the state has the turn.
    pub(super) fn polling() -> Self {
        Self(AtomicU8::new(POLLING))
    }

    /// Notes a wake. True if the caller is to add a task.
    #[must_use]
    pub(super) fn wake(&self) -> bool {
        // Release pairs with the acquires of who gets the turn (S5). Acquire pairs with the release in `end_poll`: who adds a task
        // looks at what the first turn has left for that.
        self.0.fetch_or(DUE, Ordering::AcqRel) == 0
    }

    /// The task that was added asks for the turn. False if the request was cancelled before.
    #[must_use]
    pub(super) fn begin_poll(&self) -> bool {
        // Acquire pairs with the releases in `wake` and `end_poll` (S5). Relaxed on failure: nothing is looked at then.
        let turn = self
            .0
            .compare_exchange(DUE, POLLING, Ordering::Acquire, Ordering::Relaxed);
        turn.is_ok()
    }

    /// The poll is over, and the future waits.
    pub(super) fn end_poll(&self) -> AfterPoll {
        // Release pairs with the acquires of who gets the turn next (S5). It stays with a cancelled request: `cancel` and
        // `begin_poll` do not give it to anybody any more.
        let before = self.0.fetch_and(!POLLING, Ordering::Release);
        if before & CANCELLED != 0 {
            AfterPoll::Cancel
        } else if before & DUE != 0 {
            AfterPoll::Enqueue
        } else {
            AfterPoll::Wait
        }
    }

    /// The request is cancelled. True if the caller has the last turn.
    #[must_use]
    pub(super) fn cancel(&self) -> bool {
        // Acquire pairs with the release in `end_poll` (S5).
        let before = self.0.fetch_or(CANCELLED | POLLING, Ordering::Acquire);
        before & (CANCELLED | POLLING) == 0
    }
}

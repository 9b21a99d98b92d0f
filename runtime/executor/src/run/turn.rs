//! The progress of an invocation through its segments, and whose turn it is.
//!
//! The [segments](crate::lower::segments) of a function run one after the other, as tasks that any
//! thread may run. Operands are not counted down meanwhile: the operands of a kernel are in place
//! because the kernels before it in the order have run. That holds as long as every task runs when
//! it is its turn. A queue that runs tasks in order on one thread guarantees this, unless a kernel
//! waits, on the thread that called the function, for the effect of a later segment. But other
//! threads that wait for the queue also run its tasks, and a user's queue may run tasks in any
//! order, or concurrently.
//!
//! One word therefore holds the position in the order and the phase of that position. A task that
//! finds that it is not its turn *freezes* the word. From then on, the function has left its order
//! and continues in the ready loop. Every thread derives the operand counts from the frozen
//! position alone.
//!
//! ```text
//!            begin                   finish: the next kernel
//!    Idle ──────────► Running ◄────────────────────────────── Running
//!      ▲   or Between    ▲                                     │   │
//!      │                 │ go_on                               │   │
//!      │              Between ◄────────────────────────────────┘   │
//!      │                       finish: something is handed over    │
//!      └───────────────────────────────────────────────────────────┘
//!                              finish: the segment ends
//! ```
//!
//! - T1. Only the task that has begun makes a step from `Between` or `Running`, as `begin` succeeds
//!   for one task only. Each step tells the task whether the word has been frozen; a frozen word
//!   never changes again.
//! - T2. A kernel runs in order only between a step to `Running` at its position and the `finish`
//!   that follows. So every kernel before a frozen position has run; if the kernel at it was
//!   running, it belongs to the task that runs it; and no later kernel has begun.
//! - T3. The writes of the kernels before a position happen before a task begins or freezes there.

use super::sync::{AtomicU32, Ordering};
use crate::lower::segments::MAX_KERNELS;

/// The bit of a frozen word.
const FROZEN: u32 = 1;

/// The lowest bit of the position.
const SHIFT: u32 = 3;

const _: () = assert!(MAX_KERNELS <= (u32::MAX >> SHIFT) as usize);

/// The position at which the order was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The kernels before this position have run.
    pub(crate) index: usize,
    /// Whether the kernel at the position was running.
    pub(crate) is_running: bool,
}

/// The word: position, phase and the frozen bit.
#[derive(Debug)]
pub(crate) struct Turn(AtomicU32);

/// What happens at the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing: the segment that begins there has not begun.
    Idle = 0,
    /// A task has begun and enqueues a segment; it does not run a kernel.
    Between = 1 << 1,
    /// A task has begun and runs the kernel at the position.
    Running = 1 << 2,
}

impl Turn {
    /// Returns the word of a function whose first kernel has not begun.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Begins a segment. Returns `false` without doing anything if it is not its turn.
    #[inline]
    pub(crate) fn begin(&self, start: usize, next: Phase) -> bool {
        self.step(word(start, Phase::Idle), word(start, next))
    }

    /// Starts a kernel after a segment was enqueued. Returns `false` if the order was left.
    #[inline]
    pub(crate) fn go_on(&self, position: usize) -> bool {
        self.step(
            word(position, Phase::Between),
            word(position, Phase::Running),
        )
    }

    /// Ends the kernel at this position, which has run. Returns `false` if the order was left
    /// meanwhile.
    #[inline]
    pub(crate) fn finish(&self, position: usize, next: Phase) -> bool {
        self.step(word(position, Phase::Running), word(position + 1, next))
    }

    /// Leaves the order unless it was left already, and returns where it was left.
    pub(crate) fn leave(&self) -> Position {
        // Release: pairs with the acquire of a task that finds the word frozen. Acquire: pairs with
        // the release in `step`, so that the writes of the kernels before are visible (T3).
        let found = self.0.fetch_or(FROZEN, Ordering::AcqRel);
        Position {
            index: (found >> SHIFT) as usize,
            is_running: found & Phase::Running as u32 != 0,
        }
    }

    #[inline]
    fn step(&self, from: u32, to: u32) -> bool {
        // Release: what the task has written happens before the next task reads it, here or in
        // `leave` (T3). Acquire: pairs with that release.
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// Returns the word of a position and a phase.
#[inline]
fn word(position: usize, phase: Phase) -> u32 {
    (position as u32) << SHIFT | phase as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_segment_begins_when_it_is_its_turn() {
        let turn = Turn::new();
        assert!(!turn.begin(1, Phase::Running));
        assert!(turn.begin(0, Phase::Running));
        assert!(!turn.begin(0, Phase::Running));
        assert!(turn.finish(0, Phase::Between));
        assert!(
            !turn.begin(1, Phase::Running),
            "the first one has not ended"
        );
        assert!(turn.go_on(1) && turn.finish(1, Phase::Idle));
        assert!(turn.begin(2, Phase::Running));
    }

    #[test]
    fn a_frozen_position_does_not_change() {
        let turn = Turn::new();
        assert!(turn.begin(0, Phase::Running) && turn.finish(0, Phase::Running));
        let left = Position {
            index: 1,
            is_running: true,
        };
        assert_eq!(turn.leave(), left);
        assert!(!turn.finish(1, Phase::Idle));
        assert_eq!(turn.leave(), left);
    }
}

#[cfg(all(test, loom))]
mod loom_models;

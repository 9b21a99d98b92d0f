//! Models of [`WakeState`], over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-host --release --lib loom`.
//!
//! The queue of a model runs a task where it is added. It orders nothing, so only the state orders
//! what polls see.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use loom::thread;

use super::{AfterPoll, WakeState};

/// The state of a future.
const WAITS: u8 = 0;
const DONE: u8 = 1;
const CANCELLED: u8 = 2;

/// A future that waits for `N` events, and its task.
struct Task<const N: usize> {
    state: WakeState,
    events: [AtomicBool; N],
    /// Used in turns. Overlapping or unordered turns fail the model.
    turns: UnsafeCell<()>,
    /// Accessed without any ordering of its own.
    future: AtomicU8,
    num_added: AtomicUsize,
}

impl<const N: usize> Task<N> {
    fn polling() -> Arc<Self> {
        Arc::new(Self {
            state: WakeState::polling(),
            events: [(); N].map(|()| AtomicBool::new(false)),
            turns: UnsafeCell::new(()),
            future: AtomicU8::new(WAITS),
            num_added: AtomicUsize::new(0),
        })
    }

    /// Uses the future in a turn. Returns its new state.
    fn turn(&self, next: impl FnOnce() -> u8) -> u8 {
        self.turns.with_mut(|_| {
            let before = self.future.load(Ordering::Relaxed);
            assert_eq!(before, WAITS, "there was a last turn before");
            let next = next();
            self.future.store(next, Ordering::Relaxed);
            next
        })
    }

    /// Polls the future, and keeps the turn if it is done.
    fn poll(&self) {
        // Only the state makes the event visible to the poll.
        let is_done = || {
            self.events
                .iter()
                .all(|event| event.load(Ordering::Relaxed))
        };
        if self.turn(|| if is_done() { DONE } else { WAITS }) == DONE {
            return;
        }
        match self.state.end_poll() {
            AfterPoll::Wait => {}
            AfterPoll::Enqueue => self.add(),
            AfterPoll::Cancel => _ = self.turn(|| CANCELLED),
        }
    }

    fn add(&self) {
        self.num_added.fetch_add(1, Ordering::Relaxed);
        if self.state.begin_poll() {
            self.poll();
        }
    }

    fn fire(&self, event: usize) {
        self.events[event].store(true, Ordering::Relaxed);
        if self.state.wake() {
            self.add();
        }
    }

    fn cancel(&self) {
        if self.state.cancel() {
            self.turn(|| CANCELLED);
        }
    }

    /// Returns the final state of the future, when all other threads have finished.
    fn outcome(&self) -> u8 {
        assert!(
            self.num_added.load(Ordering::Relaxed) <= N,
            "one wake adds one task"
        );
        self.turns.with(|_| self.future.load(Ordering::Relaxed))
    }

    /// Lets one thread fire each of the events while the future is polled.
    fn run() {
        let task = Self::polling();
        let firing = std::array::from_fn::<_, N, _>(|event| {
            let task = task.clone();
            thread::spawn(move || task.fire(event))
        });
        task.poll();
        for thread in firing {
            thread.join().unwrap();
        }
        assert_eq!(task.outcome(), DONE, "a wake was lost");
    }
}

#[test]
fn loom_a_wake_during_a_poll_is_not_lost() {
    loom::model(Task::<1>::run);
}

#[test]
fn loom_two_wakes_and_a_poll_add_one_task_at_a_time() {
    loom::model(Task::<2>::run);
}

#[test]
fn loom_a_wake_and_a_cancel_during_a_poll_leave_one_outcome() {
    loom::model(|| {
        let task = Task::<1>::polling();
        let firing = thread::spawn({
            let task = task.clone();
            move || task.fire(0)
        });
        let cancelling = thread::spawn({
            let task = task.clone();
            move || task.cancel()
        });
        task.poll();
        firing.join().unwrap();
        cancelling.join().unwrap();
        // `turn` asserts that there is no second one.
        assert_ne!(task.outcome(), WAITS, "nobody had the last turn");
    });
}

#[test]
fn loom_a_cancel_against_a_poll_that_nobody_wakes() {
    loom::model(|| {
        let task = Task::<1>::polling();
        let cancelling = thread::spawn({
            let task = task.clone();
            // Cancelled by its deadline, and explicitly.
            move || (task.cancel(), task.cancel())
        });
        task.poll();
        cancelling.join().unwrap();
        assert_eq!(task.outcome(), CANCELLED);
    });
}

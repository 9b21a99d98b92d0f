//! Models of [`WakeState`], over the shipped source: `RUSTFLAGS="--cfg loom" cargo test -p tfrt-host --release --lib loom`.
//!
//! The queue of a model runs a task where it is added. So it orders nothing, and what the polls see is due to the state alone.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use loom::thread;

use super::{AfterPoll, WakeState};

/// What has become of a future.
const WAITS: u8 = 0;
const DONE: u8 = 1;
const CANCELLED: u8 = 2;

/// A future that waits for `N` events, and its task.
struct Task<const N: usize> {
    state: WakeState,
    events: [AtomicBool; N],
    /// Used in turns. Two at the same time, or one that does not follow the one before it, are a failure of the model.
    turns: UnsafeCell<()>,
    /// Written and read without any order of its own.
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

    /// Uses the future in a turn. What becomes of it.
    fn turn(&self, next: impl FnOnce() -> u8) -> u8 {
        self.turns.with_mut(|_| {
            let before = self.future.load(Ordering::Relaxed);
            assert_eq!(before, WAITS, "there was a last turn before");
            let next = next();
            self.future.store(next, Ordering::Relaxed);
            next
        })
    }

    /// Polls the future, and leaves it polled if it is done.
    fn poll(&self) {
        // The state alone makes the poll see the event.
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

    /// What became of the future, when everybody else is gone.
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
        // `turn` sees to it that there is no second one.
        assert_ne!(task.outcome(), WAITS, "nobody had the last turn");
    });
}

#[test]
fn loom_a_cancel_against_a_poll_that_nobody_wakes() {
    loom::model(|| {
        let task = Task::<1>::polling();
        let cancelling = thread::spawn({
            let task = task.clone();
            // Cancelled by its deadline, and by hand.
            move || (task.cancel(), task.cancel())
        });
        task.poll();
        cancelling.join().unwrap();
        assert_eq!(task.outcome(), CANCELLED);
    });
}

//! The state that the tasks of calls share with the iterator.

use std::fmt;
use std::sync::atomic::AtomicBool;

use tfrt_async::AnyRef;

use super::gate::Gate;
use crate::stages::signal::Signal;

/// The state that the tasks share with the iterator. `C` is a call that may wait.
pub(super) struct Calls<C> {
    /// Of a tuned map, which draws for more calls than may be under way.
    pub(super) gate: Option<Gate<C>>,
    /// Set when no further draw is possible: tasks that have not begun do nothing. Orders nothing:
    /// relaxed.
    pub(super) is_dropped: AtomicBool,
    /// Told by each call that is done; waited for if the order is not kept.
    done: Signal,
}

impl<C> Calls<C> {
    pub(super) fn new(gate: Option<Gate<C>>) -> Self {
        Self {
            gate,
            is_dropped: AtomicBool::new(false),
            done: Signal::new(),
        }
    }

    /// Returns a value that becomes available when the next call is done.
    pub(super) fn next_done(&self) -> AnyRef {
        self.done.next()
    }

    /// Signals that a call is done, after its outcome: an iterator that requests `next_done` and
    /// then checks the slots sees the signal or the outcome.
    pub(super) fn tell_done(&self) {
        self.done.tell();
    }
}

impl<C> fmt::Debug for Calls<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("is_dropped", &self.is_dropped)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    //! Models of the hand-over, over the shipped source:
    //! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-data --release --lib loom`.

    use loom::sync::Arc;
    use loom::thread;
    use tfrt_async::{AsyncValueRef, Promise};

    use super::*;

    /// A task finishes its call, as `Call::finish` does.
    fn finish(promise: Promise<i64>, calls: &Calls<()>, result: i64) {
        promise.emplace(result);
        calls.tell_done();
    }

    /// Checks the slots as `choose` does: returns a slot that is done, or the value to wait for.
    fn choose(calls: &Calls<()>, slots: &[AsyncValueRef<i64>]) -> Result<i64, AnyRef> {
        let first_done = || slots.iter().find_map(|slot| slot.get().copied());
        if let Some(done) = first_done() {
            return Ok(done);
        }
        let next_done = calls.next_done();
        first_done().ok_or(next_done)
    }

    /// A call that finishes while the iterator checks the slots is seen or signalled: the iterator
    /// never waits for a missing signal.
    #[test]
    fn loom_a_call_that_is_done_is_seen_or_told() {
        loom::model(|| {
            let calls = Arc::new(Calls::new(None));
            let (promise, slot) = AsyncValueRef::unconstructed();
            let task = thread::spawn({
                let calls = Arc::clone(&calls);
                move || finish(promise, &calls, 7)
            });
            let chosen = choose(&calls, std::slice::from_ref(&slot));
            task.join().unwrap();
            match chosen {
                Ok(done) => assert_eq!(done, 7),
                Err(awaited) => assert!(awaited.is_available(), "nobody tells"),
            }
        });
    }

    /// Two calls finish at once: one signals, and the iterator finds the outcome of the other at
    /// its next check.
    #[test]
    fn loom_the_second_call_is_found_behind_the_first() {
        loom::model(|| {
            let calls = Arc::new(Calls::new(None));
            let (promises, slots): (Vec<_>, Vec<_>) =
                (0..2).map(|_| AsyncValueRef::unconstructed()).unzip();
            let tasks: Vec<_> = promises
                .into_iter()
                .map(|promise| {
                    let calls = Arc::clone(&calls);
                    thread::spawn(move || finish(promise, &calls, 7))
                })
                .collect();
            let first = choose(&calls, &slots);
            for task in tasks {
                task.join().unwrap();
            }
            if let Err(awaited) = first {
                assert!(awaited.is_available(), "nobody tells");
            }
            assert_eq!(choose(&calls, &slots[1..]).ok(), Some(7));
        });
    }
}

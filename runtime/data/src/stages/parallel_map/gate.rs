//! How many calls are under way, when more elements are drawn than may be called for.
//!
//! A call enters, begins, and leaves when its function is done. Calls that may not begin yet wait
//! here, oldest first.
//!
//! Invariant G1: a call waits only while as many as are allowed are under way. Whoever leaves lets
//! the oldest one begin, and so does whoever raises the number. If a task is lost, no call is left
//! to wait.

use std::collections::VecDeque;
use std::fmt;
use std::sync::PoisonError;

use crate::sync::{Mutex, MutexGuard};

/// Lets up to a number of calls be under way.
pub(super) struct Gate<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    limit: usize,
    num_under_way: usize,
    waiting: VecDeque<T>,
}

impl<T> State<T> {
    /// Returns the oldest waiting call if it may begin.
    fn next(&mut self) -> Option<T> {
        if self.num_under_way >= self.limit {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.num_under_way += 1;
        Some(next)
    }
}

impl<T> Gate<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                limit,
                num_under_way: 0,
                waiting: VecDeque::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the call that may begin now, if one may: this one, or one that has waited longer.
    #[must_use]
    pub(super) fn enter(&self, call: T) -> Option<T> {
        let mut state = self.lock();
        state.waiting.push_back(call);
        state.next()
    }

    /// Counts a call as done. Returns the one that may begin in its place.
    #[must_use]
    pub(super) fn leave(&self) -> Option<T> {
        let mut state = self.lock();
        state.num_under_way -= 1;
        state.next()
    }

    /// Counts a call as lost: its task was dropped. Returns all calls that wait, which would be
    /// lost one after the other, each within the loss of the one before.
    #[must_use]
    pub(super) fn lose(&self) -> VecDeque<T> {
        let mut state = self.lock();
        state.num_under_way -= 1;
        std::mem::take(&mut state.waiting)
    }

    /// Allows another number of calls. Returns those that may begin now.
    #[must_use]
    pub(super) fn allow(&self, limit: usize) -> Vec<T> {
        let mut state = self.lock();
        state.limit = limit;
        std::iter::from_fn(|| state.next()).collect()
    }

    /// Returns all calls that wait.
    #[must_use]
    pub(super) fn take_waiting(&self) -> VecDeque<T> {
        std::mem::take(&mut self.lock().waiting)
    }
}

impl<T> fmt::Debug for Gate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn calls_begin_in_their_order_as_others_leave() {
        let gate = Gate::new(2);
        assert_eq!(gate.enter(0), Some(0));
        assert_eq!(gate.enter(1), Some(1));
        assert_eq!(gate.enter(2), None);
        assert_eq!(gate.enter(3), None);
        assert_eq!(gate.leave(), Some(2));
        assert_eq!(gate.leave(), Some(3));
        assert_eq!(gate.leave(), None);
        assert_eq!(gate.enter(4), Some(4));
    }

    #[test]
    fn another_number_takes_effect_at_once_or_as_calls_leave() {
        let gate = Gate::new(1);
        assert_eq!(gate.enter(0), Some(0));
        for call in 1..5 {
            assert_eq!(gate.enter(call), None);
        }
        assert_eq!(gate.allow(3), [1, 2]);
        assert_eq!(gate.allow(1), [0; 0]);
        assert_eq!(gate.leave(), None);
        assert_eq!(gate.leave(), None);
        assert_eq!(gate.leave(), Some(3));
        assert_eq!(gate.take_waiting(), [4]);
        assert_eq!(gate.leave(), None);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    //! A model of G1, over the shipped source:
    //! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-data --release --lib loom`.

    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    use super::*;

    /// Runs a call, and those that begin when it leaves.
    fn run(gate: &Gate<()>, num_done: &AtomicUsize) {
        loop {
            num_done.fetch_add(1, Ordering::Relaxed);
            if gate.leave().is_none() {
                return;
            }
        }
    }

    /// Two threads have a call each, and a third raises the number from zero: both calls run.
    #[test]
    fn loom_no_call_waits_while_it_may_begin() {
        loom::model(|| {
            let (gate, num_done) = (Arc::new(Gate::new(0)), Arc::new(AtomicUsize::new(0)));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (gate, num_done) = (Arc::clone(&gate), Arc::clone(&num_done));
                    thread::spawn(move || {
                        if gate.enter(()).is_some() {
                            run(&gate, &num_done);
                        }
                    })
                })
                .collect();
            for () in gate.allow(1) {
                run(&gate, &num_done);
            }
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(num_done.load(Ordering::Relaxed), 2);
            assert!(gate.take_waiting().is_empty());
        });
    }
}

//! The switch that cancels a request.
//!
//! ```text
//!  who cancels                          who watches
//!  ───────────                          ───────────
//!  1  set the value (the first stays)   3  lock the hooks
//!  2  take the hooks, run them          4  value set? then no hook
//!                                       5  else enter the hook
//! ```
//!
//! - C1. The value is set at most once and never changes. Reading it is one acquire load, which
//!   pairs with the release of setting it (1): a thread that sees that a request is cancelled also
//!   sees the error.
//! - C2. A hook runs exactly once, unless its request was cancelled before the hook was added: the
//!   canceller takes the hooks (2) after it sets the value (1), and the watcher checks the value
//!   (4) under the lock under which it adds the hook (5).
//!
//! The models under `cfg(loom)` name the steps that they let race.

use std::collections::VecDeque;
use std::fmt;
use std::sync::PoisonError;

use tfrt_async::AnyRef;
use tfrt_queue::Task;

use crate::sync::{Mutex, MutexGuard, OnceLock};

/// The action to run when a request is cancelled. As a task, a small one needs no allocation, and a
/// panic is caught by the code that created it, which may be in a kernel library, and does not
/// affect the other hooks.
type Hook = Task;

/// Cancels a request: once, with one error.
pub(crate) struct CancelSwitch {
    value: OnceLock<AnyRef>,
    hooks: Mutex<Hooks>,
}

/// Hooks by number. Usually hooks are removed in last-in-first-out or first-in-first-out order.
#[derive(Default)]
struct Hooks {
    next_number: u64,
    /// In the order in which they were added, so numbers ascend. `None` for a removed hook; the
    /// first and the last entry are never `None`.
    entries: VecDeque<(u64, Option<Hook>)>,
    num_called_off: usize,
}

impl Hooks {
    fn enter(&mut self, hook: Hook) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.entries.push_back((number, Some(hook)));
        number
    }

    fn call_off(&mut self, number: u64) -> Option<Hook> {
        let index = match self.entries.back()? {
            (last, _) if *last == number => self.entries.len() - 1,
            _ => {
                let find = |(found, _): &(u64, _)| found.cmp(&number);
                self.entries.binary_search_by(find).ok()?
            }
        };
        let hook = self.entries[index].1.take()?;
        self.num_called_off += 1;
        let is_called_off =
            |entry: Option<&(u64, Option<Hook>)>| entry.is_some_and(|(_, hook)| hook.is_none());
        while is_called_off(self.entries.back()) {
            self.entries.pop_back();
            self.num_called_off -= 1;
        }
        while is_called_off(self.entries.front()) {
            self.entries.pop_front();
            self.num_called_off -= 1;
        }
        // The cost of each sweep is amortised by as many removed hooks.
        if self.num_called_off > self.entries.len() / 2 {
            self.entries.retain(|(_, hook)| hook.is_some());
            self.num_called_off = 0;
        }
        Some(hook)
    }
}

impl CancelSwitch {
    /// Creates the switch of a request that has not been cancelled.
    pub(crate) fn new() -> Self {
        Self {
            value: OnceLock::new(),
            hooks: Mutex::new(Hooks::default()),
        }
    }

    /// Returns the error value of a cancelled request.
    #[inline]
    pub(crate) fn value(&self) -> Option<&AnyRef> {
        self.value.get()
    }

    /// Cancels with the error `value`, and runs the hooks on this thread. Later calls have no
    /// effect.
    pub(crate) fn cancel(&self, value: AnyRef) {
        if self.value.set(value).is_err() {
            return;
        }
        let hooks = std::mem::take(&mut *self.lock_hooks()).entries;
        for hook in hooks.into_iter().filter_map(|(_, hook)| hook) {
            hook.run_and_survive();
        }
    }

    /// Adds a hook and returns its number, or `None` if the request is already cancelled.
    pub(crate) fn watch(&self, hook: Hook) -> Option<u64> {
        let mut hooks = self.lock_hooks();
        if self.value().is_some() {
            return None;
        }
        Some(hooks.enter(hook))
    }

    /// Removes a hook, unless it has already been taken to run.
    pub(crate) fn forget(&self, number: u64) {
        let mut hooks = self.lock_hooks();
        let hook = hooks.call_off(number);
        drop(hooks);
        // Dropped without the lock, which the hook's destructor may need.
        drop(hook);
    }

    fn lock_hooks(&self) -> MutexGuard<'_, Hooks> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancelSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelSwitch")
            .field("value", &self.value())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use tfrt_support::Error;

    use super::*;

    #[test]
    fn hooks_run_in_the_order_in_which_they_were_entered_but_for_those_called_off() {
        // Removed: the first, the last, one in the middle, most of them, in either order.
        let cases: [&[u64]; 5] = [&[0], &[9], &[4], &[1, 2, 3, 5, 6, 7], &[9, 8, 7, 0, 1, 4]];
        for called_off in cases {
            let switch = CancelSwitch::new();
            let runs = Arc::new(std::sync::Mutex::new(Vec::new()));
            for number in 0..10 {
                let runs = Arc::clone(&runs);
                let hook = Task::new(move || runs.lock().unwrap().push(number));
                assert_eq!(switch.watch(hook), Some(number));
            }
            called_off.iter().for_each(|&number| switch.forget(number));
            // The second time has no effect.
            called_off.iter().for_each(|&number| switch.forget(number));
            let expected: Vec<u64> = (0..10).filter(|run| !called_off.contains(run)).collect();
            switch.cancel(AnyRef::error(Error::new("no")));
            assert_eq!(*runs.lock().unwrap(), expected);
            assert_eq!(switch.watch(Task::new(|| ())), None);
        }
    }

    #[test]
    fn hooks_that_were_called_off_take_no_room() {
        let switch = CancelSwitch::new();
        let enter = || {
            switch
                .watch(Task::new(|| ()))
                .expect("nobody has cancelled")
        };
        let first = enter();
        for _ in 0..1000 {
            let (second, last) = (enter(), enter());
            switch.forget(second);
            switch.forget(last);
            enter();
        }
        switch.forget(first);
        let last = enter();
        // One of each round stays.
        (first + 1..last).for_each(|number| switch.forget(number));
        assert_eq!(switch.lock_hooks().entries.len(), 1);
    }
}

#[cfg(all(test, loom))]
mod loom_models;

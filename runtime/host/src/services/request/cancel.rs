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

/// Hooks, in places that are used again: a request may have many one after the other.
#[derive(Default)]
struct Hooks {
    next_number: u64,
    places: Vec<Place>,
    /// The first free place.
    free: Option<usize>,
}

/// The place of a hook.
enum Place {
    /// Numbers ascend in the order in which hooks are entered.
    Taken { number: u64, hook: Hook },
    /// The next free place follows.
    Free(Option<usize>),
}

impl Hooks {
    /// Adds a hook and returns the index of its place.
    fn enter(&mut self, hook: Hook) -> usize {
        let number = self.next_number;
        self.next_number += 1;
        let taken = Place::Taken { number, hook };
        let Some(index) = self.free else {
            self.places.push(taken);
            return self.places.len() - 1;
        };
        if let Place::Free(next) = std::mem::replace(&mut self.places[index], taken) {
            self.free = next;
        }
        index
    }

    /// Takes the hook out of a place, if there is one.
    fn call_off(&mut self, index: usize) -> Option<Hook> {
        let place = self.places.get_mut(index)?;
        match std::mem::replace(place, Place::Free(self.free)) {
            Place::Taken { hook, .. } => {
                self.free = Some(index);
                Some(hook)
            }
            free => {
                *place = free;
                None
            }
        }
    }

    /// Returns the hooks in the order in which they were entered.
    fn into_ordered(self) -> impl Iterator<Item = Hook> {
        let taken = self.places.into_iter().filter_map(|place| match place {
            Place::Taken { number, hook } => Some((number, hook)),
            Place::Free(_) => None,
        });
        let mut hooks: Vec<(u64, Hook)> = taken.collect();
        hooks.sort_unstable_by_key(|(number, _)| *number);
        hooks.into_iter().map(|(_, hook)| hook)
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
        let hooks = std::mem::take(&mut *self.lock_hooks());
        hooks.into_ordered().for_each(Hook::run_and_survive);
    }

    /// Adds a hook and returns its place, or `None` if the request is already cancelled.
    pub(crate) fn watch(&self, hook: Hook) -> Option<usize> {
        let mut hooks = self.lock_hooks();
        if self.value().is_some() {
            return None;
        }
        Some(hooks.enter(hook))
    }

    /// Removes the hook in a place, unless it has already been taken to run. No place is used again
    /// once hooks have been.
    pub(crate) fn forget(&self, place: usize) {
        let mut hooks = self.lock_hooks();
        let hook = hooks.call_off(place);
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
        let cases: [&[usize]; 5] = [&[0], &[9], &[4], &[1, 2, 3, 5, 6, 7], &[9, 8, 7, 0, 1, 4]];
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
            // The last one takes the place of the last one that was called off.
            let last = Task::new({
                let runs = Arc::clone(&runs);
                move || runs.lock().unwrap().push(10)
            });
            assert_eq!(switch.watch(last), called_off.last().copied());
            let mut expected: Vec<usize> =
                (0..10).filter(|run| !called_off.contains(run)).collect();
            expected.push(10);
            switch.cancel(AnyRef::error(Error::new("no")));
            assert_eq!(*runs.lock().unwrap(), expected);
            assert_eq!(switch.watch(Task::new(|| ())), None);
        }
    }

    #[test]
    fn the_places_of_hooks_that_were_called_off_are_used_again() {
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
        }
        switch.forget(first);
        assert_eq!(switch.lock_hooks().places.len(), 3);
    }
}

#[cfg(all(test, loom))]
mod loom_models;

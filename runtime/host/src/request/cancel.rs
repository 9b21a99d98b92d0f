//! The switch that cancels a request, and work that goes away when it is thrown.
//!
//! ```text
//!  who cancels                          who watches                      who uses interruptible work
//!  ───────────                          ───────────                      ───────────────────────────
//!  1  set the value (the first stays)   3  lock the hooks                6  lock the work, use it, unlock it
//!  2  take the hooks, run them          4  value set? then no hook       7  value set? then take the work away
//!  │                                    5  else enter the hook
//!  └─► a hook takes the work away, unless somebody uses it
//! ```
//!
//! - C1. The value is set at most once and never changes. Reading it is one acquire load, which pairs with the release of
//!   setting it (1): who sees that a request is cancelled sees the error, too.
//! - C2. A hook runs, once, or its request was cancelled before it was entered: who cancels takes the hooks (2) after the value
//!   is set (1), and who watches looks at the value (4) under the lock that it enters the hook with (5).
//! - C3. Work whose request is cancelled is taken away once, by a hook or by its last user. If the hook finds it in use,
//!   then the user has not come to 7 yet, and finds the value there: each of the two writes, passes a fence, and reads what
//!   the other one wrote.
//!
//! The models under `cfg(loom)` name the steps that they let race.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, TryLockError};

use tfrt_async::AnyRef;

use crate::sync::{Mutex, MutexGuard, OnceLock, Ordering, fence};

/// What is to be done when a request is cancelled.
type Hook = Box<dyn FnOnce() + Send>;

/// Cancels a request: once, with one error.
pub(crate) struct CancelSwitch {
    value: OnceLock<AnyRef>,
    hooks: Mutex<Hooks>,
}

#[derive(Default)]
struct Hooks {
    next_number: u64,
    /// In the order in which they were entered; none before the first one, so that a request without hooks ends quickly.
    by_number: Option<BTreeMap<u64, Hook>>,
}

impl CancelSwitch {
    /// The switch of a request that nobody has cancelled.
    pub(crate) fn new() -> Self {
        Self {
            value: OnceLock::new(),
            hooks: Mutex::new(Hooks::default()),
        }
    }

    /// The error value of a cancelled request.
    #[inline]
    pub(crate) fn value(&self) -> Option<&AnyRef> {
        self.value.get()
    }

    /// Cancels with `value`, an error, and runs the hooks on this thread. Does nothing the second time.
    pub(crate) fn cancel(&self, value: AnyRef) {
        if self.value.set(value).is_err() {
            return;
        }
        let hooks = std::mem::take(&mut self.lock_hooks().by_number);
        for hook in hooks.into_iter().flat_map(BTreeMap::into_values) {
            hook();
        }
    }

    /// Enters a hook, which must not panic; gives its number, or nothing if the request is cancelled already.
    pub(crate) fn watch(&self, hook: Hook) -> Option<u64> {
        let mut hooks = self.lock_hooks();
        if self.value().is_some() {
            return None;
        }
        let number = hooks.next_number;
        hooks.next_number += 1;
        let by_number = hooks.by_number.get_or_insert_default();
        by_number.insert(number, hook);
        Some(number)
    }

    /// Calls a hook off, unless it has been taken to run.
    pub(crate) fn forget(&self, number: u64) {
        let mut hooks = self.lock_hooks();
        let by_number = hooks.by_number.as_mut();
        let hook = by_number.and_then(|by_number| by_number.remove(&number));
        drop(hooks);
        // What it owns goes away without the lock, which that may want.
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

/// Work of several turns, any of which may be its last, and which goes away when its request is cancelled.
#[derive(Debug)]
pub(crate) struct Interruptible<W> {
    /// None when it is over.
    work: Mutex<Option<W>>,
}

/// What became of the work in a turn.
#[derive(Debug)]
pub(crate) enum Turn<W, R> {
    /// It is to go on.
    Waits,
    /// It was over before.
    Over,
    /// The request is cancelled. Here is the work, unless somebody else takes it away.
    Cancelled(Option<W>),
    /// It has ended, with this outcome.
    Done(W, R),
}

impl<W> Interruptible<W> {
    /// Work that has not begun.
    pub(crate) fn new(work: W) -> Self {
        Self {
            work: Mutex::new(Some(work)),
        }
    }

    /// Does one turn of the work, which must not panic and gives the outcome if that was the last one.
    pub(crate) fn turn<R>(
        &self,
        switch: &CancelSwitch,
        step: impl FnOnce(&mut W) -> Option<R>,
    ) -> Turn<W, R> {
        if let Some(taken) = self.take_if_cancelled(switch) {
            return Turn::Cancelled(taken);
        }
        let mut guard = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(work) = guard.as_mut() else {
            return Turn::Over;
        };
        let outcome = step(work);
        let over = match outcome {
            Some(_) => guard.take(),
            None => None,
        };
        drop(guard);
        match (over, outcome) {
            (Some(work), Some(outcome)) => Turn::Done(work, outcome),
            _ => self
                .take_if_cancelled(switch)
                .map_or(Turn::Waits, Turn::Cancelled),
        }
    }

    /// Whether there is nothing left to do; false while somebody is at it.
    pub(crate) fn is_over(&self) -> bool {
        match self.work.try_lock() {
            Ok(work) => work.is_none(),
            Err(_) => false,
        }
    }

    /// Takes the work away if the request is cancelled; nothing if it is not. If somebody uses the work just now, it is left to
    /// them.
    pub(crate) fn take_if_cancelled(&self, switch: &CancelSwitch) -> Option<Option<W>> {
        // Sequentially consistent, for C3: of the fences of a canceller and of a user of the work, one comes first.
        fence(Ordering::SeqCst);
        switch.value()?;
        Some(match self.work.try_lock() {
            Ok(mut work) => work.take(),
            Err(TryLockError::Poisoned(work)) => work.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        })
    }
}

#[cfg(all(test, loom))]
mod loom_models;

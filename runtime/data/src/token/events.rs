//! The event count that implements the token: see T1 in the [parent module](super).
//!
//! ```text
//!            try_take: 0 → 1                     leave: n → 0
//!  nobody ──────────────────► somebody holds it ──────────────► nobody
//!            enter: 0 → 1          │      ▲
//!                                  └──────┘ enter: n → n + 1, for the holder to handle
//! ```

use crate::sync::{AtomicUsize, Ordering};

/// The number of unhandled events. The thread that raises the count from zero holds the token.
///
/// Raising the count releases the earlier writes of the caller, and acquires those of the last
/// holder; lowering it releases the writes of the holder, and acquires those that came with unseen
/// events.
#[derive(Debug)]
pub(super) struct Events(AtomicUsize);

impl Events {
    /// Creates a token that the caller holds.
    pub(super) fn held() -> Self {
        Self(AtomicUsize::new(1))
    }

    /// Takes the token, if it is free.
    #[must_use]
    pub(super) fn try_take(&self) -> bool {
        // Relaxed on failure: nothing is read then.
        self.0
            .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Counts an event. Returns `true` if the caller now holds the token, and has to handle the
    /// event.
    #[must_use]
    pub(super) fn enter(&self) -> bool {
        self.0.fetch_add(1, Ordering::AcqRel) == 0
    }

    /// Releases the token, after calling `handle` for as long as events were counted in the
    /// meantime. The caller holds the token, and has handled the event with which it took the
    /// token.
    pub(super) fn leave(&self, mut handle: impl FnMut()) {
        let mut num_handled = 1;
        loop {
            let num_events = self.0.fetch_sub(num_handled, Ordering::AcqRel);
            if num_events == num_handled {
                return;
            }
            num_handled = num_events - num_handled;
            handle();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models;

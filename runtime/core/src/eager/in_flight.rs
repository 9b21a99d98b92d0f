//! Calls of a context that are not done.
//!
//! ```text
//!   context ────────────────┐
//!   waiter of a result ─────┼─► Open ── dropped with its last owner ──► `all_done` is available
//!   waiter of a chain ──────┘
//! ```
//!
//! Results and chains that are pending when a call returns own a share of one object until they are
//! available, and so does the context. What the context waits for at its end is a value that
//! becomes available with the last share. Calls whose results are there at once cost nothing, and
//! work of others on the same host does not count.

use std::sync::Arc;

use tfrt_async::{AnyRef, IndirectPromise};

/// What calls have started and not done.
#[derive(Debug)]
pub(super) struct InFlight {
    open: Arc<Open>,
    all_done: AnyRef,
}

/// Makes the value available when nobody owns it any more.
#[derive(Debug)]
struct Open(Option<IndirectPromise>);

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(promise) = self.0.take() {
            promise.forward_to(AnyRef::ready_chain());
        }
    }
}

impl InFlight {
    pub(super) fn new() -> Self {
        let (promise, all_done) = AnyRef::indirect();
        Self {
            open: Arc::new(Open(Some(promise))),
            all_done,
        }
    }

    /// Counts a value until it is available.
    #[inline]
    pub(super) fn add(&self, value: &AnyRef) {
        if !value.is_available() {
            self.add_pending(value);
        }
    }

    #[cold]
    fn add_pending(&self, value: &AnyRef) {
        let open = Arc::clone(&self.open);
        value.and_then(move |_| drop(open));
    }

    /// A value that is available when all values are that were added. Nothing can be added any
    /// more.
    pub(super) fn finish(self) -> AnyRef {
        self.all_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_counts_until_it_is_available() {
        let in_flight = InFlight::new();
        in_flight.add(&AnyRef::ready_chain());
        assert!(in_flight.finish().is_concrete());

        let in_flight = InFlight::new();
        let (first, pending) = AnyRef::indirect();
        in_flight.add(&pending);
        let (second, pending) = AnyRef::indirect();
        in_flight.add(&pending);
        let done = in_flight.finish();
        first.forward_to(AnyRef::ready_chain());
        assert!(!done.is_available());
        drop(second);
        assert!(
            done.is_concrete(),
            "a value that nobody makes is an error, and available"
        );
    }
}

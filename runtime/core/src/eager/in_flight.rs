//! The unfinished calls of a context.
//!
//! ```text
//!   context ────────────────┐
//!   waiter of a result ─────┼─► Open ── dropped with its last owner ──► `all_done` is available
//!   waiter of a chain ──────┘
//! ```
//!
//! Results and chains that are pending when a call returns own a reference to one object until they
//! are available, and so does the context. When the context is dropped, it waits for a value that
//! becomes available when the last reference is dropped. Calls with immediately available results
//! cost nothing, and other work on the same host does not count.

use std::sync::Arc;

use tfrt_async::{AnyRef, IndirectPromise};

/// The unfinished work of calls.
#[derive(Debug)]
pub(super) struct InFlight {
    open: Arc<Open>,
    all_done: AnyRef,
}

/// Makes the value available when the last owner drops it.
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

    /// Returns a value that becomes available when all added values are. Nothing can be added after
    /// this call.
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

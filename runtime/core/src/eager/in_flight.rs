//! Calls of a context that are not done.
//!
//! Counted are the results and the chains that were pending when a call returned: each is counted
//! until it is available. Calls whose results are there at once cost nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_async::AnyRef;

/// How many values are awaited.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    /// Counts a value until it is available.
    #[inline]
    pub(super) fn add(&self, value: &AnyRef) {
        if !value.is_available() {
            self.add_pending(value);
        }
    }

    #[cold]
    fn add_pending(&self, value: &AnyRef) {
        let count = Arc::clone(&self.0);
        // Relaxed: only the thread that drops the context compares the number with zero, and calls
        // that other threads made are done before it may drop the context.
        count.fetch_add(1, Ordering::Relaxed);
        value.and_then(move |_| {
            // Release: pairs with the acquire in `is_empty`.
            count.fetch_sub(1, Ordering::Release);
        });
    }

    /// Whether all values are available.
    pub(super) fn is_empty(&self) -> bool {
        // Acquire: pairs with the release in `add_pending`, so that what made the last value
        // available happens before whoever sees zero.
        self.0.load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_counts_until_it_is_available() {
        let in_flight = InFlight::default();
        in_flight.add(&AnyRef::ready_chain());
        assert!(in_flight.is_empty());
        let (promise, pending) = AnyRef::indirect();
        in_flight.add(&pending);
        assert!(!in_flight.is_empty());
        promise.forward_to(AnyRef::ready_chain());
        assert!(in_flight.is_empty());
        let (promise, pending) = AnyRef::indirect();
        in_flight.add(&pending);
        drop(promise);
        assert!(
            in_flight.is_empty(),
            "a value that nobody makes is an error"
        );
    }
}

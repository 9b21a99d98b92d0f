//! The number of references to an invocation.
//!
//! - N1. Everything an owner did before it left happened before the last owner finds that it is the
//!   last.
//! - N2. An owner that is alone stays alone until it makes another one: there is no other reference
//!   to make one from.

use super::sync::{AtomicU32, Ordering};

#[cfg(test)]
thread_local! {
    /// The number of owners that this thread has added to others.
    pub(crate) static NUM_JOINED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// A count of owners.
#[derive(Debug)]
pub(crate) struct Owners(AtomicU32);

impl Owners {
    /// Returns a count of one owner.
    pub(crate) fn one() -> Self {
        Self(AtomicU32::new(1))
    }

    /// Returns `true` if the calling owner is the only one (N2).
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        // Acquire pairs with the release in `leave`: what former owners did happened before (N1).
        self.0.load(Ordering::Acquire) == 1
    }

    /// Counts one more owner, made from the calling one.
    #[inline]
    pub(crate) fn join(&self) {
        // Relaxed: a new owner is made from a living one, so the count orders nothing. There is one
        // owner per task or waiter, far too few to wrap the count.
        self.0.fetch_add(1, Ordering::Relaxed);
        #[cfg(test)]
        NUM_JOINED.set(NUM_JOINED.get() + 1);
    }

    /// Counts one owner less. Returns `true` if it was the last one, which then has exclusive
    /// access to the invocation.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // A single owner needs no read-modify-write (N2). Release: what this owner did happens
        // before the last one learns that it is the last (N1). Acquire, for the last one, pairs
        // with that. The thread sanitizer would not see a fence instead.
        self.is_alone() || self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;

    /// The state that two owners share: one writes it, the other reads it once it is alone.
    struct Shared {
        owners: Owners,
        /// Written and read without any ordering of its own.
        written: AtomicU32,
        num_last: AtomicU32,
    }

    impl Shared {
        fn leave(&self) -> bool {
            let is_last = self.owners.leave();
            self.num_last
                .fetch_add(u32::from(is_last), Ordering::Relaxed);
            is_last
        }

        fn check(&self) {
            assert_eq!(
                self.written.load(Ordering::Relaxed),
                1,
                "a write is missing"
            );
        }
    }

    /// N1 and N2: one of two owners is the last, and sees what the other did, however it finds out.
    #[test]
    fn loom_an_owner_that_is_alone_sees_what_the_other_did() {
        loom::model(|| {
            let shared = Arc::new(Shared {
                owners: Owners::one(),
                written: AtomicU32::new(0),
                num_last: AtomicU32::new(0),
            });
            shared.owners.join();
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared.written.store(1, Ordering::Relaxed);
                    shared.leave();
                })
            };
            if shared.owners.is_alone() {
                shared.check();
            }
            if shared.leave() {
                shared.check();
            }
            other.join().expect("a model does not panic");
            assert_eq!(shared.num_last.load(Ordering::Relaxed), 1);
        });
    }
}

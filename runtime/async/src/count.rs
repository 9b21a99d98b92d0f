//! The reference count of a value.

use crate::sync::{AtomicU32, Ordering};

/// The limit on references. Only a leak can exceed it; the count then sticks and the value lives
/// forever.
const MAX_COUNT: u32 = u32::MAX / 2;

/// The value of a stuck count: as far from both ends of the range as concurrent threads may push
/// it.
const STUCK: u32 = MAX_COUNT + MAX_COUNT / 2;

/// A count of owners.
#[derive(Debug)]
pub(crate) struct Count(AtomicU32);

impl Count {
    /// A count of `owners`.
    #[cfg(not(loom))]
    pub(crate) const fn new(owners: u32) -> Self {
        Self(AtomicU32::new(owners))
    }

    /// A count of `owners`.
    #[cfg(loom)]
    pub(crate) fn new(owners: u32) -> Self {
        Self(AtomicU32::new(owners))
    }

    /// Adds an owner. Only an owner may call this.
    #[inline]
    pub(crate) fn increment(&self) {
        // Relaxed: the caller already owns a count, and handing over the new one synchronises with
        // its recipient.
        if self.0.fetch_add(1, Ordering::Relaxed) >= MAX_COUNT {
            self.stick();
        }
    }

    /// Adds many owners. Only an owner may call this.
    #[inline]
    pub(crate) fn add(&self, owners: u32) {
        // This many at once could wrap the count, so make it stick first.
        if owners > MAX_COUNT / 2 {
            return self.stick();
        }
        // Relaxed: as in `increment`.
        if self.0.fetch_add(owners, Ordering::Relaxed) >= MAX_COUNT - owners {
            self.stick();
        }
    }

    /// Removes an owner. Returns `true` if it was the last one.
    ///
    /// In that case, everything that the other owners did to the value happened before this
    /// returns.
    #[inline]
    #[must_use]
    pub(crate) fn decrement(&self) -> bool {
        // A single owner needs no read-modify-write: only it could add an owner. The acquire of
        // either branch pairs with the release half of the `fetch_sub` of the other owners.
        if self.is_one() {
            return true;
        }
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        if before > MAX_COUNT {
            self.stick();
        }
        before == 1
    }

    /// Returns `true` if there is exactly one owner.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        // Acquire pairs with the release in `decrement`: everything former owners did happened
        // before.
        self.0.load(Ordering::Acquire) == 1
    }

    #[cold]
    fn stick(&self) {
        // Relaxed: a value that is never destroyed needs no order.
        self.0.store(STUCK, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_owner_is_told() {
        let count = Count::new(1);
        count.increment();
        assert!(!count.is_one());
        assert!(!count.decrement());
        assert!(count.is_one());
        assert!(count.decrement());
    }

    #[test]
    fn many_owners_are_added_at_once() {
        let count = Count::new(1);
        count.add(2);
        assert!(!count.decrement());
        assert!(!count.decrement());
        assert!(count.decrement());
        for owners in [MAX_COUNT / 2, u32::MAX] {
            let count = Count::new(MAX_COUNT / 2 + 1);
            count.add(owners);
            assert_eq!(count.0.load(Ordering::Relaxed), STUCK);
        }
    }

    #[test]
    fn a_count_that_overflows_stands_still() {
        let count = Count::new(MAX_COUNT);
        count.increment();
        for _ in 0..10 {
            assert!(!count.decrement());
        }
        count.increment();
        assert_eq!(count.0.load(Ordering::Relaxed), STUCK);
    }
}

//! Bytes that requests take together, up to a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number of bytes, and its limit.
#[derive(Debug)]
pub(crate) struct Budget {
    num_bytes: AtomicU64,
    max_bytes: u64,
}

/// Bytes of a budget, which are free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    num_bytes: u64,
    budget: Arc<Budget>,
}

impl Budget {
    pub(crate) fn new(max_bytes: u64) -> Arc<Self> {
        Arc::new(Self {
            num_bytes: AtomicU64::new(0),
            max_bytes,
        })
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Takes nothing yet.
    pub(crate) fn begin(self: &Arc<Self>) -> Taken {
        Taken {
            num_bytes: 0,
            budget: Arc::clone(self),
        }
    }

    #[cfg(test)]
    pub(crate) fn num_bytes(&self) -> u64 {
        self.num_bytes.load(Ordering::Relaxed)
    }
}

impl Taken {
    /// Returns the number of bytes that were taken.
    pub(crate) fn num_bytes(&self) -> u64 {
        self.num_bytes
    }

    /// Takes further bytes. Returns `false`, and takes none, if there are too few.
    pub(crate) fn take(&mut self, num_bytes: u64) -> bool {
        let with_these = |all: u64| {
            let all = all.saturating_add(num_bytes);
            (all <= self.budget.max_bytes).then_some(all)
        };
        // Relaxed: nothing else is read or written by this number.
        let order = Ordering::Relaxed;
        let taken = self
            .budget
            .num_bytes
            .fetch_update(order, order, with_these)
            .is_ok();
        if taken {
            self.num_bytes += num_bytes;
        }
        taken
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.budget
            .num_bytes
            .fetch_sub(self.num_bytes, Ordering::Relaxed);
    }
}

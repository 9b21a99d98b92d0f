//! Whether a function runs in the order of its segments, as its earlier runs suggest.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of invocations of a function that run in the ready loop after one has left its order.
/// A retry costs a function that always leaves its order about one percent.
const COUNTED_RUNS: u32 = 255;

/// Whether the results of a body's kernels were available when the kernels returned.
///
/// This is an estimate: no memory access is ordered by it, and a lost update does no harm. So all
/// accesses are relaxed.
#[derive(Debug, Default)]
pub(crate) struct Habit {
    /// The number of invocations that are not to run in order.
    num_counted: AtomicU32,
}

impl Habit {
    /// Returns `true` if the next invocation is to run in order.
    pub(crate) fn is_in_order(&self) -> bool {
        let num_counted = self.num_counted.load(Ordering::Relaxed);
        if num_counted > 0 {
            self.num_counted.store(num_counted - 1, Ordering::Relaxed);
        }
        num_counted == 0
    }

    /// Records that a result was not available.
    pub(crate) fn order_was_left(&self) {
        self.num_counted.store(COUNTED_RUNS, Ordering::Relaxed);
    }
}

//! Decides whether a function runs faster on one thread than shared, if the work queue has several
//! threads and promises no order.
//!
//! A function starts on one thread, in the order of its schedule, which costs least. While it runs,
//! it checks the clock. Once it has taken long enough to be worth the help of another thread, the
//! rest is enqueued; no work is repeated. After a run that was shared in this way, the next runs of
//! the function are shared from the start for a while.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long work must take before it is worth asking another thread to help.
///
/// Passing a task to a sleeping thread was measured to cost 5 to 20 us (x86-64, two cores).
const WORTH_A_THREAD: Duration = Duration::from_micros(20);

/// The approximate cost of a kernel in a shared invocation beyond its cost in a schedule.
const OVERHEAD_NS: u64 = 150;

/// The number of runs that are shared from the start after a run that had to be shared.
const SHARED_RUNS: u32 = 63;

/// Of the runs for which one thread was enough, one in this many is timed from its first kernel.
const RUNS_PER_TIMED: u32 = 64;

/// The clock is checked after this many kernels, then each time their number has doubled, but at
/// least every [`MAX_KERNELS_PER_LOOK`].
const FIRST_LOOK: u32 = 8;
const MAX_KERNELS_PER_LOOK: u32 = 512;

/// What the runs of a body so far predict about the next one.
///
/// This is an estimate: no memory access is ordered by it, and a lost update does no harm. So all
/// accesses are relaxed.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// The number of runs that are to be shared from the start.
    num_shared: AtomicU32,
    /// The number of runs that need not be timed from their first kernel.
    num_untimed: AtomicU32,
}

impl Pace {
    /// Returns `true` if the next run is to start on one thread.
    #[inline]
    pub(crate) fn is_for_one_thread(&self) -> bool {
        let num_shared = self.num_shared.load(Ordering::Relaxed);
        if num_shared == 0 {
            return true;
        }
        self.num_shared.store(num_shared - 1, Ordering::Relaxed);
        false
    }

    /// Returns the watch of a run that starts on one thread and that `num_helpers` other threads
    /// could help.
    #[inline]
    pub(crate) fn watch(&self, num_helpers: usize) -> Watch {
        let num_untimed = self.num_untimed.load(Ordering::Relaxed);
        let is_timed = num_untimed == 0;
        let next = if is_timed {
            RUNS_PER_TIMED - 1
        } else {
            num_untimed - 1
        };
        self.num_untimed.store(next, Ordering::Relaxed);
        let first_look = if is_timed { 1 } else { FIRST_LOOK };
        Watch {
            start: Cell::new(is_timed.then(Instant::now)),
            num_helpers,
            num_kernels: Cell::new(0),
            per_look: Cell::new(first_look),
            until_look: Cell::new(first_look),
        }
    }

    /// Records that a run was handed to other threads.
    #[cold]
    pub(crate) fn was_handed_over(&self) {
        self.num_shared.store(SHARED_RUNS, Ordering::Relaxed);
        self.num_untimed.store(0, Ordering::Relaxed);
    }
}

/// Checks, while functions run on one thread, whether several would be faster.
#[derive(Debug)]
pub(crate) struct Watch {
    /// `None` until the first look, if the run is not timed from its first kernel.
    start: Cell<Option<Instant>>,
    num_helpers: usize,
    /// The number of kernels that had run at the last look.
    num_kernels: Cell<u32>,
    per_look: Cell<u32>,
    until_look: Cell<u32>,
}

impl Watch {
    /// Counts a kernel. Returns `true` if the run is to be handed to other threads.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        let left = self.until_look.get() - 1;
        self.until_look.set(left);
        left == 0 && self.look()
    }

    #[cold]
    fn look(&self) -> bool {
        let num_kernels = self.num_kernels.get().saturating_add(self.per_look.get());
        self.num_kernels.set(num_kernels);
        let next = num_kernels.clamp(1, MAX_KERNELS_PER_LOOK);
        self.per_look.set(next);
        self.until_look.set(next);
        let Some(start) = self.start.get() else {
            self.start.set(Some(Instant::now()));
            return false;
        };
        is_worth_sharing(start.elapsed(), num_kernels, self.num_helpers)
    }
}

/// Returns `true` if kernels take so long that other threads could help, and there were enough of
/// them.
fn is_worth_sharing(elapsed: Duration, num_kernels: u32, num_helpers: usize) -> bool {
    let overhead = u64::from(num_kernels) * OVERHEAD_NS / num_helpers.max(1) as u64;
    elapsed > WORTH_A_THREAD && elapsed > Duration::from_nanos(overhead)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn long_kernels_are_worth_sharing_and_many_short_ones_are_not() {
        let us = Duration::from_micros;
        assert!(!is_worth_sharing(us(10), 1, 1));
        assert!(is_worth_sharing(us(100), 10, 1));
        assert!(!is_worth_sharing(us(100), 10_000, 1));
        assert!(is_worth_sharing(us(100), 10_000, 63));
    }

    #[test]
    fn a_run_that_was_handed_over_makes_the_next_ones_shared() {
        let pace = Pace::default();
        assert!(pace.is_for_one_thread());
        pace.was_handed_over();
        let shared = (0..).take_while(|_| !pace.is_for_one_thread()).count();
        assert_eq!(shared, SHARED_RUNS as usize);
    }

    #[test]
    fn looks_become_rare() {
        let pace = Pace::default();
        // The first run is timed from its first kernel; this one is not.
        let _ = pace.watch(1);
        let watch = pace.watch(1);
        let mut gaps = Vec::new();
        for _ in 0..9 {
            gaps.push(watch.until_look.get());
            watch.look();
        }
        assert_eq!(gaps, [8, 8, 16, 32, 64, 128, 256, 512, 512]);
    }
}

//! Whether a function is better run on one thread than shared, where the work queue has several and promises no order.
//!
//! A function starts on one thread, in the order of its schedule, which costs least. While it runs it looks at the clock; once
//! it has taken long enough for another thread to be worth asking, the rest is handed to the queue. Nothing is done twice. A
//! function whose last run was handed over is shared from the start for a while.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long work must take before another thread is worth being asked to help.
///
/// Handing a task to a thread that sleeps was measured to cost 5 to 20 us (x86-64, two cores).
const WORTH_A_THREAD: Duration = Duration::from_micros(20);

/// About what a kernel costs as a part of a shared invocation beyond what it costs in a schedule.
const OVERHEAD_NS: u64 = 150;

/// After a run that was handed over, so many are shared from the start.
const SHARED_RUNS: u32 = 63;

/// Of runs that one thread was enough for, one of so many is timed from its first kernel.
const RUNS_PER_TIMED: u32 = 64;

/// The clock is looked at after so many kernels, and then whenever there were twice as many, but at least that often.
const FIRST_LOOK: u32 = 8;
const MAX_KERNELS_PER_LOOK: u32 = 512;

/// What the runs of a body so far say of the next one.
///
/// An estimate: nothing is ordered by it, and an update that is lost costs nothing. So all accesses are relaxed.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// How many runs are to be shared from the start.
    num_shared: AtomicU32,
    /// How many runs need not be timed from their first kernel.
    num_untimed: AtomicU32,
}

impl Pace {
    /// Whether to start the next run on one thread.
    #[inline]
    pub(crate) fn is_for_one_thread(&self) -> bool {
        let num_shared = self.num_shared.load(Ordering::Relaxed);
        if num_shared == 0 {
            return true;
        }
        self.num_shared.store(num_shared - 1, Ordering::Relaxed);
        false
    }

    /// A run that starts on one thread, beside so many others that could help.
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

    /// A run was handed over.
    #[cold]
    pub(crate) fn was_handed_over(&self) {
        self.num_shared.store(SHARED_RUNS, Ordering::Relaxed);
        self.num_untimed.store(0, Ordering::Relaxed);
    }
}

/// Looks, while functions run on one thread, whether several would be faster.
#[derive(Debug)]
pub(crate) struct Watch {
    /// None until the first look, if the run is not timed from its first kernel.
    start: Cell<Option<Instant>>,
    num_helpers: usize,
    /// How many kernels had run at the last look.
    num_kernels: Cell<u32>,
    per_look: Cell<u32>,
    until_look: Cell<u32>,
}

impl Watch {
    /// Counts a kernel. True if the run is to be handed over.
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

/// Whether kernels are so long that others could help, and there were enough of them.
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

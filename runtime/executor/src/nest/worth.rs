//! Whether a nest is to be tried: one that is abandoned did its work for nothing.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long work must take before another thread is worth being asked to help.
///
/// Handing a task to a thread that sleeps was measured to cost 5 to 20 us (x86-64, two cores).
const WORTH_A_THREAD: Duration = Duration::from_micros(20);

/// About what a kernel costs in the general way beyond what it costs in a nest, for functions that are many tasks.
const OVERHEAD_NS: u64 = 150;

/// How many tries are left out after the first one of a row that failed; after each other, twice as many.
const FIRST_PAUSE: u32 = 8;
const MAX_DOUBLINGS: u32 = 9;

/// Of runs that take as long as each other, one of so many is timed.
const RUNS_PER_TIMED: u32 = 64;

/// What the runs so far say of the next one.
///
/// An estimate: nothing is ordered by it, and an update that is lost costs nothing. So all accesses are relaxed.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// How many tries to leave out.
    pause: AtomicU32,
    /// How many tries in a row were not worth it.
    num_failed: AtomicU32,
    /// How many runs need not be timed.
    num_untimed: AtomicU32,
}

impl Worth {
    /// Whether to try.
    #[inline]
    pub(super) fn is_to_be_tried(&self) -> bool {
        let pause = self.pause.load(Ordering::Relaxed);
        if pause == 0 {
            return true;
        }
        self.pause.store(pause - 1, Ordering::Relaxed);
        false
    }

    /// Whether to look at the clock in this run: in one of many, as long as that finds nothing.
    #[inline]
    pub(super) fn is_to_be_timed(&self) -> bool {
        let num_untimed = self.num_untimed.load(Ordering::Relaxed);
        let (next, is_timed) = match num_untimed {
            0 => (RUNS_PER_TIMED - 1, true),
            left => (left - 1, false),
        };
        self.num_untimed.store(next, Ordering::Relaxed);
        is_timed
    }

    /// A try was worth it.
    #[inline]
    pub(super) fn succeeded(&self) {
        if self.num_failed.load(Ordering::Relaxed) != 0 {
            self.num_failed.store(0, Ordering::Relaxed);
        }
    }

    /// A try was not worth it.
    #[cold]
    pub(super) fn failed(&self) {
        let num_failed = self.num_failed.load(Ordering::Relaxed).min(MAX_DOUBLINGS);
        self.num_failed.store(num_failed + 1, Ordering::Relaxed);
        self.pause
            .store(FIRST_PAUSE << num_failed, Ordering::Relaxed);
        self.num_untimed.store(0, Ordering::Relaxed);
    }
}

/// Looks, while a nest is run, whether several threads would be faster.
#[derive(Debug)]
pub(super) struct Watch {
    start: Instant,
    num_helpers: usize,
    /// How many steps there were at the last look.
    num_steps: usize,
}

/// The clock is looked at after so many steps, and then whenever there were twice as many, but at least that often.
const FIRST_LOOK: usize = 8;
const MAX_STEPS_PER_LOOK: usize = 512;

impl Watch {
    /// Starts now. `parallelism_level` is that of the queue.
    pub(super) fn start(parallelism_level: usize) -> Self {
        Self {
            start: Instant::now(),
            num_helpers: parallelism_level - 1,
            num_steps: 0,
        }
    }

    /// After how many more steps than at the last look to look again.
    pub(super) fn until_look(&self) -> usize {
        self.num_steps.clamp(FIRST_LOOK, MAX_STEPS_PER_LOOK)
    }

    /// Looks. True if several threads would be faster, as far as can be told.
    pub(super) fn is_too_much(&mut self) -> bool {
        self.num_steps += self.until_look();
        is_too_much(self.start.elapsed(), self.num_steps, self.num_helpers)
    }

    /// Whether the whole was too much, with the steps since the last look.
    pub(super) fn was_too_much(&self) -> bool {
        is_too_much(self.start.elapsed(), self.num_steps, self.num_helpers)
    }
}

/// Whether kernels are so long that others could help, and there are enough of them to be worth it.
fn is_too_much(elapsed: Duration, num_steps: usize, num_helpers: usize) -> bool {
    let overhead = Duration::from_nanos(num_steps as u64 * OVERHEAD_NS / num_helpers.max(1) as u64);
    elapsed > WORTH_A_THREAD && elapsed > overhead
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_while_tries_fail_and_end_with_one_that_succeeds() {
        let worth = Worth::default();
        let tries_left_out = || (0..).take_while(|_| !worth.is_to_be_tried()).count();
        assert_eq!(tries_left_out(), 0);
        worth.failed();
        assert_eq!(tries_left_out(), 8);
        worth.failed();
        assert_eq!(tries_left_out(), 16);
        for _ in 0..100 {
            worth.failed();
        }
        assert_eq!(tries_left_out(), 8 << 9);
        worth.succeeded();
        worth.failed();
        assert_eq!(tries_left_out(), 8);
    }

    #[test]
    fn long_kernels_are_too_much_and_many_short_ones_are_not() {
        let us = Duration::from_micros;
        assert!(!is_too_much(us(10), 1, 1));
        assert!(is_too_much(us(100), 10, 1));
        assert!(!is_too_much(us(100), 10_000, 1));
        assert!(is_too_much(us(100), 10_000, 63));
    }

    #[test]
    fn one_run_in_a_while_is_timed_once_all_were_short() {
        let worth = Worth::default();
        let num_timed = |num_runs| (0..num_runs).filter(|_| worth.is_to_be_timed()).count();
        assert_eq!(num_timed(1), 1);
        assert_eq!(num_timed(640), 10);
        worth.failed();
        assert_eq!(num_timed(1), 1);
    }

    #[test]
    fn looks_become_rare() {
        let mut watch = Watch::start(2);
        let mut gaps = Vec::new();
        for _ in 0..9 {
            gaps.push(watch.until_look());
            watch.is_too_much();
        }
        assert_eq!(gaps, [8, 8, 16, 32, 64, 128, 256, 512, 512]);
    }
}

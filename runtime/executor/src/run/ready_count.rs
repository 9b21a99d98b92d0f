//! The number of operands that a kernel still waits for.
//!
//! - R1. Every arrival of an operand is counted once. Only the thread that counts the last one
//!   finds the kernel ready.
//! - R2. If a kernel waits for any of its operands, only the first arrival finds it ready.
//! - R3. Everything done before any of the arrivals happened before the kernel is found ready.

use super::sync::{AtomicU32, Ordering};
use crate::lower::schedule::{FOR_ANY, WAITS_FOR_ANY};

/// The number of operands that a kernel still waits for.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct ReadyCount(AtomicU32);

impl ReadyCount {
    /// Returns the count of a kernel that waits for `count` operands, at least one.
    #[cfg(any(test, loom))]
    pub(crate) fn starting_at(count: u32) -> Self {
        Self(AtomicU32::new(count))
    }

    /// Counts an arrival. Returns `true` if the kernel is ready.
    ///
    /// `is_alone` means that no other thread can access the count until the caller publishes it.
    #[inline]
    pub(crate) fn count_down(&self, is_alone: bool) -> bool {
        // A thread that reads 1 is the only one left to count, so no other thread writes. Acquire
        // pairs with the release of the threads that counted before (R3).
        let current = self.0.load(Ordering::Acquire);
        if current == 1 {
            return true;
        }
        if current >= WAITS_FOR_ANY {
            // Acquire and release: what the kernel reads does not depend on them, as its operands
            // themselves say whether they are available; but the thread that starts it has seen
            // what made it start.
            return self.0.swap(WAITS_FOR_ANY, Ordering::AcqRel) == FOR_ANY;
        }
        if is_alone {
            // Relaxed: publishing the count to other threads orders it.
            self.0.store(current - 1, Ordering::Relaxed);
            return false;
        }
        // Release: what was done before becomes visible to the thread that counts last. Acquire: as
        // above.
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_arrival_finds_the_kernel_ready() {
        for is_alone in [true, false] {
            let count = ReadyCount::starting_at(3);
            assert!(!count.count_down(is_alone));
            assert!(!count.count_down(is_alone));
            assert!(count.count_down(is_alone));
        }
    }

    #[test]
    fn the_first_arrival_starts_a_kernel_that_waits_for_any() {
        let count = ReadyCount::starting_at(FOR_ANY);
        assert!(count.count_down(false));
        assert!(!count.count_down(false));
        assert!(!count.count_down(true));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;

    /// A kernel, its operands, and the number of times that it was found ready.
    struct Kernel {
        count: ReadyCount,
        /// Written and read without any ordering of their own.
        operands: Vec<AtomicU32>,
        num_starts: AtomicU32,
    }

    impl Kernel {
        /// Writes an operand and counts it. The thread that finds the kernel ready reads all
        /// operands.
        fn arrive(&self, operand: usize) {
            self.operands[operand].store(1, Ordering::Relaxed);
            if self.count.count_down(false) {
                self.num_starts.fetch_add(1, Ordering::Relaxed);
                for operand in &self.operands {
                    assert_eq!(operand.load(Ordering::Relaxed), 1, "an operand is missing");
                }
            }
        }
    }

    /// R1 and R3: with three producers on three threads, the kernel starts once and sees all
    /// operands.
    #[test]
    fn loom_last_arrival_starts_the_kernel_once() {
        loom::model(|| {
            let kernel = Arc::new(Kernel {
                count: ReadyCount::starting_at(3),
                operands: (0..3).map(|_| AtomicU32::new(0)).collect(),
                num_starts: AtomicU32::new(0),
            });
            let threads: Vec<_> = (1..3)
                .map(|operand| {
                    let kernel = Arc::clone(&kernel);
                    thread::spawn(move || kernel.arrive(operand))
                })
                .collect();
            kernel.arrive(0);
            for thread in threads {
                thread.join().expect("a model does not panic");
            }
            assert_eq!(kernel.num_starts.load(Ordering::Relaxed), 1);
        });
    }

    /// R2: two arrivals race, and exactly one of them starts the kernel.
    #[test]
    fn loom_any_arrival_starts_the_kernel_once() {
        loom::model(|| {
            let count = Arc::new(ReadyCount::starting_at(FOR_ANY));
            let other = {
                let count = Arc::clone(&count);
                thread::spawn(move || count.count_down(false))
            };
            let ours = count.count_down(false);
            let theirs = other.join().expect("a model does not panic");
            assert!(ours != theirs);
        });
    }
}

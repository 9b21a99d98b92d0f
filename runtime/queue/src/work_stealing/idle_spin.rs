//! The time for which a worker without work looks for tasks before it sleeps.
//!
//! Waking a thread on an idle core costs the thread that adds a task 2 to 20 microseconds; see
//! `wake` in `benches/queue.rs`. A worker that spins for a while saves that cost when tasks follow
//! each other closely.
//!
//! Spinning is wasted when a worker adds one task after the other and takes each itself: there is
//! nothing to find, and every worker that is woken for such a task is woken in vain. So a worker
//! doubles its spinning time with every wasted wake-up, as long as other workers run; the longer it
//! spins, the less often it is woken. The last worker that is awake spins only briefly. Only one
//! worker spins at a time; the others sleep at once.

use std::hint;
use std::time::{Duration, Instant};

use super::Shared;
use super::compute::Compute;

/// The spinning state of a worker.
#[derive(Debug, Default)]
pub(super) struct IdleSpin {
    /// The number of wasted wake-ups, less the number of useful ones.
    num_wasted: u32,
}

impl IdleSpin {
    /// The spinning time of a worker without wasted wake-ups, and of the last worker that is awake:
    /// a few times the cost of a wake-up. Zero under loom, which does not model time and explores
    /// every wait anyway.
    const SHORTEST: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 20 });

    /// The longest spinning time is 64 times the shortest; wake-ups then cost about one percent.
    const MAX_WASTED: u32 = 6;

    /// The pause between two looks at the queues of others. A look takes their cache lines away
    /// from the workers that use them, for some tenths of a microsecond. Measured with `tiny` in
    /// `benches/queue.rs`: looking every 2 microseconds slows running workers down by 20 %, every 5
    /// microseconds by 6 %.
    const BETWEEN_LOOKS: Duration = Duration::from_micros(8);

    /// Records that the worker found a task, so that its last wake-up was useful.
    pub(super) fn found_task(&mut self) {
        self.num_wasted = self.num_wasted.saturating_sub(1);
    }

    /// Keeps looking for tasks for a while, unless another worker already does so. Returns `true`
    /// if there are tasks to take.
    ///
    /// While others run, only tasks that are seen by two looks in a row count: a worker that has
    /// just added a task often takes it itself at once, and a chain of such tasks gains nothing
    /// from moving back and forth between two threads.
    pub(super) fn spin(&mut self, shared: &Shared) -> bool {
        let Compute { sleep, .. } = &shared.compute;
        let begin = Instant::now();
        let (mut saw_some, mut next_look) = (false, Duration::ZERO);
        while sleep.is_only_searcher() {
            let waited = begin.elapsed();
            let is_alone = sleep.all_others_asleep();
            let may_spin = if is_alone {
                waited < Self::SHORTEST && !shared.quiescence.is_awaited()
            } else {
                waited < Self::SHORTEST * (1 << self.num_wasted)
            };
            if !may_spin {
                self.num_wasted = Self::MAX_WASTED.min(self.num_wasted + 1);
                return false;
            }
            if is_alone || waited >= next_look {
                let sees_some = shared.compute.has_tasks();
                if sees_some && (saw_some || is_alone) {
                    return true;
                }
                saw_some = sees_some;
                next_look = waited + Self::BETWEEN_LOOKS;
            }
            hint::spin_loop();
        }
        false
    }
}

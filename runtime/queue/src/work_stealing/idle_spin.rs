//! The time for which a worker without work looks for tasks before it sleeps.
//!
//! Waking a thread on an idle core costs the thread that adds a task 2 to 20 microseconds; see
//! `wake` in `benches/queue.rs`. A worker that spins for a while saves that cost when tasks follow
//! each other closely.
//!
//! Spinning is wasted when a worker adds one task after the other and takes each itself: there is
//! nothing to find, and every worker that is woken for such a task is woken in vain. So a worker
//! doubles its spinning time whenever it has spun in vain while other workers ran; the longer it
//! spins, the less often it is woken. It halves that time again if the next task came so late that
//! no spinning time would have been enough, or when many tasks in a row came within half of it. The
//! last worker that is awake spins only briefly, and only now and then after it has spun in vain
//! several times: tasks from outside, such as messages of other processes, come late, and those
//! processes may need the core. Only one worker spins at a time; the others sleep at once.

use std::hint;
use std::time::{Duration, Instant};

use super::Shared;
use super::compute::Compute;

/// The spinning state of a worker.
#[derive(Debug, Default)]
pub(super) struct IdleSpin {
    /// How often the spinning time was doubled, less how often it was halved.
    num_doublings: u32,
    /// The number of tasks in a row that came within half of the spinning time.
    num_soon: u32,
    /// How often in a row the last worker that was awake went to sleep without a task.
    num_alone_in_vain: u32,
    next: Next,
}

/// What the worker did before the next task that it finds.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// It spun for half of the spinning time at most, or not at all.
    #[default]
    Soon,
    /// It spun for longer, or slept without having spun in vain.
    Late,
    /// It spun in vain until then, and doubled the spinning time.
    Doubled(Instant),
}

impl IdleSpin {
    /// The spinning time of a worker without wasted wake-ups, and of the last worker that is awake:
    /// a few times the cost of a wake-up. Zero under loom, which does not model time and explores
    /// every wait anyway.
    const SHORTEST: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 20 });

    /// The longest spinning time is 64 times the shortest; wake-ups then cost about one percent.
    const MAX_DOUBLINGS: u32 = 6;

    const LONGEST: Duration = Self::SHORTEST.saturating_mul(1 << Self::MAX_DOUBLINGS);

    /// So many tasks in a row halve the spinning time. If each of them did, loops with something
    /// else to do in between would let the worker sleep every other time: with two threads,
    /// MobileNet v2 takes 1.1 times as long (median; Sapphire Rapids).
    const SOON_TO_HALVE: u32 = 16;

    /// The pause between two looks at the queues of others. A look takes their cache lines away
    /// from the workers that use them, for some tenths of a microsecond. Measured with `tiny` in
    /// `benches/queue.rs`: looking every 2 microseconds slows running workers down by 20 %, every 5
    /// microseconds by 6 %.
    const BETWEEN_LOOKS: Duration = Duration::from_micros(8);

    /// The last worker that is awake spins every time until it has spun in vain this often, and
    /// then once for as many tasks.
    const MAX_ALONE_IN_VAIN: u32 = 8;

    /// Returns `true` if the last worker that is awake spins before it sleeps.
    fn spins_alone(&self) -> bool {
        let num_in_vain = self.num_alone_in_vain;
        num_in_vain < Self::MAX_ALONE_IN_VAIN || num_in_vain.is_multiple_of(Self::MAX_ALONE_IN_VAIN)
    }

    /// Records that the worker found a task.
    pub(super) fn found_task(&mut self) {
        let num_soon = std::mem::take(&mut self.num_soon);
        match std::mem::take(&mut self.next) {
            Next::Soon if num_soon + 1 == Self::SOON_TO_HALVE => self.halve(),
            Next::Soon => self.num_soon = num_soon + 1,
            Next::Late => {}
            Next::Doubled(then) if then.elapsed() > Self::LONGEST => self.halve(),
            Next::Doubled(_) => {}
        }
    }

    fn halve(&mut self) {
        self.num_doublings = self.num_doublings.saturating_sub(1);
    }

    /// Keeps looking for tasks for a while, unless another worker already does so. Returns `true`
    /// if there are tasks to take.
    ///
    /// While others run, only tasks that are seen by two looks in a row count: a worker that has
    /// just added a task often takes it itself at once, and a chain of such tasks gains nothing
    /// from moving back and forth between two threads. Tasks that were added in a batch count at
    /// once: a loop adds such tasks, whose thread is busy with blocks of its own.
    pub(super) fn spin(&mut self, shared: &Shared) -> bool {
        let Compute { sleep, .. } = &shared.compute;
        let begin = Instant::now();
        let spinning_time = Self::SHORTEST * (1 << self.num_doublings);
        let (mut saw_some, mut next_look) = (false, Duration::ZERO);
        let mut seen_offers = sleep.num_offers();
        while sleep.is_only_searcher() {
            let waited = begin.elapsed();
            let is_alone = sleep.all_others_asleep();
            let may_spin = if is_alone {
                self.spins_alone() && waited < Self::SHORTEST && !shared.quiescence.is_awaited()
            } else {
                waited < spinning_time
            };
            if !may_spin {
                self.next = Next::Late;
                if is_alone {
                    self.num_alone_in_vain = self.num_alone_in_vain.wrapping_add(1);
                }
                if !is_alone && self.num_doublings < Self::MAX_DOUBLINGS {
                    self.num_doublings += 1;
                    self.next = Next::Doubled(begin + waited);
                }
                return false;
            }
            let num_offers = sleep.num_offers();
            let is_offered = num_offers != seen_offers;
            if is_alone || is_offered || waited >= next_look {
                seen_offers = num_offers;
                let sees_some = shared.compute.has_tasks();
                if sees_some && (saw_some || is_alone || is_offered) {
                    if is_alone {
                        self.num_alone_in_vain = 0;
                    }
                    if waited > spinning_time / 2 {
                        self.next = Next::Late;
                    }
                    return true;
                }
                saw_some = sees_some;
                next_look = waited + Self::BETWEEN_LOOKS;
            }
            hint::spin_loop();
        }
        self.next = Next::Late;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_worker_that_spins_in_vain_soon_spins_only_now_and_then() {
        let mut idle_spin = IdleSpin::default();
        let mut spins = 0;
        for num_in_vain in 0..80 {
            idle_spin.num_alone_in_vain = num_in_vain;
            spins += u32::from(idle_spin.spins_alone());
        }
        assert_eq!(spins, 8 + 9);
    }
}

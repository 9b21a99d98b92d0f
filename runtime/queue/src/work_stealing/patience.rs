//! How long a worker that finds nothing goes on looking before it sleeps.
//!
//! To wake a thread on an idle core costs the one who adds a task 2 to 20 microseconds, the more the further the system is from
//! the machine: see `wake` in `benches/queue.rs`. A worker that lingers saves them that where tasks follow each other closely.
//!
//! Where a worker adds one task after the other and takes each itself, there is nothing to be found, and whoever is woken for such
//! a task is woken in vain. So with every time that a worker was woken in vain it lingers twice as long, as long as others
//! work; when all others sleep, it soon does so, too. One worker lingers at a time: the others sleep at once.

use std::hint;
use std::time::{Duration, Instant};

use super::Shared;
use super::compute::Compute;

/// What a worker has learned about waiting.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// How often the worker was woken in vain, less how often it was not.
    num_in_vain: u32,
}

impl Patience {
    /// For a worker that has not been woken in vain, and for one that is the last to sleep: a few times what waking costs.
    const LEAST: Duration = Duration::from_micros(20);

    /// The longest is 64 times the least, which leaves of what waking costs about one part in a hundred.
    const MAX_IN_VAIN: u32 = 6;

    /// A look takes the words that it looks at out of the cache of those who work on them, for some tenths of a microsecond.
    /// Measured with `tiny` in `benches/queue.rs`: looks every 2 microseconds cost those who work 20 %, every 5 of them 6 %.
    const BETWEEN_LOOKS: Duration = Duration::from_micros(8);

    /// A task was found: the worker was not woken in vain.
    pub(super) fn found_task(&mut self) {
        self.num_in_vain = self.num_in_vain.saturating_sub(1);
    }

    /// Looks for tasks a little longer, if no other worker does. True if it saw some that were there at two looks in a row: a
    /// worker that has just added a task often takes it itself at once, and a chain of such tasks gains nothing by going to and
    /// fro between two threads.
    pub(super) fn linger(&mut self, shared: &Shared) -> bool {
        let Compute { sleep, .. } = &shared.compute;
        let begin = Instant::now();
        let (mut saw_some, mut next_look) = (false, Duration::ZERO);
        while sleep.is_only_searcher() {
            let waited = begin.elapsed();
            let is_alone = sleep.all_others_asleep();
            let may_linger = if is_alone {
                waited < Self::LEAST && !shared.rest.is_awaited()
            } else {
                waited < Self::LEAST * (1 << self.num_in_vain)
            };
            if !may_linger {
                self.num_in_vain = Self::MAX_IN_VAIN.min(self.num_in_vain + 1);
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

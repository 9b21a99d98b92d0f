//! What a piece of work costs its thread.

use std::fmt;
use std::time::Duration;

use allocation_counter::AllocationInfo;
use rustix::time::{ClockId, clock_gettime};

/// Costs that nobody minds, whatever they grow from. Pools and tables that take memory in large
/// pieces cost so much at one size, and nothing at a smaller one.
const FREE: Cost = Cost {
    num_allocations: 10_000,
    num_bytes: 512 << 10,
    time: Duration::from_millis(4),
};

/// Processor time and allocations of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    num_allocations: u64,
    num_bytes: u64,
    time: Duration,
}

impl Cost {
    /// The least of two measurements of the same work.
    pub fn min(self, other: Self) -> Self {
        Self {
            num_allocations: self.num_allocations.min(other.num_allocations),
            num_bytes: self.num_bytes.min(other.num_bytes),
            time: self.time.min(other.time),
        }
    }

    /// Whether this is more than `ratio` times `other`, and more than anything that is free.
    pub fn exceeds(self, other: Self, ratio: f64) -> bool {
        let is_more = |this: f64, other: f64, free: f64| this > ratio * other + free;
        is_more(
            self.num_allocations as f64,
            other.num_allocations as f64,
            FREE.num_allocations as f64,
        ) || is_more(
            self.num_bytes as f64,
            other.num_bytes as f64,
            FREE.num_bytes as f64,
        ) || is_more(
            self.time.as_secs_f64(),
            other.time.as_secs_f64(),
            FREE.time.as_secs_f64(),
        )
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} allocations of {} bytes, {:.1} ms",
            self.num_allocations,
            self.num_bytes,
            self.time.as_secs_f64() * 1e3
        )
    }
}

/// Does a piece of work on this thread, and says what it cost.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let mut result = None;
    let start = thread_time();
    let AllocationInfo {
        count_total,
        bytes_total,
        ..
    } = allocation_counter::measure(|| result = Some(work()));
    let cost = Cost {
        num_allocations: count_total,
        num_bytes: bytes_total,
        time: thread_time().saturating_sub(start),
    };
    (result.expect("the work was done"), cost)
}

/// The processor time of this thread so far.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

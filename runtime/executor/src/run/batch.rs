//! Kernels that become ready together and belong to other streams than the kernel that made them
//! ready.
//!
//! All of them are one task, ordered by stream: a work queue that runs tasks in order runs the
//! kernels as if each stream had a task of its own. If tasks run in parallel, a batch gives away
//! half of its remaining kernels, again and again, as long as a half is worth the cost of another
//! thread. How long a stream's share takes is learned from one batch to the next.
//!
//! Short functions never get here: one thread runs them as a whole (see [`super::pace`]).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tfrt_support::entity::EntityId;

use crate::lower::code::{Code, KernelId, StreamId};

/// The duration of a batch that is no longer worth dividing.
///
/// Passing a task to a sleeping thread was measured to cost 5 to 20 us, and to an awake one less
/// than 1 us (x86-64, two cores). A batch of this length makes the former bearable and the latter
/// negligible.
const TARGET_NS: u32 = 20_000;

/// Batches of fewer streams than this say little about others.
const FEW_GROUPS: usize = 8;

/// Up to this many kernels are sorted by comparison.
const MAX_COMPARED: usize = 48;

/// The average duration of one stream's share in the batches of one body. The kernels that a
/// function starts with often differ from those that follow, so the two have separate estimates.
#[derive(Debug, Default)]
pub(crate) struct GroupCost {
    /// For kernels that are ready from the start.
    pub(crate) start: Estimate,
    /// For kernels that other kernels make ready.
    pub(crate) later: Estimate,
}

/// The average duration of one stream's share in a batch.
///
/// Relaxed throughout: no memory access is ordered by an estimate, and a lost update does no harm.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    /// 0 if unknown.
    ns: AtomicU32,
}

impl Estimate {
    /// Returns `true` if a batch of this many streams is to be divided. Until the cost is known,
    /// every stream may be worth a thread.
    pub(crate) fn is_divided(&self, num_groups: usize) -> bool {
        let ns = self.ns.load(Ordering::Relaxed) as usize;
        num_groups > 1 && (ns == 0 || ns.saturating_mul(num_groups) > TARGET_NS as usize)
    }

    /// Records that a batch of this many streams took this long.
    pub(crate) fn learn(&self, num_groups: usize, elapsed: Duration) {
        let per_group = elapsed.as_nanos() / num_groups.max(1) as u128;
        let measured = u32::try_from(per_group).unwrap_or(u32::MAX);
        let known = self.ns.load(Ordering::Relaxed);
        // A longer duration counts at once, so that long work is divided from now on. A shorter one
        // counts gradually, and less if few streams were measured: there are short kernels among
        // long ones.
        let next = match measured {
            longer if longer >= known => longer,
            shorter if num_groups < FEW_GROUPS => known - (known - shorter) / 32,
            shorter => known - (known - shorter) / 4,
        };
        self.ns.store(next.max(1), Ordering::Relaxed);
    }
}

/// Returns the position at which a batch of at least two streams is divided: between two streams,
/// near the middle.
pub(crate) fn middle_of(code: &Code, ready: &[KernelId]) -> usize {
    let middle = stream_of(code, ready[ready.len() / 2]);
    match ready.partition_point(|&kernel| stream_of(code, kernel) < middle) {
        // The whole first half is of one stream.
        0 => ready.partition_point(|&kernel| stream_of(code, kernel) <= middle),
        at => at,
    }
}

/// Returns the number of streams of the kernels, which are ordered by stream.
pub(crate) fn num_groups(code: &Code, ready: &[KernelId]) -> usize {
    let is_same = |&a: &KernelId, &b: &KernelId| stream_of(code, a) == stream_of(code, b);
    ready.chunk_by(is_same).count()
}

#[inline]
fn stream_of(code: &Code, kernel: KernelId) -> StreamId {
    code.kernel(kernel).stream
}

/// Sorts kernels by stream, stably. `spare` is scratch space, left empty.
pub(crate) fn sort_by_stream(code: &Code, ready: &mut [KernelId], spare: &mut Vec<u32>) {
    let len = ready.len();
    // Counting takes a step for each stream.
    if len <= MAX_COMPARED || code.num_streams > 4 * len {
        return ready.sort_by_key(|&kernel| stream_of(code, kernel));
    }
    // First the start of each stream's kernels, then the sorted kernels.
    spare.resize(code.num_streams + len, 0);
    let (starts, sorted) = spare.split_at_mut(code.num_streams);
    for &kernel in &*ready {
        starts[stream_of(code, kernel).index()] += 1;
    }
    let mut start = 0;
    for count in &mut *starts {
        start += std::mem::replace(count, start);
    }
    for &kernel in &*ready {
        let next = &mut starts[stream_of(code, kernel).index()];
        sorted[*next as usize] = kernel.index() as u32;
        *next += 1;
    }
    for (kernel, &index) in ready.iter_mut().zip(&*sorted) {
        *kernel = KernelId::from_index(index as usize);
    }
    spare.clear();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn long_work_is_divided_at_once_and_short_work_after_a_while() {
        let cost = Estimate::default();
        let target = Duration::from_nanos(TARGET_NS.into());
        assert!(cost.is_divided(2) && !cost.is_divided(1));
        cost.learn(10, Duration::from_micros(1));
        assert!(cost.is_divided(201) && !cost.is_divided(200));
        cost.learn(2, target * 2);
        assert!(cost.is_divided(2) && !cost.is_divided(1));
        for _ in 0..100 {
            cost.learn(FEW_GROUPS, Duration::ZERO);
        }
        assert!(!cost.is_divided(1000));
    }

    #[test]
    fn a_few_short_kernels_do_not_make_long_ones_short() {
        let cost = Estimate::default();
        cost.learn(1, Duration::from_millis(1));
        (0..32).for_each(|_| cost.learn(1, Duration::ZERO));
        assert!(cost.is_divided(2));
    }
}

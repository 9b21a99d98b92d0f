//! Segments: the tasks of a function of several streams under a queue that runs tasks in order.
//!
//! A path runs the kernels of its stream and enqueues those of other streams, as one task each time
//! (see `run::ready`). If the results of every kernel are available when it returns, and the queue
//! runs tasks in the order in which they are added, it is known in advance which tasks a function
//! enqueues, when it does so, and which kernels each of them runs: its *segment*. The call of the
//! function runs the first segment.
//!
//! ```text
//!   order      │ k0  k3  k4  │ k1  k5 │ k2  k6  k7 │
//!   segment    │ 0           │ 1      │ 2          │
//!                 └ after k0, segment 1 is handed over with k1
//!                         └ after k4, segment 2 is handed over with k2 and k6
//! ```
//!
//! A function that enqueues nothing has one segment: it runs as a whole in its call, under every
//! queue.

use std::ops::Range;

use super::ids::KernelId;

/// The maximal number of kernels. No file holds more, as its offsets have 32 bits.
pub(crate) const MAX_KERNELS: usize = 1 << 28;

/// The segments of a function.
#[derive(Debug)]
pub(crate) struct Segments {
    /// All kernels, in the order in which they run.
    pub(crate) order: Box<[KernelId]>,
    /// The segments in the order in which they are enqueued, which is the order in which they run.
    pub(super) list: Box<[Segment]>,
    /// The kernels that tasks begin with, task by task.
    pub(super) handed: Box<[KernelId]>,
}

/// The kernels that one task runs.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The positions of its kernels.
    pub(crate) positions: Range<usize>,
    /// The number of kernels that have run when it is enqueued.
    pub(super) handed_at: usize,
    /// The next segment to enqueue when this one begins.
    pub(crate) next: usize,
    /// The kernels that its task begins with, as a range of `handed`.
    pub(super) first: Range<usize>,
}

impl Segments {
    /// Returns the number of segments.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a segment by its number.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> &Segment {
        &self.list[number]
    }

    /// Returns the number of kernels after which a segment is enqueued, or `usize::MAX` if there is
    /// no such segment.
    #[inline]
    pub(crate) fn handed_at(&self, number: usize) -> usize {
        let segment = self.list.get(number);
        segment.map_or(usize::MAX, |segment| segment.handed_at)
    }

    /// Returns the kernels that the task of a segment begins with, ordered by stream.
    pub(crate) fn first_of(&self, number: usize) -> &[KernelId] {
        &self.handed[self.list[number].first.clone()]
    }

    /// Returns a range of the kernels that tasks begin with.
    pub(crate) fn handed(&self, range: Range<usize>) -> &[KernelId] {
        &self.handed[range]
    }
}

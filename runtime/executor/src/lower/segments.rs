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

use tfrt_support::entity::EntityId;

use super::code::{Code, KernelId, StreamId};
use super::schedule::arrive;

/// The maximal number of kernels. No file holds more, as its offsets have 32 bits.
pub(crate) const MAX_KERNELS: usize = 1 << 28;

/// The segments of a function.
#[derive(Debug)]
pub(crate) struct Segments {
    /// All kernels, in the order in which they run.
    pub(crate) order: Box<[KernelId]>,
    /// The segments in the order in which they are enqueued, which is the order in which they run.
    list: Box<[Segment]>,
    /// The kernels that tasks begin with, task by task.
    handed: Box<[KernelId]>,
}

/// The kernels that one task runs.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The positions of its kernels.
    pub(crate) positions: Range<usize>,
    /// The number of kernels that have run when it is enqueued.
    handed_at: usize,
    /// The next segment to enqueue when this one begins.
    pub(crate) next: usize,
    /// The kernels that its task begins with, as a range of `handed`.
    first: Range<usize>,
}

impl Segments {
    /// Returns the segments of code whose order is known.
    pub(crate) fn of(code: &Code) -> Self {
        assert!(
            code.kernels.len() <= MAX_KERNELS,
            "a verified body is far smaller than 4 GiB"
        );
        let mut replay = Replay::new(code);
        let mut order = Vec::with_capacity(code.kernels.len());
        let mut list: Vec<Segment> = Vec::new();
        // The number of kernels after which each segment is enqueued.
        let mut handed_at = vec![0; replay.num_handed()];
        while let Some(kernel) = replay.next_kernel() {
            let position = order.len();
            if list.len() < replay.num_begun {
                list.push(Segment {
                    positions: position..position,
                    handed_at: handed_at[list.len()],
                    // The first segment enqueues what is ready from the start.
                    next: if list.is_empty() { 1 } else { handed_at.len() },
                    first: replay.batch(list.len()),
                });
            }
            if let Some(segment) = list.last_mut() {
                segment.positions.end = position + 1;
            }
            order.push(kernel);
            replay.finish(kernel);
            handed_at.resize(replay.num_handed(), order.len());
        }
        Self {
            order: order.into(),
            list: list.into(),
            handed: replay.handed.into(),
        }
    }

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

/// A simulated run of a function on a queue that runs tasks in order.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    code: &'a Code,
    /// The number of operands that each kernel still waits for.
    pub(crate) ready_counts: Box<[u32]>,
    /// The stream of the current path.
    pub(crate) stream: StreamId,
    /// The ready kernels of that stream; the last one runs next.
    pub(crate) inline: Vec<KernelId>,
    /// The rest of the kernels that the current task began with, as a range of `handed`.
    pub(crate) batch: Range<usize>,
    /// The kernels that tasks begin with, task by task.
    handed: Vec<KernelId>,
    /// The end of each task in `handed`.
    ends: Vec<usize>,
    /// The number of segments that have begun.
    num_begun: usize,
}

impl<'a> Replay<'a> {
    /// Returns the state before the first kernel, with all arguments available.
    fn new(code: &'a Code) -> Self {
        let start = &code.start.at_once;
        let mut replay = Self {
            code,
            ready_counts: start.ready_counts.clone(),
            stream: start.stream,
            inline: code.kernel_ids(start.inline).collect(),
            batch: 0..0,
            handed: Vec::new(),
            ends: Vec::new(),
            num_begun: 1,
        };
        replay.hand_over(start.outline.to_vec());
        replay
    }

    /// Returns the state after the kernels before `position` have run. If `is_running`, the kernel
    /// at `position` is no longer ready.
    pub(crate) fn at(code: &'a Code, position: usize, is_running: bool) -> Self {
        let mut replay = Self::new(code);
        for _ in 0..position {
            if let Some(kernel) = replay.next_kernel() {
                replay.finish(kernel);
            }
        }
        if is_running {
            replay.next_kernel();
        }
        replay
    }

    /// Takes the kernel that runs next from the ready kernels. Returns `None` if no kernel is
    /// ready.
    fn next_kernel(&mut self) -> Option<KernelId> {
        if let Some(next) = self.inline.pop() {
            return Some(next);
        }
        if self.batch.is_empty() {
            self.batch = self.batch(self.num_begun);
            self.num_begun += 1;
        }
        let code = self.code;
        let left = &self.handed[self.batch.clone()];
        self.stream = code.kernel(*left.first()?).stream;
        let is_same = |kernel: &&KernelId| code.kernel(**kernel).stream == self.stream;
        let group = left.iter().take_while(is_same);
        self.inline.extend(group);
        self.batch.start += self.inline.len();
        self.inline.pop()
    }

    /// Makes the users of a kernel's results ready, and enqueues those of other streams.
    fn finish(&mut self, kernel: KernelId) {
        let code = self.code;
        let mut outline = Vec::new();
        for result in &code.details(kernel).results {
            for user in code.kernel_ids(result.users) {
                if !arrive(&mut self.ready_counts[user.index()]) {
                } else if code.kernel(user).stream == self.stream {
                    self.inline.push(user);
                } else {
                    outline.push(user);
                }
            }
        }
        if self.inline.is_empty()
            && let Some(&first) = outline.first()
        {
            self.stream = code.kernel(first).stream;
            let is_own = |kernel: &KernelId| code.kernel(*kernel).stream == self.stream;
            (self.inline, outline) = outline.into_iter().partition(is_own);
        }
        self.hand_over(outline);
    }

    fn hand_over(&mut self, mut ready: Vec<KernelId>) {
        if !ready.is_empty() {
            ready.sort_by_key(|&kernel| self.code.kernel(kernel).stream);
            self.handed.extend(ready);
            self.ends.push(self.handed.len());
        }
    }

    /// Returns the number of segments that have been enqueued, counting the one that began with the
    /// call.
    fn num_handed(&self) -> usize {
        1 + self.ends.len()
    }

    /// Returns the kernels that the task of a segment begins with; empty for the first segment, or
    /// one that has not been enqueued.
    fn batch(&self, number: usize) -> Range<usize> {
        let end = |number: usize| self.ends.get(number).copied();
        let batch = number.checked_sub(1).and_then(|index| {
            let start = index.checked_sub(1).map_or(Some(0), end);
            Some(start?..end(index)?)
        });
        batch.unwrap_or(0..0)
    }
}

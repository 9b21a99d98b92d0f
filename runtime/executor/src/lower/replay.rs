//! A simulated run of a function on a queue that runs tasks in order.
//!
//! It finds the [segments](super::segments) of a function when the function is lowered, and the
//! progress of a run that leaves their order.

use std::ops::Range;

use tfrt_support::entity::EntityId;

use super::code::{Code, KernelId, Schedule, StreamId};
use super::schedule::arrive;
use super::segments::{MAX_KERNELS, Segment, Segments};

impl Schedule {
    /// Returns the schedule of code whose kernels are in the order of one path.
    pub(crate) fn of(code: &Code) -> Self {
        let segments = Segments::of(code);
        match segments.len() {
            0 | 1 => Self::Exact,
            _ => Self::Segmented(segments),
        }
    }
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

//! Segments: what a queue that runs tasks in order makes of a function of several streams.
//!
//! A path runs the kernels of its stream and hands those of other streams to the queue, as one task each time
//! (see `run::ready`). Where every kernel has its results when it returns, and a queue runs tasks in the order in which they are
//! added, it is known in advance which tasks a function hands over, when it does so, and which kernels each of them runs: its
//! *segment*. The call of the function runs the first one.
//!
//! ```text
//!   order      │ k0  k3  k4  │ k1  k5 │ k2  k6  k7 │
//!   segment    │ 0           │ 1      │ 2          │
//!                 └ after k0, segment 1 is handed over with k1
//!                         └ after k4, segment 2 is handed over with k2 and k6
//! ```
//!
//! A function that hands over nothing has one segment: it runs as a whole in its call, under every queue.

use std::ops::Range;

use tfrt_support::entity::EntityId;

use super::code::{Code, KernelId, StreamId};
use super::schedule::arrive;

/// More kernels do not fit into a file, whose offsets have 32 bits.
pub(crate) const MAX_KERNELS: usize = 1 << 28;

/// The segments of a function.
#[derive(Debug)]
pub(crate) struct Segments {
    /// All kernels, in the order in which they run.
    pub(crate) order: Box<[KernelId]>,
    /// In the order in which they are handed over, which is that in which they run.
    list: Box<[Segment]>,
    /// The kernels that tasks begin with, those of one task after those of the other.
    handed: Box<[KernelId]>,
}

/// What one task runs.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The positions of its kernels.
    pub(crate) positions: Range<usize>,
    /// It is handed over once so many kernels have run.
    handed_at: usize,
    /// The segment that is handed over next when it begins.
    pub(crate) next: usize,
    /// The kernels that its task begins with, among `handed`.
    first: Range<usize>,
}

impl Segments {
    /// The segments of code whose order is known.
    pub(crate) fn of(code: &Code) -> Self {
        assert!(
            code.kernels.len() <= MAX_KERNELS,
            "a verified body is far smaller than 4 GiB"
        );
        let mut replay = Replay::new(code);
        let mut order = Vec::with_capacity(code.kernels.len());
        let mut list: Vec<Segment> = Vec::new();
        // After how many kernels each segment is handed over.
        let mut handed_at = vec![0; replay.num_handed()];
        while let Some(kernel) = replay.next_kernel() {
            let position = order.len();
            if list.len() < replay.num_begun {
                list.push(Segment {
                    positions: position..position,
                    handed_at: handed_at[list.len()],
                    // What is ready from the start is handed over by the first one.
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// One of them, by number.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> &Segment {
        &self.list[number]
    }

    /// After how many kernels a segment is handed over; never, if there are not so many.
    #[inline]
    pub(crate) fn handed_at(&self, number: usize) -> usize {
        let segment = self.list.get(number);
        segment.map_or(usize::MAX, |segment| segment.handed_at)
    }

    /// The kernels that the task of a segment begins with, ordered by stream.
    pub(crate) fn first_of(&self, number: usize) -> &[KernelId] {
        &self.handed[self.list[number].first.clone()]
    }

    /// Those of the kernels that tasks begin with.
    pub(crate) fn handed(&self, range: Range<usize>) -> &[KernelId] {
        &self.handed[range]
    }
}

/// What running a function on a queue that keeps an order comes to, worked out without running anything.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    code: &'a Code,
    /// How many operands each kernel still waits for.
    pub(crate) ready_counts: Box<[u32]>,
    /// The stream of the current path.
    pub(crate) stream: StreamId,
    /// The ready kernels of that stream, the one to run next last.
    pub(crate) inline: Vec<KernelId>,
    /// What is left of the kernels that the current task began with, among `handed`.
    pub(crate) batch: Range<usize>,
    /// The kernels that tasks begin with, those of one task after those of the other.
    handed: Vec<KernelId>,
    /// Where those of each task end.
    ends: Vec<usize>,
    /// How many segments have begun.
    num_begun: usize,
}

impl<'a> Replay<'a> {
    /// Before the first kernel, all arguments being available.
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

    /// Once the kernels before `position` have run; the one there is not ready any more if it `is_running`.
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

    /// The kernel that runs next, which is taken from those that are ready. None if nothing is.
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

    /// Makes the users of a kernel's results ready, and hands over those of other streams.
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

    /// How many segments have been handed over, or have begun with the call.
    fn num_handed(&self) -> usize {
        1 + self.ends.len()
    }

    /// What the task of a segment begins with; nothing for the first one, or one that has not been handed over.
    fn batch(&self, number: usize) -> Range<usize> {
        let end = |number: usize| self.ends.get(number).copied();
        let batch = number.checked_sub(1).and_then(|index| {
            let start = index.checked_sub(1).map_or(Some(0), end);
            Some(start?..end(index)?)
        });
        batch.unwrap_or(0..0)
    }
}

//! Kernels that become ready together and belong to other streams than the one that made them ready.
//!
//! All of them are one task, ordered by stream: a work queue that runs tasks in order runs kernels as if each stream's were a task
//! of their own. Where tasks run in parallel, a batch gives away half of what it has left, and half of that, as long as a half
//! is worth the way to another thread. How long a stream's share takes is learned from one batch to the next.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use tfrt_host::ExecutionContext;

use crate::body::{Body, Words};
use crate::call;
use crate::invocation::InvocationRef;
use crate::ready;

/// How long a batch should take that is not worth to be divided any more.
///
/// Handing a task to a thread that sleeps was measured to cost 5 to 20 us, and to one that is awake less than 1 us (x86-64, two
/// cores). A batch of this length makes the first bearable and the second unnoticeable.
const TARGET_NS: u32 = 20_000;

/// Up to this many kernels are sorted by comparing.
const MAX_COMPARED: usize = 48;

/// How long the share of one stream in a batch takes, on average. Batches of one body teach each other.
#[derive(Debug, Default)]
pub(crate) struct GroupCost {
    /// 0 if it is not known. Relaxed: an estimate orders nothing, and a lost update costs nothing.
    ns: AtomicU32,
}

impl GroupCost {
    /// How many streams a batch may serve that is not divided any more.
    fn max_groups(&self) -> usize {
        let ns = self.ns.load(Ordering::Relaxed);
        // Nothing is known: every stream may be worth a thread.
        TARGET_NS.checked_div(ns).unwrap_or(1).max(1) as usize
    }

    /// Whether so many streams are known to be done before another thread could help.
    fn is_soon_done(&self, num_groups: usize) -> bool {
        let ns = self.ns.load(Ordering::Relaxed) as usize;
        ns > 0 && ns.saturating_mul(num_groups) < TARGET_NS as usize
    }

    /// Learns that a batch of so many streams took so long.
    fn learn(&self, num_groups: usize, elapsed_ns: u128) {
        let measured = u32::try_from(elapsed_ns / num_groups.max(1) as u128).unwrap_or(u32::MAX);
        let known = self.ns.load(Ordering::Relaxed);
        // Work that turns out long is divided from now on; work that turns out short is believed little by little.
        let next = if measured >= known {
            measured
        } else {
            known - (known - measured) / 4
        };
        self.ns.store(next.max(1), Ordering::Relaxed);
    }
}

/// A batch that the path which made it ready runs itself, when it has nothing else to do: no thread that it could be handed to
/// would be sooner done.
#[derive(Debug)]
pub(crate) struct KeptBatch {
    num_groups: usize,
    start: Instant,
}

impl KeptBatch {
    /// Whether to keep a batch of so many streams. Where tasks run in order, it takes its place behind the others.
    pub(crate) fn if_worth_it(
        ctx: &ExecutionContext,
        body: &Body,
        num_groups: usize,
    ) -> Option<Self> {
        let is_kept =
            body.group_cost.is_soon_done(num_groups) && ctx.queue().parallelism_level() > 1;
        is_kept.then(|| Self {
            num_groups,
            start: Instant::now(),
        })
    }

    /// The batch is done.
    pub(crate) fn finish(self, body: &Body) {
        let elapsed = self.start.elapsed();
        body.group_cost.learn(self.num_groups, elapsed.as_nanos());
    }
}

/// Hands ready kernels to the work queue. `spare` is used and left empty.
pub(crate) fn enqueue(
    ctx: &ExecutionContext,
    invocation: &InvocationRef,
    ready: &mut [u32],
    spare: &mut Vec<u32>,
) {
    match *ready {
        [number] => {
            // Needs no list, and so no allocation: it fits into the task.
            let invocation = invocation.clone();
            ctx.enqueue(move || run(&invocation, &[number], |_| ()));
        }
        _ => {
            sort_by_stream(invocation.body(), ready, spare);
            enqueue_sorted(ctx, invocation, ready);
        }
    }
}

fn enqueue_sorted(ctx: &ExecutionContext, invocation: &InvocationRef, ready: &[u32]) {
    let (invocation, ready) = (invocation.clone(), Box::<[u32]>::from(ready));
    ctx.enqueue(move || {
        let mut rest = &*ready;
        run(&invocation, &ready, |at| {
            let (kept, given) = rest.split_at(at);
            rest = kept;
            enqueue_sorted(invocation.ctx(), &invocation, given);
        });
    });
}

/// Hands ready kernels, which are a range of the words of the body and ordered by stream, to the work queue.
pub(crate) fn enqueue_range(ctx: &ExecutionContext, invocation: &InvocationRef, ready: Words) {
    let invocation = invocation.clone();
    ctx.enqueue(move || {
        let mut rest = ready;
        run(&invocation, invocation.body().words(ready), |at| {
            let (kept, given) = rest.split_at(at);
            rest = kept;
            enqueue_range(invocation.ctx(), &invocation, given);
        });
    });
}

/// Runs a batch. `give_from` gives away what is at and behind a position.
fn run(invocation: &InvocationRef, mut ready: &[u32], mut give_from: impl FnMut(usize)) {
    let (ctx, body) = (invocation.ctx(), invocation.body());
    if ctx.queue().parallelism_level() == 1 {
        return ready::resume(invocation, ready);
    }
    let max_groups = body.group_cost.max_groups();
    while num_groups(body, ready) > max_groups {
        let middle = middle_of(body, ready);
        // A queue that panics may have taken the task all the same; what is kept is run in either case.
        call::catch(|| give_from(middle));
        ready = &ready[..middle];
    }
    let start = Instant::now();
    ready::resume(invocation, ready);
    let elapsed = start.elapsed();
    body.group_cost
        .learn(num_groups(body, ready), elapsed.as_nanos());
}

/// Where a batch of two streams or more is divided: between two streams, near the middle.
fn middle_of(body: &Body, ready: &[u32]) -> usize {
    let middle = stream_of(body, ready[ready.len() / 2]);
    match ready.partition_point(|&number| stream_of(body, number) < middle) {
        // The first half is all of one stream.
        0 => ready.partition_point(|&number| stream_of(body, number) <= middle),
        at => at,
    }
}

/// The kernels at the front that are of one stream, and the stream. There must be one.
pub(crate) fn split_group<'r>(body: &Body, ready: &'r [u32]) -> (u32, &'r [u32], &'r [u32]) {
    let stream = stream_of(body, ready[0]);
    let is_same = |&&number: &&u32| stream_of(body, number) == stream;
    let num_more = ready[1..].iter().take_while(is_same).count();
    let (group, rest) = ready.split_at(1 + num_more);
    (stream, group, rest)
}

fn num_groups(body: &Body, ready: &[u32]) -> usize {
    let is_same = |&a: &u32, &b: &u32| stream_of(body, a) == stream_of(body, b);
    ready.chunk_by(is_same).count()
}

#[inline]
fn stream_of(body: &Body, number: u32) -> u32 {
    body.kernels[number as usize - 1].stream
}

/// Orders kernels by stream, and leaves those of one stream in their order. `spare` is used and left empty.
pub(crate) fn sort_by_stream(body: &Body, ready: &mut [u32], spare: &mut Vec<u32>) {
    let len = ready.len();
    // Counting takes a step for each stream.
    if len <= MAX_COMPARED || body.num_streams > 4 * len {
        return ready.sort_by_key(|&number| stream_of(body, number));
    }
    // Where the kernels of each stream begin, then the kernels in order.
    spare.resize(body.num_streams + len, 0);
    let (starts, sorted) = spare.split_at_mut(body.num_streams);
    for &number in &*ready {
        starts[stream_of(body, number) as usize] += 1;
    }
    let mut start = 0;
    for count in &mut *starts {
        start += std::mem::replace(count, start);
    }
    for &number in &*ready {
        let next = &mut starts[stream_of(body, number) as usize];
        sorted[*next as usize] = number;
        *next += 1;
    }
    ready.copy_from_slice(sorted);
    spare.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_is_divided_at_once_and_short_work_after_a_while() {
        let cost = GroupCost::default();
        assert_eq!(cost.max_groups(), 1);
        cost.learn(10, 1000);
        assert_eq!(cost.max_groups(), 200);
        cost.learn(2, u128::from(TARGET_NS) * 2);
        assert_eq!(cost.max_groups(), 1);
        assert!(!cost.is_soon_done(1));
        for _ in 0..100 {
            cost.learn(1, 0);
        }
        assert!(cost.max_groups() > 1000 && cost.is_soon_done(1000));
        assert!(!GroupCost::default().is_soon_done(1));
    }
}

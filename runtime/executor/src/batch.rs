//! Kernels that become ready together and belong to other streams than the one that made them ready.
//!
//! All of them are one task, ordered by stream: a work queue that runs tasks in order runs kernels as if each stream's were a task
//! of their own. Where tasks run in parallel, a batch gives away half of what it has left, and half of that, as long as a half
//! is worth the way to another thread. How long a stream's share takes is learned from one batch to the next.
//!
//! What a batch makes ready in other streams it keeps to itself as long as all of it is soon done, and runs it as its next
//! [round](Round). So work that is too small to be shared stays on one thread, where it needs no task, and no thief takes what it
//! works on out of its cache; a wide level of small kernels is shared in pieces that are worth it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

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

/// A batch of so many streams is divided only if each half is as long as that: kernels that are this small share more than they
/// compute, and the words they share go from cache to cache.
const MANY_GROUPS: usize = 32;

/// Less than so many streams say little about others.
const FEW_GROUPS: usize = 8;

/// How long a thread goes on with what it keeps before it gives way to other tasks.
const MAX_TURN: Duration = Duration::from_micros(100);

/// After a batch that took much longer than expected, so many batches keep nothing: the one may have had a kernel that others
/// should not wait behind.
const CAUTIOUS_BATCHES: u32 = 256;

/// What is kept is looked at as a batch of its own as soon as so many streams have run since the last look: a look reads the clock.
const GROUPS_BETWEEN_LOOKS: usize = 64;

/// Up to this many kernels are sorted by comparing.
const MAX_COMPARED: usize = 48;

/// What is known of the batches of one body, which teach each other. What a function starts with is often of another kind than what
/// it goes on with, so that the two are told apart.
#[derive(Debug, Default)]
pub(crate) struct GroupCost {
    /// Of what is ready from the start.
    start: Estimate,
    /// Of what other kernels make ready.
    later: Estimate,
}

/// Which batches teach each other.
#[derive(Clone, Copy, Debug)]
enum When {
    Start,
    Later,
}

impl GroupCost {
    fn of(&self, when: When) -> &Estimate {
        match when {
            When::Start => &self.start,
            When::Later => &self.later,
        }
    }
}

/// How long the share of one stream in a batch takes, on average.
///
/// Relaxed throughout: an estimate orders nothing, and a lost update costs nothing.
#[derive(Debug, Default)]
struct Estimate {
    /// 0 if it is not known.
    ns: AtomicU32,
    /// How many batches are still to keep nothing.
    caution: AtomicU32,
}

impl Estimate {
    /// How long a batch of so many streams takes that is not worth to be divided any more.
    fn limit_ns(num_groups: usize) -> usize {
        match num_groups {
            ..MANY_GROUPS => TARGET_NS as usize,
            _ => 2 * TARGET_NS as usize,
        }
    }

    /// Whether a batch of so many streams is to be divided. Where nothing is known, every stream may be worth a thread.
    fn is_divided(&self, num_groups: usize) -> bool {
        let ns = self.ns.load(Ordering::Relaxed) as usize;
        num_groups > 1 && (ns == 0 || ns.saturating_mul(num_groups) > Self::limit_ns(num_groups))
    }

    /// Whether so many streams are known to be done before another thread could help.
    fn is_soon_done(&self, num_groups: usize) -> bool {
        let ns = self.ns.load(Ordering::Relaxed) as usize;
        ns > 0
            && ns.saturating_mul(num_groups) < Self::limit_ns(num_groups)
            && self.caution.load(Ordering::Relaxed) == 0
    }

    /// Learns that a batch of so many streams took so long.
    fn learn(&self, num_groups: usize, elapsed: Duration) {
        let elapsed_ns = elapsed.as_nanos();
        let measured = u32::try_from(elapsed_ns / num_groups.max(1) as u128).unwrap_or(u32::MAX);
        let known = self.ns.load(Ordering::Relaxed);
        let expected_ns = u128::from(known) * num_groups as u128;
        let is_surprise = elapsed_ns > 4 * expected_ns.max(u128::from(TARGET_NS));
        let caution = self.caution.load(Ordering::Relaxed);
        if is_surprise {
            self.caution.store(CAUTIOUS_BATCHES, Ordering::Relaxed);
        } else if caution > 0 {
            self.caution.store(caution - 1, Ordering::Relaxed);
        }
        // Work that turns out long is divided from now on, and believed to be so by half if it is a surprise: the system may have
        // let something else run. Work that turns out short is believed little by little, the less the fewer streams say so: among
        // long kernels there are short ones.
        let next = match measured {
            longer if longer >= known && is_surprise && known > 0 => known + (longer - known) / 2,
            longer if longer >= known => longer,
            shorter if num_groups < FEW_GROUPS => known - (known - shorter) / 32,
            shorter => known - (known - shorter) / 4,
        };
        self.ns.store(next.max(1), Ordering::Relaxed);
    }
}

/// Who keeps ready kernels on this thread, and what.
#[derive(Debug, Default)]
struct Keeping {
    /// The context that the keeper is known by; nothing if nobody keeps. It is compared, never followed.
    keeper: Option<usize>,
    /// How many streams were run since the last look at the clock, or are kept.
    num_groups: usize,
    kept: Vec<u32>,
    /// The invocation that they are of, if something was kept.
    invocation: Option<InvocationRef>,
}

thread_local! {
    static KEEPING: RefCell<Keeping> = const {
        RefCell::new(Keeping {
            keeper: None,
            num_groups: 0,
            kept: Vec::new(),
            invocation: None,
        })
    };
}

/// Keeps ready kernels if the path that made them ready is in a [round](Round), and they are soon done. Whether it did.
fn keep(ctx: &ExecutionContext, invocation: &InvocationRef, ready: &[u32]) -> bool {
    let is_keeper = |address: usize| [ctx, invocation.ctx()].map(address_of).contains(&address);
    let kept = KEEPING.try_with(|keeping| {
        let mut keeping = keeping.borrow_mut();
        let cost = &invocation.body().group_cost.later;
        let is_kept = keeping.keeper.is_some_and(is_keeper)
            && cost.is_soon_done(keeping.kept.len() + ready.len());
        if is_kept {
            keeping.kept.extend_from_slice(ready);
            keeping.invocation.get_or_insert_with(|| invocation.clone());
        }
        is_kept
    });
    kept.unwrap_or(false)
}

fn address_of(ctx: &ExecutionContext) -> usize {
    std::ptr::from_ref(ctx).addr()
}

/// A batch that a thread runs together with what it makes ready in other streams, round after round.
#[derive(Debug)]
struct Round {
    /// Of which kind the batch is. What is kept is made ready later.
    when: When,
    begin: Instant,
    last_look: Instant,
    /// What was kept by a path further down on this stack.
    outer: Option<Keeping>,
}

impl Round {
    /// A round of so many streams on this thread, of the path or the invocation with this context.
    fn begin(ctx: &ExecutionContext, when: When, num_groups: usize) -> Self {
        let outer = KEEPING.try_with(|keeping| {
            let mut keeping = keeping.borrow_mut();
            // Mostly nobody keeps anything further down, and leaves a list with room.
            let is_idle = keeping.keeper.is_none();
            let kept = is_idle.then(|| std::mem::take(&mut keeping.kept));
            let mine = Keeping {
                keeper: Some(address_of(ctx)),
                num_groups,
                kept: kept.unwrap_or_default(),
                invocation: None,
            };
            std::mem::replace(&mut *keeping, mine)
        });
        let now = Instant::now();
        Self {
            when,
            begin: now,
            last_look: now,
            outer: outer.ok(),
        }
    }

    /// Runs what was kept, and what that makes ready, and learns how long it took. `own` is the invocation, where the one who ends the
    /// round has a reference to it: it may be the only one then.
    fn finish(mut self, body: &Body, own: Option<&InvocationRef>) {
        let (mut ready, mut spare) = (Vec::new(), Vec::new());
        let mut min_groups = 0;
        loop {
            ready.clear();
            let taken = KEEPING.try_with(|keeping| {
                let keeping = &mut *keeping.borrow_mut();
                std::mem::swap(&mut keeping.kept, &mut ready);
                let num_run = keeping.num_groups;
                let is_look = ready.is_empty() || num_run >= min_groups;
                keeping.num_groups = ready.len() + if is_look { 0 } else { num_run };
                let invocation = keeping.invocation.take();
                keeping.keeper = invocation.as_ref().map(|kept| address_of(kept.ctx()));
                (is_look.then_some(num_run), invocation)
            });
            let Ok((num_run, invocation)) = taken else {
                return;
            };
            if let Some(num_run) = num_run {
                let now = Instant::now();
                let elapsed = now.duration_since(self.last_look);
                body.group_cost.of(self.when).learn(num_run, elapsed);
                self.last_look = now;
                (self.when, min_groups) = (When::Later, GROUPS_BETWEEN_LOOKS);
            }
            let Some(kept) = invocation else {
                break;
            };
            sort_by_stream(body, &mut ready, &mut spare);
            if self.last_look.duration_since(self.begin) > MAX_TURN {
                call::catch(|| enqueue_sorted(kept.ctx(), &kept, &ready));
                break;
            }
            match own {
                Some(own) => {
                    drop(kept);
                    ready::resume(own, &ready);
                }
                None => ready::resume(&kept, &ready),
            }
        }
        // The list with more room stays.
        let _ = KEEPING.try_with(|keeping| {
            let kept = &mut keeping.borrow_mut().kept;
            if kept.capacity() < ready.capacity() {
                ready.clear();
                *kept = std::mem::take(&mut ready);
            }
        });
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        let Some(mut outer) = self.outer.take() else {
            return;
        };
        let mine = KEEPING.try_with(|keeping| {
            let mut mine = keeping.borrow_mut();
            if outer.keeper.is_none() {
                mine.kept.clear();
                outer.kept = std::mem::take(&mut mine.kept);
            }
            std::mem::replace(&mut *mine, outer)
        });
        // Dropped when nothing is borrowed any more.
        drop(mine);
    }
}

/// A batch that the path which made it ready runs itself, when it has nothing else to do: no thread that it could be handed to
/// would be sooner done.
#[derive(Debug)]
pub(crate) struct KeptBatch(Round);

impl KeptBatch {
    /// Whether to keep a batch of so many streams. Where tasks run in order, it takes its place behind the others.
    pub(crate) fn if_worth_it(
        ctx: &ExecutionContext,
        body: &Body,
        num_groups: usize,
    ) -> Option<Self> {
        let is_kept =
            body.group_cost.start.is_soon_done(num_groups) && ctx.queue().parallelism_level() > 1;
        is_kept.then(|| Self(Round::begin(ctx, When::Start, num_groups)))
    }

    /// The batch is done.
    pub(crate) fn finish(self, body: &Body) {
        self.0.finish(body, None);
    }
}

/// Hands ready kernels to the work queue. `spare` is used and left empty.
pub(crate) fn enqueue(
    ctx: &ExecutionContext,
    invocation: &InvocationRef,
    ready: &mut [u32],
    spare: &mut Vec<u32>,
) {
    if keep(ctx, invocation, ready) {
        return;
    }
    match *ready {
        [number] => {
            // Needs no list, and so no allocation: it fits into the task.
            let invocation = invocation.clone();
            ctx.enqueue(move || run(&invocation, When::Later, &[number], |_| ()));
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
        run(&invocation, When::Later, &ready, |at| {
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
        let numbers = invocation.body().words(ready);
        run(&invocation, When::Start, numbers, |at| {
            let (kept, given) = rest.split_at(at);
            rest = kept;
            enqueue_range(invocation.ctx(), &invocation, given);
        });
    });
}

/// Runs a batch. `give_from` gives away what is at and behind a position.
fn run(
    invocation: &InvocationRef,
    when: When,
    mut ready: &[u32],
    mut give_from: impl FnMut(usize),
) {
    let (ctx, body) = (invocation.ctx(), invocation.body());
    if ctx.queue().parallelism_level() == 1 {
        return ready::resume(invocation, ready);
    }
    let cost = body.group_cost.of(when);
    while cost.is_divided(num_groups(body, ready)) {
        let middle = middle_of(body, ready);
        // A queue that panics may have taken the task all the same; what is kept is run in either case.
        call::catch(|| give_from(middle));
        ready = &ready[..middle];
    }
    let round = Round::begin(ctx, when, num_groups(body, ready));
    ready::resume(invocation, ready);
    round.finish(body, Some(invocation));
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
        let cost = Estimate::default();
        let target = Duration::from_nanos(TARGET_NS.into());
        assert!(cost.is_divided(2) && !cost.is_divided(1));
        cost.learn(10, Duration::from_micros(1));
        assert!(cost.is_divided(401) && !cost.is_divided(400));
        cost.learn(2, target * 2);
        assert!(cost.is_divided(2) && !cost.is_divided(1));
        assert!(!cost.is_soon_done(1));
        for _ in 0..100 {
            cost.learn(FEW_GROUPS, Duration::ZERO);
        }
        assert!(!cost.is_divided(1000) && cost.is_soon_done(1000));
        assert!(!Estimate::default().is_soon_done(1));
    }

    #[test]
    fn a_few_short_kernels_do_not_make_long_ones_short() {
        let cost = Estimate::default();
        cost.learn(1, Duration::from_millis(1));
        (0..32).for_each(|_| cost.learn(1, Duration::ZERO));
        assert!(cost.is_divided(2) && !cost.is_soon_done(1));
    }

    #[test]
    fn a_batch_that_takes_much_longer_than_others_makes_the_next_ones_keep_nothing() {
        let cost = Estimate::default();
        let short = || cost.learn(100, Duration::from_micros(1));
        (0..10).for_each(|_| short());
        assert!(cost.is_soon_done(100));
        cost.learn(100, Duration::from_millis(2));
        for _ in 0..CAUTIOUS_BATCHES {
            assert!(!cost.is_soon_done(1));
            short();
        }
        assert!(cost.is_soon_done(100));
    }
}

//! When compute workers sleep, and who wakes them.
//!
//! # States
//!
//! ```text
//!             found a task (2)                 found none (3)
//!  Running ◄──────────────────── Searching ────────────────────► Sleeping
//!     │                            ▲   ▲                            │
//!     └────────────────────────────┘   └────────────────────────────┘
//!        own deque is empty (1)          woken, or woke itself (4)
//! ```
//!
//! A worker that has no thread yet counts as sleeping; waking it for the first time means starting its thread. A worker may search
//! for a while before it takes edge 3: how long is its own business, and that of nothing below.
//!
//! # Counters
//!
//! One word counts the searching workers, the sleeping workers, and how often a worker left its sleep. Sleeping workers are
//! also on a stack under a mutex, which nobody takes while a task is being run or found; the sleeping count changes only
//! under it. The worker that fell asleep last is woken first: its caches are warm, and it has a thread.
//!
//! # Who publishes and who re-checks
//!
//! * *The one who adds a task* makes it visible in a deque or the injector, then passes a fence, then reads the word. If somebody is
//!   searching, or nobody is sleeping, it does nothing more. Otherwise it takes one worker off the stack, makes it
//!   searching, and wakes it.
//! * *A worker that falls asleep* puts itself on the stack and changes the word, then passes a fence, then looks for tasks
//!   once more. If there are any it takes itself off the stack again, unless somebody has done so already.
//! * *A searching worker that finds a task* stops searching. If it was the last one, it passes a fence and looks whether there
//!   are more tasks; if so it wakes somebody, on behalf of those who added tasks and relied on it.
//!
//! # Why no task is left behind
//!
//! Let T be a task added while the word said S. Of the fence of the adder and the fence of any other party, one comes first.
//!
//! * S had a searching worker W. W goes on to find T, or another task, or none. If another and it is not the last, the argument
//!   goes on with the searcher that remains. If it is the last, its decrement came after S was read, so that its
//!   fence comes after the adder's: it sees T and wakes somebody. If W finds none, its change of the word came after S was read,
//!   and its last look comes after its fence: it sees T.
//! * S had nobody sleeping: every worker is running. The first to run out of tasks searches, after S was read; then as above.
//! * Otherwise the adder woke somebody, who searches after T was made visible.
//!
//! # A worker that the system refuses a thread
//!
//! It was taken off the stack and counts as searching, so adders may rely on it. It goes back to the bottom of the stack, like a
//! worker that found nothing, and the thread that woke it does the last look in its place. If there are tasks, that thread wakes a
//! worker with a thread. If none of those sleeps, all of them are awake and will look for tasks before they sleep.
//!
//! If no worker has a thread at all, the thread that woke the worker runs the tasks itself before it puts the worker back. Until
//! then the worker counts as awake, so that the queue does not seem quiescent.
//!
//! # Quiescence
//!
//! The compute side is quiescent at the moment of a look at the injector if that is empty, and all workers were asleep both before and
//! after, and none left its sleep in between: a worker falls asleep only when its own deque is empty, so that there
//! was no task and nobody to add one. The worker that falls asleep last reports it.
//!
//! # Termination
//!
//! 1. The flag is set, in the same place as a task would be added: it is one of the things that the last look sees.
//! 2. All sleeping workers are woken; those without a thread stay without.
//! 3. A worker that found no task ends if the flag is set and it then sees no task either: the one who set the flag may have added
//!    tasks before, and have relied on this worker, which did not see them yet when it searched.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, fence, lock, wait};

/// More workers than the counters can hold are refused by the parser of arguments.
pub(crate) const MAX_WORKERS: usize = u16::MAX as usize;

/// What all workers of a queue know of each other.
#[derive(Debug)]
pub(crate) struct Sleep {
    word: CachePadded<AtomicU64>,
    sleepers: Mutex<Sleepers>,
    parkers: Box<[Parker]>,
    is_terminating: AtomicBool,
}

/// The sleeping workers, as a stack.
///
/// Invariant S1: workers without a thread lie below those with one. They are there from the start, and
/// [`put_back`](Sleep::put_back) puts them at the bottom; all others go on top.
#[derive(Debug)]
struct Sleepers {
    /// The worker to wake next is the last one.
    workers: Vec<usize>,
    num_without_thread: usize,
}

impl Sleepers {
    fn pop(&mut self) -> Option<usize> {
        let worker = self.workers.pop();
        self.num_without_thread = self.num_without_thread.min(self.workers.len());
        worker
    }

    fn pop_with_thread(&mut self) -> Option<usize> {
        if self.workers.len() > self.num_without_thread {
            self.workers.pop()
        } else {
            None
        }
    }
}

/// A look at the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters(u64);

const ONE_SEARCHING: u64 = 1;
const ONE_SLEEPING: u64 = 1 << 16;
const ONE_AWAKENING: u64 = 1 << 32;

impl Counters {
    fn num_searching(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    fn num_sleeping(self) -> usize {
        (self.0 >> 16 & 0xffff) as usize
    }
}

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FellAsleep {
    /// All workers are asleep now.
    Last,
    /// Others are awake.
    NotLast,
}

impl Sleep {
    /// All of `num_workers` workers asleep.
    pub(crate) fn new(num_workers: usize) -> Self {
        debug_assert!(num_workers <= MAX_WORKERS, "the counters have 16 bits");
        Self {
            word: CachePadded::new(AtomicU64::new(ONE_SLEEPING * num_workers as u64)),
            sleepers: Mutex::new(Sleepers {
                workers: (0..num_workers).rev().collect(),
                num_without_thread: num_workers,
            }),
            parkers: (0..num_workers).map(|_| Parker::default()).collect(),
            is_terminating: AtomicBool::new(false),
        }
    }

    /// Edge 1: a running worker has nothing left in its deque.
    pub(crate) fn start_search(&self) {
        // Relaxed: the adders that will see it gain nothing but leave to rely on this worker, which searches after this.
        self.word.fetch_add(ONE_SEARCHING, Ordering::Relaxed);
    }

    /// Whether the one searching worker that asks is alone with that, and may take its time.
    pub(crate) fn is_only_searcher(&self) -> bool {
        // Relaxed: it decides nothing but whether to sleep at once.
        Counters(self.word.load(Ordering::Relaxed)).num_searching() == 1
    }

    /// Whether all but one of the workers, which is the one that asks, are asleep.
    pub(crate) fn all_others_asleep(&self) -> bool {
        // Relaxed: as above.
        Counters(self.word.load(Ordering::Relaxed)).num_sleeping() + 1 >= self.parkers.len()
    }

    /// Edge 2: a searching worker has found a task. Wakes a worker if `has_work`, see the module's doc.
    ///
    /// The worker that is returned has been woken, or needs a thread: see [`wake_one`](Self::wake_one).
    pub(crate) fn found_task(&self, has_work: impl FnOnce() -> bool) -> Option<usize> {
        // Relaxed: the fence orders it.
        let before = Counters(self.word.fetch_sub(ONE_SEARCHING, Ordering::Relaxed));
        debug_assert!(
            before.num_searching() > 0,
            "only a searching worker finds a task"
        );
        if before.num_searching() > 1 || before.num_sleeping() == 0 {
            return None;
        }
        // Orders the decrement before the look, against an adder's task before its fence in `wake_one`.
        fence(Ordering::SeqCst);
        if has_work() { self.wake_one() } else { None }
    }

    /// After a task has been made visible: takes a sleeping worker off the stack and makes it searching (edge 4), if somebody
    /// sleeps and nobody searches. The caller then calls [`unpark`](Self::unpark), or gives the worker its thread.
    #[must_use = "the worker is not on the stack any more, and must be unparked"]
    pub(crate) fn wake_one(&self) -> Option<usize> {
        // Orders the task before the look at the word, against the changes of the word before the last looks of others.
        fence(Ordering::SeqCst);
        // Relaxed: the fence orders it.
        let now = Counters(self.word.load(Ordering::Relaxed));
        if now.num_searching() > 0 || now.num_sleeping() == 0 {
            return None;
        }
        let mut sleepers = self.lock();
        let worker = sleepers.pop()?;
        self.leave_sleep(&sleepers);
        Some(worker)
    }

    /// Lets a worker that was taken off the stack go on.
    pub(crate) fn unpark(&self, worker: usize) {
        self.parkers[worker].unpark();
    }

    /// Edge 3 for a searching worker that the system refuses a thread. It is woken last.
    ///
    /// Threads that added tasks may have relied on this worker while it counted as searching. So the caller looks for tasks after
    /// this, and if there are any, wakes a worker that can run them.
    pub(crate) fn put_back(&self, worker: usize, fell_asleep: impl FnOnce(FellAsleep)) {
        let mut sleepers = self.lock();
        sleepers.workers.insert(0, worker);
        sleepers.num_without_thread += 1;
        let now = self.enter_sleep(&sleepers);
        drop(sleepers);
        fell_asleep(self.order_of(now));
        // Orders the change of the word before the caller's look for tasks, against an adder's task before its fence in
        // `wake_one`.
        fence(Ordering::SeqCst);
    }

    /// As [`wake_one`](Self::wake_one), but only a worker that has a thread. Those that have one and do not sleep will look for
    /// tasks before they do.
    #[must_use = "the worker is no longer on the stack and must be unparked"]
    pub(crate) fn wake_one_with_thread(&self) -> Option<usize> {
        let mut sleepers = self.lock();
        let worker = sleepers.pop_with_thread()?;
        self.leave_sleep(&sleepers);
        Some(worker)
    }

    /// Edges 3 and 4: a searching worker has found nothing. It is searching again when this returns.
    ///
    /// `has_work` is the last look; `fell_asleep` is called before it, while this worker counts as sleeping.
    pub(crate) fn sleep(
        &self,
        worker: usize,
        has_work: impl FnOnce() -> bool,
        fell_asleep: impl FnOnce(FellAsleep),
    ) {
        let mut sleepers = self.lock();
        sleepers.workers.push(worker);
        let now = self.enter_sleep(&sleepers);
        drop(sleepers);
        fell_asleep(self.order_of(now));
        // Orders the change of the word before the last look, against an adder's task before its fence in `wake_one`.
        fence(Ordering::SeqCst);
        if has_work() || self.is_terminating() {
            let mut sleepers = self.lock();
            let mut workers = sleepers.workers.iter();
            if let Some(position) = workers.rposition(|sleeper| *sleeper == worker) {
                sleepers.workers.remove(position);
                self.leave_sleep(&sleepers);
                return;
            }
        }
        self.parkers[worker].park();
    }

    /// Where all workers are asleep, a look that changes as soon as one leaves its sleep.
    pub(crate) fn all_asleep(&self) -> Option<Counters> {
        // Acquire pairs with the release in `enter_sleep`: what the workers did before they fell asleep is seen.
        let now = Counters(self.word.load(Ordering::Acquire));
        (now.num_sleeping() == self.parkers.len()).then_some(now)
    }

    /// Steps 1 and 2 of the termination.
    pub(crate) fn terminate(&self) {
        // Release pairs with the acquire in `may_end`. The fence orders it before the changes of the word below, against the
        // last looks of others.
        self.is_terminating.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let mut sleepers = self.lock();
        while let Some(worker) = sleepers.pop() {
            self.leave_sleep(&sleepers);
            self.unpark(worker);
        }
    }

    /// Step 3 of the termination: whether a worker that has found no task is to end.
    pub(crate) fn may_end(&self, has_work: impl FnOnce() -> bool) -> bool {
        // Acquire pairs with the release in `terminate`: the look sees all tasks that were added before.
        self.is_terminating.load(Ordering::Acquire) && !has_work()
    }

    /// Whether workers are to end when they find no task.
    pub(crate) fn is_terminating(&self) -> bool {
        // Relaxed: nothing else is learned from the flag. In `sleep` the fence before it orders it.
        self.is_terminating.load(Ordering::Relaxed)
    }

    /// A worker was put on the stack.
    fn enter_sleep(&self, _stack: &MutexGuard<'_, Sleepers>) -> Counters {
        let delta = ONE_SLEEPING - ONE_SEARCHING;
        // Release pairs with the acquire in `all_asleep`; acquire, so that the last of them stands for all before it.
        Counters(self.word.fetch_add(delta, Ordering::AcqRel) + delta)
    }

    /// A worker was taken off the stack.
    fn leave_sleep(&self, _stack: &MutexGuard<'_, Sleepers>) {
        // Relaxed: the mutex, or the parker, orders it for the worker, and nobody else draws conclusions from it alone.
        let delta = ONE_AWAKENING + ONE_SEARCHING;
        self.word
            .fetch_add(delta.wrapping_sub(ONE_SLEEPING), Ordering::Relaxed);
    }

    fn order_of(&self, now: Counters) -> FellAsleep {
        if now.num_sleeping() == self.parkers.len() {
            FellAsleep::Last
        } else {
            FellAsleep::NotLast
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sleepers> {
        lock(&self.sleepers)
    }
}

/// Lets one worker wait for one wake-up, which may come first.
#[derive(Debug)]
struct Parker {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

impl Default for Parker {
    fn default() -> Self {
        Self {
            is_woken: Mutex::new(false),
            changed: Condvar::new(),
        }
    }
}

impl Parker {
    fn park(&self) {
        let mut is_woken = lock(&self.is_woken);
        while !*is_woken {
            is_woken = wait(&self.changed, is_woken);
        }
        *is_woken = false;
    }

    fn unpark(&self) {
        *lock(&self.is_woken) = true;
        self.changed.notify_one();
    }
}

#[cfg(all(test, loom))]
mod loom_models;

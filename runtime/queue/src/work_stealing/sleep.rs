//! The protocol by which compute workers sleep and are woken.
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
//! A worker that has no thread yet counts as sleeping; waking it for the first time means starting
//! its thread. A worker may search for any time before it takes edge 3; the protocol does not
//! depend on it.
//!
//! # Counters
//!
//! One word counts the searching workers, the sleeping workers, and how often a worker left its
//! sleep. Sleeping workers are also on a stack under a mutex. The mutex is not locked to run or
//! find a task; the sleeping count changes only under it. The worker that fell asleep last is woken
//! first: its caches are warm, and it has a thread.
//!
//! # Who publishes and who re-checks
//!
//! * *A thread that adds a task* makes it visible in a deque, the injector or a list, then passes a
//!   fence, then reads the word. If a worker is searching, or none is sleeping, it does nothing
//!   more. Otherwise it takes a worker off the stack, makes it searching, and wakes it.
//! * *A worker that falls asleep* puts itself on the stack and changes the word, then passes a
//!   fence, then looks for tasks once more. If there are any, it takes itself off the stack again,
//!   unless another thread has done so already.
//! * *A searching worker that finds a task* stops searching. If it was the last searching worker,
//!   it passes a fence and looks whether there are more tasks; if so, it wakes a worker, on behalf
//!   of the threads that added tasks and relied on it.
//!
//! # Why no task is left behind
//!
//! Let T be a task, and S the word that the thread that added T read. The fence of that thread
//! comes either before or after the fence of any other.
//!
//! * S had a searching worker W. W finds T, another task, or none. If it finds another task and is
//!   not the last searching worker, the argument continues with one that remains. If it is the
//!   last, it decremented the count after S was read, so its fence comes after the adder's: it sees
//!   T and wakes a worker. If W finds no task, it changed the word after S was read, and its last
//!   look comes after its fence: it sees T.
//! * S had no sleeping worker: all are running. The first one without a task searches, after S was
//!   read; continue as above.
//! * Otherwise the adder woke a worker, which searches after T was made visible.
//!
//! # A worker that the system refuses a thread
//!
//! It was taken off the stack and counts as searching, so adders may rely on it. It goes back to
//! the bottom of the stack, like a worker that found nothing, and the thread that woke it does the
//! last look in its place. If there are tasks, that thread wakes a worker with a thread. If none of
//! those sleeps, all of them are awake and will look for tasks before they sleep.
//!
//! If no worker has a thread at all, the thread that woke the worker runs the tasks itself before
//! it puts the worker back. Until then the worker counts as awake, so that the queue does not seem
//! quiescent.
//!
//! # Quiescence
//!
//! The compute side is quiescent if the injector and the lists are seen empty, all workers were
//! asleep before and after that look, and none left its sleep in between. A worker falls asleep
//! only when its own deque is empty, so there was no task, and no worker to add one. The worker
//! that falls asleep last reports it.
//!
//! # Termination
//!
//! 1. The flag is set, with the ordering of an added task: the last look of a worker that falls
//!    asleep sees it.
//! 2. All sleeping workers are woken. Those without a thread do not get one.
//! 3. A worker that found no task ends if the flag is set and it then still sees no task. The
//!    thread that set the flag may have added tasks before and relied on this worker, which did not
//!    see them yet when it searched.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, fence, lock, wait};

/// The maximal number of workers. The counters have 16 bits; the parser of arguments rejects more
/// workers.
pub(crate) const MAX_WORKERS: usize = u16::MAX as usize;

/// The states of all workers of a queue.
#[derive(Debug)]
pub(crate) struct Sleep {
    word: CachePadded<AtomicU64>,
    sleepers: Mutex<Sleepers>,
    parkers: Box<[Parker]>,
    is_terminating: AtomicBool,
    /// How often tasks were added in a batch; see [`offer`](Sleep::offer).
    offers: CachePadded<AtomicU64>,
}

/// The sleeping workers, as a stack.
///
/// Invariant S1: workers without a thread lie below those with one. They are there from the start,
/// and [`put_back`](Sleep::put_back) puts them at the bottom; all others go on top.
#[derive(Debug)]
struct Sleepers {
    /// The last worker is woken next.
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

/// A value of the word.
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

/// Whether a worker that fell asleep was the last one awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FellAsleep {
    /// All workers are asleep now.
    Last,
    /// Others are awake.
    NotLast,
}

impl Sleep {
    /// Returns the state in which all of `num_workers` workers sleep.
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
            offers: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Edge 1: a running worker has nothing left in its deque.
    pub(crate) fn start_search(&self) {
        // Relaxed: a thread that sees it only learns that it may rely on this worker, which
        // searches after this.
        self.word.fetch_add(ONE_SEARCHING, Ordering::Relaxed);
    }

    /// Returns `true` if the calling worker is the only searching one, and may therefore spin.
    pub(crate) fn is_only_searcher(&self) -> bool {
        // Relaxed: it only decides whether to sleep at once.
        Counters(self.word.load(Ordering::Relaxed)).num_searching() == 1
    }

    /// Returns `true` if all workers but the calling one are asleep.
    pub(crate) fn all_others_asleep(&self) -> bool {
        // Relaxed: as above.
        Counters(self.word.load(Ordering::Relaxed)).num_sleeping() + 1 >= self.parkers.len()
    }

    /// Tells a spinning worker that tasks were added in a batch, which it need not leave to the
    /// thread that added them. The protocol does not depend on it.
    pub(crate) fn offer(&self) {
        // Release pairs with the acquire in `num_offers`: who sees the offer sees the tasks.
        self.offers.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of calls of [`offer`](Self::offer).
    pub(crate) fn num_offers(&self) -> u64 {
        // Acquire pairs with the release in `offer`.
        self.offers.load(Ordering::Acquire)
    }

    /// Edge 2: a searching worker has found a task. Wakes a worker if `has_work`; see the module
    /// documentation.
    ///
    /// Like that of [`wake_one`](Self::wake_one), the returned worker must be unparked or needs a
    /// thread.
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
        // Orders the decrement before the look for tasks, against an adder's task before its fence
        // in `wake_one`.
        fence(Ordering::SeqCst);
        if has_work() { self.wake_one() } else { None }
    }

    /// Called when a task has been made visible. If a worker sleeps and none searches, takes a
    /// worker off the stack and makes it searching (edge 4). The caller then calls
    /// [`unpark`](Self::unpark) or starts the worker's thread.
    #[must_use = "the worker is no longer on the stack and must be unparked"]
    pub(crate) fn wake_one(&self) -> Option<usize> {
        // Orders the task before the load of the word, against the changes of the word before the
        // last looks of others.
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

    /// Lets a worker that was taken off the stack continue.
    pub(crate) fn unpark(&self, worker: usize) {
        self.parkers[worker].unpark();
    }

    /// Edge 3 for a searching worker to which the system refuses a thread. It is woken last.
    ///
    /// Threads that added tasks may have relied on this worker while it counted as searching. So
    /// the caller then looks for tasks, and if there are any, wakes a worker that can run them.
    pub(crate) fn put_back(&self, worker: usize, fell_asleep: impl FnOnce(FellAsleep)) {
        let mut sleepers = self.lock();
        sleepers.workers.insert(0, worker);
        sleepers.num_without_thread += 1;
        let now = self.enter_sleep(&sleepers);
        drop(sleepers);
        fell_asleep(self.order_of(now));
        // Orders the change of the word before the caller's look for tasks, against an adder's task
        // before its fence in `wake_one`.
        fence(Ordering::SeqCst);
    }

    /// Like [`wake_one`](Self::wake_one), but wakes only a worker that has a thread. Workers with a
    /// thread that do not sleep will look for tasks before they do.
    #[must_use = "the worker is no longer on the stack and must be unparked"]
    pub(crate) fn wake_one_with_thread(&self) -> Option<usize> {
        let mut sleepers = self.lock();
        let worker = sleepers.pop_with_thread()?;
        self.leave_sleep(&sleepers);
        Some(worker)
    }

    /// Edges 3 and 4: a searching worker has found no task. It is searching again when this
    /// returns.
    ///
    /// `has_work` is the last look for tasks. `fell_asleep` is called before it, while this worker
    /// counts as sleeping.
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
        // Orders the change of the word before the last look, against an adder's task before its
        // fence in `wake_one`.
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

    /// Returns the word if all workers are asleep. The word changes as soon as one of them leaves
    /// its sleep.
    pub(crate) fn all_asleep(&self) -> Option<Counters> {
        // Acquire pairs with the release in `enter_sleep`: everything that the workers did before
        // is visible.
        let now = Counters(self.word.load(Ordering::Acquire));
        (now.num_sleeping() == self.parkers.len()).then_some(now)
    }

    /// Steps 1 and 2 of the termination.
    pub(crate) fn terminate(&self) {
        // Release pairs with the acquire in `may_end`. The fence orders it before the changes of
        // the word below, against the last looks of others.
        self.is_terminating.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let mut sleepers = self.lock();
        while let Some(worker) = sleepers.pop() {
            self.leave_sleep(&sleepers);
            self.unpark(worker);
        }
    }

    /// Step 3 of the termination. Returns `true` if a worker that has found no task must end.
    pub(crate) fn may_end(&self, has_work: impl FnOnce() -> bool) -> bool {
        // Acquire pairs with the release in `terminate`: the look sees all tasks that were added
        // before it.
        self.is_terminating.load(Ordering::Acquire) && !has_work()
    }

    /// Returns `true` if workers must end when they find no task.
    pub(crate) fn is_terminating(&self) -> bool {
        // Relaxed: the flag publishes nothing. In `sleep` the fence before it orders it.
        self.is_terminating.load(Ordering::Relaxed)
    }

    /// Counts a worker that was put on the stack.
    fn enter_sleep(&self, _stack: &MutexGuard<'_, Sleepers>) -> Counters {
        let delta = ONE_SLEEPING - ONE_SEARCHING;
        // Release pairs with the acquire in `all_asleep`. Acquire, so that the last worker
        // publishes what all workers before it did.
        Counters(self.word.fetch_add(delta, Ordering::AcqRel) + delta)
    }

    /// Counts a worker that was taken off the stack.
    fn leave_sleep(&self, _stack: &MutexGuard<'_, Sleepers>) {
        // Relaxed: the mutex or the parker orders it for the worker, and no other thread concludes
        // anything from it alone.
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

/// Lets one worker wait for one wake-up. The wake-up may come before the wait.
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

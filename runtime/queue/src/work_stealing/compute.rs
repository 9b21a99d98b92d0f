//! The compute side: workers with a deque each, which take from their own end and steal from the others' other end.
//!
//! A task that a worker adds goes to the worker's own deque, and is the next one it takes: its data is still in the cache. All
//! others go to the injector, which is first in, first out. A worker whose deque is full adds to the injector, too, where any
//! other can take it.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_deque::{Injector, Steal, Stealer, Worker};

use super::cores::{self, Cores};
use super::idle_spin::IdleSpin;
use super::sleep::{FellAsleep, Sleep};
use super::{STACK_BYTES, Shared};
use crate::role::{self, QueueId, Role};
use crate::task::Task;

/// How many tasks a worker keeps to itself, as in the reference.
const DEQUE_CAPACITY: usize = 1024;

/// Every so many tasks a worker looks at the injector first, so that workers which add to their own deques without end do not
/// keep others out. A prime, so that it falls into step with no pattern of the program; the value is tokio's, not measured
/// here.
const INJECTOR_INTERVAL: u32 = 61;

/// The compute workers of a queue, but for their threads.
#[derive(Debug)]
pub(crate) struct Compute {
    injector: Injector<Task>,
    stealers: Box<[Stealer<Task>]>,
    pub(super) sleep: Sleep,
    /// What the threads are bound to.
    cores: Option<Cores>,
    threads: Mutex<Threads>,
}

#[derive(Debug)]
struct Threads {
    /// The deque of each worker, until its thread takes it.
    deques: Vec<Option<Worker<Task>>>,
    /// Whether each worker has a thread.
    is_started: Vec<bool>,
    handles: Vec<JoinHandle<()>>,
}

/// What the thread of a worker has to itself.
struct Local {
    queue: QueueId,
    deque: Worker<Task>,
}

thread_local! {
    static LOCAL: OnceCell<Local> = const { OnceCell::new() };
}

impl Compute {
    /// Workers without threads. Their threads will be bound to `cores`, where there are some.
    pub(crate) fn new(num_workers: usize, cores: Option<Cores>) -> Self {
        let deques: Vec<_> = (0..num_workers).map(|_| Worker::new_lifo()).collect();
        Self {
            injector: Injector::new(),
            stealers: deques.iter().map(Worker::stealer).collect(),
            sleep: Sleep::new(num_workers),
            cores,
            threads: Mutex::new(Threads {
                deques: deques.into_iter().map(Some).collect(),
                is_started: vec![false; num_workers],
                handles: Vec::new(),
            }),
        }
    }

    pub(crate) fn num_workers(&self) -> usize {
        self.stealers.len()
    }

    /// How many tasks wait, more or less: the deques are looked at one after the other.
    pub(crate) fn num_pending(&self) -> usize {
        let in_deques: usize = self.stealers.iter().map(Stealer::len).sum();
        self.injector.len() + in_deques
    }

    /// Whether there is no task and nobody to add one, for the moment of the look.
    pub(crate) fn is_quiescent(&self) -> bool {
        let before = self.sleep.all_asleep();
        before.is_some() && self.injector.is_empty() && self.sleep.all_asleep() == before
    }

    /// Lets the workers end when they find no task.
    pub(crate) fn terminate(&self) {
        self.sleep.terminate();
    }

    /// The threads that were started, to be joined after [`terminate`](Self::terminate).
    pub(crate) fn take_threads(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.lock_threads().handles)
    }

    fn lock_threads(&self) -> MutexGuard<'_, Threads> {
        // Nothing that runs under the lock panics half way.
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_tasks(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// A task of somebody else, for a searching worker: from the injector, or else from another worker.
    fn find_task(&self, worker: usize, deque: &Worker<Task>) -> Option<Task> {
        let others = || {
            // Starting behind itself, no two workers steal in the same order.
            let (before, after) = self.stealers.split_at(worker);
            after.iter().skip(1).chain(before)
        };
        loop {
            let mut stolen = self.injector.steal_batch_and_pop(deque);
            for stealer in others() {
                if stolen.is_success() {
                    break;
                }
                stolen = stolen.or_else(|| stealer.steal());
            }
            match stolen {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                // Another thread was in the way, and has made progress by that.
                Steal::Retry => {}
            }
        }
    }
}

/// Adds a compute task, and sees to it that a thread will run it.
pub(super) fn add_task(shared: &Arc<Shared>, task: Task) {
    let mut task = Some(task);
    with_local(shared, |local| {
        if let Some(task) = task.take() {
            push(shared, local, task);
        }
    });
    if let Some(task) = task {
        push(shared, None, task);
    }
    wake(shared, shared.compute.sleep.wake_one());
}

/// Adds compute tasks, and sees to it that threads will run them. The one that is woken wakes the next, if there is more than
/// one for it.
pub(super) fn add_tasks(shared: &Arc<Shared>, tasks: &mut dyn Iterator<Item = Task>) {
    /// Wakes also if the iterator panics, for the tasks that it gave before.
    struct WakeOnce<'a>(&'a Arc<Shared>);
    impl Drop for WakeOnce<'_> {
        fn drop(&mut self) {
            wake(self.0, self.0.compute.sleep.wake_one());
        }
    }
    let Some(first) = tasks.next() else { return };
    let _wake_once = WakeOnce(shared);
    let mut tasks = Some(std::iter::once(first).chain(tasks));
    with_local(shared, |local| {
        for task in tasks.take().into_iter().flatten() {
            push(shared, local, task);
        }
    });
    for task in tasks.into_iter().flatten() {
        push(shared, None, task);
    }
}

/// Calls `f` with what this thread has to itself, if it is a worker of this queue. Where the thread is about to end, and is a
/// worker no more, `f` is not called.
fn with_local(shared: &Shared, f: impl FnOnce(Option<&Local>)) {
    let _ = LOCAL.try_with(|local| f(local.get().filter(|local| local.queue == shared.id())));
}

fn push(shared: &Shared, local: Option<&Local>, task: Task) {
    match local {
        Some(local) if local.deque.len() < DEQUE_CAPACITY => local.deque.push(task),
        _ => shared.compute.injector.push(task),
    }
}

/// Lets a worker that was taken off the stack of sleepers go on, in its thread or a new one.
fn wake(shared: &Arc<Shared>, worker: Option<usize>) {
    let Some(worker) = worker else { return };
    let compute = &shared.compute;
    let mut threads = compute.lock_threads();
    if threads.is_started[worker] {
        drop(threads);
        compute.sleep.unpark(worker);
        return;
    }
    let run = {
        let shared = Arc::clone(shared);
        move || run_worker(&shared, worker)
    };
    match thread::Builder::new()
        .name(format!("tfrt-compute-{worker}"))
        .stack_size(STACK_BYTES)
        .spawn(run)
    {
        Ok(handle) => {
            threads.is_started[worker] = true;
            threads.handles.push(handle);
        }
        Err(_) => {
            // The system has no more threads to give. Those that there are will do; if there are none, this one must. A task
            // that it runs leaves what it adds to the loop, which does not nest.
            let has_threads = threads.is_started.contains(&true);
            drop(threads);
            compute.sleep.put_back(worker);
            if has_threads || role::current(shared.id()) == Some(Role::Compute) {
                return;
            }
            let _role = role::enter(shared.id(), Role::Compute);
            while let Some(task) = steal_until_empty(&compute.injector) {
                task.run_and_survive();
            }
        }
    }
}

fn steal_until_empty(injector: &Injector<Task>) -> Option<Task> {
    std::iter::repeat_with(|| injector.steal())
        .find(|stolen| !stolen.is_retry())?
        .success()
}

/// The life of a compute thread. It begins as a searching worker, because somebody woke it.
fn run_worker(shared: &Arc<Shared>, worker: usize) {
    if let Some(cores) = &shared.compute.cores {
        // It was possible when the queue was made. If it is not any more, the thread runs wherever it may.
        let _ = cores::bind_this_thread(cores.nth(worker));
    }
    let _role = role::enter(shared.id(), Role::Compute);
    let Some(deque) = shared.compute.lock_threads().deques[worker].take() else {
        return;
    };
    LOCAL.with(|local| {
        let local = local.get_or_init(|| Local {
            queue: shared.id(),
            deque,
        });
        search_and_run(shared, worker, &local.deque);
    });
}

fn search_and_run(shared: &Arc<Shared>, worker: usize, deque: &Worker<Task>) {
    let compute = &shared.compute;
    let mut num_run: u32 = 0;
    let mut idle_spin = IdleSpin::default();
    loop {
        if let Some(task) = compute.find_task(worker, deque) {
            wake(shared, compute.sleep.found_task(|| compute.has_tasks()));
            idle_spin.found_task();
            task.run_and_survive();
            loop {
                num_run = num_run.wrapping_add(1);
                let injected = if num_run.is_multiple_of(INJECTOR_INTERVAL) {
                    steal_until_empty(&compute.injector)
                } else {
                    None
                };
                let Some(task) = injected.or_else(|| deque.pop()) else {
                    break;
                };
                task.run_and_survive();
            }
            compute.sleep.start_search();
        } else if compute.sleep.may_end(|| compute.has_tasks()) {
            return;
        } else if !idle_spin.spin(shared) {
            let fell_asleep = |order| {
                if order == FellAsleep::Last {
                    shared.quiescence.notify();
                }
            };
            compute
                .sleep
                .sleep(worker, || compute.has_tasks(), fell_asleep);
        }
    }
}

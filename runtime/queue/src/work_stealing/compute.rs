//! The compute side: each worker has a deque, which it uses from one end and from whose other end
//! other workers steal.
//!
//! ```text
//!   added by others ──► injector ─┐                 ┌─► stolen by other workers
//!                                 ▼                 │ oldest
//!                               worker ◄──────── its deque
//!                                 │   newest first  ▲
//!                                 └── adds a task ──┘
//! ```
//!
//! A task that a worker adds goes to its own deque and is the next one that it takes, while its
//! data is still in the cache. All other tasks go to the injector, which is first in, first out. A
//! worker whose deque is full also adds to the injector. Tasks with another priority than the
//! default are in lists that all workers share; see `priority`.
//!
//! Newest first alone would be unfair: a task that keeps adding itself would keep the others of its
//! deque waiting forever. So one task in [`TURN_INTERVAL`] comes from a place that would otherwise
//! have to wait.

use std::cell::OnceCell;
use std::sync::Arc;

use crossbeam_deque::{Steal, Stealer, Worker};

use super::Shared;
use super::cores::{self, Cores};
use super::idle_spin::IdleSpin;
use super::sleep::Sleep;
use crate::priority::{PriorityLists, TURN_INTERVAL};
use crate::role::{self, QueueId, Role};
use crate::sync::thread::JoinHandle;
use crate::sync::{Injector, Mutex, MutexGuard, const_thread_local, lock};
use crate::task::Task;

/// The number of tasks that a worker keeps in its deque, as in the reference.
const DEQUE_CAPACITY: usize = 1024;

/// The state that the compute workers of a queue share.
#[derive(Debug)]
pub(crate) struct Compute {
    injector: Injector<Task>,
    stealers: Box<[Stealer<Task>]>,
    /// The tasks of other priorities than the default.
    prioritized: PriorityLists,
    pub(super) sleep: Sleep,
    /// The cores that the threads are bound to.
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

/// The state of the thread of a worker.
struct Local {
    queue: QueueId,
    worker: usize,
    deque: Worker<Task>,
}

const_thread_local!(static LOCAL: OnceCell<Local> = OnceCell::new());

impl Compute {
    /// Creates workers without threads. Their threads will be bound to `cores`, if given.
    pub(crate) fn new(num_workers: usize, cores: Option<Cores>) -> Self {
        let deques: Vec<_> = (0..num_workers).map(|_| Worker::new_lifo()).collect();
        Self {
            injector: Injector::new(),
            stealers: deques.iter().map(Worker::stealer).collect(),
            prioritized: PriorityLists::new(),
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

    /// Returns the approximate number of waiting tasks: the deques are inspected one after the
    /// other.
    pub(crate) fn num_pending(&self) -> usize {
        let in_deques: usize = self.stealers.iter().map(Stealer::len).sum();
        self.injector.len() + in_deques + self.prioritized.len()
    }

    /// Returns `true` if at some moment of the call there is no task, and no worker that could add
    /// one.
    pub(crate) fn is_quiescent(&self) -> bool {
        let before = self.sleep.all_asleep();
        // A worker that took a task away had left its sleep before, which the second look at the
        // workers sees.
        before.is_some()
            && self.injector.is_empty()
            && self.prioritized.is_empty()
            && self.sleep.all_asleep() == before
    }

    /// Tells the workers to end when they find no task.
    pub(crate) fn terminate(&self) {
        self.sleep.terminate();
    }

    /// Returns the threads that were started, to be joined after [`terminate`](Self::terminate).
    pub(crate) fn take_threads(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.lock_threads().handles)
    }

    fn lock_threads(&self) -> MutexGuard<'_, Threads> {
        lock(&self.threads)
    }

    pub(super) fn has_tasks(&self) -> bool {
        !self.injector.is_empty()
            || !self.prioritized.is_empty()
            || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Returns the next task of a running worker. `num_run` is the number of tasks that it has run.
    #[inline]
    fn next_task(&self, worker: usize, deque: &Worker<Task>, num_run: u32) -> Option<Task> {
        if num_run.is_multiple_of(TURN_INTERVAL)
            && let Some(task) = self.task_in_turn(worker, num_run / TURN_INTERVAL)
        {
            return Some(task);
        }
        self.prioritized.urgent.pop().or_else(|| deque.pop())
    }

    /// Returns a task that would otherwise wait as long as tasks add tasks: the oldest of the
    /// injector, the oldest of the worker's own deque, or a background task. The three take turns.
    #[cold]
    fn task_in_turn(&self, worker: usize, turn: u32) -> Option<Task> {
        (turn..turn + 3).find_map(|turn| match turn % 3 {
            0 => until_settled(|| self.stealers[worker].steal()),
            1 => until_settled(|| self.injector.steal()),
            _ => self.prioritized.background.pop(),
        })
    }

    /// Returns the next task of a searching worker, whose deque is empty.
    fn find_task(&self, worker: usize, deque: &Worker<Task>) -> Option<Task> {
        let others = || {
            // Each worker starts with the one after itself, so that no two steal in the same order.
            let (before, after) = self.stealers.split_at(worker);
            after.iter().skip(1).chain(before)
        };
        let steal = || {
            let mut stolen = self.injector.steal_batch_and_pop(deque);
            for stealer in others() {
                if stolen.is_success() {
                    break;
                }
                stolen = stolen.or_else(|| stealer.steal());
            }
            stolen
        };
        let PriorityLists {
            urgent, background, ..
        } = &self.prioritized;
        urgent
            .pop()
            .or_else(|| until_settled(steal))
            .or_else(|| background.pop())
    }

    /// Returns the next task for a thread that stands in for a worker: there are no deques then.
    fn next_without_deque(&self) -> Option<Task> {
        let is_empty = || self.injector.is_empty();
        self.prioritized
            .pop(|| !is_empty())
            .or_else(|| until_settled(|| self.injector.steal()))
    }
}

/// Repeats `steal` while other threads interfere. Each time, one of them has made progress.
fn until_settled(mut steal: impl FnMut() -> Steal<Task>) -> Option<Task> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

/// Adds a compute task of `priority` and ensures that a thread runs it.
pub(super) fn add_task(shared: &Arc<Shared>, priority: i32, task: Task) {
    if priority == 0 {
        let mut task = Some(task);
        with_local(shared, |local| {
            if let Some(task) = task.take() {
                push(shared, local, task);
            }
        });
        if let Some(task) = task {
            push(shared, None, task);
        }
    } else {
        shared.compute.prioritized.push(priority, task);
    }
    wake(shared, shared.compute.sleep.wake_one());
}

/// Adds compute tasks of `priority` and ensures that threads run them. The worker that is woken
/// wakes the next one if there are enough tasks for both.
pub(super) fn add_tasks(
    shared: &Arc<Shared>,
    priority: i32,
    tasks: &mut dyn Iterator<Item = Task>,
) {
    /// Wakes a worker for the tasks that were added, also if the iterator panics.
    struct WakeOnce<'a>(&'a Arc<Shared>);
    impl Drop for WakeOnce<'_> {
        fn drop(&mut self) {
            self.0.compute.sleep.offer();
            wake(self.0, self.0.compute.sleep.wake_one());
        }
    }
    let Some(first) = tasks.next() else { return };
    let _wake_once = WakeOnce(shared);
    let tasks = std::iter::once(first).chain(tasks);
    if priority != 0 {
        let prioritized = &shared.compute.prioritized;
        return tasks.for_each(|task| prioritized.push(priority, task));
    }
    let mut tasks = Some(tasks);
    with_local(shared, |local| {
        for task in tasks.take().into_iter().flatten() {
            push(shared, local, task);
        }
    });
    for task in tasks.into_iter().flatten() {
        push(shared, None, task);
    }
}

/// Calls `f` with the state of this thread if it is a worker of this queue, and with `None`
/// otherwise. Does not call `f` while the locals of this thread are being dropped.
fn with_local(shared: &Shared, f: impl FnOnce(Option<&Local>)) {
    let _ = LOCAL.try_with(|local| f(local.get().filter(|local| local.queue == shared.id())));
}

/// Returns the number of the worker that this thread is.
pub(super) fn current_worker(shared: &Shared) -> Option<usize> {
    let mut worker = None;
    with_local(shared, |local| worker = local.map(|local| local.worker));
    worker
}

fn push(shared: &Shared, local: Option<&Local>, task: Task) {
    match local {
        Some(local) if local.deque.len() < DEQUE_CAPACITY => local.deque.push(task),
        _ => shared.compute.injector.push(task),
    }
}

/// Makes a worker that was taken off the stack of sleepers continue, on its thread or a new one.
fn wake(shared: &Arc<Shared>, worker: Option<usize>) {
    let mut woken = worker;
    while let Some(worker) = woken {
        woken = unpark_or_start(shared, worker);
    }
}

/// Makes `worker` continue. If the system refuses it a thread, returns another worker to wake
/// instead.
fn unpark_or_start(shared: &Arc<Shared>, worker: usize) -> Option<usize> {
    let Compute { sleep, .. } = &shared.compute;
    let mut threads = shared.compute.lock_threads();
    if threads.is_started[worker] {
        drop(threads);
        sleep.unpark(worker);
        return None;
    }
    let run = {
        let shared = Arc::clone(shared);
        move || run_worker(&shared, worker)
    };
    let name = format!("tfrt-compute-{worker}");
    if let Ok(handle) = shared.spawner.spawn(name, run) {
        threads.is_started[worker] = true;
        threads.handles.push(handle);
        return None;
    }
    let has_threads = threads.is_started.contains(&true);
    drop(threads);
    let stands_in = !has_threads && role::current(shared.id()) != Some(Role::Compute);
    if stands_in {
        stand_in(shared);
    }
    sleep.put_back(worker, |order| shared.fell_asleep(order));
    if !shared.compute.has_tasks() {
        None
    } else if stands_in {
        sleep.wake_one()
    } else {
        // If no worker has a thread, this thread is already running tasks instead of one, and runs
        // the others later.
        sleep.wake_one_with_thread()
    }
}

/// Runs tasks on this thread instead of a worker, which counts as searching before and after. Tasks
/// that these add are left to the loop, so that it does not nest.
fn stand_in(shared: &Arc<Shared>) {
    let Compute { sleep, .. } = &shared.compute;
    let _role = role::enter(shared.id(), Role::Compute);
    while let Some(task) = shared.compute.next_without_deque() {
        wake(shared, sleep.found_task(|| shared.compute.has_tasks()));
        task.run_and_survive();
        sleep.start_search();
    }
}

/// The life of a compute thread. It begins as a searching worker, because it was woken.
fn run_worker(shared: &Arc<Shared>, worker: usize) {
    if let Some(cores) = &shared.compute.cores {
        // This was possible when the queue was created. If it no longer is, the thread runs on any
        // core.
        let _ = cores::bind_this_thread(cores.nth(worker));
    }
    let _role = role::enter(shared.id(), Role::Compute);
    let Some(deque) = shared.compute.lock_threads().deques[worker].take() else {
        return;
    };
    LOCAL.with(|local| {
        let local = local.get_or_init(|| Local {
            queue: shared.id(),
            worker,
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
            num_run = num_run.wrapping_add(1);
            while let Some(task) = compute.next_task(worker, deque, num_run) {
                task.run_and_survive();
                num_run = num_run.wrapping_add(1);
            }
            compute.sleep.start_search();
        } else if compute.sleep.may_end(|| compute.has_tasks()) {
            return;
        } else if !idle_spin.spin(shared) {
            compute.sleep.sleep(
                worker,
                || compute.has_tasks(),
                |order| shared.fell_asleep(order),
            );
        }
    }
}

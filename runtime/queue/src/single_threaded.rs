//! A queue without threads: tasks run, in order, on the threads that wait.
//!
//! All tasks of the default priority, blocking ones too, are in one list. A thread that waits takes the whole list as its batch
//! and runs it from the front. New tasks go to the back of the list, behind everything in the batch. A wait for values that ends
//! early puts the unrun part of its batch back at the front, so that the order is kept.
//!
//! Tasks of other priorities are in lists of their own, which a waiting thread looks at between two tasks; see `priority`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, run_when_ready};

use crate::priority::PriorityLists;
use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role, RoleGuard};
use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, wait};
use crate::task::{RequestTag, Task};
use crate::waits;

/// Runs tasks on the threads that wait, in the order in which they were added. Tasks of requests with a higher priority go ahead.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, enqueue_work};
///
/// let queue = SingleThreadedQueue::new();
/// let (sender, receiver) = channel();
/// for number in [1, 2] {
///     let sender = sender.clone();
///     enqueue_work(&queue, move || drop(sender.send(number)));
/// }
/// queue.quiesce()?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), tfrt_queue::WouldDeadlock>(())
/// ```
#[derive(Default)]
pub struct SingleThreadedQueue {
    // Shared with waiters of values, which may outlive the queue.
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Tasks were added, a batch is done, or awaited values are available.
    changed: Condvar,
    /// The tasks that have another priority than the default.
    prioritized: PriorityLists,
    /// The number of default tasks in the list and in batches, for diagnostics. Relaxed: it orders nothing.
    num_pending: AtomicUsize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// An empty list with room, for the next batch.
    spare: VecDeque<Task>,
    /// The number of threads with a batch in hand. A task runs only as part of a batch.
    num_batches: usize,
    /// The number of threads that sleep. While there are none, nobody needs to be notified.
    num_asleep: usize,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            prioritized: PriorityLists::new(),
            num_pending: AtomicUsize::new(0),
        }
    }
}

impl SingleThreadedQueue {
    /// A queue without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A queue from the argument of its configuration, which must be empty.
    ///
    /// # Errors
    /// A message that names the argument if there is one.
    pub fn from_argument(argument: &str) -> Result<Self, String> {
        if argument.is_empty() {
            Ok(Self::new())
        } else {
            Err(format!("Invalid argument for s work queue: {argument}"))
        }
    }

    fn id(&self) -> QueueId {
        QueueId::of(&*self.shared)
    }

    fn enter_role(&self) -> RoleGuard {
        role::enter(self.id(), Role::Compute)
    }
}

impl Shared {
    fn add(&self, priority: i32, task: Task) {
        if priority != 0 {
            self.prioritized.push(priority, task);
            self.notify_sleepers(lock(&self.state));
            return;
        }
        self.num_pending.fetch_add(1, Ordering::Relaxed);
        let mut state = lock(&self.state);
        state.tasks.push_back(task);
        self.notify_sleepers(state);
    }

    /// Ends a change of the state.
    fn notify_sleepers(&self, state: MutexGuard<'_, State>) {
        let has_sleepers = state.num_asleep > 0;
        drop(state);
        if has_sleepers {
            self.changed.notify_all();
        }
    }

    fn has_tasks(&self, state: &State) -> bool {
        !state.tasks.is_empty() || !self.prioritized.is_empty()
    }

    /// Waits for tasks and takes all of the default priority as a batch. None when `is_done`.
    fn next_batch(&self, is_done: impl Fn(&State) -> bool) -> Option<VecDeque<Task>> {
        let mut state = lock(&self.state);
        while !is_done(&state) && !self.has_tasks(&state) {
            state.num_asleep += 1;
            state = wait(&self.changed, state);
            state.num_asleep -= 1;
        }
        if is_done(&state) {
            return None;
        }
        state.num_batches += 1;
        let spare = std::mem::take(&mut state.spare);
        Some(std::mem::replace(&mut state.tasks, spare))
    }

    /// The next task: one of `batch`, or one of another priority.
    fn next_task(&self, batch: &mut VecDeque<Task>) -> Option<Task> {
        let has_default = || !batch.is_empty() || !lock(&self.state).tasks.is_empty();
        if let Some(task) = self.prioritized.pop(has_default) {
            return Some(task);
        }
        let task = batch.pop_front()?;
        self.num_pending.fetch_sub(1, Ordering::Relaxed);
        Some(task)
    }

    /// Ends a batch. Its unrun tasks go to the front of the list.
    fn end_batch(&self, mut unrun: VecDeque<Task>) {
        let mut state = lock(&self.state);
        if unrun.is_empty() {
            // So that not every batch allocates a list.
            state.spare = unrun;
        } else {
            unrun.append(&mut state.tasks);
            state.tasks = unrun;
        }
        state.num_batches -= 1;
        self.notify_sleepers(state);
    }
}

impl ConcurrentWorkQueue for SingleThreadedQueue {
    fn name(&self) -> String {
        "single-threaded".into()
    }

    fn add_task(&self, task: Task) {
        self.shared.add(0, task);
    }

    fn add_task_for(&self, tag: &RequestTag, task: Task) {
        self.shared.add(tag.priority, task);
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.add_blocking_task_for(&RequestTag::default(), task, allow_queuing)
    }

    /// Refuses every task that may not be queued, because there is no thread for it.
    fn add_blocking_task_for(
        &self,
        tag: &RequestTag,
        task: Task,
        allow_queuing: bool,
    ) -> Result<(), Task> {
        if !allow_queuing {
            return Err(task);
        }
        self.shared.add(tag.priority, task);
        Ok(())
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        let is_ready = Arc::new(AtomicBool::new(false));
        run_when_ready(values, {
            let (is_ready, shared) = (Arc::clone(&is_ready), Arc::clone(&self.shared));
            move || {
                // Release pairs with the acquires below. Under the lock, or a waiter could miss it between its check and its
                // wait.
                let state = lock(&shared.state);
                is_ready.store(true, Ordering::Release);
                shared.notify_sleepers(state);
            }
        });
        let is_ready = || is_ready.load(Ordering::Acquire);
        while let Some(mut batch) = self.shared.next_batch(|_| is_ready()) {
            let role = self.enter_role();
            while !is_ready()
                && let Some(task) = self.shared.next_task(&mut batch)
            {
                task.run_and_survive();
            }
            drop(role);
            self.shared.end_batch(batch);
        }
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        let _wait = waits::begin(self.id())?;
        // The batches of other threads are tasks of the queue, too.
        while let Some(mut batch) = self
            .shared
            .next_batch(|state| !self.shared.has_tasks(state) && state.num_batches == 0)
        {
            let role = self.enter_role();
            while let Some(task) = self.shared.next_task(&mut batch) {
                task.run_and_survive();
            }
            drop(role);
            self.shared.end_batch(batch);
        }
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        role::current(self.id()).is_some()
    }

    fn num_pending_tasks(&self) -> Option<usize> {
        let num_default = self.shared.num_pending.load(Ordering::Relaxed);
        Some(num_default + self.shared.prioritized.len())
    }
}

impl fmt::Debug for SingleThreadedQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleThreadedQueue")
            .field("num_pending_tasks", &self.num_pending_tasks())
            .finish_non_exhaustive()
    }
}

impl Drop for SingleThreadedQueue {
    /// Runs the remaining tasks.
    fn drop(&mut self) {
        // This thread runs no task of this queue, because the wait that runs it would borrow the queue.
        let _ = self.quiesce();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_models;

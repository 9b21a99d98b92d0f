//! A queue without threads: tasks run, in order, while somebody waits.
//!
//! All tasks, blocking ones too, are in one list. A thread that waits takes the whole list as its batch and runs it from the
//! front. New tasks go to the back of the list, behind everything in the batch. A wait for values that ends early puts what
//! it did not run back at the front, so that the order stays.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, run_when_ready};

use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role};
use crate::task::Task;

/// Runs tasks on the threads that wait, in the order in which they were added.
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
    // Shared with the waiters of values, which may outlive the queue.
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Tasks were added, a batch is done, or awaited values are there.
    changed: Condvar,
    /// How many tasks are in the list and in batches, for people who look. Orders nothing: relaxed.
    num_pending: AtomicUsize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// An empty list with room, for the next batch.
    spare: VecDeque<Task>,
    /// How many threads have a batch in hand.
    num_batches: usize,
    /// How many threads sleep. While there are none, nobody is to be told that something has changed.
    num_asleep: usize,
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
    /// What is wrong with the argument.
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

    fn check_no_worker(&self) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            Err(WouldDeadlock)
        } else {
            Ok(())
        }
    }

    fn run(&self, task: Task) {
        self.shared.num_pending.fetch_sub(1, Ordering::Relaxed);
        let _role = role::enter(self.id(), Role::Compute);
        task.run_and_survive();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, task: Task) {
        self.num_pending.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        state.tasks.push_back(task);
        self.tell_sleepers(state);
    }

    /// Ends a change of the state.
    fn tell_sleepers(&self, state: MutexGuard<'_, State>) {
        let has_sleepers = state.num_asleep > 0;
        drop(state);
        if has_sleepers {
            self.changed.notify_all();
        }
    }

    /// Takes all tasks as a batch, after `is_done` became false and while there are tasks; none when `is_done`.
    fn next_batch(&self, is_done: impl Fn(&State) -> bool) -> Option<VecDeque<Task>> {
        let mut state = self.lock();
        while !is_done(&state) && state.tasks.is_empty() {
            state.num_asleep += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.num_asleep -= 1;
        }
        if is_done(&state) {
            return None;
        }
        state.num_batches += 1;
        let spare = std::mem::take(&mut state.spare);
        Some(std::mem::replace(&mut state.tasks, spare))
    }

    /// Ends a batch; what was not run goes to the front.
    fn end_batch(&self, mut unrun: VecDeque<Task>) {
        let mut state = self.lock();
        if unrun.is_empty() {
            // No list is allocated anew for every batch.
            state.spare = unrun;
        } else {
            unrun.append(&mut state.tasks);
            state.tasks = unrun;
        }
        state.num_batches -= 1;
        self.tell_sleepers(state);
    }
}

impl ConcurrentWorkQueue for SingleThreadedQueue {
    fn name(&self) -> String {
        "single-threaded".into()
    }

    fn add_task(&self, task: Task) {
        self.shared.add(task);
    }

    /// Refuses every task that may not be queued, as there is no thread to give it.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if allow_queuing {
            self.shared.add(task);
            Ok(())
        } else {
            Err(task)
        }
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.check_no_worker()?;
        let is_ready = Arc::new(AtomicBool::new(false));
        run_when_ready(values, {
            let (is_ready, shared) = (Arc::clone(&is_ready), Arc::clone(&self.shared));
            move || {
                // Release pairs with the acquires below. Set under the lock, or a waiter could miss it between its look
                // and its wait.
                let state = shared.lock();
                is_ready.store(true, Ordering::Release);
                shared.tell_sleepers(state);
            }
        });
        while let Some(mut batch) = self.shared.next_batch(|_| is_ready.load(Ordering::Acquire)) {
            while !is_ready.load(Ordering::Acquire)
                && let Some(task) = batch.pop_front()
            {
                self.run(task);
            }
            self.shared.end_batch(batch);
        }
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.check_no_worker()?;
        // Batches of other threads are tasks of the queue, too.
        while let Some(mut batch) = self
            .shared
            .next_batch(|state| state.tasks.is_empty() && state.num_batches == 0)
        {
            while let Some(task) = batch.pop_front() {
                self.run(task);
            }
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
        Some(self.shared.num_pending.load(Ordering::Relaxed))
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
    /// Runs what is left.
    fn drop(&mut self) {
        // No task of this queue is running on this thread: it would have borrowed the queue.
        let _ = self.quiesce();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! A queue without threads: tasks run, in order, on the threads that wait.
//!
//! All tasks of the default priority, including blocking ones, are in one list. New tasks are
//! appended to it. A waiting thread takes one task after the other from its front, until its wait
//! is over. Between two tasks it locks the list once, both to record that one is done and to take
//! the other.
//!
//! A task may wait, too, for the sake of tools that show values while a program runs. Such a nested
//! wait runs the tasks that were added after the outer wait looked at the list last:
//!
//! ```text
//!  tasks:  │ a  b  c │ d  e │ f
//!            outer     nested │
//!            wait      wait   └ added since
//!          └─ reserved ─────┘
//! ```
//!
//! An outer wait has set its part of the list aside, as if it were a list of its own. Whatever a
//! wait leaves is in front of what comes later.
//!
//! Tasks of other priorities are in separate lists, which a waiting thread checks between two
//! tasks; see `priority`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, run_when_ready};

use crate::error::CreateQueueError;
use crate::priority::PriorityLists;
use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role};
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, lock, wait};
use crate::task::{RequestTag, Task};
use crate::waits;

/// Runs tasks on the threads that wait, in the order in which they were added. Tasks of requests
/// with a higher priority go first.
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
    /// Notified when tasks were added, when the last running task is done, or when awaited values
    /// are available.
    changed: Condvar,
    /// The tasks of other priorities than the default.
    prioritized: PriorityLists,
}

/// The maximum nesting depth of waits in tasks. Each level runs a task on the stack of the one that
/// waits.
const MAX_NESTED_WAITS: usize = 32;

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    /// How many tasks at the front the waits under way have set aside. Other threads that wait may
    /// run them as well, so it is an upper bound.
    num_reserved: usize,
    /// The number of threads that run a task.
    num_running: usize,
    /// The number of threads that sleep. If it is zero, no notification is needed.
    num_asleep: usize,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            prioritized: PriorityLists::new(),
        }
    }
}

impl SingleThreadedQueue {
    /// Creates a queue without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a queue from the argument of its configuration, which must be empty.
    ///
    /// # Errors
    /// [`CreateQueueError::InvalidArgument`] if the argument is not empty.
    pub fn from_argument(argument: &str) -> Result<Self, CreateQueueError> {
        if argument.is_empty() {
            Ok(Self::new())
        } else {
            Err(CreateQueueError::invalid_argument("s", argument))
        }
    }
}

impl Shared {
    fn add(&self, priority: i32, task: Task) {
        if priority != 0 {
            self.prioritized.push(priority, task);
            self.notify_sleepers(lock(&self.state));
            return;
        }
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

    /// Runs tasks, one after the other, until `is_done`. Waits while there are none.
    fn run_until(&self, is_done: impl Fn(&Self, &State) -> bool) {
        let _role = role::enter(self.id(), Role::Compute);
        let mut state = lock(&self.state);
        loop {
            if is_done(self, &state) {
                state.num_reserved = 0;
                return;
            }
            let Some(task) = self.next_task(&mut state) else {
                state.num_asleep += 1;
                state = wait(&self.changed, state);
                state.num_asleep -= 1;
                continue;
            };
            state = self.run(task, state);
        }
    }

    /// Runs tasks inside a task, until `is_done`. Returns `false` if it is not, and none is left.
    #[cold]
    fn run_nested(&self, is_done: impl Fn() -> bool) -> bool {
        let _role = role::enter(self.id(), Role::Compute);
        let mut state = lock(&self.state);
        let outer = state.num_reserved;
        let is_done = loop {
            if is_done() {
                break true;
            }
            let Some(task) = self.next_nested_task(&mut state, outer) else {
                break false;
            };
            state = self.run(task, state);
        };
        state.num_reserved = outer;
        is_done
    }

    /// Runs a task, without the lock.
    // Inlined in its callers, so that the task, which is as long as four words, is copied once.
    #[inline(always)]
    fn run<'a>(&'a self, task: Task, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.num_running += 1;
        drop(state);
        task.run_and_survive();
        let mut state = lock(&self.state);
        state.num_running -= 1;
        // Other threads may wait for the last task to end.
        if state.num_running == 0 && state.num_asleep > 0 {
            self.changed.notify_all();
        }
        state
    }

    /// Returns the next task: the first one of the list, or one of another priority.
    #[inline]
    fn next_task(&self, state: &mut State) -> Option<Task> {
        let prioritized = self.prioritized.pop(|| !state.tasks.is_empty());
        prioritized.or_else(|| {
            if state.num_reserved == 0 {
                state.num_reserved = state.tasks.len();
            }
            let task = state.tasks.pop_front();
            state.num_reserved = state.num_reserved.saturating_sub(1);
            task
        })
    }

    /// Returns the next task behind those that outer waits have set aside, or one of another
    /// priority.
    fn next_nested_task(&self, state: &mut State, outer: usize) -> Option<Task> {
        let prioritized = self.prioritized.pop(|| state.tasks.len() > outer);
        prioritized.or_else(|| {
            if state.num_reserved <= outer {
                state.num_reserved = state.tasks.len();
            }
            let task = state.tasks.remove(outer)?;
            state.num_reserved -= 1;
            Some(task)
        })
    }

    fn id(&self) -> QueueId {
        QueueId::of(self)
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

    /// Rejects every task that must not be queued, because there is no thread for it.
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
                // Release pairs with the acquires below. Under the lock, as a waiter could
                // otherwise miss it between its check and its wait.
                let state = lock(&shared.state);
                is_ready.store(true, Ordering::Release);
                shared.notify_sleepers(state);
            }
        });
        self.shared
            .run_until(|_, _| is_ready.load(Ordering::Acquire));
        Ok(())
    }

    /// In a task, runs other tasks: first those that were added last, as no outer wait has seen
    /// them.
    fn await_helping(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if !self.is_in_worker_thread() {
            return self.await_values(values);
        }
        let is_ready = || values.iter().all(AnyRef::is_available);
        if is_ready() || role::depth() <= MAX_NESTED_WAITS && self.shared.run_nested(is_ready) {
            Ok(())
        } else {
            Err(WouldDeadlock)
        }
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        let _wait = waits::begin(self.shared.id())?;
        // Tasks that other threads run belong to the queue, too.
        self.shared
            .run_until(|shared, state| !shared.has_tasks(state) && state.num_running == 0);
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        role::current(self.shared.id()).is_some()
    }

    fn num_pending_tasks(&self) -> Option<usize> {
        let num_default = lock(&self.shared.state).tasks.len();
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
        // This thread does not run a task of this queue, because the wait that runs it would borrow
        // the queue.
        let _ = self.quiesce();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_models;

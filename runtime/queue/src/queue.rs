//! The contract of a work queue.

use std::fmt;

use tfrt_async::AnyRef;

use crate::task::{RequestTag, Task};

/// Runs tasks.
///
/// A panic ends its task only; the queue and its threads continue.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock};
///
/// /// Runs every task at once, on the thread that adds it.
/// #[derive(Debug)]
/// struct Inline;
///
/// impl ConcurrentWorkQueue for Inline {
///     fn name(&self) -> String { "inline".into() }
///     fn add_task(&self, task: Task) { task.run() }
///     fn add_blocking_task(&self, task: Task, _allow_queuing: bool) -> Result<(), Task> { Err(task) }
///     fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
///         if values.iter().all(AnyRef::is_available) { Ok(()) } else { Err(WouldDeadlock) }
///     }
///     fn quiesce(&self) -> Result<(), WouldDeadlock> { Ok(()) }
///     fn parallelism_level(&self) -> usize { 1 }
///     fn is_in_worker_thread(&self) -> bool { false }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a work queue",
    label = "does not implement `ConcurrentWorkQueue`",
    note = "implement it, or take one that exists: `create_queue(\"s\")`, \
            `create_queue(\"mstd:2\")`"
)]
pub trait ConcurrentWorkQueue: Send + Sync + fmt::Debug {
    /// Returns the name of the queue, for tools to show.
    fn name(&self) -> String;

    /// Adds a compute task, which must not block. The queue may run it at once on this thread. The
    /// order of tasks is unspecified.
    fn add_task(&self, task: Task);

    /// Like [`add_task`](Self::add_task), for a request: tasks of a higher priority should run
    /// before those of a lower one. Queues that do not distinguish requests ignore the tag.
    fn add_task_for(&self, tag: &RequestTag, task: Task) {
        let _ = tag;
        self.add_task(task);
    }

    /// Adds compute tasks, each like [`add_task`](Self::add_task). A queue with threads wakes one
    /// for the whole batch, which wakes others as needed.
    ///
    /// The queue pulls tasks from the iterator one by one, so the iterator must not block. If it
    /// panics, the tasks that it returned before are added.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use tfrt_queue::{ConcurrentWorkQueue, Task, WorkStealingQueue};
    ///
    /// let queue = WorkStealingQueue::new(2, 1);
    /// let sum = Arc::new(AtomicUsize::new(0));
    /// queue.add_tasks(&mut (1..=100).map(|number| {
    ///     let sum = Arc::clone(&sum);
    ///     Task::new(move || drop(sum.fetch_add(number, Ordering::Relaxed)))
    /// }));
    /// queue.quiesce()?;
    /// assert_eq!(sum.load(Ordering::Relaxed), 5050);
    /// # Ok::<(), tfrt_queue::WouldDeadlock>(())
    /// ```
    fn add_tasks(&self, tasks: &mut dyn Iterator<Item = Task>) {
        tasks.for_each(|task| self.add_task(task));
    }

    /// Like [`add_tasks`](Self::add_tasks), for a request: each task is added like
    /// [`add_task_for`](Self::add_task_for).
    fn add_tasks_for(&self, tag: &RequestTag, tasks: &mut dyn Iterator<Item = Task>) {
        tasks.for_each(|task| self.add_task_for(tag, task));
    }

    /// Adds a task that may block.
    ///
    /// With `allow_queuing`, the task may have to wait for other blocking tasks to end. Without it,
    /// the task starts in finite time even if all others block forever.
    ///
    /// # Errors
    /// Returns the task if the queue cannot accept it.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task>;

    /// Like [`add_blocking_task`](Self::add_blocking_task), for a request. Queues that do not
    /// distinguish requests ignore the tag.
    ///
    /// # Errors
    /// Returns the task if the queue cannot accept it.
    fn add_blocking_task_for(
        &self,
        tag: &RequestTag,
        task: Task,
        allow_queuing: bool,
    ) -> Result<(), Task> {
        let _ = tag;
        self.add_blocking_task(task, allow_queuing)
    }

    /// Blocks until all of `values` are available. An error counts as available.
    ///
    /// # Errors
    /// Fails if this thread runs a compute task of the queue, even if the values are available: the
    /// task might be the one that must make them available.
    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock>;

    /// Like [`await_values`](Self::await_values), also in a task of the queue, if the queue can run
    /// other tasks meanwhile. For tools that show values as the program runs; a kernel returns an
    /// unavailable value instead of waiting.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_async::AsyncValueRef;
    /// use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, Task, enqueue_work};
    ///
    /// let queue = Arc::new(SingleThreadedQueue::new());
    /// let inner = Arc::clone(&queue);
    /// enqueue_work(&*queue, move || {
    ///     let (promise, value) = AsyncValueRef::unconstructed();
    ///     inner.add_task(Task::new(move || promise.emplace(7)));
    ///     assert!(inner.await_helping(&[value.into_any()]).is_ok());
    /// });
    /// queue.quiesce()?;
    /// # Ok::<(), tfrt_queue::WouldDeadlock>(())
    /// ```
    ///
    /// # Errors
    /// Fails in a task of the queue if the queue cannot run other tasks there, or if no task is
    /// left and the values are still unavailable.
    fn await_helping(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.await_values(values)
    }

    /// Blocks until no task is pending or running, including those that tasks add.
    ///
    /// # Errors
    /// Fails if this thread runs a task of the queue, which would wait for itself, or a task of
    /// another queue for which tasks of this queue wait in the same way.
    fn quiesce(&self) -> Result<(), WouldDeadlock>;

    /// Returns the number of tasks that can usefully run at the same time.
    fn parallelism_level(&self) -> usize;

    /// Returns `true` if this thread runs a compute task of the queue, directly or inside a task of
    /// another queue.
    fn is_in_worker_thread(&self) -> bool;

    /// Returns the number of the worker that this thread is, below
    /// [`parallelism_level`](Self::parallelism_level), if it is one of the queue and the queue
    /// numbers them. Loops use it to give a worker the same blocks each time.
    ///
    /// ```
    /// use tfrt_queue::{ConcurrentWorkQueue, WorkStealingQueue};
    ///
    /// assert_eq!(WorkStealingQueue::new(2, 1).current_worker(), None);
    /// ```
    fn current_worker(&self) -> Option<usize> {
        None
    }

    /// Returns the number of tasks that wait for a thread, if the queue knows it. For diagnostics:
    /// it may be out of date at once.
    fn num_pending_tasks(&self) -> Option<usize> {
        None
    }
}

/// The error of a task that waits for its own queue, which may need its thread to continue, or for
/// one that waits for its own queue.
///
/// ```
/// assert_eq!(
///     tfrt_queue::WouldDeadlock.to_string(),
///     "a task cannot wait for the work queue that runs it",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WouldDeadlock;

impl fmt::Display for WouldDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task cannot wait for the work queue that runs it")
    }
}

impl std::error::Error for WouldDeadlock {}

tfrt_support::convert_errors!(WouldDeadlock);

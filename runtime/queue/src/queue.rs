//! The contract of a work queue.

use std::fmt;

use tfrt_async::AnyRef;

use crate::task::{RequestTag, Task};

/// Runs tasks.
///
/// A task that panics is over; the queue lives on.
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
    message = "`{Self}` is no work queue",
    label = "does not implement `ConcurrentWorkQueue`",
    note = "implement it, or take one that exists: `create_queue(\"s\")`, `create_queue(\"mstd:2\")`"
)]
pub trait ConcurrentWorkQueue: Send + Sync + fmt::Debug {
    /// How tools call the queue.
    fn name(&self) -> String;

    /// Adds a compute task, which must not block. The queue may run it at once, on this thread; otherwise it runs in no
    /// particular order.
    fn add_task(&self, task: Task);

    /// As [`add_task`](Self::add_task), for a request: tasks of a higher priority should run before those of a lower one. Queues
    /// that do not distinguish requests ignore the tag.
    fn add_task_for(&self, tag: &RequestTag, task: Task) {
        let _ = tag;
        self.add_task(task);
    }

    /// Adds compute tasks, each as [`add_task`](Self::add_task) does. A queue that has threads to wake does that once for all of
    /// them.
    ///
    /// The tasks are made while they are taken, so `tasks` may hold the queue up: it must not block, either. If it panics, those
    /// before are added.
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

    /// As [`add_tasks`](Self::add_tasks), for a request: each as [`add_task_for`](Self::add_task_for) does.
    fn add_tasks_for(&self, tag: &RequestTag, tasks: &mut dyn Iterator<Item = Task>) {
        tasks.for_each(|task| self.add_task_for(tag, task));
    }

    /// Adds a task that may block.
    ///
    /// With `allow_queuing` the task may have to wait for other blocking tasks to end. Without, it starts in finite time even
    /// if all of them block for ever.
    ///
    /// # Errors
    /// The task, if the queue cannot take it.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task>;

    /// As [`add_blocking_task`](Self::add_blocking_task), for a request. Queues that know no difference between requests
    /// ignore the tag.
    ///
    /// # Errors
    /// The task, if the queue cannot take it.
    fn add_blocking_task_for(
        &self,
        tag: &RequestTag,
        task: Task,
        allow_queuing: bool,
    ) -> Result<(), Task> {
        let _ = tag;
        self.add_blocking_task(task, allow_queuing)
    }

    /// Blocks until all of `values` are available; an error counts as available.
    ///
    /// # Errors
    /// If this thread runs a compute task of the queue, whatever the values are: it might be the one to make them available.
    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock>;

    /// Blocks until no task is pending or running, tasks that they add included.
    ///
    /// # Errors
    /// If this thread runs a task of the queue, which would wait for itself.
    fn quiesce(&self) -> Result<(), WouldDeadlock>;

    /// How many tasks can usefully be computed at the same time.
    fn parallelism_level(&self) -> usize;

    /// Whether this thread runs a compute task of the queue.
    fn is_in_worker_thread(&self) -> bool;

    /// How many tasks wait for a thread, if the queue can tell. A look for people: by the time it is back it may be wrong.
    fn num_pending_tasks(&self) -> Option<usize> {
        None
    }
}

/// A task asked to wait for what may need its own thread.
///
/// ```
/// assert_eq!(
///     tfrt_queue::WouldDeadlock.to_string(),
///     "a task of a work queue may not wait for the queue that runs it",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WouldDeadlock;

impl fmt::Display for WouldDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task of a work queue may not wait for the queue that runs it")
    }
}

impl std::error::Error for WouldDeadlock {}

tfrt_support::convert_errors!(WouldDeadlock);

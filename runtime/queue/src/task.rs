//! Tasks and the requests that they belong to.

mod closure;

use std::fmt;
use std::panic;

use closure::Closure;

/// A piece of work that runs once.
///
/// A closure of up to three words is stored in place, a larger one in a box. Code that adds many
/// tasks should therefore share their common state through one reference.
///
/// ```
/// use tfrt_queue::Task;
///
/// let (sender, receiver) = std::sync::mpsc::channel();
/// Task::new(move || drop(sender.send("done"))).run();
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
#[must_use = "a task that does not run is lost"]
pub struct Task(Closure);

impl Task {
    /// Creates a task that calls `f`.
    #[inline]
    pub fn new(f: impl FnOnce() + Send + 'static) -> Self {
        Self(Closure::new(f))
    }

    /// Runs the task on this thread.
    ///
    /// # Panics
    /// If the task panics.
    pub fn run(self) {
        if let Err(payload) = self.0.call() {
            panic::resume_unwind(payload);
        }
    }

    /// Runs the task on this thread and catches its panic, which the panic hook has then already
    /// reported.
    ///
    /// Queues run their tasks with this method.
    #[inline]
    pub fn run_and_survive(self) {
        self.0.call_and_survive();
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

/// The request that a task belongs to.
///
/// The queues of this crate run tasks of a higher priority before waiting tasks of a lower one,
/// whenever they have a choice: a running task is never interrupted. No task waits forever, however
/// many urgent ones are added: about one task in 61 is taken from those that would otherwise wait
/// longer. Among tasks of one priority a queue keeps its own order.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_queue::{ConcurrentWorkQueue, RequestTag, SingleThreadedQueue, Task};
///
/// let queue = SingleThreadedQueue::new();
/// let (sender, receiver) = channel();
/// for priority in [-1, 0, 7] {
///     let sender = sender.clone();
///     let task = Task::new(move || sender.send(priority).unwrap());
///     queue.add_task_for(&RequestTag { id: 0, priority }, task);
/// }
/// queue.quiesce()?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [7, 0, -1]);
/// # Ok::<(), tfrt_queue::WouldDeadlock>(())
/// ```
///
/// ```
/// use tfrt_queue::RequestTag;
///
/// assert_eq!(RequestTag::default(), RequestTag { id: 0, priority: 0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestTag {
    /// The number by which the client knows the request.
    pub id: i64,
    /// The urgency of the request; higher is more urgent. Tasks of the default priority, 0, take
    /// the fastest path.
    pub priority: i32,
}

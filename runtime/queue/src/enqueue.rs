//! Adding closures to a queue and getting values back.
//!
//! | functions | if all blocking threads are busy | if the queue refuses the task |
//! |---|---|---|
//! | [`enqueue_work`], [`enqueue_value`] | irrelevant: not a blocking task | does not happen |
//! | [`enqueue_blocking_work`], [`enqueue_blocking_value`] | the task waits | `false`, or an error value |
//! | [`run_blocking_work`], [`run_blocking_value`] | the task gets a thread of its own | `false`, or an error value |

use tfrt_async::{AsyncValueRef, Value};
use tfrt_support::Error;

use crate::queue::ConcurrentWorkQueue;
use crate::task::Task;

/// Runs `f` as a compute task, which must not block.
pub fn enqueue_work(queue: &dyn ConcurrentWorkQueue, f: impl FnOnce() + Send + 'static) {
    queue.add_task(Task::new(f));
}

/// Computes a value in a compute task, which must not block.
///
/// ```
/// use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, enqueue_value};
/// use tfrt_support::Error;
///
/// let queue = SingleThreadedQueue::new();
/// let value = enqueue_value::<i32>(&queue, || Err(Error::new("no number")));
/// queue.quiesce()?;
/// assert_eq!(value.error_if_present().map(Error::message), Some("no number"));
/// # Ok::<(), tfrt_queue::WouldDeadlock>(())
/// ```
pub fn enqueue_value<T: Value>(
    queue: &dyn ConcurrentWorkQueue,
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> AsyncValueRef<T> {
    let (task, value) = task_for_value(f);
    queue.add_task(task);
    value
}

/// Runs `f` on a blocking thread when one is free. Returns `true` if the queue accepted it.
#[must_use = "work that is refused is dropped"]
pub fn enqueue_blocking_work(
    queue: &dyn ConcurrentWorkQueue,
    f: impl FnOnce() + Send + 'static,
) -> bool {
    queue.add_blocking_task(Task::new(f), true).is_ok()
}

/// Computes a value on a blocking thread when one is free.
///
/// If the queue does not accept it, the value is the error `Failed to enqueue blocking work.`
pub fn enqueue_blocking_value<T: Value>(
    queue: &dyn ConcurrentWorkQueue,
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> AsyncValueRef<T> {
    blocking_value(queue, true, "Failed to enqueue blocking work.", f)
}

/// Runs `f` on a blocking thread, a new one if necessary. Returns `true` if the queue accepted it.
#[must_use = "work that is refused is dropped"]
pub fn run_blocking_work(
    queue: &dyn ConcurrentWorkQueue,
    f: impl FnOnce() + Send + 'static,
) -> bool {
    queue.add_blocking_task(Task::new(f), false).is_ok()
}

/// Computes a value on a blocking thread, a new one if necessary.
///
/// If the queue does not accept it, the value is the error `Failed to run blocking work.`
///
/// ```
/// use tfrt_queue::{SingleThreadedQueue, run_blocking_value};
/// use tfrt_support::Error;
///
/// // This queue has no threads.
/// let value = run_blocking_value(&SingleThreadedQueue::new(), || Ok(1));
/// assert_eq!(value.error_if_present().map(Error::message), Some("Failed to run blocking work."));
/// ```
pub fn run_blocking_value<T: Value>(
    queue: &dyn ConcurrentWorkQueue,
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> AsyncValueRef<T> {
    blocking_value(queue, false, "Failed to run blocking work.", f)
}

fn blocking_value<T: Value>(
    queue: &dyn ConcurrentWorkQueue,
    allow_queuing: bool,
    refusal: &str,
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> AsyncValueRef<T> {
    let (task, value) = task_for_value(f);
    match queue.add_blocking_task(task, allow_queuing) {
        Ok(()) => value,
        // The promise is dropped with the task. No code has seen the value yet, so another one
        // takes its place.
        Err(_refused) => AsyncValueRef::error(Error::new(refusal)),
    }
}

fn task_for_value<T: Value>(
    f: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> (Task, AsyncValueRef<T>) {
    let (promise, value) = AsyncValueRef::unconstructed();
    let task = Task::new(move || match f() {
        Ok(payload) => promise.emplace(payload),
        Err(error) => promise.set_error(error),
    });
    (task, value)
}

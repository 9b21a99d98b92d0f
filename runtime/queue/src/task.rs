//! Tasks, and whose they are.

use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

/// A piece of work that runs once.
///
/// ```
/// use tfrt_queue::Task;
///
/// let (sender, receiver) = std::sync::mpsc::channel();
/// Task::new(move || drop(sender.send("done"))).run();
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
#[must_use = "a task that does not run is lost"]
pub struct Task(Box<dyn FnOnce() -> Result<(), PanicPayload> + Send>);

/// What a panic was raised with. It is caught by the code that made the task, which may be that of a kernel library: another
/// copy of the standard library, such as the queue's, could not catch it.
type PanicPayload = Box<dyn Any + Send>;

impl Task {
    /// A task that calls `f`.
    pub fn new(f: impl FnOnce() + Send + 'static) -> Self {
        // The task is gone when it panics; what it shared with others it shared by types that are sound to see half done.
        Self(Box::new(|| panic::catch_unwind(AssertUnwindSafe(f))))
    }

    /// Runs the task on this thread.
    ///
    /// # Panics
    /// If the task does.
    pub fn run(self) {
        if let Err(payload) = (self.0)() {
            panic::resume_unwind(payload);
        }
    }

    /// Runs the task on this thread, which survives a panic of it. The panic hook has reported it by then.
    pub(crate) fn run_and_survive(self) {
        drop((self.0)());
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

/// The request that a task belongs to, for queues that are fair or prefer some.
///
/// ```
/// use tfrt_queue::RequestTag;
///
/// assert_eq!(RequestTag::default(), RequestTag { id: 0, priority: 0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestTag {
    /// The number of the request.
    pub id: i64,
    /// How urgent it is; more is more urgent, 0 is usual.
    pub priority: i32,
}

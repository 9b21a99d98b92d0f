//! A queue of compute threads that steal from each other, with a pool for blocking tasks beside
//! them.
//!
//! The compute side is lock-free while there is work: `compute` decides which worker takes which
//! task, `sleep` is the protocol of sleeping and waking, and `idle_spin` covers the time before a
//! worker sleeps. The blocking side, `blocking`, is a mutex and two condition variables.
//!
//! The queue is quiescent when no task is pending or running on either side; see `quiescence`.
//!
//! # Shutdown
//!
//! 1. The queue is dropped. There are no other references to it, so no task is added from now on.
//! 2. The thread that drops the queue waits until it is quiescent.
//! 3. Both sides are told to terminate. Their threads end when they find no task.
//! 4. All threads are joined.
//!
//! A task may hold the last reference to its own queue. Then the thread that drops the queue runs
//! tasks for it and must neither wait nor join. The threads run the remaining tasks and end by
//! themselves.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tfrt_async::AnyRef;

use crate::error::CreateQueueError;
use crate::latch;
use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role};
use crate::task::{RequestTag, Task};
use crate::waits;
use blocking::Blocking;
use compute::Compute;
use cores::{BindError, Cores};
use quiescence::Quiescence;
use sleep::FellAsleep;
use spawn::Spawner;

mod compute;

mod sleep;

mod idle_spin;

mod quiescence;

mod blocking;

mod spawn;

pub mod cores;

/// The number of blocking threads if the configuration does not specify it.
const DEFAULT_BLOCKING_THREADS: usize = 256;

/// The time for which a dynamic thread waits for its next task before it ends, as in the reference.
const DYNAMIC_IDLE: Duration = Duration::from_secs(1);

/// Runs compute tasks on threads that steal from each other, and blocking tasks on a pool beside
/// them.
///
/// Threads start when they are first needed. If the system refuses a thread, the tasks run on the
/// existing threads, or else on the thread that adds them. Dropping the queue waits for all of its
/// tasks.
///
/// ```
/// use tfrt_async::ByteString;
/// use tfrt_queue::{ConcurrentWorkQueue, WorkStealingQueue, enqueue_value, run_blocking_value};
///
/// let queue = WorkStealingQueue::new(2, 4);
/// let sum = enqueue_value(&queue, || Ok((1..=10).sum::<i32>()));
/// let text = run_blocking_value(&queue, || Ok(ByteString::from("waited for")));
/// queue.quiesce()?;
/// assert_eq!(sum.get(), Some(&55));
/// assert_eq!(text.get().map(|text| text.as_bytes()), Some(&b"waited for"[..]));
/// # Ok::<(), tfrt_queue::WouldDeadlock>(())
/// ```
pub struct WorkStealingQueue {
    shared: Arc<Shared>,
}

/// The state that the threads of a queue share.
struct Shared {
    compute: Compute,
    blocking: Blocking,
    quiescence: Quiescence,
    spawner: Spawner,
}

impl WorkStealingQueue {
    /// Creates a queue of at most `num_threads` compute threads and `num_blocking_threads` pool
    /// threads for blocking tasks.
    ///
    /// A count of 0 is taken as 1, and more than 65535 compute threads as 65535. The system decides
    /// on which cores they run.
    #[must_use]
    pub fn new(num_threads: usize, num_blocking_threads: usize) -> Self {
        Self::with(num_threads, num_blocking_threads, None)
    }

    /// Like [`new`](Self::new), with each compute thread bound to one of `cores`: the first thread
    /// to the first core and so on, starting again at the first core if there are more threads than
    /// cores. Blocking threads mostly wait and are not bound.
    ///
    /// # Errors
    /// Fails if the system cannot bind a thread to one of the cores, or cannot bind threads at all.
    ///
    /// ```
    /// use tfrt_queue::{ConcurrentWorkQueue, WorkStealingQueue};
    ///
    /// if let Ok(queue) = WorkStealingQueue::bound_to_cores(1, 1, &"0".parse()?) {
    ///     assert_eq!(queue.parallelism_level(), 1);
    /// }
    /// # Ok::<(), tfrt_queue::cores::ParseCoresError>(())
    /// ```
    pub fn bound_to_cores(
        num_threads: usize,
        num_blocking_threads: usize,
        cores: &Cores,
    ) -> Result<Self, BindError> {
        cores::check(cores)?;
        Ok(Self::with(
            num_threads,
            num_blocking_threads,
            Some(cores.clone()),
        ))
    }

    fn with(num_threads: usize, num_blocking_threads: usize, cores: Option<Cores>) -> Self {
        Self::with_dynamic_idle(num_threads, num_blocking_threads, cores, DYNAMIC_IDLE)
    }

    fn with_dynamic_idle(
        num_threads: usize,
        num_blocking_threads: usize,
        cores: Option<Cores>,
        dynamic_idle: Duration,
    ) -> Self {
        let num_threads = num_threads.clamp(1, sleep::MAX_WORKERS);
        let shared = Shared {
            compute: Compute::new(num_threads, cores),
            blocking: Blocking::new(num_blocking_threads.max(1), dynamic_idle),
            quiescence: Quiescence::new(),
            spawner: Spawner::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Creates a queue from the argument of its configuration, `[N][,B][@CORES]`: `N` compute
    /// threads, by default as many as the system has cores; `B` blocking threads, by default 256;
    /// and the [`Cores`] to which the compute threads are bound.
    ///
    /// # Errors
    /// [`CreateQueueError::InvalidArgument`] if the argument does not have this form, and
    /// [`CreateQueueError::Failed`] if a thread cannot be bound to one of the cores.
    pub fn from_argument(argument: &str) -> Result<Self, CreateQueueError> {
        let invalid = || CreateQueueError::invalid_argument("mstd", argument);
        let (counts, cores) = match argument.split_once('@') {
            None => (argument, None),
            Some((counts, cores)) => (counts, Some(cores.parse().map_err(|_| invalid())?)),
        };
        let (compute, blocking) = match counts.split_once(',') {
            None => (counts, None),
            Some((compute, blocking)) => (compute, Some(blocking)),
        };
        let num_threads = match (&cores, counts) {
            (None, "") => default_threads(),
            (Some(cores), "") => Cores::len(cores),
            _ => parse_count(compute).ok_or_else(invalid)?,
        };
        let num_blocking = match blocking {
            None => DEFAULT_BLOCKING_THREADS,
            Some(count) => parse_count(count).ok_or_else(invalid)?,
        };
        if num_threads > sleep::MAX_WORKERS {
            return Err(invalid());
        }
        match cores {
            None => Ok(Self::new(num_threads, num_blocking)),
            Some(cores) => Self::bound_to_cores(num_threads, num_blocking, &cores)
                .map_err(|error| CreateQueueError::failed("mstd", error)),
        }
    }
}

fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(sleep::MAX_WORKERS))
}

fn parse_count(digits: &str) -> Option<usize> {
    // `parse` accepts a plus sign.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|count| is_number && *count > 0)
}

impl Shared {
    fn id(&self) -> QueueId {
        QueueId::of(self)
    }

    /// Called when a worker has fallen asleep.
    fn fell_asleep(&self, order: FellAsleep) {
        if order == FellAsleep::Last {
            self.quiescence.notify();
        }
    }

    /// Blocks until neither side has a task.
    fn wait_until_quiescent(&self) {
        let (compute, blocking) = (&self.compute, &self.blocking);
        let is_quiescent = || {
            quiescence::is_quiescent(|| blocking.quiescent_snapshot(), || compute.is_quiescent())
        };
        self.quiescence.wait(is_quiescent);
    }
}

impl ConcurrentWorkQueue for WorkStealingQueue {
    fn name(&self) -> String {
        format!(
            "Multi-threaded C++ work queue ({} threads, {} blocking threads)",
            self.shared.compute.num_workers(),
            self.shared.blocking.num_threads()
        )
    }

    fn add_task(&self, task: Task) {
        compute::add_task(&self.shared, 0, task);
    }

    fn add_task_for(&self, tag: &RequestTag, task: Task) {
        compute::add_task(&self.shared, tag.priority, task);
    }

    fn add_tasks(&self, tasks: &mut dyn Iterator<Item = Task>) {
        compute::add_tasks(&self.shared, 0, tasks);
    }

    fn add_tasks_for(&self, tag: &RequestTag, tasks: &mut dyn Iterator<Item = Task>) {
        compute::add_tasks(&self.shared, tag.priority, tasks);
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.add_blocking_task_for(&RequestTag::default(), task, allow_queuing)
    }

    fn add_blocking_task_for(
        &self,
        tag: &RequestTag,
        task: Task,
        allow_queuing: bool,
    ) -> Result<(), Task> {
        if allow_queuing {
            blocking::enqueue(&self.shared, tag.priority, task)
        } else {
            blocking::run(&self.shared, task)
        }
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        latch::wait_for(values);
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        let _wait = waits::begin(self.shared.id())?;
        self.shared.wait_until_quiescent();
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        self.shared.compute.num_workers()
    }

    fn is_in_worker_thread(&self) -> bool {
        role::current(self.shared.id()) == Some(Role::Compute)
    }

    fn current_worker(&self) -> Option<usize> {
        compute::current_worker(&self.shared)
    }

    fn num_pending_tasks(&self) -> Option<usize> {
        Some(self.shared.compute.num_pending() + self.shared.blocking.num_pending())
    }
}

impl Drop for WorkStealingQueue {
    fn drop(&mut self) {
        let is_outside = self.quiesce().is_ok();
        self.shared.compute.terminate();
        self.shared.blocking.terminate();
        let mut threads = self.shared.compute.take_threads();
        threads.append(&mut self.shared.blocking.take_threads());
        if is_outside {
            for thread in threads {
                // A task that panics does not end its thread, so there is no panic to report.
                drop(thread.join());
            }
        }
    }
}

impl fmt::Debug for WorkStealingQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkStealingQueue")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_models;

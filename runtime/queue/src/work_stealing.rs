//! A queue of compute threads that steal from each other, with a pool for blocking tasks beside them.
//!
//! The compute side is lock-free while there is work: see `compute` for who takes which task, and `sleep` for the protocol
//! of sleeping and waking. The blocking side is a mutex and a few condition variables: see `blocking`.
//!
//! # Quiescence
//!
//! The queue is at rest when no task is pending or running on either side. The sides cannot be looked at in one moment, and a
//! task of one may add a task to the other. So the blocking side is looked at, then the compute side, then the
//! blocking side again: if it was at rest both times and has accepted no task in between, it had none all that time, and so
//! nobody was there who could have added one to the compute side after that was found at rest.
//!
//! Whoever brings a side to rest tells those who wait.
//!
//! # Shutdown
//!
//! 1. The queue is dropped. Nobody can add tasks any more but tasks that hold no reference to it, so none.
//! 2. It waits until it is at rest.
//! 3. Both sides are told to terminate, and their threads end as they find nothing to do.
//! 4. All threads are joined.
//!
//! A task may hold the last reference to its own queue. Then the thread that drops the queue is one of its own, and neither waits
//! nor joins: the threads still run what there is, and then end on their own.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use tfrt_async::AnyRef;

use crate::latch;
use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role};
use crate::task::Task;
use blocking::Blocking;
use compute::Compute;

mod compute;

mod sleep;

mod blocking;

/// The stack of every thread of the queue: kernels are not written for small ones.
const STACK_BYTES: usize = 8 << 20;

/// How many blocking threads there are unless the argument says.
const DEFAULT_BLOCKING_THREADS: usize = 256;

/// Runs compute tasks on threads that steal from each other, and blocking tasks on a pool beside them.
///
/// Threads start when they are first needed. Dropping the queue waits for all of its tasks.
///
/// ```
/// use tfrt_queue::{ConcurrentWorkQueue, WorkStealingQueue, enqueue_value, run_blocking_value};
///
/// let queue = WorkStealingQueue::new(2, 4);
/// let sum = enqueue_value(&queue, || Ok((1..=10).sum::<i32>()));
/// let text = run_blocking_value(&queue, || Ok(String::from("waited for")));
/// queue.quiesce()?;
/// assert_eq!(sum.get(), Some(&55));
/// assert_eq!(text.get().map(String::as_str), Some("waited for"));
/// # Ok::<(), tfrt_queue::WouldDeadlock>(())
/// ```
pub struct WorkStealingQueue {
    shared: Arc<Shared>,
}

/// What the threads of a queue share.
struct Shared {
    compute: Compute,
    blocking: Blocking,
    /// How many threads wait in `quiesce`.
    num_quiescing: AtomicUsize,
    rest_lock: Mutex<()>,
    /// One of the sides has come to rest.
    rest_reached: Condvar,
}

impl WorkStealingQueue {
    /// A queue of at most `num_threads` compute threads and `num_blocking_threads` pool threads for blocking tasks.
    ///
    /// Both are at least 1; there are at most 65535 compute threads.
    #[must_use]
    pub fn new(num_threads: usize, num_blocking_threads: usize) -> Self {
        let shared = Shared {
            compute: Compute::new(num_threads.clamp(1, sleep::MAX_WORKERS)),
            blocking: Blocking::new(num_blocking_threads.max(1)),
            num_quiescing: AtomicUsize::new(0),
            rest_lock: Mutex::new(()),
            rest_reached: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A queue from the argument of its configuration: nothing, `N` compute threads, or `N,B` with `B` blocking threads.
    ///
    /// # Errors
    /// What is wrong with the argument.
    pub fn from_argument(argument: &str) -> Result<Self, String> {
        let (compute, blocking) = argument
            .split_once(',')
            .map_or((argument, None), |(n, b)| (n, Some(b)));
        let num_threads = if argument.is_empty() {
            Some(default_threads())
        } else {
            parse_count(compute)
        };
        let num_blocking = blocking.map_or(Some(DEFAULT_BLOCKING_THREADS), parse_count);
        match (num_threads, num_blocking) {
            (Some(num_threads), Some(num_blocking)) if num_threads <= sleep::MAX_WORKERS => {
                Ok(Self::new(num_threads, num_blocking))
            }
            _ => Err(format!("Invalid argument for mstd work queue: {argument}")),
        }
    }
}

fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(sleep::MAX_WORKERS))
}

fn parse_count(digits: &str) -> Option<usize> {
    // `parse` would take a plus sign.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|count| is_number && *count > 0)
}

impl Shared {
    fn id(&self) -> QueueId {
        QueueId::of(self)
    }

    fn is_at_rest(&self) -> bool {
        let before = self.blocking.at_rest();
        before.is_some() && self.compute.is_at_rest() && self.blocking.at_rest() == before
    }

    /// Tells those who wait that a side has come to rest.
    fn came_to_rest(&self) {
        // Orders what made the side come to rest before the look at the count; pairs with the fence in `wait_for_rest`.
        fence(Ordering::SeqCst);
        if self.num_quiescing.load(Ordering::Relaxed) > 0 {
            drop(
                self.rest_lock
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            );
            self.rest_reached.notify_all();
        }
    }

    /// Blocks until neither side has a task.
    fn wait_for_rest(&self) {
        self.num_quiescing.fetch_add(1, Ordering::Relaxed);
        // Orders the count before the looks at the sides; pairs with the fence in `came_to_rest`. Whoever brings a side to
        // rest after the look sees the count, and cannot notify before the wait, because of the lock.
        fence(Ordering::SeqCst);
        let guard = self
            .rest_lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        drop(self.rest_reached.wait_while(guard, |()| !self.is_at_rest()));
        self.num_quiescing.fetch_sub(1, Ordering::Relaxed);
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
        compute::add_task(&self.shared, task);
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if allow_queuing {
            blocking::enqueue(&self.shared, task)
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
        if role::current(self.shared.id()).is_some() {
            return Err(WouldDeadlock);
        }
        self.shared.wait_for_rest();
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        self.shared.compute.num_workers()
    }

    fn is_in_worker_thread(&self) -> bool {
        role::current(self.shared.id()) == Some(Role::Compute)
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
                // Tasks that panic do not end a thread; if it ended otherwise, it has ended all the same.
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

//! The work queue of GPU programs: tasks run immediately, on the thread that adds them.
//!
//! Kernels of GPU programs put work on streams and do little else, so passing them to other threads
//! does not pay off. A program runs on its caller's thread, in order, and `stream.synchronize`
//! blocks that thread. Only tasks that wait for another participant have separate threads.
//!
//! Tasks that add tasks nest. Beyond 64 levels, a task runs on a separate thread, because the stack
//! of the caller is finite.

use std::cell::RefCell;

use tfrt::async_value::AnyRef;
use tfrt::queue::{
    ConcurrentWorkQueue, CreateQueueError, QueueFactory, Task, WorkStealingQueue, WouldDeadlock,
};

/// The maximum nesting depth of tasks that run immediately.
const MAX_DEPTH: usize = 64;

/// Runs tasks immediately, including blocking ones that may be queued. Other blocking tasks have
/// separate threads.
///
/// Programs select it by the name `gpu`: `tfrt run --work_queue_type=gpu`.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt::queue::{ConcurrentWorkQueue, Task};
/// use tfrt_gpu::queue::GpuWorkQueue;
///
/// let queue = GpuWorkQueue::new();
/// let (sender, receiver) = channel();
/// queue.add_task(Task::new(move || drop(sender.send(7))));
/// assert_eq!(receiver.try_recv(), Ok(7));
/// ```
#[derive(Debug)]
pub struct GpuWorkQueue {
    /// The threads for all that does not run at once.
    threads: WorkStealingQueue,
}

thread_local! {
    /// The queues whose tasks this thread runs at once, by the addresses of their threads; the
    /// innermost last.
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Ends the innermost task of this thread when it is dropped.
struct Running;

impl Running {
    fn enter(queue: usize) -> Self {
        RUNNING.with_borrow_mut(|running| running.push(queue));
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(|running| {
            running.pop();
        });
    }
}

impl GpuWorkQueue {
    /// Creates a queue without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            threads: WorkStealingQueue::new(1, 1),
        }
    }

    /// Returns a number that identifies this queue while it exists.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs a task on this thread. Returns it if tasks nest too deep for that.
    fn run_at_once(&self, task: Task) -> Result<(), Task> {
        if RUNNING.with_borrow(Vec::len) >= MAX_DEPTH {
            return Err(task);
        }
        let _running = Running::enter(self.id());
        task.run_and_survive();
        Ok(())
    }
}

impl Default for GpuWorkQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl ConcurrentWorkQueue for GpuWorkQueue {
    fn name(&self) -> String {
        "GPU".into()
    }

    fn add_task(&self, task: Task) {
        if let Err(task) = self.run_at_once(task) {
            self.threads.add_task(task);
        }
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if !allow_queuing {
            return self.threads.add_blocking_task(task, false);
        }
        self.run_at_once(task)
            .or_else(|task| self.threads.add_blocking_task(task, true))
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        self.threads.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        self.threads.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        RUNNING.with_borrow(|running| running.contains(&self.id()))
            || self.threads.is_in_worker_thread()
    }

    fn num_pending_tasks(&self) -> Option<usize> {
        self.threads.num_pending_tasks()
    }
}

inventory::submit! {
    QueueFactory {
        name: "gpu",
        create: |argument| match argument {
            "" => Ok(std::sync::Arc::new(GpuWorkQueue::new())),
            _ => Err(CreateQueueError::invalid_argument("gpu", argument)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::{self, ThreadId};

    use super::*;

    #[test]
    fn it_keeps_the_contract_of_queues() {
        tfrt::queue::testing::conformance::check(|| Arc::new(GpuWorkQueue::new()));
    }

    #[test]
    fn tasks_run_on_the_thread_that_adds_them() {
        let queue = GpuWorkQueue::new();
        let (sender, receiver) = std::sync::mpsc::channel::<(&str, ThreadId)>();
        let task = |name| {
            let sender = sender.clone();
            Task::new(move || sender.send((name, thread::current().id())).unwrap())
        };
        queue.add_task(task("compute"));
        queue.add_blocking_task(task("blocking"), true).unwrap();
        let here = thread::current().id();
        assert_eq!(receiver.try_recv(), Ok(("compute", here)));
        assert_eq!(receiver.try_recv(), Ok(("blocking", here)));
        queue.add_blocking_task(task("own"), false).unwrap();
        queue.quiesce().unwrap();
        assert!(receiver.try_recv().is_ok_and(|(_, on)| on != here));
    }

    #[test]
    fn tasks_may_add_tasks_to_any_depth() {
        fn descend(queue: &Arc<GpuWorkQueue>, left: usize, count: &Arc<AtomicUsize>) {
            // Relaxed: waiting for the queue orders this before the check.
            count.fetch_add(1, Ordering::Relaxed);
            if left > 0 {
                let (inner, count) = (Arc::clone(queue), Arc::clone(count));
                queue.add_task(Task::new(move || descend(&inner, left - 1, &count)));
            }
        }
        let queue = Arc::new(GpuWorkQueue::new());
        let count = Arc::default();
        descend(&queue, 1_000_000, &count);
        queue.quiesce().unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 1_000_001);
    }
}

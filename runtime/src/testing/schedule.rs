//! The queues of a test, and the attribution of values to its runs.

use std::sync::Arc;

use tfrt_async::{AnyRef, LiveScope};
use tfrt_queue::testing::RandomOrderQueue;
use tfrt_queue::{ConcurrentWorkQueue, RequestTag, Task, WouldDeadlock, create_queue};

/// The number of random orders of [`every`].
const NUM_RANDOM_ORDERS: u64 = 16;

/// Returns the default queue of a test.
pub(super) fn one() -> Vec<String> {
    vec![String::from("s")]
}

/// One thread, orders that it would not choose, and several threads.
///
/// The random orders come before the threads: a fault that both would find is then reported under a
/// queue that shows it again.
pub(super) fn every() -> Vec<String> {
    let random = (0..NUM_RANDOM_ORDERS).map(|seed| format!("random:{seed}"));
    one()
        .into_iter()
        .chain(random)
        .chain([String::from("mstd:4")])
        .collect()
}

/// Whether a queue runs kernels in a random order.
pub(super) fn is_random(name: &str) -> bool {
    name.starts_with("random:")
}

/// Makes a queue whose tasks run inside `scope`.
///
/// # Panics
/// If there is no such queue.
#[track_caller]
pub(super) fn queue(name: &str, scope: &LiveScope) -> Arc<dyn ConcurrentWorkQueue> {
    let inner: Arc<dyn ConcurrentWorkQueue> = match name.strip_prefix("random:") {
        Some(seed) => match seed.parse() {
            Ok(seed) => Arc::new(RandomOrderQueue::new(seed)),
            Err(_) => panic!("queue `{name}`: expected a number as the seed, found `{seed}`"),
        },
        None => match create_queue(name) {
            Ok(queue) => queue,
            Err(error) => panic!("{error}, or `random:SEED`"),
        },
    };
    Arc::new(ScopedQueue {
        inner,
        scope: scope.clone(),
    })
}

/// A queue whose tasks run inside a scope.
#[derive(Debug)]
struct ScopedQueue {
    inner: Arc<dyn ConcurrentWorkQueue>,
    scope: LiveScope,
}

impl ScopedQueue {
    fn scoped(&self, task: Task) -> Task {
        let scope = self.scope.clone();
        Task::new(move || scope.run(|| task.run()))
    }
}

impl ConcurrentWorkQueue for ScopedQueue {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn add_task(&self, task: Task) {
        self.inner.add_task(self.scoped(task));
    }

    fn add_task_for(&self, tag: &RequestTag, task: Task) {
        self.inner.add_task_for(tag, self.scoped(task));
    }

    /// A refused task is returned inside its scope. This is harmless: the caller runs it for the
    /// same run.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.inner
            .add_blocking_task(self.scoped(task), allow_queuing)
    }

    fn add_blocking_task_for(
        &self,
        tag: &RequestTag,
        task: Task,
        allow_queuing: bool,
    ) -> Result<(), Task> {
        self.inner
            .add_blocking_task_for(tag, self.scoped(task), allow_queuing)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.inner.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.inner.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        self.inner.parallelism_level()
    }

    fn is_in_worker_thread(&self) -> bool {
        self.inner.is_in_worker_thread()
    }

    fn current_worker(&self) -> Option<usize> {
        self.inner.current_worker()
    }

    fn num_pending_tasks(&self) -> Option<usize> {
        self.inner.num_pending_tasks()
    }
}

//! Checks that every queue of this crate, and queues that users might write, fulfil the contract.
#![cfg(not(loom))]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;

use tfrt_async::AnyRef;
use tfrt_queue::testing::{RandomOrderQueue, conformance};
use tfrt_queue::{
    ConcurrentWorkQueue, CreateQueueError, QueueFactory, SingleThreadedQueue, Task,
    WorkStealingQueue, WouldDeadlock, create_queue,
};

#[test]
fn the_single_threaded_queue_conforms() {
    conformance::check(|| Arc::new(SingleThreadedQueue::new()));
}

#[test]
fn the_work_stealing_queue_conforms() {
    for (num_compute, num_blocking) in [(1, 1), (2, 2), (8, 3)] {
        conformance::check(|| Arc::new(WorkStealingQueue::new(num_compute, num_blocking)));
    }
}

#[test]
fn the_random_order_queue_conforms() {
    let seed = AtomicUsize::new(0);
    for _ in 0..20 {
        conformance::check(|| {
            Arc::new(RandomOrderQueue::new(
                seed.fetch_add(1, Ordering::Relaxed) as u64
            ))
        });
    }
}

/// Another queue, with its tasks wrapped, and optionally without blocking tasks.
#[derive(Debug)]
struct Altered {
    inner: Arc<dyn ConcurrentWorkQueue>,
    wrap: fn(Task) -> Task,
    refuses_blocking_tasks: bool,
}

impl ConcurrentWorkQueue for Altered {
    fn name(&self) -> String {
        format!("altered {}", self.inner.name())
    }

    fn add_task(&self, task: Task) {
        self.inner.add_task((self.wrap)(task));
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if self.refuses_blocking_tasks {
            Err(task)
        } else {
            self.inner.add_blocking_task(task, allow_queuing)
        }
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

    fn current_worker(&self) -> Option<usize> {
        self.inner.current_worker()
    }

    fn is_in_worker_thread(&self) -> bool {
        self.inner.is_in_worker_thread()
    }
}

#[test]
fn a_slow_queue_conforms() {
    let wrap = |task: Task| {
        Task::new(move || {
            (0..5).for_each(|_| std::thread::yield_now());
            task.run();
        })
    };
    conformance::check(|| {
        Arc::new(Altered {
            inner: Arc::new(WorkStealingQueue::new(2, 1)),
            wrap,
            refuses_blocking_tasks: false,
        })
    });
}

#[test]
fn a_queue_that_fails_every_blocking_task_conforms() {
    conformance::check(|| {
        Arc::new(Altered {
            inner: Arc::new(SingleThreadedQueue::new()),
            wrap: |task| task,
            refuses_blocking_tasks: true,
        })
    });
}

/// A queue that a user might write: a thread for every task.
#[derive(Debug, Default)]
struct ThreadPerTask {
    shared: Arc<(Mutex<Vec<ThreadId>>, Condvar)>,
}

impl ThreadPerTask {
    fn spawn(&self, task: Task) {
        let shared = Arc::clone(&self.shared);
        let (running, _) = &*self.shared;
        // Added under the lock that the thread needs to remove itself, so that it is added first.
        let mut running = running.lock().unwrap();
        let thread = std::thread::spawn(move || {
            let id = std::thread::current().id();
            drop(shared.0.lock().unwrap());
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run()));
            shared.0.lock().unwrap().retain(|other| *other != id);
            shared.1.notify_all();
        });
        running.push(thread.thread().id());
    }
}

impl ConcurrentWorkQueue for ThreadPerTask {
    fn name(&self) -> String {
        "a thread per task".into()
    }

    fn add_task(&self, task: Task) {
        self.spawn(task);
    }

    fn add_blocking_task(&self, task: Task, _allow_queuing: bool) -> Result<(), Task> {
        self.spawn(task);
        Ok(())
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        let (running, changed) = &*self.shared;
        for value in values {
            let shared = Arc::clone(&self.shared);
            value.and_then(move |_| {
                drop(shared.0.lock().unwrap());
                shared.1.notify_all();
            });
        }
        let all_there = |_: &mut Vec<ThreadId>| !values.iter().all(AnyRef::is_available);
        drop(changed.wait_while(running.lock().unwrap(), all_there));
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        let (running, changed) = &*self.shared;
        drop(changed.wait_while(running.lock().unwrap(), |running| !running.is_empty()));
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        2
    }

    fn is_in_worker_thread(&self) -> bool {
        self.shared
            .0
            .lock()
            .unwrap()
            .contains(&std::thread::current().id())
    }
}

impl Drop for ThreadPerTask {
    fn drop(&mut self) {
        let _ = self.quiesce();
    }
}

fn create_thread_per_task(
    argument: &str,
) -> Result<Arc<dyn ConcurrentWorkQueue>, CreateQueueError> {
    match argument {
        "" => Ok(Arc::new(ThreadPerTask::default())),
        _ => Err(CreateQueueError::invalid_argument("threads", argument)),
    }
}

inventory::submit! {
    QueueFactory { name: "threads", create: create_thread_per_task }
}

#[test]
fn a_users_queue_is_found_by_name_and_conforms() {
    conformance::check(|| create_queue("threads").expect("the factory above"));
    assert!(create_queue("threads:2").is_err());
}

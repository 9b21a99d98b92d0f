//! Models of whole queues, over the shipped source: `RUSTFLAGS="--cfg loom" cargo test -p
//! tfrt-queue --release --lib loom`.
//!
//! These are the protocols that involve more than one module: the blocking pool, and workers to
//! which the system refuses a thread. The deques and the counts of the tasks are not modelled: they
//! act as if every access were sequentially consistent. The models of `sleep` check that tasks
//! become visible in time. A lost notification leaves a thread parked forever, which loom reports
//! as a deadlock.

use std::sync::atomic::{AtomicUsize as Count, Ordering};

use super::*;
use crate::sync::thread;

type Queue = Arc<WorkStealingQueue>;

/// A queue whose dynamic threads wait for `dynamic_idle`, and that can start `num_startable`
/// threads.
fn queue(num_compute: usize, dynamic_idle: Duration, num_startable: isize) -> Queue {
    let shared = Shared {
        compute: Compute::new(num_compute, None),
        blocking: Blocking::new(1, dynamic_idle),
        quiescence: Quiescence::new(),
        spawner: Spawner::default(),
    };
    shared.spawner.limit.set(num_startable);
    Arc::new(WorkStealingQueue {
        shared: Arc::new(shared),
    })
}

/// A timeout that never expires.
const NEVER: Duration = Duration::MAX;

fn counting(counter: &Arc<Count>) -> Task {
    let counter = Arc::clone(counter);
    Task::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

fn count(counter: &Count) -> usize {
    counter.load(Ordering::Relaxed)
}

/// Explores all interleavings with at most two preemptions.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

/// Drops the queue. Loom itself waits for its threads, which are not joined: in loom a join may
/// fail after other waits.
fn shut_down(queue: Queue) {
    drop(queue.shared.compute.take_threads());
    drop(queue.shared.blocking.take_threads());
    Arc::into_inner(queue).expect("no other thread holds the queue");
}

#[test]
fn loom_a_pool_thread_runs_what_is_queued() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, isize::MAX), Arc::default());
        // The second task meets a thread that starts, waits, or runs.
        queue.add_blocking_task(counting(&runs), true).unwrap();
        queue.add_blocking_task(counting(&runs), true).unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_two_threads_queue_tasks_for_the_pool() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, isize::MAX), Arc::default());
        let adder = thread::spawn({
            let (queue, task) = (Arc::clone(&queue), counting(&runs));
            move || queue.add_blocking_task(task, true).unwrap()
        });
        queue.add_blocking_task(counting(&runs), true).unwrap();
        adder.join().unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_a_dynamic_thread_runs_what_is_handed_over() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, isize::MAX), Arc::default());
        // The second task meets a thread that starts, waits, or runs; in the last case it gets one
        // of its own.
        queue.add_blocking_task(counting(&runs), false).unwrap();
        queue.add_blocking_task(counting(&runs), false).unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_a_dynamic_thread_that_ends_leaves_no_task_behind() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, Duration::ZERO, isize::MAX), Arc::default());
        queue.add_blocking_task(counting(&runs), false).unwrap();
        queue.add_blocking_task(counting(&runs), false).unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_a_shutdown_without_a_wait_runs_blocking_tasks() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, isize::MAX), Arc::default());
        queue.add_blocking_task(counting(&runs), true).unwrap();
        queue.add_blocking_task(counting(&runs), false).unwrap();
        // As if a task had dropped the queue: no thread waits before the others are told to end.
        queue.shared.blocking.terminate();
        let threads = queue.shared.blocking.take_threads();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_without_threads_every_task_is_run_by_those_that_add() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, 0), Arc::default());
        let adder = thread::spawn({
            let (queue, task) = (Arc::clone(&queue), counting(&runs));
            move || queue.add_task(task)
        });
        queue.add_task(counting(&runs));
        queue.quiesce().unwrap();
        assert!(count(&runs) >= 1);
        adder.join().unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

#[test]
fn loom_a_wait_sees_a_task_that_is_run_in_place_of_a_worker() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, 0), Arc::<Count>::default());
        let is_added = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let adder = thread::spawn({
            let (queue, runs, is_added) =
                (Arc::clone(&queue), Arc::clone(&runs), Arc::clone(&is_added));
            move || {
                queue.add_task(Task::new(move || {
                    is_added.store(true, Ordering::Release);
                    thread::yield_now();
                    runs.fetch_add(1, Ordering::Relaxed);
                }));
            }
        });
        let was_added = is_added.load(Ordering::Acquire);
        queue.quiesce().unwrap();
        assert!(!was_added || count(&runs) == 1);
        adder.join().unwrap();
        shut_down(queue);
    });
}

#[test]
fn loom_a_wait_sees_an_urgent_task_that_a_worker_took() {
    bounded_model(|| {
        let (queue, runs) = (queue(1, NEVER, isize::MAX), Arc::<Count>::default());
        let counter = Arc::clone(&runs);
        // The worker is about to sleep when the second task is added, or does not sleep yet.
        queue.add_task(Task::new(|| {}));
        let tag = RequestTag { id: 0, priority: 1 };
        let task = move || {
            thread::yield_now();
            counter.fetch_add(1, Ordering::Relaxed);
        };
        queue.add_task_for(&tag, Task::new(task));
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 1);
        shut_down(queue);
    });
}

#[test]
fn loom_a_worker_without_a_thread_ends_the_wait_for_quiescence() {
    bounded_model(|| {
        // One worker of two gets a thread.
        let (queue, runs) = (queue(2, NEVER, 1), Arc::default());
        let adder = thread::spawn({
            let (queue, task) = (Arc::clone(&queue), counting(&runs));
            move || queue.add_task(task)
        });
        queue.add_task(counting(&runs));
        queue.quiesce().unwrap();
        adder.join().unwrap();
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 2);
        shut_down(queue);
    });
}

//! Models of waiting, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-queue --release --lib loom`.
//!
//! A lost notification leaves a waiter asleep forever, which loom reports as a deadlock.

use std::sync::atomic::AtomicUsize as Count;

use tfrt_async::AsyncValueRef;

use super::*;
use crate::sync::thread;

fn counting(counter: &Arc<Count>) -> Task {
    let counter = Arc::clone(counter);
    Task::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

fn count(counter: &Count) -> usize {
    counter.load(Ordering::Relaxed)
}

/// Explores all interleavings with at most three preemptions.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

#[test]
fn loom_an_await_ends_when_another_thread_publishes() {
    bounded_model(|| {
        let queue = SingleThreadedQueue::new();
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let values = [value.into_any()];
        let publisher = thread::spawn(move || promise.emplace(1));
        queue.await_values(&values).unwrap();
        // What the publisher wrote is visible to the waiter.
        assert_eq!(values[0].get::<i32>(), Some(&1));
        publisher.join().unwrap();
    });
}

#[test]
fn loom_an_await_runs_what_another_thread_adds() {
    for priority in [0, 1, -1] {
        bounded_model(move || {
            let queue = Arc::new(SingleThreadedQueue::new());
            let (promise, value) = AsyncValueRef::<i32>::unconstructed();
            let values = [value.into_any()];
            let adder = thread::spawn({
                let queue = Arc::clone(&queue);
                let tag = RequestTag { id: 0, priority };
                move || queue.add_task_for(&tag, Task::new(move || promise.emplace(1)))
            });
            queue.await_values(&values).unwrap();
            assert_eq!(values[0].get::<i32>(), Some(&1));
            adder.join().unwrap();
        });
    }
}

#[test]
fn loom_quiescing_waits_for_the_batch_of_another_thread() {
    bounded_model(|| {
        let queue = Arc::new(SingleThreadedQueue::new());
        let runs = Arc::new(Count::new(0));
        queue.add_task(counting(&runs));
        let other = thread::spawn({
            let (queue, runs) = (Arc::clone(&queue), Arc::clone(&runs));
            move || {
                queue.quiesce().unwrap();
                assert_eq!(count(&runs), 1);
            }
        });
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 1);
        other.join().unwrap();
    });
}

#[test]
fn loom_what_an_await_leaves_is_run_by_another_wait() {
    bounded_model(|| {
        let queue = Arc::new(SingleThreadedQueue::new());
        let runs = Arc::new(Count::new(0));
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        queue.add_task(Task::new(move || promise.emplace(1)));
        queue.add_task(counting(&runs));
        let awaiter = thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.await_values(&[value.into_any()]).unwrap()
        });
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 1);
        awaiter.join().unwrap();
    });
}

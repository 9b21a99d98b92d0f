//! The contract of [`ConcurrentWorkQueue`], as a test that any queue must pass.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};

use tfrt_async::{AnyRef, AsyncValueRef};

use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::task::{RequestTag, Task};

type Queue = Arc<dyn ConcurrentWorkQueue>;

/// Checks every clause of the contract on queues that `make` returns.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_queue::testing::conformance;
/// use tfrt_queue::SingleThreadedQueue;
///
/// conformance::check(|| Arc::new(SingleThreadedQueue::new()));
/// ```
///
/// # Panics
/// Panics if a clause does not hold. The message names it.
pub fn check(make: impl Fn() -> Queue) {
    every_task_runs_once(&make());
    tasks_may_come_from_many_threads(&make());
    tasks_may_come_in_batches(&make());
    a_batch_may_be_large(&make());
    a_batch_may_be_made_of_what_it_adds(&make());
    a_batch_that_panics_has_added_what_it_gave(&make());
    awaiting_ends_when_the_values_are_there(&make());
    waiting_inside_a_task_is_refused(&make());
    a_panic_ends_its_task_alone(&make());
    blocking_tasks_run_or_come_back(&make());
    unqueued_blocking_tasks_start_whatever_blocks(&make());
    dropping_runs_what_is_left(make());
    assert!(
        make().parallelism_level() > 0,
        "at least one task is computed at a time"
    );
    assert!(!make().name().is_empty(), "a queue has a name");
}

/// Counts runs of tasks.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn increment(&self) {
        // Relaxed: waiting for the queue orders the increments before the check.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn task(&self) -> Task {
        let counter = self.clone();
        Task::new(move || counter.increment())
    }

    fn assert_is(&self, expected: usize, claim: &str) {
        assert_eq!(self.0.load(Ordering::Relaxed), expected, "{claim}");
    }
}

fn every_task_runs_once(queue: &Queue) {
    fn spread(queue: &Queue, depth: u32, counter: &Counter) {
        counter.increment();
        let worker = queue.current_worker();
        assert!(
            worker.is_none_or(|worker| worker < queue.parallelism_level()),
            "workers are numbered from 0 on"
        );
        for _ in 0..if depth == 0 { 0 } else { 3 } {
            let (inner, counter) = (Arc::clone(queue), counter.clone());
            queue.add_task(Task::new(move || spread(&inner, depth - 1, &counter)));
        }
    }
    let counter = Counter::default();
    spread(queue, 6, &counter);
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(
        (0..=6).map(|depth| 3_usize.pow(depth)).sum(),
        "every task runs once, those added by tasks too",
    );
}

fn tasks_may_come_from_many_threads(queue: &Queue) {
    let counter = Counter::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    let counter = counter.clone();
                    queue.add_task(Task::new(move || counter.increment()));
                }
            });
        }
    });
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(1000, "tasks may be added from any thread");
}

fn tasks_may_come_in_batches(queue: &Queue) {
    fn spread(queue: &Queue, depth: usize, counter: &Counter) {
        counter.increment();
        // No task, one task, and several.
        let (inner, counter) = (Arc::clone(queue), counter.clone());
        queue.add_tasks(&mut (0..depth).map(|depth| {
            let (inner, counter) = (Arc::clone(&inner), counter.clone());
            Task::new(move || spread(&inner, depth, &counter))
        }));
    }
    let counter = Counter::default();
    spread(queue, 9, &counter);
    queue.add_tasks_for(
        &RequestTag { id: 7, priority: 1 },
        &mut [counter.task(), counter.task()].into_iter(),
    );
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(
        (1 << 9) + 2,
        "every task of a batch runs once, in whatever batch it was added",
    );
}

fn a_batch_may_be_large(queue: &Queue) {
    // More than the deque of a worker holds.
    const NUM_TASKS: usize = 2_000;
    let counter = Counter::default();
    let (inner, in_task) = (Arc::clone(queue), counter.clone());
    queue.add_task(Task::new(move || {
        inner.add_tasks(&mut std::iter::repeat_with(|| in_task.task()).take(NUM_TASKS));
    }));
    queue.add_tasks(&mut std::iter::repeat_with(|| counter.task()).take(NUM_TASKS));
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(2 * NUM_TASKS, "a batch may have any number of tasks");
}

fn a_batch_may_be_made_of_what_it_adds(queue: &Queue) {
    let counter = Counter::default();
    queue.add_tasks(&mut (0..10).map(|_| {
        queue.add_task(counter.task());
        queue.add_tasks(&mut std::iter::once(counter.task()));
        counter.task()
    }));
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(30, "tasks may be added while a batch is");
}

fn a_batch_that_panics_has_added_what_it_gave(queue: &Queue) {
    let counter = Counter::default();
    let added = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        queue.add_tasks(&mut (0..10).map(|index| match index {
            7 => std::panic::resume_unwind(Box::new("a batch of the conformance test")),
            _ => counter.task(),
        }));
    }));
    assert!(
        added.is_err(),
        "the panic of a batch reaches the thread that adds it"
    );
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(7, "the tasks that a batch returned before its panic run");
}

fn awaiting_ends_when_the_values_are_there(queue: &Queue) {
    let (by_task, first) = AsyncValueRef::<i32>::unconstructed();
    let (by_thread, second) = AsyncValueRef::<i32>::unconstructed();
    let values = [first.into_any(), second.into_any(), AnyRef::ready_chain()];
    queue.add_task(Task::new(move || by_task.emplace(1)));
    std::thread::scope(|scope| {
        scope.spawn(move || by_thread.emplace(2));
        queue
            .await_values(&values)
            .expect("this is not a thread of the queue");
    });
    assert!(
        values.iter().all(AnyRef::is_available),
        "awaiting ends when all values are available"
    );
    queue
        .await_values(&[])
        .expect("this is not a thread of the queue");
}

fn waiting_inside_a_task_is_refused(queue: &Queue) {
    assert!(
        !queue.is_in_worker_thread(),
        "this is not a thread of the queue"
    );
    let (sender, receiver) = channel();
    let inner = Arc::clone(queue);
    queue.add_task(Task::new(move || {
        let waits = [
            inner.quiesce(),
            inner.await_values(&[AnyRef::ready_chain()]),
        ];
        let _ = sender.send((inner.is_in_worker_thread(), waits));
    }));
    queue.quiesce().expect("this is not a thread of the queue");
    let (is_inside, waits) = receiver.try_recv().expect("the task ran");
    assert!(is_inside, "a task knows that it is one");
    assert_eq!(
        waits,
        [Err(WouldDeadlock); 2],
        "a task that waits for its own queue gets an error"
    );
}

fn a_panic_ends_its_task_alone(queue: &Queue) {
    let counter = Counter::default();
    for index in 0..20 {
        let counter = counter.clone();
        queue.add_task(Task::new(move || {
            counter.increment();
            if index % 5 == 0 {
                // Unlike `panic!`, this does not call the hook, which would clutter the output of a
                // test that passes.
                std::panic::resume_unwind(Box::new("a task of the conformance test"));
            }
        }));
    }
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(20, "the panic of a task does not affect other tasks");
}

fn blocking_tasks_run_or_come_back(queue: &Queue) {
    let counter = Counter::default();
    for index in 0..100 {
        let counter = counter.clone();
        let task = Task::new(move || counter.increment());
        if let Err(task) = queue.add_blocking_task(task, index % 2 == 0) {
            task.run();
        }
    }
    queue.quiesce().expect("this is not a thread of the queue");
    counter.assert_is(100, "a blocking task runs or is returned whole");
}

fn unqueued_blocking_tasks_start_whatever_blocks(queue: &Queue) {
    const NUM_TASKS: usize = 8;
    let meeting = Arc::new((Mutex::new(0_usize), Condvar::new()));
    let num_taken = (0..NUM_TASKS)
        .filter(|_| {
            let meeting = Arc::clone(&meeting);
            let meet = move || {
                let (num_here, changed) = &*meeting;
                *num_here.lock().unwrap() += 1;
                changed.notify_all();
                drop(changed.wait_while(num_here.lock().unwrap(), |num_here| {
                    *num_here < usize::MAX / 2
                }));
            };
            queue.add_blocking_task(Task::new(meet), false).is_ok()
        })
        .count();
    // If one of them waited for another to end, this would wait forever.
    let (num_here, changed) = &*meeting;
    let mut here = changed
        .wait_while(num_here.lock().unwrap(), |num_here| *num_here < num_taken)
        .unwrap();
    *here = usize::MAX / 2;
    drop(here);
    changed.notify_all();
    queue.quiesce().expect("this is not a thread of the queue");
}

fn dropping_runs_what_is_left(queue: Queue) {
    let counter = Counter::default();
    for _ in 0..50 {
        let counter = counter.clone();
        queue.add_task(Task::new(move || counter.increment()));
    }
    drop(queue);
    counter.assert_is(50, "dropping a queue runs the remaining tasks");
}

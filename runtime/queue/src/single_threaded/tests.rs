use std::sync::Mutex;
use std::thread;

use tfrt_async::{AsyncValueRef, Promise};

use super::*;

/// The names of the tasks that ran, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn task(&self, name: &'static str) -> Task {
        let log = self.clone();
        Task::new(move || log.push(name))
    }

    fn push(&self, name: &'static str) {
        self.0.lock().unwrap().push(name);
    }

    fn entries(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

fn value() -> (Promise<i32>, [AnyRef; 1]) {
    let (promise, value) = AsyncValueRef::unconstructed();
    (promise, [value.into_any()])
}

#[test]
fn tasks_run_in_order_and_added_ones_behind_the_others() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            log.push("a");
            queue.add_task(log.task("c"));
        })
    });
    queue.add_blocking_task(log.task("b"), true).unwrap();
    assert_eq!(log.entries(), [""; 0]);
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["a", "b", "c"]);
}

#[test]
fn nothing_runs_if_the_values_are_there() {
    let queue = SingleThreadedQueue::new();
    let log = Log::default();
    queue.add_task(log.task("a"));
    queue.await_values(&[AnyRef::ready_chain()]).unwrap();
    queue.await_values(&[]).unwrap();
    assert_eq!(log.entries(), [""; 0]);
}

#[test]
fn tasks_left_by_an_await_stay_in_front() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    let (promise, values) = value();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            log.push("a");
            queue.add_task(log.task("d"));
            promise.emplace(1);
        })
    });
    queue.add_task(log.task("b"));
    queue.add_task(log.task("c"));
    queue.await_values(&values).unwrap();
    assert_eq!(log.entries(), ["a"]);
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["a", "b", "c", "d"]);
}

#[test]
fn an_await_runs_tasks_that_other_threads_add() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let (promise, values) = value();
    thread::scope(|scope| {
        let adder = Arc::clone(&queue);
        scope.spawn(move || {
            let inner = Arc::clone(&adder);
            adder.add_task(Task::new(move || {
                inner.add_task(Task::new(move || promise.emplace(1)))
            }));
        });
        queue.await_values(&values).unwrap();
    });
    assert_eq!(values[0].get::<i32>(), Some(&1));
}

#[test]
fn an_await_ends_when_another_thread_publishes() {
    let queue = SingleThreadedQueue::new();
    let (promise, values) = value();
    thread::scope(|scope| {
        scope.spawn(move || promise.emplace(1));
        queue.await_values(&values).unwrap();
    });
    assert!(values[0].is_available());
}

#[test]
fn several_threads_may_wait_at_once() {
    let queue = Arc::new(SingleThreadedQueue::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            let queue = Arc::clone(&queue);
            scope.spawn(move || {
                for _ in 0..50 {
                    let (promise, values) = value();
                    queue.add_task(Task::new(move || promise.emplace(1)));
                    queue.await_values(&values).unwrap();
                    queue.quiesce().unwrap();
                }
            });
        }
    });
}

#[test]
fn a_task_may_not_wait() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            assert!(queue.is_in_worker_thread());
            assert_eq!(queue.await_values(&[]), Err(WouldDeadlock));
            assert_eq!(queue.quiesce(), Err(WouldDeadlock));
            log.push("refused");
        })
    });
    queue.quiesce().unwrap();
    assert!(!queue.is_in_worker_thread());
    assert_eq!(log.entries(), ["refused"]);
}

#[test]
fn a_task_that_helps_runs_what_was_added_since() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    let (promise, values) = value();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            queue.add_task(log.task("added"));
            let inner = log.clone();
            queue.add_task(Task::new(move || {
                inner.push("made");
                promise.emplace(1);
            }));
            queue.add_task(log.task("left"));
            queue.await_helping(&values).unwrap();
            log.push("waited");
        })
    });
    queue.add_task(log.task("outer"));
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["added", "made", "waited", "outer", "left"]);
}

#[test]
fn waits_that_help_nest() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    let (first, first_values) = value();
    let (second, second_values) = value();
    let add = |task: Task| queue.add_task(task);
    add({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            let (inner, inner_log) = (Arc::clone(&queue), log.clone());
            queue.add_task(Task::new(move || {
                inner.add_task(Task::new(move || second.emplace(2)));
                inner.await_helping(&second_values).unwrap();
                inner_log.push("inner");
                first.emplace(1);
            }));
            queue.add_task(log.task("of the outer wait"));
            queue.await_helping(&first_values).unwrap();
            log.push("outer");
        })
    });
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["inner", "outer", "of the outer wait"]);
}

#[test]
fn a_task_that_helps_gives_up_when_nothing_is_left() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let (promise, values) = value();
    let log = Log::default();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            queue.add_task(log.task("ran"));
            assert_eq!(queue.await_helping(&values), Err(WouldDeadlock));
            drop(promise);
        })
    });
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["ran"]);
}

#[test]
fn waits_that_help_nest_to_a_bound() {
    fn wait_deeper(queue: &Arc<SingleThreadedQueue>, depth: usize, deepest: &Arc<Mutex<usize>>) {
        if depth == 100 {
            return;
        }
        let (promise, values) = value();
        let (inner, seen) = (Arc::clone(queue), Arc::clone(deepest));
        queue.add_task(Task::new(move || {
            wait_deeper(&inner, depth + 1, &seen);
            promise.emplace(1);
        }));
        let mut seen = deepest.lock().unwrap();
        *seen = depth.max(*seen);
        drop(seen);
        let _ = queue.await_helping(&values);
    }
    let queue = Arc::new(SingleThreadedQueue::new());
    let deepest = Arc::new(Mutex::new(0));
    let (inner, seen) = (Arc::clone(&queue), Arc::clone(&deepest));
    let (promise, values) = value();
    queue.add_task(Task::new(move || {
        wait_deeper(&inner, 1, &seen);
        promise.emplace(1);
    }));
    queue.await_values(&values).unwrap();
    assert_eq!(*deepest.lock().unwrap(), MAX_NESTED_WAITS + 1);
    queue.quiesce().unwrap();
}

#[test]
fn a_task_that_panics_is_over_and_the_next_one_runs() {
    let queue = SingleThreadedQueue::new();
    let log = Log::default();
    queue.add_task(Task::new(|| panic!("on purpose")));
    queue.add_task(log.task("next"));
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["next"]);
}

#[test]
fn a_blocking_task_that_may_not_be_queued_comes_back() {
    let queue = SingleThreadedQueue::new();
    let log = Log::default();
    queue
        .add_blocking_task(log.task("back"), false)
        .unwrap_err()
        .run();
    assert_eq!(log.entries(), ["back"]);
}

#[test]
fn dropping_the_queue_runs_what_is_left() {
    let log = Log::default();
    let queue = SingleThreadedQueue::new();
    queue.add_task(log.task("a"));
    drop(queue);
    assert_eq!(log.entries(), ["a"]);
}

#[test]
fn tasks_that_have_not_begun_are_pending() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..3 {
        let (inner, seen) = (Arc::clone(&queue), Arc::clone(&seen));
        queue.add_task(Task::new(move || {
            seen.lock().unwrap().push(inner.num_pending_tasks());
        }));
    }
    assert_eq!(queue.num_pending_tasks(), Some(3));
    queue.quiesce().unwrap();
    assert_eq!(*seen.lock().unwrap(), [Some(2), Some(1), Some(0)]);
}

fn add(queue: &SingleThreadedQueue, priority: i32, task: Task) {
    queue.add_task_for(&RequestTag { id: 0, priority }, task);
}

#[test]
fn tasks_run_by_priority_and_in_order_within_one() {
    let queue = SingleThreadedQueue::new();
    let log = Log::default();
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    for (priority, name) in [0, -1, 3, 0, 5, 3, -1].into_iter().zip(names) {
        let tag = RequestTag { id: 0, priority };
        if name < "d" {
            queue.add_task_for(&tag, log.task(name));
        } else {
            queue
                .add_blocking_task_for(&tag, log.task(name), true)
                .unwrap();
        }
    }
    assert_eq!(queue.num_pending_tasks(), Some(7));
    queue.quiesce().unwrap();
    assert_eq!(log.entries(), ["e", "c", "f", "a", "d", "b", "g"]);
    assert_eq!(queue.num_pending_tasks(), Some(0));
}

#[test]
fn an_urgent_task_goes_ahead_of_the_others() {
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    queue.add_task({
        let (queue, log) = (Arc::clone(&queue), log.clone());
        Task::new(move || {
            add(&queue, -1, log.task("background"));
            queue.add_task(log.task("last of the default"));
            add(&queue, 1, log.task("urgent"));
        })
    });
    queue.add_task(log.task("rest of the batch"));
    queue.quiesce().unwrap();
    let expected = [
        "urgent",
        "rest of the batch",
        "last of the default",
        "background",
    ];
    assert_eq!(log.entries(), expected);
}

#[test]
fn an_await_leaves_prioritized_tasks_for_later() {
    let queue = SingleThreadedQueue::new();
    let log = Log::default();
    let (promise, values) = value();
    add(&queue, 2, Task::new(move || promise.emplace(1)));
    add(&queue, 1, log.task("urgent"));
    add(&queue, -1, log.task("background"));
    queue.await_values(&values).unwrap();
    assert_eq!(log.entries(), [""; 0]);
    drop(queue);
    assert_eq!(log.entries(), ["urgent", "background"]);
}

#[test]
fn urgent_tasks_without_end_starve_nobody() {
    /// Keeps adding itself until all others have run, but not forever.
    fn rush(queue: Arc<SingleThreadedQueue>, log: Log, turn: u32) {
        if log.entries().len() < 3 && turn < 1_000_000 {
            let next = Arc::clone(&queue);
            add(&queue, 9, Task::new(move || rush(next, log, turn + 1)));
        } else {
            assert!(turn < 1_000, "the last one waited for {turn} others");
            log.push("rushed");
        }
    }
    let queue = Arc::new(SingleThreadedQueue::new());
    let log = Log::default();
    rush(Arc::clone(&queue), log.clone(), 0);
    add(&queue, 1, log.task("urgent"));
    queue.add_task(log.task("default"));
    add(&queue, -1, log.task("background"));
    queue.quiesce().unwrap();
    let mut ran = log.entries();
    assert_eq!(ran.pop(), Some("rushed"));
    ran.sort_unstable();
    assert_eq!(ran, ["background", "default", "urgent"]);
}

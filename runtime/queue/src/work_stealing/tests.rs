use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, mpsc};

use tfrt_async::AsyncValueRef;

use super::*;
use crate::priority::TURN_INTERVAL;
use crate::single_threaded::SingleThreadedQueue;

fn counter() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

fn counting(counter: &Arc<AtomicUsize>) -> Task {
    let counter = Arc::clone(counter);
    Task::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

#[test]
fn every_task_runs_once() {
    let queue = WorkStealingQueue::new(4, 1);
    let runs = counter();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25_000 {
                    queue.add_task(counting(&runs));
                }
            });
        }
    });
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), 100_000);
}

#[test]
fn workers_know_their_numbers() {
    let queue = Arc::new(WorkStealingQueue::new(2, 1));
    let (sender, numbers) = mpsc::channel();
    // Each of them needs a worker of its own.
    let both = Arc::new(Barrier::new(2));
    for _ in 0..2 {
        let (inner, sender, both) = (Arc::clone(&queue), sender.clone(), Arc::clone(&both));
        queue.add_task(Task::new(move || {
            both.wait();
            sender.send(inner.current_worker()).unwrap();
        }));
    }
    queue.quiesce().unwrap();
    let mut numbers: Vec<_> = numbers.try_iter().collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [Some(0), Some(1)]);

    // The worker of another queue has no number in this one.
    let other = WorkStealingQueue::new(1, 1);
    let (sender, numbers) = mpsc::channel();
    let inner = Arc::clone(&queue);
    other.add_task(Task::new(move || {
        sender.send(inner.current_worker()).unwrap();
    }));
    other.quiesce().unwrap();
    assert_eq!(numbers.recv(), Ok(None));
    assert_eq!(queue.current_worker(), None);
}

#[test]
fn tasks_may_add_tasks() {
    fn grow(queue: &Arc<WorkStealingQueue>, runs: &Arc<AtomicUsize>, depth: u32) {
        runs.fetch_add(1, Ordering::Relaxed);
        if depth == 0 {
            return;
        }
        for _ in 0..2 {
            let (inner, runs) = (Arc::clone(queue), Arc::clone(runs));
            queue.add_task(Task::new(move || grow(&inner, &runs, depth - 1)));
        }
    }
    let queue = Arc::new(WorkStealingQueue::new(3, 1));
    let runs = counter();
    grow(&queue, &runs, 14);
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), (1 << 15) - 1);
}

#[test]
fn a_worker_with_a_full_deque_shares_through_the_injector() {
    let queue = Arc::new(WorkStealingQueue::new(2, 1));
    let runs = counter();
    queue.add_task({
        let (queue, runs) = (Arc::clone(&queue), Arc::clone(&runs));
        Task::new(move || (0..5_000).for_each(|_| queue.add_task(counting(&runs))))
    });
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), 5_000);
}

#[test]
fn a_sleeping_queue_wakes_for_every_task() {
    // Each task is added when all workers may be about to sleep.
    let queue = WorkStealingQueue::new(2, 1);
    for _ in 0..2_000 {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        queue.add_task(Task::new(move || promise.emplace(1)));
        queue.await_values(&[value.into_any()]).unwrap();
    }
}

#[test]
fn quiescing_sees_tasks_that_go_back_and_forth() {
    fn bounce(queue: &Arc<WorkStealingQueue>, runs: &Arc<AtomicUsize>, left: usize) {
        runs.fetch_add(1, Ordering::Relaxed);
        let (inner, runs) = (Arc::clone(queue), Arc::clone(runs));
        let task = Task::new(move || bounce(&inner, &runs, left - 1));
        match left {
            0 => {}
            _ if left.is_multiple_of(3) => queue.add_task(task),
            _ => queue.add_blocking_task(task, left % 3 == 1).unwrap(),
        }
    }
    for _ in 0..20 {
        let queue = Arc::new(WorkStealingQueue::new(2, 2));
        let runs = counter();
        bounce(&queue, &runs, 60);
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 61);
    }
}

#[test]
fn several_threads_may_quiesce_at_once() {
    let queue = WorkStealingQueue::new(2, 2);
    let runs = counter();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    queue.add_task(counting(&runs));
                    queue.add_blocking_task(counting(&runs), true).unwrap();
                    queue.quiesce().unwrap();
                }
            });
        }
    });
    assert_eq!(count(&runs), 800);
}

#[test]
fn a_task_may_not_wait_for_its_queue() {
    let queue = Arc::new(WorkStealingQueue::new(1, 1));
    let (sender, outcomes) = mpsc::channel();
    let ask = |sender: &mpsc::Sender<_>| {
        let (queue, sender) = (Arc::clone(&queue), sender.clone());
        Task::new(move || {
            sender
                .send((
                    queue.is_in_worker_thread(),
                    queue.quiesce(),
                    queue.await_values(&[]),
                ))
                .unwrap();
        })
    };
    queue.add_task(ask(&sender));
    assert_eq!(
        outcomes.recv(),
        Ok((true, Err(WouldDeadlock), Err(WouldDeadlock)))
    );
    // A blocking task may wait for values; that is its purpose.
    queue.add_blocking_task(ask(&sender), true).unwrap();
    assert_eq!(outcomes.recv(), Ok((false, Err(WouldDeadlock), Ok(()))));
    queue.add_blocking_task(ask(&sender), false).unwrap();
    assert_eq!(outcomes.recv(), Ok((false, Err(WouldDeadlock), Ok(()))));
    assert!(!queue.is_in_worker_thread());
}

#[test]
fn a_task_is_no_worker_of_another_queue() {
    let (first, second) = (
        WorkStealingQueue::new(1, 1),
        Arc::new(WorkStealingQueue::new(1, 1)),
    );
    let (sender, outcomes) = mpsc::channel();
    let inner = Arc::clone(&second);
    first.add_task(Task::new(move || {
        // Adds to the other queue, not to the deque of this thread.
        inner.add_task(Task::new({
            let inner = Arc::clone(&inner);
            let sender = sender.clone();
            move || sender.send(inner.is_in_worker_thread()).unwrap()
        }));
        sender.send(inner.is_in_worker_thread()).unwrap();
    }));
    let mut seen = [outcomes.recv().unwrap(), outcomes.recv().unwrap()];
    seen.sort_unstable();
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_task_without_queuing_starts_although_all_blocking_threads_block() {
    let queue = WorkStealingQueue::new(1, 2);
    let (release, blocked) = (Arc::new(Barrier::new(6)), Arc::new(Barrier::new(6)));
    let block = || {
        let (release, blocked) = (Arc::clone(&release), Arc::clone(&blocked));
        Task::new(move || {
            blocked.wait();
            release.wait();
        })
    };
    for _ in 0..2 {
        queue.add_blocking_task(block(), true).unwrap();
    }
    for _ in 0..3 {
        queue.add_blocking_task(block(), false).unwrap();
    }
    // All five have started, though none has ended.
    blocked.wait();
    release.wait();
    queue.quiesce().unwrap();
}

#[test]
fn a_full_blocking_queue_gives_the_task_back() {
    let queue = WorkStealingQueue::new(1, 1);
    let (release, started) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    queue
        .add_blocking_task(
            Task::new({
                let (release, started) = (Arc::clone(&release), Arc::clone(&started));
                move || {
                    started.wait();
                    release.wait();
                }
            }),
            true,
        )
        .unwrap();
    started.wait();
    let runs = counter();
    for _ in 0..1024 {
        queue.add_blocking_task(counting(&runs), true).unwrap();
    }
    let refused = queue.add_blocking_task(counting(&runs), true).unwrap_err();
    release.wait();
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), 1024);
    refused.run();
    assert_eq!(count(&runs), 1025);
}

#[test]
fn a_dynamic_thread_serves_the_next_task() {
    let queue = WorkStealingQueue::with_dynamic_idle(1, 1, None, Duration::from_secs(3600));
    let (sender, threads) = mpsc::channel();
    for _ in 0..2 {
        let sender = sender.clone();
        queue
            .add_blocking_task(
                Task::new(move || sender.send(thread::current().id()).unwrap()),
                false,
            )
            .unwrap();
        queue.quiesce().unwrap();
    }
    assert_eq!(threads.recv(), threads.recv());
}

#[test]
fn a_task_that_panics_does_not_end_its_thread() {
    let queue = WorkStealingQueue::new(1, 1);
    let runs = counter();
    for _ in 0..3 {
        queue.add_task(Task::new(|| panic!("on purpose")));
        queue.add_task(counting(&runs));
        queue
            .add_blocking_task(Task::new(|| panic!("on purpose")), true)
            .unwrap();
        queue.add_blocking_task(counting(&runs), true).unwrap();
        queue
            .add_blocking_task(Task::new(|| panic!("on purpose")), false)
            .unwrap();
        queue.add_blocking_task(counting(&runs), false).unwrap();
    }
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), 9);
}

#[test]
fn dropping_the_queue_runs_what_is_left() {
    let runs = counter();
    let queue = WorkStealingQueue::new(2, 2);
    for _ in 0..1_000 {
        queue.add_task(counting(&runs));
    }
    for _ in 0..100 {
        queue.add_blocking_task(counting(&runs), true).unwrap();
    }
    drop(queue);
    assert_eq!(count(&runs), 1_100);
}

#[test]
fn a_task_may_drop_its_queue() {
    // Many times, because the threads may be anywhere when the queue is dropped.
    for is_blocking in [false, true].repeat(500) {
        let queue = Arc::new(WorkStealingQueue::new(2, 2));
        let (sender, receiver) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let inner = Arc::clone(&queue);
        let task = Task::new(move || {
            let _ = wait.recv();
            inner.add_task(Task::new(move || sender.send("ran").unwrap()));
            drop(inner);
        });
        if is_blocking {
            queue.add_blocking_task(task, true).unwrap();
        } else {
            queue.add_task(task);
        }
        drop(queue);
        drop(go);
        assert_eq!(receiver.recv(), Ok("ran"));
    }
}

#[test]
fn threads_start_when_they_are_needed() {
    let queue = WorkStealingQueue::new(8, 8);
    assert!(queue.shared.compute.take_threads().is_empty());
    queue.quiesce().unwrap();
    queue.add_task(Task::new(|| {}));
    queue.quiesce().unwrap();
    let threads = queue.shared.compute.take_threads();
    assert_eq!(threads.len(), 1);
}

#[test]
fn tasks_of_both_sides_are_pending() {
    let queue = WorkStealingQueue::new(1, 1);
    let barrier = Arc::new(Barrier::new(3));
    let hold = || {
        let barrier = Arc::clone(&barrier);
        Task::new(move || {
            // Once when both threads are busy, and once when they may continue.
            barrier.wait();
            barrier.wait();
        })
    };
    queue.add_task(hold());
    queue.add_blocking_task(hold(), true).unwrap();
    barrier.wait();
    let runs = counter();
    queue.add_task(counting(&runs));
    queue.add_task(counting(&runs));
    queue.add_blocking_task(counting(&runs), true).unwrap();
    assert_eq!(queue.num_pending_tasks(), Some(3));
    barrier.wait();
    queue.quiesce().unwrap();
    assert_eq!(queue.num_pending_tasks(), Some(0));
}

#[test]
fn a_batch_wakes_more_than_one_thread() {
    let queue = WorkStealingQueue::new(3, 1);
    let meeting = Arc::new(Barrier::new(3));
    // No task ends before all three run, each on a thread of its own.
    queue.add_tasks(&mut (0..3).map(|_| {
        let meeting = Arc::clone(&meeting);
        Task::new(move || {
            meeting.wait();
        })
    }));
    queue.quiesce().unwrap();
}

#[test]
fn an_empty_batch_starts_no_thread() {
    let queue = WorkStealingQueue::new(2, 1);
    queue.add_tasks(&mut std::iter::empty());
    assert!(queue.shared.compute.take_threads().is_empty());
}

#[test]
fn a_million_tasks_may_be_ready_at_once() {
    let queue = Arc::new(WorkStealingQueue::new(2, 1));
    let runs = counter();
    let (inner, in_task) = (Arc::clone(&queue), Arc::clone(&runs));
    queue.add_task(Task::new(move || {
        inner.add_tasks(&mut (0..1_000_000).map(|_| counting(&in_task)));
    }));
    queue.quiesce().unwrap();
    assert_eq!(count(&runs), 1_000_000);
}

#[test]
fn a_configuration_may_bind_threads_to_cores() {
    let error_of = |argument| {
        let created = WorkStealingQueue::from_argument(argument);
        created.err().map(|error| error.to_string())
    };
    for argument in ["@", "2@", "2,2@", "2@x", "2@1-0", "@0@0", ",2@0", "@0;1"] {
        assert_eq!(
            error_of(argument),
            Some(format!("Invalid argument for mstd work queue: {argument}"))
        );
    }
    let refused = error_of("2,2@1023").expect("no machine of ours has so many cores");
    assert_eq!(refused, "cannot create the mstd work queue");
}

#[cfg(target_os = "linux")]
#[test]
fn a_bound_thread_runs_on_its_core_alone() {
    use rustix::thread::sched_getaffinity;

    // The last of the cores that this process may use.
    let allowed = sched_getaffinity(None).unwrap();
    let core = (0..1024).rfind(|core| allowed.is_set(*core)).unwrap();
    let queue = WorkStealingQueue::from_argument(&format!("@{core}")).unwrap();
    assert_eq!(queue.parallelism_level(), 1);
    let (sender, sets) = mpsc::channel();
    queue.add_task(Task::new(move || {
        sender.send(sched_getaffinity(None).unwrap()).unwrap()
    }));
    let set = sets.recv().unwrap();
    assert!(set.count() == 1 && set.is_set(core));
}

/// A queue to whose compute side the system refuses all but `num_threads` threads.
fn queue_of_few_threads(num_workers: usize, num_threads: isize) -> Arc<WorkStealingQueue> {
    let queue = WorkStealingQueue::new(num_workers, 1);
    queue.shared.spawner.limit.set(num_threads);
    Arc::new(queue)
}

#[test]
fn without_threads_tasks_run_on_the_thread_that_adds_them() {
    let queue = queue_of_few_threads(2, 0);
    let runs = counter();
    let (inner, in_task) = (Arc::clone(&queue), Arc::clone(&runs));
    queue.add_task(Task::new(move || {
        assert!(inner.is_in_worker_thread());
        assert_eq!(inner.quiesce(), Err(WouldDeadlock));
        // These run after this task is over, not inside it.
        inner.add_tasks(&mut (0..1_000).map(|_| counting(&in_task)));
        let tag = RequestTag { id: 0, priority: 1 };
        inner.add_task_for(&tag, counting(&in_task));
        assert_eq!(count(&in_task), 0);
    }));
    assert_eq!(count(&runs), 1_001);
    assert!(!queue.is_in_worker_thread());
    queue.quiesce().unwrap();
    let refused = queue.add_blocking_task(counting(&runs), true).unwrap_err();
    queue.add_blocking_task(refused, false).unwrap_err().run();
    assert_eq!(count(&runs), 1_002);
}

#[test]
fn a_queue_is_not_quiescent_while_a_thread_runs_tasks_in_place_of_a_worker() {
    let queue = queue_of_few_threads(1, 0);
    let meeting = Arc::new(Barrier::new(2));
    thread::scope(|scope| {
        let (adder, in_task) = (Arc::clone(&queue), Arc::clone(&meeting));
        scope.spawn(move || {
            adder.add_task(Task::new(move || {
                in_task.wait();
                in_task.wait();
            }));
        });
        meeting.wait();
        assert!(!queue.shared.compute.is_quiescent());
        meeting.wait();
        queue.quiesce().unwrap();
    });
    assert!(queue.shared.compute.is_quiescent());
}

#[test]
fn many_threads_may_add_tasks_that_no_worker_can_run() {
    // All threads ask for new threads again and again, and are refused.
    for num_threads in [0, 1] {
        let queue = queue_of_few_threads(4, num_threads);
        let runs = counter();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2_000).for_each(|_| queue.add_task(counting(&runs))));
            }
        });
        queue.quiesce().unwrap();
        assert_eq!(count(&runs), 8_000);
    }
}

#[test]
fn a_worker_gets_its_thread_when_the_system_has_one_again() {
    let queue = queue_of_few_threads(1, 0);
    let (sender, names) = mpsc::channel();
    let tell = || {
        let sender = sender.clone();
        Task::new(move || {
            let name = thread::current().name().map(String::from);
            sender.send(name).unwrap();
        })
    };
    queue.add_task(tell());
    queue.shared.spawner.limit.set(1);
    queue.add_task(tell());
    let own_name = thread::current().name().map(String::from);
    assert_eq!(names.recv(), Ok(own_name));
    assert_eq!(names.recv(), Ok(Some("tfrt-compute-0".into())));
}

#[test]
fn a_task_of_a_queue_inside_a_task_may_not_wait_for_the_outer_queue() {
    for is_single_threaded in [false, true] {
        let outer: Arc<dyn ConcurrentWorkQueue> = if is_single_threaded {
            Arc::new(SingleThreadedQueue::new())
        } else {
            Arc::new(WorkStealingQueue::new(1, 1))
        };
        let (sender, outcomes) = mpsc::channel();
        let asked = Arc::clone(&outer);
        outer.add_task(Task::new(move || {
            let inner = SingleThreadedQueue::new();
            inner.add_task(Task::new(move || {
                let waits = [asked.quiesce(), asked.await_values(&[])];
                sender.send((asked.is_in_worker_thread(), waits)).unwrap();
            }));
            inner.quiesce().unwrap();
        }));
        outer.quiesce().unwrap();
        assert_eq!(outcomes.recv(), Ok((true, [Err(WouldDeadlock); 2])));
    }
}

#[test]
fn queues_whose_tasks_wait_for_each_other_do_not_hang() {
    for num_queues in [2, 3] {
        let queues: Vec<Arc<WorkStealingQueue>> = (0..num_queues)
            .map(|_| Arc::new(WorkStealingQueue::new(1, 1)))
            .collect();
        // A task of each queue waits for the next queue, once all of them run.
        let meeting = Arc::new(Barrier::new(num_queues));
        let (sender, waits) = mpsc::channel();
        for (index, queue) in queues.iter().enumerate() {
            let next = Arc::clone(&queues[(index + 1) % num_queues]);
            let (meeting, sender) = (Arc::clone(&meeting), sender.clone());
            let task = Task::new(move || {
                meeting.wait();
                sender.send(next.quiesce()).unwrap();
            });
            queue.add_blocking_task(task, index % 2 == 0).unwrap();
        }
        drop(sender);
        // The wait that would close the cycle is rejected, and so ends it.
        let num_refused = waits.iter().filter(Result::is_err).count();
        assert_eq!(num_refused, 1);
        // No edge of the waits is left.
        for (index, queue) in queues.iter().enumerate() {
            let next = Arc::clone(&queues[(index + 1) % num_queues]);
            next.quiesce().unwrap();
            let (sender, wait) = mpsc::channel();
            queue.add_task(Task::new(move || sender.send(next.quiesce()).unwrap()));
            assert_eq!(wait.recv(), Ok(Ok(())));
        }
    }
}

#[test]
fn a_task_that_adds_itself_again_does_not_starve_others() {
    /// Keeps adding itself until it is told to stop, but not forever.
    fn poll(queue: Arc<WorkStealingQueue>, stop: Arc<AtomicBool>, turns: Arc<AtomicUsize>) {
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        if turn < 1_000_000 && !stop.load(Ordering::Relaxed) {
            let next = Arc::clone(&queue);
            queue.add_task(Task::new(move || poll(next, stop, turns)));
        }
    }
    let queue = Arc::new(WorkStealingQueue::new(1, 1));
    let (stop, turns) = (Arc::new(AtomicBool::new(false)), counter());
    let (inner, in_task) = (Arc::clone(&queue), (Arc::clone(&stop), Arc::clone(&turns)));
    queue.add_task(Task::new(move || {
        let stopped = Arc::clone(&in_task.0);
        inner.add_task(Task::new(move || stopped.store(true, Ordering::Relaxed)));
        poll(Arc::clone(&inner), in_task.0, in_task.1);
    }));
    queue.quiesce().unwrap();
    assert!(count(&turns) <= 3 * TURN_INTERVAL as usize);
}

/// Returns the priorities of tasks in the order in which one thread runs them. `add` adds them
/// while that thread is busy.
fn order_of_tasks(
    is_blocking: bool,
    add: impl FnOnce(&WorkStealingQueue, &dyn Fn(i32) -> (RequestTag, Task)),
) -> Vec<i32> {
    let queue = WorkStealingQueue::new(1, 1);
    let meeting = Arc::new(Barrier::new(2));
    let in_task = Arc::clone(&meeting);
    let hold = Task::new(move || {
        in_task.wait();
        in_task.wait();
    });
    if is_blocking {
        queue.add_blocking_task(hold, true).unwrap();
    } else {
        queue.add_task(hold);
    }
    meeting.wait();
    let order = Arc::new(Mutex::new(Vec::new()));
    add(&queue, &|priority| {
        let order = Arc::clone(&order);
        let task = Task::new(move || order.lock().unwrap().push(priority));
        (RequestTag { id: 0, priority }, task)
    });
    meeting.wait();
    queue.quiesce().unwrap();
    std::mem::take(&mut *order.lock().unwrap())
}

const PRIORITIES: [i32; 9] = [0, -1, 2, 0, i32::MIN, 1, -1, i32::MAX, 0];

const BY_PRIORITY: [i32; 9] = [i32::MAX, 2, 1, 0, 0, 0, -1, -1, i32::MIN];

#[test]
fn compute_tasks_run_by_priority() {
    let order = order_of_tasks(false, |queue, task| {
        for priority in PRIORITIES {
            let (tag, task) = task(priority);
            queue.add_task_for(&tag, task);
        }
    });
    assert_eq!(order, BY_PRIORITY);
    let order = order_of_tasks(false, |queue, task| {
        for priority in PRIORITIES {
            let (tag, task) = task(priority);
            queue.add_tasks_for(&tag, &mut std::iter::once(task));
        }
    });
    assert_eq!(order, BY_PRIORITY);
}

#[test]
fn queued_blocking_tasks_run_by_priority() {
    let order = order_of_tasks(true, |queue, task| {
        for priority in PRIORITIES {
            let (tag, task) = task(priority);
            queue.add_blocking_task_for(&tag, task, true).unwrap();
        }
    });
    assert_eq!(order, BY_PRIORITY);
}

#[test]
fn an_urgent_task_goes_ahead_of_those_that_its_worker_added_before() {
    let queue = Arc::new(WorkStealingQueue::new(1, 1));
    let (sender, order) = mpsc::channel();
    let inner = Arc::clone(&queue);
    queue.add_task(Task::new(move || {
        for priority in [0, 0, -3, 5] {
            let sender = sender.clone();
            let task = Task::new(move || sender.send(priority).unwrap());
            inner.add_task_for(&RequestTag { id: 0, priority }, task);
        }
    }));
    queue.quiesce().unwrap();
    assert_eq!(order.try_iter().collect::<Vec<_>>(), [5, 0, 0, -3]);
}

#[test]
fn urgent_tasks_without_end_starve_nobody() {
    /// Keeps adding itself until all others have run, but not forever.
    fn rush(queue: Arc<WorkStealingQueue>, others: Arc<AtomicUsize>, turns: Arc<AtomicUsize>) {
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        if turn < 1_000_000 && count(&others) < 4 {
            let next = Arc::clone(&queue);
            let task = Task::new(move || rush(next, others, turns));
            queue.add_task_for(&RequestTag { id: 0, priority: 9 }, task);
        }
    }
    let queue = Arc::new(WorkStealingQueue::new(1, 1));
    let (others, turns) = (counter(), counter());
    let (inner, in_task) = (
        Arc::clone(&queue),
        (Arc::clone(&others), Arc::clone(&turns)),
    );
    queue.add_task(Task::new(move || {
        let (others, turns) = in_task;
        rush(Arc::clone(&inner), Arc::clone(&others), turns);
        for priority in [0, 1, -1, -2] {
            inner.add_task_for(&RequestTag { id: 0, priority }, counting(&others));
        }
    }));
    queue.quiesce().unwrap();
    assert!(count(&turns) < 10 * TURN_INTERVAL as usize, "{turns:?}");
}

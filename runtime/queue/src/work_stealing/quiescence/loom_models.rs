//! Models of waiting for quiescence, and of the shutdown that begins with it, over the shipped
//! source of `quiescence` and `sleep`:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-queue --release --lib loom`.
//!
//! The compute side is one worker, whose thread starts with its first task, and a counter in place
//! of its deques. The blocking side is its state under its mutex. A lost notification leaves the
//! waiter parked forever, which loom reports as a deadlock.

use std::sync::Arc;

use loom::thread::{self, JoinHandle};

use super::super::sleep::{FellAsleep, Sleep};
use super::*;

struct Model {
    sleep: Sleep,
    compute_tasks: AtomicUsize,
    worker: Mutex<Option<JoinHandle<()>>>,
    blocking: Mutex<Blocking>,
    quiescence: Quiescence,
    num_compute_run: AtomicUsize,
    num_blocking_run: AtomicUsize,
    /// The work of a compute task.
    in_task: fn(&Arc<Model>),
}

#[derive(Default)]
struct Blocking {
    num_running: usize,
    num_accepted: usize,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    fn new(in_task: fn(&Arc<Model>)) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleep::new(1),
            compute_tasks: AtomicUsize::new(0),
            worker: Mutex::new(None),
            blocking: Mutex::new(Blocking::default()),
            quiescence: Quiescence::new(),
            num_compute_run: AtomicUsize::new(0),
            num_blocking_run: AtomicUsize::new(0),
            in_task,
        })
    }

    /// Like `compute::add_task`.
    fn add_compute_task(self: &Arc<Self>) {
        // Relaxed, so that only the protocol's fences make the task visible in time.
        self.compute_tasks.fetch_add(1, Ordering::Relaxed);
        self.wake(self.sleep.wake_one());
    }

    /// Like `compute::wake`.
    fn wake(self: &Arc<Self>, worker: Option<usize>) {
        let Some(worker) = worker else { return };
        let mut thread = self.worker.lock().unwrap();
        if thread.is_some() {
            drop(thread);
            self.sleep.unpark(worker);
        } else {
            let model = self.clone();
            *thread = Some(thread::spawn(move || model.run_worker()));
        }
    }

    /// Like `compute::search_and_run`.
    fn run_worker(self: &Arc<Self>) {
        loop {
            if self.take_compute_task() {
                self.wake(self.sleep.found_task(|| self.has_compute_tasks()));
                (self.in_task)(self);
                self.num_compute_run.fetch_add(1, Ordering::Relaxed);
                self.sleep.start_search();
            } else if self.sleep.may_end(|| self.has_compute_tasks()) {
                return;
            } else {
                let fell_asleep = |order| {
                    if order == FellAsleep::Last {
                        self.quiescence.notify();
                    }
                };
                self.sleep
                    .sleep(0, || self.has_compute_tasks(), fell_asleep);
            }
        }
    }

    fn has_compute_tasks(&self) -> bool {
        self.compute_tasks.load(Ordering::Relaxed) > 0
    }

    fn take_compute_task(&self) -> bool {
        let take = |tasks: usize| tasks.checked_sub(1);
        self.compute_tasks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// Like `blocking::run`, with a new thread for the task, `work`.
    fn add_blocking_task(self: &Arc<Self>, work: fn(&Arc<Model>)) {
        let mut blocking = self.blocking.lock().unwrap();
        blocking.num_accepted += 1;
        blocking.num_running += 1;
        let model = self.clone();
        blocking.thread = Some(thread::spawn(move || {
            work(&model);
            model.num_blocking_run.fetch_add(1, Ordering::Relaxed);
            let mut blocking = model.blocking.lock().unwrap();
            blocking.num_running -= 1;
            drop(blocking);
            model.quiescence.notify();
        }));
    }

    /// Like `Shared::wait_until_quiescent`.
    fn wait_until_quiescent(&self) {
        let blocking = || {
            let blocking = self.blocking.lock().unwrap();
            (blocking.num_running == 0).then_some(blocking.num_accepted)
        };
        let compute = || {
            let before = self.sleep.all_asleep();
            before.is_some() && !self.has_compute_tasks() && self.sleep.all_asleep() == before
        };
        self.quiescence.wait(|| is_quiescent(blocking, compute));
    }

    /// Like the drop of the queue, from step 3 on.
    fn shut_down(&self) {
        self.sleep.terminate();
        let threads = [
            self.worker.lock().unwrap().take(),
            self.blocking.lock().unwrap().thread.take(),
        ];
        for thread in threads.into_iter().flatten() {
            thread.join().unwrap();
        }
    }

    fn assert_has_run(&self, num_compute: usize, num_blocking: usize) {
        assert_eq!(self.num_compute_run.load(Ordering::Relaxed), num_compute);
        assert_eq!(self.num_blocking_run.load(Ordering::Relaxed), num_blocking);
    }
}

/// Explores all interleavings with at most two preemptions; three take minutes.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

#[test]
fn loom_a_wait_ends_after_the_compute_task() {
    bounded_model(|| {
        let model = Model::new(|_| {});
        model.add_compute_task();
        model.wait_until_quiescent();
        model.assert_has_run(1, 0);
        model.shut_down();
    });
}

#[test]
fn loom_a_wait_ends_after_the_blocking_task() {
    bounded_model(|| {
        let model = Model::new(|_| {});
        model.add_blocking_task(|_| {});
        model.wait_until_quiescent();
        model.assert_has_run(0, 1);
        model.shut_down();
    });
}

#[test]
fn loom_a_wait_sees_a_task_that_goes_from_blocking_to_compute() {
    bounded_model(|| {
        let model = Model::new(|_| {});
        model.add_blocking_task(Model::add_compute_task);
        model.wait_until_quiescent();
        model.assert_has_run(1, 1);
        model.shut_down();
    });
}

#[test]
fn loom_a_wait_sees_a_task_that_goes_from_compute_to_blocking() {
    bounded_model(|| {
        let model = Model::new(|model| model.add_blocking_task(|_| {}));
        model.add_compute_task();
        model.wait_until_quiescent();
        model.assert_has_run(1, 1);
        model.shut_down();
    });
}

#[test]
fn loom_two_threads_may_wait() {
    bounded_model(|| {
        let model = Model::new(|_| {});
        let other = thread::spawn({
            let model = model.clone();
            move || model.wait_until_quiescent()
        });
        model.add_compute_task();
        model.wait_until_quiescent();
        model.assert_has_run(1, 0);
        other.join().unwrap();
        model.shut_down();
    });
}

#[test]
fn loom_a_shutdown_without_a_wait_leaves_no_task_behind() {
    // As if a task had dropped the queue: no thread waits before the workers are told to end.
    bounded_model(|| {
        let model = Model::new(|_| {});
        model.add_compute_task();
        model.shut_down();
        model.assert_has_run(1, 0);
    });
}

#[test]
fn loom_a_task_that_relies_on_a_searching_worker_is_run_by_the_shutdown() {
    bounded_model(|| {
        let model = Model::new(|_| {});
        model.add_compute_task();
        model.add_compute_task();
        model.shut_down();
        model.assert_has_run(2, 0);
    });
}

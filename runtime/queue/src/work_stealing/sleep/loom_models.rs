//! Models of the sleep protocol, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-queue --release --lib loom`.
//!
//! A counter stands in for the deques and the injector: the models are about sleeping and waking. A
//! task that no worker takes leaves a worker parked forever, which loom reports as a deadlock.

use loom::sync::Arc;
use loom::thread;

use super::*;

struct Model {
    sleep: Sleep,
    tasks: AtomicU64,
    ran: AtomicU64,
    /// In this test, each task waits until all have started, so that each needs its own worker.
    meeting: Option<Meeting>,
}

#[derive(Default)]
struct Meeting {
    num_there: Mutex<u64>,
    changed: Condvar,
}

impl Meeting {
    fn wait_for(&self, num_expected: u64) {
        let mut num_there = self.num_there.lock().unwrap();
        *num_there += 1;
        self.changed.notify_all();
        while *num_there < num_expected {
            num_there = self.changed.wait(num_there).unwrap();
        }
    }
}

impl Model {
    /// All workers are awake and running, as after their first wake-up.
    fn running(num_workers: usize, meeting: Option<Meeting>) -> Arc<Self> {
        let sleep = Sleep::new(num_workers);
        let mut sleepers = sleep.lock();
        while sleepers.pop().is_some() {
            sleep.leave_sleep(&sleepers);
            sleep.word.fetch_sub(ONE_SEARCHING, Ordering::Relaxed);
        }
        drop(sleepers);
        Arc::new(Self {
            sleep,
            tasks: AtomicU64::new(0),
            ran: AtomicU64::new(0),
            meeting,
        })
    }

    /// Like `compute::add_task`.
    fn add_task(&self) {
        // Relaxed, so that only the protocol's fences make the task visible in time.
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.wake(self.sleep.wake_one());
    }

    fn wake(&self, worker: Option<usize>) {
        if let Some(worker) = worker {
            self.sleep.unpark(worker);
        }
    }

    fn has_tasks(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    fn take_task(&self) -> bool {
        self.tasks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tasks| {
                tasks.checked_sub(1)
            })
            .is_ok()
    }

    /// Like `add_task` if the system refuses worker 0 a thread; like `compute::unpark_or_start`.
    fn add_task_without_thread(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
        match self.sleep.wake_one() {
            Some(0) => {
                self.sleep.put_back(0, |_| {});
                if self.has_tasks() {
                    self.wake(self.sleep.wake_one_with_thread());
                }
            }
            woken => self.wake(woken),
        }
    }

    /// Like `compute::search_and_run`. The worker that runs the last of `num_tasks` ends the
    /// others.
    fn run_worker(&self, worker: usize, num_tasks: u64) {
        self.sleep.start_search();
        loop {
            if self.take_task() {
                self.wake(self.sleep.found_task(|| self.has_tasks()));
                if let Some(meeting) = &self.meeting {
                    meeting.wait_for(num_tasks);
                }
                if self.ran.fetch_add(1, Ordering::Relaxed) + 1 == num_tasks {
                    self.sleep.terminate();
                }
                self.sleep.start_search();
            } else if self.sleep.may_end(|| self.has_tasks()) {
                return;
            } else {
                self.sleep.sleep(worker, || self.has_tasks(), |_| {});
            }
        }
    }
}

/// Explores all interleavings with at most two preemptions; three take minutes.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

#[test]
fn loom_a_task_added_while_the_worker_falls_asleep_is_run() {
    loom::model(|| {
        let model = Model::running(1, None);
        let worker = thread::spawn({
            let model = model.clone();
            move || model.run_worker(0, 1)
        });
        model.add_task();
        worker.join().unwrap();
        assert_eq!(model.ran.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_two_tasks_added_by_two_threads_are_run() {
    bounded_model(|| {
        let model = Model::running(1, None);
        let worker = thread::spawn({
            let model = model.clone();
            move || model.run_worker(0, 2)
        });
        let adder = thread::spawn({
            let model = model.clone();
            move || model.add_task()
        });
        model.add_task();
        adder.join().unwrap();
        worker.join().unwrap();
        assert_eq!(model.ran.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn loom_two_workers_leave_no_task_behind() {
    bounded_model(|| {
        let model = Model::running(2, None);
        let workers = [0, 1].map(|worker| {
            let model = model.clone();
            thread::spawn(move || model.run_worker(worker, 2))
        });
        model.add_task();
        model.add_task();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(model.ran.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn loom_two_tasks_run_at_the_same_time() {
    bounded_model(|| {
        let model = Model::running(2, Some(Meeting::default()));
        let workers = [0, 1].map(|worker| {
            let model = model.clone();
            thread::spawn(move || model.run_worker(worker, 2))
        });
        model.add_task();
        model.add_task();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn loom_all_asleep_means_that_no_task_is_left() {
    loom::model(|| {
        let model = Model::running(1, None);
        // Under a separate lock, so that reading it orders nothing for the load of the word.
        let seen = Arc::new(Mutex::new(false));
        let worker = thread::spawn({
            let (model, seen) = (model.clone(), seen.clone());
            move || {
                model.add_task();
                model.sleep.start_search();
                assert!(model.take_task());
                *seen.lock().unwrap() = true;
                assert_eq!(model.sleep.found_task(|| model.has_tasks()), None);
                model.sleep.start_search();
                model.sleep.sleep(
                    0,
                    || model.has_tasks(),
                    |order| assert_eq!(order, FellAsleep::Last),
                );
            }
        });
        if model.sleep.all_asleep().is_some() {
            assert!(!model.has_tasks());
            assert!(*seen.lock().unwrap());
        }
        model.sleep.terminate();
        worker.join().unwrap();
    });
}

#[test]
fn loom_a_task_that_relied_on_a_worker_without_a_thread_is_run() {
    bounded_model(|| {
        // Worker 1 has a thread and runs; worker 0 has none and is on the stack.
        let model = Model::running(2, None);
        let mut sleepers = model.sleep.lock();
        sleepers.workers.push(0);
        sleepers.num_without_thread = 1;
        model.sleep.word.fetch_add(ONE_SLEEPING, Ordering::Relaxed);
        drop(sleepers);
        let worker = thread::spawn({
            let model = model.clone();
            move || model.run_worker(1, 2)
        });
        let adder = thread::spawn({
            let model = model.clone();
            move || model.add_task_without_thread()
        });
        model.add_task_without_thread();
        adder.join().unwrap();
        worker.join().unwrap();
        assert_eq!(model.ran.load(Ordering::Relaxed), 2);
    });
}

//! Models of the failure detection, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-distributed --release --lib loom`.
//!
//! Those of rounds name the steps of the drawing of `rounds` that they let race.

use std::collections::HashSet;

use loom::sync::Mutex as Checked;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use std::time::Instant;

use super::rounds::{Heard, Rounds};
use super::*;

const LIMIT: Duration = Duration::from_secs(10);

fn error(cause: &str) -> RemoteError {
    RemoteError::new(ErrorCode::Unavailable, cause)
}

/// One that watches over another task, and counts the ends of its waits.
struct Watcher {
    health: Arc<Health>,
    rounds: Checked<Rounds>,
    task: TaskHandle,
    start: Instant,
    num_calls: AtomicUsize,
}

impl Watcher {
    fn new() -> Arc<Self> {
        let (task, start) = (TaskHandle::draw(), Instant::now());
        Arc::new(Self {
            health: Arc::default(),
            rounds: Checked::new(Rounds::new(&[task], LIMIT, true, start)),
            task,
            start,
            num_calls: AtomicUsize::new(0),
        })
    }

    /// Watches until the end, which is counted.
    fn watch(self: &Arc<Self>) -> Watch {
        let own = Arc::clone(self);
        self.health.watch(self.task, move |_| {
            own.num_calls.fetch_add(1, Ordering::SeqCst);
        })
    }

    fn num_calls(&self) -> usize {
        self.num_calls.load(Ordering::SeqCst)
    }

    /// As the detector does with the cause of a loss.
    fn lose(&self, cause: &str) {
        for callback in self.health.mark_lost(self.task, error(cause)) {
            callback();
        }
    }

    fn hear(&self, heard: Heard, seconds: u64) {
        let now = self.start + Duration::from_secs(seconds);
        let cause = self.rounds.lock().unwrap().hear(self.task, heard, now);
        if let Some(cause) = cause {
            self.lose(&cause);
        }
    }

    /// Returns `true` if the task gets a heartbeat.
    fn round(&self, seconds: u64) -> bool {
        let now = self.start + Duration::from_secs(seconds);
        let is_lost = |task| self.health.lost(task).is_some();
        let due = self.rounds.lock().unwrap().round(now, is_lost);
        for (_, cause) in due.silent {
            self.lose(&cause);
        }
        !due.asked.is_empty()
    }

    fn cause(&self) -> Option<String> {
        self.health.lost(self.task).map(|error| error.message)
    }
}

#[test]
fn loom_a_watch_is_called_once_whenever_the_task_is_lost() {
    loom::model(|| {
        let watcher = Watcher::new();
        let losing = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.lose("found alone")
        });
        let _watch = watcher.watch();
        losing.join().unwrap();
        assert_eq!(watcher.num_calls(), 1);
        assert_eq!(watcher.health.num_watches(), 0);
    });
}

#[test]
fn loom_a_loss_that_is_told_and_found_has_one_cause() {
    loom::model(|| {
        let watcher = Watcher::new();
        let _watch = watcher.watch();
        let told = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || {
                watcher.lose("told by the lead task");
                watcher.cause()
            }
        });
        watcher.lose("found alone");
        let found = watcher.cause();
        let told = told.join().unwrap();
        assert!(found.is_some());
        assert_eq!((&found, watcher.cause()), (&told, told.clone()));
        assert_eq!(watcher.num_calls(), 1);
    });
}

#[test]
fn loom_a_watch_that_is_dropped_is_called_at_most_once_and_forgotten() {
    loom::model(|| {
        let watcher = Watcher::new();
        let watch = watcher.watch();
        let losing = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.lose("found alone")
        });
        drop(watch);
        losing.join().unwrap();
        assert!(watcher.num_calls() <= 1);
        assert_eq!(watcher.health.num_watches(), 0);
        // The callback has this, and is gone.
        assert_eq!(Arc::strong_count(&watcher), 1);
    });
}

#[test]
fn loom_a_watch_ends_with_the_context() {
    loom::model(|| {
        let watcher = Watcher::new();
        let closing = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || {
                watcher.health.close(&error("closed"));
                for on_end in watcher.health.end(&error("closed")) {
                    on_end();
                }
            }
        });
        let _watch = watcher.watch();
        closing.join().unwrap();
        assert_eq!(watcher.num_calls(), 1);
        assert_eq!(watcher.health.num_watches(), 0);
    });
}

#[test]
fn loom_a_watch_ends_with_the_context_or_with_the_task() {
    loom::model(|| {
        let watcher = Watcher::new();
        let closing = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || {
                watcher.health.close(&error("closed"));
                for on_end in watcher.health.end(&error("closed")) {
                    on_end();
                }
            }
        });
        let losing = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.lose("found alone")
        });
        let _watch = watcher.watch();
        closing.join().unwrap();
        losing.join().unwrap();
        assert_eq!(watcher.num_calls(), 1);
        assert_eq!(watcher.health.num_watches(), 0);
    });
}

/// An answer of the process before the restart overtakes one of the process after it, or does not.
#[test]
fn loom_1_against_3_another_incarnation_is_noticed_in_any_order() {
    loom::model(|| {
        let watcher = Watcher::new();
        let late = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.hear(Heard::Alive(1), 1)
        });
        watcher.hear(Heard::Alive(2), 1);
        late.join().unwrap();
        let cause = watcher.cause();
        assert_eq!(cause.as_deref(), Some("another process has replaced it"));
        // For good, whoever answers.
        watcher.hear(Heard::Alive(2), 2);
        assert!(!watcher.round(2), "a lost task is asked");
        assert_eq!(watcher.cause(), cause);
    });
}

/// The answer comes as the time is up: it counts, or the task is lost.
#[test]
fn loom_1_against_2_a_task_is_alive_or_lost() {
    // Of `std`: it outlives the runs.
    let seen = Arc::new(std::sync::Mutex::new(HashSet::new()));
    let outcomes = Arc::clone(&seen);
    loom::model(move || {
        let watcher = Watcher::new();
        let _watch = watcher.watch();
        watcher.hear(Heard::Alive(1), 0);
        // The process was not stopped.
        assert!(watcher.round(4) && watcher.round(8));
        let answering = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.hear(Heard::Alive(1), 11)
        });
        let is_asked = watcher.round(12);
        answering.join().unwrap();
        assert_eq!(watcher.cause().is_none(), is_asked);
        assert_eq!(watcher.num_calls(), usize::from(!is_asked));
        // The answer lasts as long as any other one.
        assert_eq!(watcher.round(16), is_asked);
        assert_eq!(watcher.round(20), is_asked);
        outcomes.lock().unwrap().insert(is_asked);
    });
    assert_eq!(seen.lock().unwrap().len(), 2, "both may come first");
}

/// The lead task tells the loss, while a round looks at the silence and nobody listens any more.
#[test]
fn loom_2_against_4_and_what_others_tell_a_task_is_lost_once() {
    loom::model(|| {
        let watcher = Watcher::new();
        let _watch = watcher.watch();
        watcher.hear(Heard::Alive(1), 0);
        let refused = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || {
                let error = "nobody listens".to_owned();
                watcher.hear(
                    Heard::NobodyListens {
                        error,
                        has_spoken: false,
                    },
                    3,
                );
            }
        });
        let told = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.lose("told by the lead task")
        });
        watcher.round(4);
        refused.join().unwrap();
        told.join().unwrap();
        assert_eq!(watcher.num_calls(), 1);
        assert!(!watcher.round(5));
    });
}

/// A slow answer to an old heartbeat comes after the loss: the task stays lost.
#[test]
fn loom_5_against_1_a_task_that_has_lost_this_one_is_lost() {
    loom::model(|| {
        let watcher = Watcher::new();
        let _watch = watcher.watch();
        let answering = thread::spawn({
            let watcher = Arc::clone(&watcher);
            move || watcher.hear(Heard::Alive(1), 1)
        });
        watcher.hear(Heard::LostUs, 1);
        answering.join().unwrap();
        assert_eq!(watcher.cause().as_deref(), Some("it has lost this task"));
        assert_eq!(watcher.num_calls(), 1);
        assert!(!watcher.round(2));
    });
}

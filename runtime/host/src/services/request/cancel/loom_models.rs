//! Models of cancellation, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-host --release --lib loom`.
//!
//! Each names the steps of the drawing that it lets race.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use tfrt_support::Error;

use super::*;

/// Counts its drops.
struct Token(Arc<AtomicUsize>);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

fn error(message: &'static str) -> AnyRef {
    AnyRef::error(Error::new(message))
}

fn message(value: &AnyRef) -> String {
    value
        .error_if_present()
        .map_or_else(String::new, |error| error.message().to_owned())
}

/// A model of three threads, preempted at most three times: without a bound it takes longer than is
/// practical.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

#[test]
fn loom_1_against_a_reader_who_sees_the_value_sees_what_came_before_it() {
    loom::model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let reason = Arc::new(UnsafeCell::new(0));
        let cancelling = thread::spawn({
            let (switch, reason) = (switch.clone(), reason.clone());
            move || {
                reason.with_mut(|_| ());
                switch.cancel(error("no time left"));
            }
        });
        // A kernel checks before it starts, and once more in the middle.
        for _ in 0..2 {
            if let Some(value) = switch.value() {
                assert_eq!(message(value), "no time left");
                reason.with(|_| ());
            }
        }
        cancelling.join().unwrap();
        assert!(switch.value().is_some());
    });
}

#[test]
fn loom_1_against_1_the_first_cancel_stays() {
    bounded_model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let runs = counter();
        let counted = runs.clone();
        switch.watch(Task::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let threads = ["one", "two"].map(|name| {
            let switch = switch.clone();
            thread::spawn(move || {
                switch.cancel(error(name));
                // After cancelling, a thread finds the request cancelled, permanently with the same
                // error.
                switch.value().map(message)
            })
        });
        let [one, two] = threads.map(|thread| thread.join().unwrap());
        let stayed = switch.value().map(message);
        assert!(matches!(stayed.as_deref(), Some("one" | "two")));
        // The later thread may not see the value yet, but never sees another one.
        for seen in [one, two].into_iter().flatten() {
            assert_eq!(Some(seen), stayed);
        }
        assert_eq!(count(&runs), 1);
    });
}

#[test]
fn loom_1_and_2_against_3_to_5_a_hook_runs_once_or_is_refused() {
    loom::model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let runs = counter();
        let cancelling = thread::spawn({
            let switch = switch.clone();
            move || switch.cancel(error("no"))
        });
        let counted = runs.clone();
        let entered = switch.watch(Task::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        cancelling.join().unwrap();
        assert_eq!(count(&runs), usize::from(entered.is_some()));
    });
}

#[test]
fn loom_2_against_a_hook_that_is_called_off() {
    loom::model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let (runs, drops) = (counter(), counter());
        let (counted, owned) = (runs.clone(), Token(drops.clone()));
        let number = switch.watch(Task::new(move || {
            let _owned = &owned;
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let cancelling = thread::spawn({
            let switch = switch.clone();
            move || switch.cancel(error("no"))
        });
        switch.forget(number.expect("nobody had cancelled"));
        cancelling.join().unwrap();
        assert!(count(&runs) <= 1);
        assert_eq!(count(&drops), 1);
    });
}

//! Models of cancellation, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-host --release --lib loom`.
//!
//! Each names the steps of the drawing that it lets race.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use tfrt_async::{AsyncValueRef, Promise};
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

/// A turn that is not the last one. It looks at the switch as kernels do, so that loom lets the request be cancelled in the
/// middle of it.
fn wait(switch: &CancelSwitch) -> impl FnOnce(&mut Token) -> Option<()> {
    move |_| {
        let _ = switch.value();
        None
    }
}

/// A model of three threads, which are left in the middle of something at most three times: without a bound it takes longer than
/// anybody waited.
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
        // A kernel looks before it starts, and once more in the middle.
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
        switch.watch(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let threads = ["one", "two"].map(|name| {
            let switch = switch.clone();
            thread::spawn(move || {
                switch.cancel(error(name));
                // Whoever has cancelled finds the request cancelled, by one error for all times.
                switch.value().map(message)
            })
        });
        let [one, two] = threads.map(|thread| thread.join().unwrap());
        let stayed = switch.value().map(message);
        assert!(matches!(stayed.as_deref(), Some("one" | "two")));
        // The one that came too late may not see the value yet; it never sees another one.
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
        let entered = switch.watch(Box::new(move || {
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
        let number = switch.watch(Box::new(move || {
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

#[test]
fn loom_1_and_2_against_6_and_7_work_under_way_goes_away_once() {
    loom::model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let drops = counter();
        let work = Arc::new(Interruptible::new(Token(drops.clone())));
        let hooked = work.clone();
        let of_hook = switch.clone();
        switch.watch(Box::new(move || {
            drop(hooked.take_if_cancelled(&of_hook));
        }));
        let cancelling = thread::spawn({
            let switch = switch.clone();
            move || switch.cancel(error("no"))
        });
        let turn = work.turn(&switch, wait(&switch));
        let waits = matches!(turn, Turn::Waits | Turn::Over);
        drop(turn);
        cancelling.join().unwrap();
        assert!(work.is_over(), "left behind; the user went on: {waits}");
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn loom_3_to_5_against_1_and_2_work_that_is_watched_late_goes_away() {
    loom::model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let drops = counter();
        let work = Arc::new(Interruptible::new(Token(drops.clone())));
        let cancelling = thread::spawn({
            let switch = switch.clone();
            move || switch.cancel(error("no"))
        });
        // What a kernel does that waits: one turn, then the watch, then one more look.
        drop(work.turn(&switch, wait(&switch)));
        let (hooked, of_hook) = (work.clone(), switch.clone());
        switch.watch(Box::new(move || {
            drop(hooked.take_if_cancelled(&of_hook));
        }));
        drop(work.take_if_cancelled(&switch));
        cancelling.join().unwrap();
        assert!(work.is_over());
        assert_eq!(count(&drops), 1);
    });
}

/// Work that is done when it has kept its promise.
struct Keeps(Promise<i32>);

#[test]
fn loom_a_deadline_against_the_end_of_the_work_gives_one_outcome() {
    bounded_model(|| {
        let switch = Arc::new(CancelSwitch::new());
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let work = Arc::new(Interruptible::new(Some(Keeps(promise))));
        let settle = |work: Option<Keeps>, cancelled: &AnyRef| {
            if let (Some(Keeps(promise)), Some(error)) = (work, cancelled.error_if_present()) {
                promise.set_error(error.clone());
            }
        };
        let (hooked, of_hook) = (work.clone(), switch.clone());
        switch.watch(Box::new(move || {
            if let (Some(taken), Some(cancelled)) =
                (hooked.take_if_cancelled(&of_hook), of_hook.value())
            {
                settle(taken.flatten(), cancelled);
            }
        }));
        let deadline = thread::spawn({
            let switch = switch.clone();
            move || switch.cancel(error("late"))
        });
        match work.turn(&switch, Option::take) {
            Turn::Done(_, Keeps(promise)) => promise.emplace(7),
            Turn::Cancelled(taken) => {
                settle(taken.flatten(), switch.value().expect("cancelled"));
            }
            Turn::Waits | Turn::Over => {}
        }
        deadline.join().unwrap();
        let value = value.into_any();
        assert!(value.is_available());
        match value.get::<i32>() {
            Some(number) => assert_eq!(*number, 7),
            None => assert_eq!(message(&value), "late"),
        }
    });
}

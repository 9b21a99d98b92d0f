//! Models of the token, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-data --release --lib loom`.
//!
//! The token guards a cell that loom checks: concurrent accesses are an error, and so is a read
//! that is not ordered after the write that it should see.

#![expect(unsafe_code, reason = "looks into a cell that loom watches")]

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

/// A stage whose requests are answered by the holder of the token.
struct Stage {
    events: Events,
    /// Models the queue of requests: the models rely on no other ordering of the queue.
    requests: Mutex<Vec<usize>>,
    state: UnsafeCell<State>,
}

#[derive(Default)]
struct State {
    /// The value that the oldest request waits for, once it has arrived.
    arrived: Option<usize>,
    outstanding: Vec<usize>,
    answered: Vec<usize>,
}

impl Stage {
    /// Creates a stage whose first request waits; the caller holds the token.
    fn waiting() -> Arc<Self> {
        Arc::new(Self {
            events: Events::held(),
            requests: Mutex::new(Vec::new()),
            state: UnsafeCell::new(State {
                outstanding: vec![0],
                ..State::default()
            }),
        })
    }

    /// Takes over the requests as the holder, and answers them if the value is available.
    fn handle(&self, value: &loom::sync::atomic::AtomicUsize) {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        self.state.with_mut(|state| {
            // SAFETY: T1. Loom reports an error if another thread is here at the same time.
            let state = unsafe { &mut *state };
            state.outstanding.extend(requests);
            match value.load(Ordering::Acquire) {
                0 => {}
                value => state.arrived = Some(value),
            }
            if state.arrived.is_some() {
                state.answered.append(&mut state.outstanding);
            }
        });
    }

    /// Draws, on the thread of the consumer.
    fn draw(&self, request: usize, value: &loom::sync::atomic::AtomicUsize) {
        if self.events.try_take() {
            self.requests.lock().unwrap().push(request);
            self.handle(value);
            self.events.leave(|| self.handle(value));
            return;
        }
        self.requests.lock().unwrap().push(request);
        self.enter(value);
    }

    fn enter(&self, value: &loom::sync::atomic::AtomicUsize) {
        if self.events.enter() {
            self.handle(value);
            self.events.leave(|| self.handle(value));
        }
    }

    fn answered(&self) -> Vec<usize> {
        // SAFETY: no other thread is left.
        self.state
            .with(|state| unsafe { (*state).answered.clone() })
    }
}

/// The value arrives while the consumer draws: every request is answered, in order.
#[test]
fn loom_t1_requests_are_answered_in_order_however_the_value_arrives() {
    loom::model(|| {
        let stage = Stage::waiting();
        let value = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
        let arriving = thread::spawn({
            let (stage, value) = (Arc::clone(&stage), Arc::clone(&value));
            move || {
                value.store(7, Ordering::Release);
                stage.enter(&value);
            }
        });
        // The first request has registered its waiter.
        stage.events.leave(|| stage.handle(&value));
        stage.draw(1, &value);
        stage.draw(2, &value);
        arriving.join().unwrap();
        assert_eq!(stage.answered(), [0, 1, 2]);
    });
}

/// Two values arrive at once, like those of several inputs: one holder at a time, no event lost.
#[test]
fn loom_t1_no_event_is_lost_between_two_arrivals() {
    loom::model(|| {
        let stage = Stage::waiting();
        let values = [(); 2].map(|()| Arc::new(loom::sync::atomic::AtomicUsize::new(0)));
        let arriving = values.clone().map(|value| {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                value.store(7, Ordering::Release);
                stage.enter(&value);
            })
        });
        stage.events.leave(|| stage.handle(&values[0]));
        for thread in arriving {
            thread.join().unwrap();
        }
        assert_eq!(stage.answered(), [0]);
    });
}

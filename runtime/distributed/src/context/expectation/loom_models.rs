//! Models of receivers that wait for a task, over the shipped source of their rendezvous and of the
//! record of lost tasks:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-distributed --release --lib loom`.
//!
//! Each names the steps of the drawing that it lets race.

use loom::sync::Mutex as Checked;
use loom::thread;
use tfrt_support::{Error, ErrorCode};

use super::*;
use crate::error::RemoteError;
use crate::payload::Payload;
use crate::rendezvous::Rendezvous;

/// A context: payloads, lost tasks, and tasks that have departed.
#[derive(Clone, Default)]
struct Context {
    rendezvous: Arc<Rendezvous>,
    health: Arc<Health>,
    departed: Arc<Health>,
}

/// Whether a receiver was called with a payload, each time.
type Outcomes = Arc<Checked<Vec<bool>>>;

impl Context {
    /// Waits for the payload of a task.
    fn receive(&self, from: TaskHandle) -> Outcomes {
        let outcomes = Outcomes::default();
        let own = Arc::clone(&outcomes);
        let receiver = move |payload: Result<Payload, Error>| {
            own.lock().unwrap().push(payload.is_ok());
        };
        let rendezvous = Arc::downgrade(&self.rendezvous);
        let give_up = move |number, _| {
            if let Some(rendezvous) = rendezvous.upgrade() {
                rendezvous.give_up_numbered("k", number, &Error::new("lost"));
            }
        };
        let records = [&self.health, &self.departed];
        let enter = |receiver| self.rendezvous.receive_numbered("k", receiver);
        receive_until_end(records, from, Box::new(receiver), enter, give_up);
        outcomes
    }

    fn lose(&self, task: TaskHandle) {
        let error = RemoteError::new(ErrorCode::Unavailable, "lost");
        for callback in self.health.mark_lost(task, error) {
            callback();
        }
    }

    fn send(&self) {
        // A closed rendezvous refuses it.
        let _ = self.rendezvous.send("k", Payload::new(vec![]));
    }

    fn num_watches(&self) -> usize {
        self.health.num_watches() + self.departed.num_watches()
    }
}

fn found(outcomes: &Outcomes) -> Vec<bool> {
    outcomes.lock().unwrap().clone()
}

#[test]
fn loom_1_against_2_the_watch_ends_with_a_wait_that_was_short() {
    loom::model(|| {
        let (context, task) = (Context::default(), TaskHandle::draw());
        let sending = thread::spawn({
            let context = context.clone();
            move || context.send()
        });
        let outcomes = context.receive(task);
        sending.join().unwrap();
        assert_eq!(found(&outcomes), [true]);
        assert_eq!(context.num_watches(), 0);
    });
}

#[test]
fn loom_3_and_4_against_2_the_loss_is_noticed_whenever_it_comes() {
    loom::model(|| {
        let (context, task) = (Context::default(), TaskHandle::draw());
        let losing = thread::spawn({
            let context = context.clone();
            move || context.lose(task)
        });
        let outcomes = context.receive(task);
        losing.join().unwrap();
        assert_eq!(found(&outcomes), [false]);
        assert!(context.rendezvous.is_empty());
        assert_eq!(context.num_watches(), 0);
    });
}

#[test]
fn loom_1_against_4_a_receiver_is_called_once() {
    loom::model(|| {
        let (context, task) = (Context::default(), TaskHandle::draw());
        let losing = thread::spawn({
            let context = context.clone();
            move || context.lose(task)
        });
        let sending = thread::spawn({
            let context = context.clone();
            move || context.send()
        });
        let outcomes = context.receive(task);
        losing.join().unwrap();
        sending.join().unwrap();
        assert_eq!(found(&outcomes).len(), 1);
        assert_eq!(context.num_watches(), 0);
    });
}

#[test]
fn loom_4_after_1_spares_the_next_receiver_of_the_key() {
    loom::model(|| {
        let context = Context::default();
        let [lost, alive] = [(); 2].map(|()| TaskHandle::draw());
        let first = context.receive(lost);
        let losing = thread::spawn({
            let context = context.clone();
            move || context.lose(lost)
        });
        context.send();
        let second = context.receive(alive);
        losing.join().unwrap();
        // The payload is that of the second one if the first one was given up before it came.
        match found(&first)[..] {
            [true] => assert!(found(&second).is_empty()),
            [false] => assert_eq!(found(&second), [true]),
            ref other => panic!("the first receiver was called with {other:?}"),
        }
    });
}

#[test]
fn loom_the_end_of_the_context_against_4_a_receiver_is_called_once() {
    loom::model(|| {
        let (context, task) = (Context::default(), TaskHandle::draw());
        let losing = thread::spawn({
            let context = context.clone();
            move || context.lose(task)
        });
        let closing = thread::spawn({
            let context = context.clone();
            move || {
                let closed = RemoteError::new(ErrorCode::Cancelled, "closed");
                context.health.close(&closed);
                context.rendezvous.close(&Error::new("closed"));
                for on_end in context.health.end(&closed) {
                    on_end();
                }
            }
        });
        let outcomes = context.receive(task);
        losing.join().unwrap();
        closing.join().unwrap();
        assert_eq!(found(&outcomes), [false]);
        assert_eq!(context.num_watches(), 0);
    });
}

//! Models of the rendezvous, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-distributed --release --lib loom`.
//!
//! Each lets a payload, its receiver and one that ends the wait come in every order.

use std::sync::Arc;

use loom::sync::Mutex as Checked;
use loom::thread;

use super::*;

/// What became of a receiver: the number of its calls, and whether it has a payload.
#[derive(Clone, Default)]
struct Outcomes(Arc<Checked<Vec<bool>>>);

impl Outcomes {
    fn receiver(&self) -> Receiver {
        let own = self.clone();
        Box::new(move |payload| own.0.lock().unwrap().push(payload.is_ok()))
    }

    fn found(&self) -> Vec<bool> {
        self.0.lock().unwrap().clone()
    }
}

fn payload() -> Payload {
    Payload::new(vec![])
}

fn assert_empty(rendezvous: &Rendezvous) {
    assert!(rendezvous.is_empty());
    let state = rendezvous.lock();
    assert_eq!((state.num_bytes, state.num_arriving), (0, 0));
}

#[test]
fn loom_a_payload_meets_its_receiver_whoever_comes_first() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let outcomes = Outcomes::default();
        let sending = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.send("k", payload())
        });
        rendezvous.receive("k", outcomes.receiver());
        sending.join().unwrap().unwrap();
        assert_eq!(outcomes.found(), [true]);
        assert_empty(&rendezvous);
    });
}

#[test]
fn loom_one_of_two_receivers_gets_the_payload() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let [first, second] = [(); 2].map(|()| Outcomes::default());
        let threads = [
            thread::spawn({
                let (rendezvous, receiver) = (Arc::clone(&rendezvous), first.receiver());
                move || rendezvous.receive("k", receiver)
            }),
            thread::spawn({
                let rendezvous = Arc::clone(&rendezvous);
                move || rendezvous.send("k", payload()).is_ok()
            }),
        ];
        rendezvous.receive("k", second.receiver());
        for thread in threads {
            thread.join().unwrap();
        }
        // The other one waits on, or was refused.
        let all = [first.found(), second.found()].concat();
        assert_eq!(all.iter().filter(|has_payload| **has_payload).count(), 1);
        rendezvous.close(&Error::new("closed"));
        assert_eq!((first.found().len(), second.found().len()), (1, 1));
        assert_empty(&rendezvous);
    });
}

#[test]
fn loom_the_end_of_the_rendezvous_is_the_end_of_each_wait() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let outcomes = Outcomes::default();
        let closing = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.close(&Error::new("closed"))
        });
        let sending = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.send("k", payload()).is_ok()
        });
        rendezvous.receive("k", outcomes.receiver());
        closing.join().unwrap();
        let is_sent = sending.join().unwrap();
        let found = outcomes.found();
        assert_eq!(found.len(), 1);
        assert!(
            is_sent || !found[0],
            "a payload that was refused is received"
        );
        assert_empty(&rendezvous);
    });
}

#[test]
fn loom_who_is_given_up_is_not_the_next_receiver_of_the_key() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let [first, second] = [(); 2].map(|()| Outcomes::default());
        let number = rendezvous.receive_numbered("k", first.receiver()).unwrap();
        let giving_up = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.give_up_numbered("k", number, &Error::new("late"))
        });
        rendezvous.send("k", payload()).unwrap();
        // The payload waits if the first one was given up before.
        rendezvous.receive("k", second.receiver());
        giving_up.join().unwrap();
        let was_given_up = first.found() == [false];
        assert!(was_given_up || first.found() == [true]);
        if !was_given_up {
            assert!(second.found().is_empty());
            rendezvous.send("k", payload()).unwrap();
        }
        assert_eq!(second.found(), [true]);
    });
}

#[test]
fn loom_a_receiver_is_withdrawn_or_called() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let outcomes = Outcomes::default();
        let number = rendezvous
            .receive_numbered("k", outcomes.receiver())
            .unwrap();
        let sending = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.send("k", payload()).unwrap()
        });
        rendezvous.withdraw("k", number);
        sending.join().unwrap();
        // The payload of one that was withdrawn waits for another one.
        let num_calls = outcomes.found().len();
        assert_eq!(num_calls + rendezvous.num_payloads(), 1);
    });
}

#[test]
fn loom_room_is_given_back_however_the_wait_ends() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::new("T", 10_000));
        let outcomes = Outcomes::default();
        // A payload that is about to arrive, and a sender that fails before.
        let arriving = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || {
                let room = rendezvous.expect("k", 1000).unwrap();
                rendezvous.send_arrived("k", payload(), room).unwrap();
            }
        });
        let failing = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || drop(rendezvous.expect("k", 1000).unwrap())
        });
        rendezvous.receive("k", outcomes.receiver());
        arriving.join().unwrap();
        failing.join().unwrap();
        assert_eq!(outcomes.found(), [true]);
        assert_empty(&rendezvous);
    });
}

#[test]
fn loom_a_payload_that_nobody_claims_goes_whenever_that_is_known() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::default());
        let sending = thread::spawn({
            let rendezvous = Arc::clone(&rendezvous);
            move || rendezvous.send("over", payload()).unwrap()
        });
        rendezvous.discard("rule".to_owned(), |key, _| key == "over");
        sending.join().unwrap();
        assert_empty(&rendezvous);
    });
}

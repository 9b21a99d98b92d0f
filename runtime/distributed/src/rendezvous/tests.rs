//! Payloads and receivers that meet, in either order.

use std::sync::Arc;
use std::sync::mpsc::{Receiver as Channel, channel};

use super::*;

#[test]
fn payloads_that_nobody_asks_for_have_a_limit() {
    let payload = || {
        let bytes = [prost::bytes::Bytes::from_static(&[0; 100])];
        let host = tfrt_host::HostContext::builder().build();
        Payload::from_bytes(&bytes, host.allocator()).unwrap()
    };
    let room = 2 * size("a", &payload());
    let rendezvous = Rendezvous::new("T", room);
    rendezvous.send("a", payload()).unwrap();
    rendezvous.send("b", payload()).unwrap();
    let error = rendezvous.send("c", payload()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unavailable: receive buffer of T is full"
    );
    assert!(is_full(&error.into()));
    // Whoever waits gets a payload although the room is taken.
    assert!(rendezvous.receive("c", Box::new(|payload| assert!(payload.is_ok()))));
    rendezvous.send("c", payload()).unwrap();
    // What is taken makes the room that it took.
    assert!(!rendezvous.receive("a", Box::new(|payload| assert!(payload.is_ok()))));
    rendezvous.send("d", payload()).unwrap();
    assert!(rendezvous.send("e", payload()).is_err());
    // What could not be used has room again, until it is taken.
    rendezvous.put_back("e", payload()).unwrap();
    assert!(rendezvous.put_back("e", payload()).is_err());
    assert!(rendezvous.send("f", payload()).is_err());
    for key in ["b", "d", "e"] {
        assert!(!rendezvous.receive(key, Box::new(|payload| assert!(payload.is_ok()))));
    }
    assert_eq!(rendezvous.lock().num_bytes, 0);
}

#[test]
fn payloads_that_arrive_have_the_same_limit() {
    let (limit, large) = (10_000, 9_000);
    let rendezvous = Rendezvous::new("T", limit);
    let num_arriving = || rendezvous.lock().num_arriving;
    let expect = |key: &str| rendezvous.expect(key, large);
    let refused = |key: &str| expect(key).unwrap_err().to_string();
    let full = "Unavailable: receive buffer of T is full";
    let first = expect("a").unwrap();
    assert!(num_arriving() >= large as usize);
    assert_eq!(refused("b"), full);
    assert_eq!(refused("a"), full);
    // Small ones count those that arrive, too.
    let small = |key: &str| {
        let bytes = [prost::bytes::Bytes::from_static(&[0; 1000])];
        let host = tfrt_host::HostContext::builder().build();
        let payload = Payload::from_bytes(&bytes, host.allocator()).unwrap();
        rendezvous.send(key, payload)
    };
    assert!(small("small").is_err());
    // Nothing comes of it after all.
    drop(first);
    assert_eq!(num_arriving(), 0);
    small("small").unwrap();
    assert_eq!(refused("b"), full);
    assert_eq!(receive(&rendezvous, "small").try_recv(), Ok(Ok(1)));
    // It is handed over.
    let room = expect("b").unwrap();
    let at_once = rendezvous.send_at_once("b", Payload::new(vec![]), room);
    assert!(at_once.is_ok() && num_arriving() == 0);
    let room = expect("c").unwrap();
    let sent = rendezvous.send_arrived("c", Payload::new(vec![]), room);
    assert!(sent.is_ok() && num_arriving() == 0);
    // There may be any number of bytes, also too many for a number.
    assert!(rendezvous.expect("d", u64::MAX).is_err());
    rendezvous.close(&Error::new("closed"));
    assert_eq!(refused("d"), "Unknown: closed");
}

#[test]
fn a_payload_that_is_waited_for_always_has_room() {
    let rendezvous = Rendezvous::new("T", 1000);
    let (large, received) = (1 << 40, receive(&rendezvous, "k"));
    let room = rendezvous.expect("k", large).unwrap();
    assert_eq!(rendezvous.lock().num_arriving, 0);
    // One receiver waits for one payload.
    assert!(rendezvous.expect("k", large).is_err());
    drop(room);
    let room = rendezvous.expect("k", large).unwrap();
    let sent = rendezvous.send_at_once("k", Payload::new(vec![]), room);
    // It stays the only one until it is handed over.
    let (payload, room) = sent.unwrap_err();
    assert!(rendezvous.expect("k", large).is_err());
    rendezvous.send_arrived("k", payload, room).unwrap();
    assert_eq!(received.try_recv(), Ok(Ok(0)));
    // Another receiver, whose payload is another one.
    let former = receive(&rendezvous, "k");
    let of_former = rendezvous.expect("k", large).unwrap();
    rendezvous.give_up("k", &Error::new("over"));
    assert!(former.try_recv().unwrap().is_err());
    assert!(rendezvous.expect("k", large).is_err());
    let _received = receive(&rendezvous, "k");
    let room = rendezvous.expect("k", large).unwrap();
    drop(of_former);
    assert!(rendezvous.expect("k", large).is_err());
    drop(room);
    assert!(rendezvous.expect("k", large).is_ok());
}

fn receive(rendezvous: &Rendezvous, key: &str) -> Channel<Result<usize, String>> {
    let (sender, received) = channel();
    let receiver = move |outcome: Result<Payload, Error>| {
        let outcome = outcome.map(|payload| payload.buffers().len());
        sender
            .send(outcome.map_err(|error| error.message().to_owned()))
            .unwrap();
    };
    rendezvous.receive(key, Box::new(receiver));
    received
}

#[test]
fn either_may_come_first() {
    let rendezvous = Rendezvous::default();
    rendezvous.send("a", Payload::new(vec![])).unwrap();
    assert_eq!(rendezvous.num_payloads(), 1);
    assert_eq!(receive(&rendezvous, "a").try_recv(), Ok(Ok(0)));
    let received = receive(&rendezvous, "b");
    assert!(received.try_recv().is_err());
    rendezvous.send("b", Payload::new(vec![])).unwrap();
    assert_eq!(received.try_recv(), Ok(Ok(0)));
    assert!(rendezvous.is_empty());
}

#[test]
fn only_light_receivers_get_payloads_at_once() {
    let rendezvous = Rendezvous::default();
    let heavy = receive(&rendezvous, "heavy");
    let at_once =
        |key: &str| rendezvous.send_at_once(key, Payload::new(vec![]), PayloadRoom::default());
    let (payload, _) = at_once("heavy").unwrap_err();
    assert!(heavy.try_recv().is_err());
    rendezvous.send("heavy", payload).unwrap();
    assert_eq!(heavy.try_recv(), Ok(Ok(0)));
    let (sender, light) = channel();
    let receiver = move |payload: Result<Payload, Error>| sender.send(payload.is_ok()).unwrap();
    let waits = rendezvous.receive_light("light", Box::new(receiver));
    assert!(waits.is_some());
    let sent = at_once("light");
    assert!(sent.unwrap().is_ok());
    assert_eq!(light.try_recv(), Ok(true));
    // One that is still to come.
    let sent = at_once("early");
    assert!(sent.unwrap().is_ok());
    let again = at_once("early");
    assert!(again.unwrap().is_err());
    assert_eq!(receive(&rendezvous, "early").try_recv(), Ok(Ok(0)));
    assert!(rendezvous.is_empty());
}

#[test]
fn the_later_of_two_equals_is_refused() {
    let rendezvous = Rendezvous::default();
    rendezvous.send("a", Payload::new(vec![])).unwrap();
    let error = rendezvous.send("a", Payload::new(vec![])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "AlreadyExists: Value for key a was set twice."
    );
    let first = receive(&rendezvous, "b");
    let second = receive(&rendezvous, "b").try_recv();
    assert_eq!(second, Ok(Err("Two receivers for key b.".to_owned())));
    rendezvous.send("b", Payload::new(vec![])).unwrap();
    assert_eq!(first.try_recv(), Ok(Ok(0)));
}

#[test]
fn waits_end_with_the_rendezvous() {
    let rendezvous = Arc::new(Rendezvous::default());
    let (given_up, left) = (receive(&rendezvous, "a"), receive(&rendezvous, "b"));
    rendezvous.give_up("a", &Error::new("late"));
    rendezvous.close(&Error::new("closed"));
    assert_eq!(given_up.try_recv(), Ok(Err("late".to_owned())));
    assert_eq!(left.try_recv(), Ok(Err("closed".to_owned())));
    let after = receive(&rendezvous, "c").try_recv();
    assert_eq!(after, Ok(Err("closed".to_owned())));
    assert!(rendezvous.send("c", Payload::new(vec![])).is_err());
}

#[test]
fn a_receiver_is_withdrawn_by_its_number_alone() {
    let rendezvous = Rendezvous::default();
    let wait = || {
        let (sender, received) = channel();
        let receiver = move |payload: Result<Payload, Error>| {
            let _ = sender.send(payload.is_ok());
        };
        let number = rendezvous.receive_numbered("k", Box::new(receiver));
        (number.unwrap(), received)
    };
    let (first, gone) = wait();
    rendezvous.withdraw("k", first);
    assert!(gone.try_recv().is_err() && rendezvous.is_empty());
    // The next receiver of the key is another one, and so is a payload.
    let (_, received) = wait();
    rendezvous.withdraw("k", first);
    rendezvous.send("k", Payload::new(vec![])).unwrap();
    assert_eq!(received.try_recv(), Ok(true));
    rendezvous.send("k", Payload::new(vec![])).unwrap();
    rendezvous.withdraw("k", first);
    let keys = rendezvous.payloads().into_iter().map(|(key, _)| key);
    assert_eq!(keys.collect::<Vec<_>>(), ["k"]);
}

#[test]
fn one_of_two_threads_becomes_the_receiver() {
    let rendezvous = Rendezvous::default();
    for _ in 0..2000 {
        let start = std::sync::Barrier::new(2);
        let receive = || {
            start.wait();
            let (sender, received) = channel();
            let receiver = move |payload: Result<Payload, Error>| {
                let _ = sender.send(payload.map_err(|error| error.message().to_owned()));
            };
            let waits = rendezvous.try_receive("k", Box::new(receiver));
            (waits, received)
        };
        let both = std::thread::scope(|scope| {
            let threads = [scope.spawn(receive), scope.spawn(receive)];
            threads.map(|thread| thread.join().unwrap())
        });
        assert_ne!(both[0].0, both[1].0, "two receivers of one key");
        rendezvous.give_up("k", &Error::new("over"));
        for (waits, received) in both {
            let found = received.try_recv().ok().map(Result::unwrap_err);
            assert_eq!(found.as_deref(), waits.then_some("over"));
        }
    }
}

#[test]
fn a_rule_of_what_nobody_claims_replaces_the_former_one() {
    let rendezvous = Rendezvous::default();
    let discard = |unclaimed: &'static str| {
        let is_over = move |key: &str, _: &Payload| key == unclaimed;
        rendezvous.discard("rule".to_owned(), is_over);
    };
    rendezvous.send("a", Payload::new(vec![])).unwrap();
    discard("a");
    assert!(rendezvous.is_empty());
    rendezvous.send("a", Payload::new(vec![])).unwrap();
    assert!(rendezvous.is_empty());
    discard("b");
    rendezvous.send("b", Payload::new(vec![])).unwrap();
    assert!(rendezvous.is_empty());
    rendezvous.send("a", Payload::new(vec![])).unwrap();
    assert_eq!(rendezvous.num_payloads(), 1);
    assert_eq!(rendezvous.lock().discards.len(), 1);
}

#[test]
fn what_nobody_claims_any_more_gives_way() {
    let rendezvous = Rendezvous::default();
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let own_is_over = Arc::clone(&is_over);
    rendezvous.discard("rule".to_owned(), move |_, payload| {
        let order = std::sync::atomic::Ordering::Relaxed;
        payload.buffers().is_empty() && own_is_over.load(order)
    });
    let payload = || {
        let buffer = tfrt_tensor::HostBuffer::from_owner(vec![0; 100]);
        Payload::new(vec![buffer.unwrap()])
    };
    let set = |value| is_over.store(value, std::sync::atomic::Ordering::Relaxed);
    rendezvous.send("k", Payload::new(vec![])).unwrap();
    rendezvous.sweep_key("k");
    assert!(rendezvous.send("k", payload()).is_err());
    set(true);
    rendezvous.send("k", payload()).unwrap();
    assert_eq!(receive(&rendezvous, "k").try_recv(), Ok(Ok(1)));
    set(false);
    rendezvous.send("k", Payload::new(vec![])).unwrap();
    set(true);
    rendezvous.sweep_key("other");
    assert!(!rendezvous.is_empty());
    rendezvous.sweep_key("k");
    assert!(rendezvous.is_empty());
    assert_eq!(rendezvous.lock().num_bytes, 0);
}

//! Payloads on connections of either kind.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::bytes::Bytes;
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::{KeepAliveResponse, Request, SendDataRequest, SendDataResponse};
use tfrt_grpc::GrpcOptions;

use super::proxy::Proxy;
use super::{MINUTE, begin, call, fake, host, is_long, ping, text};

#[test]
fn payloads_of_all_sizes_arrive() {
    for (here, there) in [(true, true), (true, false), (false, true)] {
        check_payloads_of_all_sizes(here, there);
    }
}

/// Sends payloads between tasks of which each has data connections or none.
fn check_payloads_of_all_sizes(here: bool, there: bool) {
    let with = |data_connections: bool| GrpcOptions {
        data_connections,
        ..GrpcOptions::default()
    };
    let host = host();
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&arrived);
    let task = fake(&host, &with(there), move |request, reply| {
        note.lock().unwrap().push(request);
        reply.send(Ok(SendDataResponse {}.into()));
    });
    let sender = fake(&host, &with(here), |_, _| ());
    let proxy = Proxy::to(task.communicator.address());
    let client = sender.communicator.client(&proxy.address);
    // The last one is larger than any message may be.
    for size in [0, 1, 1 << 20, (1 << 20) + 1, 70 << 20] {
        let bytes: Vec<u8> = (0..size).map(|i: usize| (i % 251) as u8).collect();
        let request = SendDataRequest {
            context_id: 1,
            instance_key: "k".to_owned(),
            payload: vec![Bytes::from_static(b"head"), bytes.into(), Bytes::new()],
        };
        call(&*client, request.clone()).unwrap();
        let found = arrived.lock().unwrap().pop().unwrap();
        assert!(found == request.into(), "{size} bytes changed on their way");
    }
    // Two directions each: the connection of the greeting, and that of payloads, of which there is
    // another one for large ones if both tasks have data connections.
    let expected = if here && there { 6 } else { 4 };
    assert_eq!(proxy.num_open(), expected, "{here} {there}");
}

#[test]
fn a_payload_of_more_bytes_than_32_bits_count_arrives() {
    if !is_long() {
        println!("skipped: it takes 10 GiB of memory, set TFRT_LONG_TESTS");
        return;
    }
    let mut bytes = vec![0_u8; (4 << 30) + 5];
    for (index, byte) in bytes.iter_mut().step_by(4093).enumerate() {
        *byte = (index % 251) as u8;
    }
    let request = SendDataRequest {
        context_id: 1,
        instance_key: "k".to_owned(),
        payload: vec![bytes.into()],
    };
    for data_connections in [true, false] {
        let host = host();
        let (note, arrived) = channel();
        let note = Mutex::new(note);
        let options = GrpcOptions {
            max_payload_bytes: 5 << 30,
            data_connections,
            ..GrpcOptions::default()
        };
        let task = fake(&host, &options, move |request, reply| {
            note.lock().unwrap().send(request).unwrap();
            reply.send(Ok(SendDataResponse {}.into()));
        });
        let client = task.communicator.client(task.communicator.address());
        let answer = begin(&*client, CallOptions::default(), request.clone());
        answer.recv_timeout(15 * MINUTE).unwrap().unwrap();
        assert!(arrived.recv().unwrap() == request.clone().into());
    }
}

#[test]
fn a_payload_over_the_limit_of_the_receiver_is_refused() {
    let host = host();
    let options = GrpcOptions {
        max_payload_bytes: 2 << 20,
        ..GrpcOptions::default()
    };
    let task = fake(&host, &options, |_, _| panic!("nothing arrives"));
    let request = SendDataRequest {
        payload: vec![vec![0; (2 << 20) + 1].into()],
        ..SendDataRequest::default()
    };
    let message = text(call(&*task.own_client(), request));
    assert!(
        message.ends_with("a payload of 2097153 bytes exceeds the limit of 2097152 bytes"),
        "{message}"
    );
}

#[test]
fn only_so_many_payloads_are_on_their_way() {
    let host = host();
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let options = GrpcOptions {
        max_inflight_requests: 2,
        ..GrpcOptions::default()
    };
    let task = fake(&host, &options, move |request, reply| match request {
        Request::SendData(_) => sender.lock().unwrap().send(reply).unwrap(),
        _ => reply.send(Ok(KeepAliveResponse {}.into())),
    });
    let client = task.own_client();
    let send = || begin(&*client, CallOptions::default(), SendDataRequest::default());
    let answers: Vec<_> = (0..5).map(|_| send()).collect();
    let next = || replies.recv_timeout(MINUTE).unwrap();
    let mut held = vec![next(), next()];
    assert!(
        replies.recv_timeout(Duration::from_millis(100)).is_err(),
        "a third one arrived"
    );
    // Other requests pass them by.
    assert!(call(&*client, ping()).is_ok());
    for round in 0..5 {
        held.remove(0).send(Ok(SendDataResponse {}.into()));
        if round < 3 {
            held.push(next());
        }
    }
    for answer in answers {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
}

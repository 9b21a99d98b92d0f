//! Payloads on data connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt_distributed::fabric::{CallOptions, CancelCall};
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::{DistributedContext, Payload, Server, ServerConfig};
use tfrt_grpc::{GrpcOptions, TYPE_NAME};

use super::{frame, greeting, payload, taking};
use crate::proxy::{Behaviour, Proxy};
use crate::{MINUTE, begin, call, free_address, host, text};

#[test]
fn payloads_that_are_cancelled_leave_the_connection_to_others() {
    let (task, keys) = taking(&GrpcOptions::default());
    let behaviour = Behaviour {
        bytes_per_second: Some(20_000_000),
        ..Behaviour::default()
    };
    let proxy = Proxy::with(task.communicator.address(), behaviour);
    let client = task.communicator.client(&proxy.address);
    call(&*client, payload("before", 2 << 20)).unwrap();
    let num_open = proxy.num_open();
    for round in 0..8 {
        let cancel = CancelCall::default();
        let options = CallOptions {
            cancel: Some(cancel.clone()),
            ..CallOptions::default()
        };
        let cancelled = begin(&*client, options, payload("cancelled", 32 << 20));
        let other = begin(&*client, CallOptions::default(), payload("other", 2 << 20));
        // At another place of the payload each time.
        std::thread::sleep(Duration::from_millis(5 * round));
        cancel.start();
        let message = text(cancelled.recv_timeout(MINUTE).unwrap());
        assert!(message.ends_with("the call was cancelled"), "{message}");
        other.recv_timeout(MINUTE).unwrap().unwrap();
    }
    let keys = keys.lock().unwrap();
    assert_eq!(keys.iter().filter(|key| *key == "other").count(), 8);
    assert!(!keys.iter().any(|key| key == "cancelled"), "{keys:?}");
    assert_eq!(proxy.num_open(), num_open, "the connection is the same");
}

#[test]
fn payloads_on_a_frozen_connection_end() {
    let options = GrpcOptions {
        keepalive_interval: Duration::from_millis(100),
        keepalive_timeout: Duration::from_millis(200),
        ..GrpcOptions::default()
    };
    let (task, _) = taking(&options);
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    for size in [1, 2 << 20] {
        call(&*client, payload("before", size)).unwrap();
    }
    proxy.freeze();
    for size in [1, 32 << 20] {
        let answer = begin(&*client, CallOptions::default(), payload("lost", size));
        let message = text(answer.recv_timeout(MINUTE).unwrap());
        let address = &proxy.address;
        let start = format!("RpcUnavailable: SendData to {address}: ");
        assert!(message.starts_with(&start), "{message}");
    }
    // Neither side keeps a connection.
    drop(client);
    let end = Instant::now() + MINUTE;
    while proxy.num_open() > 0 {
        assert!(Instant::now() < end, "a connection stays open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn payloads_find_a_new_connection_after_a_cut() {
    let (task, keys) = taking(&GrpcOptions::default());
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    for _ in 0..5 {
        for size in [1, 2 << 20] {
            // The client may not have noticed the cut yet.
            let end = Instant::now() + MINUTE;
            while let Err(errors) = call(&*client, payload("k", size)) {
                let message = errors.to_string();
                assert!(message.starts_with("RpcUnavailable: "), "{message}");
                assert!(Instant::now() < end, "{message}");
            }
        }
        proxy.cut();
    }
    assert!(keys.lock().unwrap().len() >= 10);
}

#[test]
fn many_payloads_share_the_connections() {
    let (task, keys) = taking(&GrpcOptions::default());
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    let sizes = [0, 1, 100_000, 3 << 20];
    let answers = (0..200).map(|number| {
        let request = payload(&number.to_string(), sizes[number % sizes.len()]);
        begin(&*client, CallOptions::default(), request)
    });
    for answer in answers.collect::<Vec<_>>() {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
    assert_eq!(keys.lock().unwrap().len(), 200);
    assert_eq!(proxy.num_open(), 6);
}

#[test]
fn large_payloads_refused_by_the_receiver_leave_the_connection_to_others() {
    let options = GrpcOptions {
        max_payload_bytes: 8 << 20,
        ..GrpcOptions::default()
    };
    let (task, keys) = taking(&options);
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    call(&*client, payload("a", 2 << 20)).unwrap();
    let num_open = proxy.num_open();
    let message = text(call(&*client, payload("b", 64 << 20)));
    let expected = "a payload of 67108864 bytes exceeds the limit of 8388608 bytes";
    assert!(message.ends_with(expected), "{message}");
    call(&*client, payload("c", 2 << 20)).unwrap();
    assert_eq!(*keys.lock().unwrap(), ["a", "c"]);
    assert_eq!(proxy.num_open(), num_open);
}

/// A task with a context of the id 7, in which only so many bytes may be unclaimed.
fn with_context(max_unclaimed_bytes: usize) -> (Arc<Server>, Arc<DistributedContext>) {
    let address = free_address();
    let config = ServerConfig {
        max_unclaimed_bytes,
        ..ServerConfig::new(TYPE_NAME, &address)
    };
    let server = Server::new(&host(), config).unwrap();
    let config = DistributedContextConfiguration::local_cluster(&[address]).remove(0);
    let context = server.create_context(7, &config).unwrap();
    (server, context)
}

/// Opens a data connection to a task.
fn open(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&server.config().address).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    stream.write_all(&greeting(b"")).unwrap();
    let accepted = next_frame(&mut stream);
    assert_eq!(accepted, frame(4, 0, b""));
    stream
}

/// Returns the next frame that is not a ping.
fn next_frame(stream: &mut TcpStream) -> Vec<u8> {
    let end = Instant::now() + MINUTE;
    loop {
        assert!(Instant::now() < end, "there are only pings");
        let mut frame = vec![0; 16];
        stream.read_exact(&mut frame).unwrap();
        let len = u32::from_le_bytes(frame[4..8].try_into().unwrap());
        frame.resize(16 + len as usize, 0);
        stream.read_exact(&mut frame[16..]).unwrap();
        if frame[0] != 6 {
            return frame;
        }
    }
}

/// The beginning of a payload of one element, under the key `k`.
fn beginning(number: u64, context: u8, num_bytes: usize) -> Vec<u8> {
    let mut head = [&b"\x09"[..], &[context], b"\0\0\0\0\0\0\0\x12\x01k\x1a"].concat();
    let mut size = Vec::new();
    prost::encode_length_delimiter(num_bytes, &mut size).unwrap();
    head.push(size.len() as u8);
    head.extend(size);
    frame(1, number, &head)
}

/// The bytes of a payload, without a checksum.
fn bytes(num_bytes: usize) -> Vec<u8> {
    let frames = (0..num_bytes.div_ceil(FRAME_BYTES)).flat_map(|number| {
        let len = FRAME_BYTES.min(num_bytes - number * FRAME_BYTES);
        frame(7, 0, &vec![7; len])
    });
    frames.collect()
}

const FRAME_BYTES: usize = 256 << 10;

const FULL: &str = "receive buffer of /job:worker/task:0 is full";

#[test]
fn payloads_that_cannot_be_kept_are_refused_before_they_arrive() {
    let (server, context) = with_context(1 << 20);
    let mut stream = open(&server);
    let mut is_refused = |number: u64, context: u8, num_bytes: usize, expected: &str| {
        // Nothing of it has been sent.
        stream
            .write_all(&beginning(number, context, num_bytes))
            .unwrap();
        let refused = next_frame(&mut stream);
        assert_eq!((refused[0], u64::from(refused[8])), (5, number));
        let text = String::from_utf8_lossy(&refused);
        assert!(text.contains(expected), "{text}");
        // Some of it was on its way.
        let half = bytes(num_bytes / 2);
        stream
            .write_all(&[half, frame(3, 0, b"")].concat())
            .unwrap();
    };
    is_refused(1, 9, 2 << 20, "Context with id 9 does not exist.");
    is_refused(2, 7, 2 << 20, FULL);
    // One that is waited for arrives, however large it is.
    let (sender, received) = channel();
    let receiver = move |payload: Result<Payload, _>| {
        let _ = sender.send(payload.map(|payload| payload.buffers()[0].len_bytes()));
    };
    context.rendezvous().receive("k", Box::new(receiver));
    stream
        .write_all(&[beginning(3, 7, 2 << 20), bytes(2 << 20)].concat())
        .unwrap();
    assert_eq!(next_frame(&mut stream), frame(4, 3, b""));
    assert_eq!(received.recv_timeout(MINUTE).unwrap().unwrap(), 2 << 20);
}

#[test]
fn payloads_that_arrive_take_the_room_of_others() {
    let (server, context) = with_context(3 << 20);
    let (mut first, mut second) = (open(&server), open(&server));
    first.write_all(&beginning(1, 7, 2 << 20)).unwrap();
    // The two connections are read by different tasks of the network.
    let end = Instant::now() + MINUTE;
    let mut number = 0;
    let mut attempt = || {
        number += 1;
        let whole = [beginning(number, 7, 2 << 20), bytes(2 << 20)];
        second.write_all(&whole.concat()).unwrap();
        let answer = next_frame(&mut second);
        // The next attempt has no payload in its way.
        context.rendezvous().receive("k", Box::new(|_| ()));
        context
            .rendezvous()
            .give_up("k", &tfrt_support::Error::new("over"));
        assert!(Instant::now() < end, "{answer:?}");
        answer[0] == 4
    };
    while attempt() {}
    assert!(!attempt());
    // What does not arrive to its end gives its room back.
    drop(first);
    while !attempt() {}
    assert!(attempt());
}

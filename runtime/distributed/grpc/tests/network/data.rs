//! Data connections between tasks, when something goes wrong.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tfrt_distributed::fabric::{CallOptions, CancelCall};
use tfrt_distributed::message::{Request, SendDataRequest, SendDataResponse};
use tfrt_grpc::{GrpcOptions, Token};

use super::proxy::{Behaviour, Proxy};
use super::{Fake, MINUTE, begin, call, fake, host, text};

fn payload(key: &str, num_bytes: usize) -> SendDataRequest {
    SendDataRequest {
        context_id: 1,
        instance_key: key.to_owned(),
        payload: vec![vec![7; num_bytes].into()],
    }
}

/// A task that answers payloads, and notes their keys.
fn taking(options: &GrpcOptions) -> (Fake, Arc<Mutex<Vec<String>>>) {
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&keys);
    let task = fake(&host(), options, move |request, reply| {
        if let Request::SendData(request) = request {
            noted.lock().unwrap().push(request.instance_key);
        }
        reply.send(Ok(SendDataResponse {}.into()));
    });
    (task, keys)
}

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
fn payloads_under_way_are_answered_when_a_task_closes() {
    for size in [1, 2 << 20] {
        let (sender, replies) = channel();
        let sender = Mutex::new(sender);
        let task = fake(&host(), &GrpcOptions::default(), move |_, reply| {
            sender.lock().unwrap().send(reply).unwrap();
        });
        let client = task.own_client();
        let answer = begin(&*client, CallOptions::default(), payload("k", size));
        let reply = replies.recv_timeout(MINUTE).unwrap();
        let (sender, closed) = channel();
        let done = Box::new(move |outcome| sender.send(outcome).unwrap());
        task.communicator.close(MINUTE, done);
        assert!(closed.recv_timeout(Duration::from_millis(50)).is_err());
        reply.send(Ok(SendDataResponse {}.into()));
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
        assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
    }
}

#[test]
fn payloads_without_an_answer_are_cut_when_a_task_closes() {
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let task = fake(&host(), &GrpcOptions::default(), move |_, reply| {
        sender.lock().unwrap().send(reply).unwrap();
    });
    let client = task.own_client();
    let answer = begin(&*client, CallOptions::default(), payload("k", 1));
    let _reply = replies.recv_timeout(MINUTE).unwrap();
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(Duration::from_millis(1), done);
    let cut = closed.recv_timeout(MINUTE).unwrap().unwrap_err();
    let expected = "DeadlineExceeded: connections had not ended after 1ms";
    assert_eq!(cut.to_string(), expected);
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    assert!(
        message.starts_with("RpcUnavailable: SendData to "),
        "{message}"
    );
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

const PREFACE: &[u8] = b"TFRT data 1\n";

/// A frame as the protocol has it.
fn frame(kind: u8, value: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind, 0, 0, 0];
    frame.extend((body.len() as u32).to_le_bytes());
    frame.extend(value.to_le_bytes());
    frame.extend_from_slice(body);
    frame
}

/// Sends bytes to a task, and returns what it says until it closes the connection or says no more.
fn say(task: &Fake, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    let timeout = Some(Duration::from_millis(100));
    stream.set_read_timeout(timeout).unwrap();
    // The task may have closed it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn greeting(secret: &[u8]) -> Vec<u8> {
    [PREFACE, &(secret.len() as u32).to_le_bytes(), secret].concat()
}

/// A payload of three bytes, `abc`, under the key `k`.
fn small_payload(number: u64) -> Vec<u8> {
    let head = b"\x09\x01\0\0\0\0\0\0\0\x12\x01k\x1a\x01\x03";
    [frame(1, number, head), frame(2, 0x364b_3fb7, b"abc")].concat()
}

#[test]
fn the_protocol_is_as_documented() {
    let (task, keys) = taking(&GrpcOptions::default());
    let bytes = [greeting(b""), small_payload(9), frame(6, 0, b"")].concat();
    let expected = [frame(4, 0, b""), frame(4, 9, b"")].concat();
    assert_eq!(say(&task, &bytes), expected);
    assert_eq!(*keys.lock().unwrap(), ["k"]);
    // What was aborted does not arrive, and what follows does.
    let half = &small_payload(1)[..31];
    let bytes = [
        &greeting(b"")[..],
        half,
        &frame(3, 0, b""),
        &small_payload(2),
    ]
    .concat();
    let expected = [frame(4, 0, b""), frame(4, 2, b"")].concat();
    assert_eq!(say(&task, &bytes), expected);
    assert_eq!(*keys.lock().unwrap(), ["k", "k"]);
}

#[test]
fn a_data_connection_needs_the_token() {
    let options = GrpcOptions {
        token: Some(Token::new("0123456789abcdef").unwrap()),
        ..GrpcOptions::default()
    };
    let (task, keys) = taking(&options);
    for secret in [&b""[..], b"Bearer 0123456789abcdeg", b"0123456789abcdef"] {
        let answer = say(&task, &[greeting(secret), small_payload(1)].concat());
        assert_eq!(answer[0], 5, "a failure");
        let said = String::from_utf8_lossy(&answer);
        let expected = match secret {
            b"" => "the request has no token",
            _ => "the token of the request is wrong",
        };
        assert!(said.ends_with(expected), "{said}");
    }
    assert!(keys.lock().unwrap().is_empty());
    // The same task as a client has it.
    assert!(call(&*task.own_client(), payload("k", 1)).is_ok());
    assert_eq!(*keys.lock().unwrap(), ["k"]);
}

#[test]
fn damaged_frames_hurt_nobody() {
    let (task, _) = taking(&GrpcOptions::default());
    let whole = [greeting(b""), small_payload(1), small_payload(2)].concat();
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let rounds: Vec<Vec<u8>> = (0..64)
        .map(|_| {
            let mut bytes = whole.clone();
            for _ in 0..=random() % 3 {
                let at = random() % bytes.len();
                match random() % 3 {
                    0 => bytes[at] = random() as u8,
                    1 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, random() as u8),
                }
            }
            bytes
        })
        .collect();
    std::thread::scope(|scope| {
        for bytes in &rounds {
            scope.spawn(|| say(&task, bytes));
        }
    });
    let wrong_sum = [
        greeting(b""),
        frame(1, 1, b"\x1a\x01\x03"),
        frame(2, 7, b"abc"),
        small_payload(2),
    ];
    let said = say(&task, &wrong_sum.concat());
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains("element 0 has a wrong checksum"), "{text}");
    assert!(said.ends_with(&frame(4, 2, b"")), "the next one arrives");
    assert!(call(&*task.own_client(), payload("k", 1)).is_ok());
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

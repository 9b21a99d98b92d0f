//! Data connections between tasks, when something goes wrong.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_distributed::fabric::{CallOptions, CancelCall, Reply};
use tfrt_distributed::message::{
    DeleteRemoteObjectsRequest, DeleteRemoteObjectsResponse, DistributedContextConfiguration,
    RemoteExecuteRequest, RemoteExecuteResponse, Request, Response, SendDataRequest,
    SendDataResponse,
};
use tfrt_distributed::{DistributedContext, Payload, Server, ServerConfig};
use tfrt_grpc::{GrpcOptions, TYPE_NAME, Token};

use super::proxy::{Behaviour, Proxy};
use super::{Fake, MINUTE, begin, call, fake, free_address, host, silent, text};

fn payload(key: &str, num_bytes: usize) -> SendDataRequest {
    SendDataRequest {
        context_id: 1,
        instance_key: key.to_owned(),
        payload: vec![vec![7; num_bytes].into()],
    }
}

fn execute(program: &str) -> RemoteExecuteRequest {
    RemoteExecuteRequest {
        program_name: program.to_owned(),
        ..RemoteExecuteRequest::default()
    }
}

/// Answers a payload or a call.
fn answer(request: &Request, reply: Reply<Response>) {
    reply.send(Ok(match request {
        Request::SendData(_) => SendDataResponse {}.into(),
        Request::DeleteRemoteObjects(_) => DeleteRemoteObjectsResponse {}.into(),
        _ => RemoteExecuteResponse::default().into(),
    }));
}

/// A task that answers payloads and calls, and notes the keys and the names of the programs.
fn taking(options: &GrpcOptions) -> (Fake, Arc<Mutex<Vec<String>>>) {
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&names);
    let task = fake(&host(), options, move |request, reply| {
        match &request {
            Request::SendData(request) => {
                noted.lock().unwrap().push(request.instance_key.clone());
            }
            Request::RemoteExecute(request) => {
                noted.lock().unwrap().push(request.program_name.clone());
            }
            _ => {}
        }
        answer(&request, reply);
    });
    (task, names)
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

/// An execution of the program `f`, with the number of a request.
fn small_call(number: u64, request_id: u8) -> Vec<u8> {
    let request = b"\x0dRemoteExecute\x12\x01f\xa0\x06";
    frame(8, number, &[&request[..], &[request_id]].concat())
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
    let bytes = [greeting(b""), small_payload(1), small_call(2, 5)];
    let said = say(&task, &bytes.concat());
    // In any order.
    let [first, second] = [frame(4, 1, b""), frame(4, 2, b"")];
    let answers = &said[frame(4, 0, b"").len()..];
    let orders = [
        [&first[..], &second].concat(),
        [&second[..], &first].concat(),
    ];
    assert!(orders.iter().any(|order| order == answers), "{said:?}");
    assert_eq!(keys.lock().unwrap()[2..], ["k", "f"]);
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
    let whole = [
        greeting(b""),
        small_payload(1),
        small_call(3, 1),
        small_payload(2),
        small_call(4, 2),
    ]
    .concat();
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let rounds: Vec<Vec<u8>> = (0..128)
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

#[test]
fn calls_that_cannot_be_understood_are_answered() {
    let options = GrpcOptions {
        max_message_bytes: 10,
        ..GrpcOptions::default()
    };
    let (task, names) = taking(&options);
    for (body, expected) in [
        (
            &b""[..],
            "malformed call: expected a name of 0 bytes, found 0 bytes",
        ),
        (
            b"\x0dRemoteExecut",
            "malformed call: expected a name of 13 bytes, found 12 bytes",
        ),
        (b"\x04None", "unknown method"),
        (b"\x05Hello", "unknown method"),
        (
            b"\x0dRemoteExecute\x12",
            "malformed RemoteExecute request: ",
        ),
        (
            b"\x0dRemoteExecute\xa0\x06",
            "malformed RemoteExecute request: ",
        ),
        (
            b"\x0dRemoteExecute\x12\x09abcdefghi",
            "a request of 11 bytes exceeds the limit of 10 bytes",
        ),
    ] {
        let said = say(
            &task,
            &[greeting(b""), frame(8, 7, body), small_call(8, 1)].concat(),
        );
        let (_, said) = said.split_at(frame(4, 0, b"").len());
        assert_eq!((said[0], said[8]), (5, 7), "a failure of the call");
        let text = String::from_utf8_lossy(said);
        assert!(text.contains(expected), "{text}");
        assert!(
            said.ends_with(&frame(4, 8, b"")),
            "the next one is answered"
        );
    }
    // The same number of a request each time.
    assert_eq!(*names.lock().unwrap(), ["f"]);
}

#[test]
fn calls_where_none_may_be_end_their_connection() {
    let (task, names) = taking(&GrpcOptions::default());
    let accepted = frame(4, 0, b"");
    // Too large, which its header says; within a payload; and what only a server sends.
    let too_large = &frame(8, 1, &[0; (64 << 10) + 1])[..16];
    let within = [&small_payload(1)[..31], &small_call(2, 1)].concat();
    for bytes in [too_large, &within, &frame(4, 1, b"")] {
        let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
        stream.set_read_timeout(Some(MINUTE)).unwrap();
        stream.write_all(&[&greeting(b""), bytes].concat()).unwrap();
        let mut said = Vec::new();
        // It ends, maybe before all that was written to it is read.
        if let Err(error) = stream.read_to_end(&mut said) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert_eq!(said, accepted);
    }
    assert!(names.lock().unwrap().is_empty());
}

#[test]
fn a_call_that_is_repeated_on_another_connection_runs_once() {
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let task = fake(&host(), &GrpcOptions::default(), move |_, reply| {
        sender.lock().unwrap().send(reply).unwrap();
    });
    let connect = |number| {
        let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
        stream.set_read_timeout(Some(MINUTE)).unwrap();
        let bytes = [greeting(b""), small_call(number, 5)].concat();
        stream.write_all(&bytes).unwrap();
        stream.read_exact(&mut frame(4, 0, b"")).unwrap();
        stream
    };
    let mut first = connect(1);
    let reply = replies.recv_timeout(MINUTE).unwrap();
    // This one is gone when the answer comes.
    drop(connect(2));
    let mut third = connect(3);
    assert!(replies.recv_timeout(Duration::from_millis(50)).is_err());
    let metadata = vec![Bytes::from_static(b"m")];
    let response = RemoteExecuteResponse {
        metadata,
        ..RemoteExecuteResponse::default()
    };
    let encoded = prost::Message::encode_to_vec(&response);
    reply.send(Ok(response.into()));
    for (stream, number) in [(&mut first, 1), (&mut third, 3)] {
        let expected = frame(4, number, &encoded);
        let mut found = vec![0; expected.len()];
        stream.read_exact(&mut found).unwrap();
        assert_eq!(found, expected);
    }
    // Also later.
    let mut fourth = connect(4);
    let mut found = vec![0; 16 + encoded.len()];
    fourth.read_exact(&mut found).unwrap();
    assert_eq!(found, frame(4, 4, &encoded));
    assert!(replies.try_recv().is_err());
}

#[test]
fn calls_go_with_small_payloads_where_both_tasks_take_them() {
    // The numbers of open directions after a call, and after a payload.
    for (is_old, here, there, expected) in [
        (false, true, true, (4, 4)),
        (true, true, true, (2, 4)),
        (false, false, true, (2, 4)),
        (false, true, false, (2, 4)),
    ] {
        let with = |data_connections| GrpcOptions {
            data_connections,
            ..GrpcOptions::default()
        };
        let (task, names) = taking(&with(there));
        let sender = fake(&host(), &with(here), |_, _| ());
        let behaviour = Behaviour {
            is_old,
            ..Behaviour::default()
        };
        let proxy = Proxy::with(task.communicator.address(), behaviour);
        let client = sender.communicator.client(&proxy.address);
        for _ in 0..2 {
            call(&*client, execute("f")).unwrap();
            call(&*client, DeleteRemoteObjectsRequest::default()).unwrap();
        }
        let after_calls = proxy.num_open();
        call(&*client, payload("k", 1)).unwrap();
        let found = (after_calls, proxy.num_open());
        assert_eq!(found, expected, "{is_old} {here} {there}");
        assert_eq!(*names.lock().unwrap(), ["f", "f", "k"]);
        // A large one goes with HTTP/2.
        let name = "g".repeat(70_000);
        call(&*client, execute(&name)).unwrap();
        assert_eq!(names.lock().unwrap()[3], name);
        assert_eq!(proxy.num_open(), expected.1);
    }
}

#[test]
fn many_calls_and_payloads_share_a_connection() {
    let (task, names) = taking(&GrpcOptions::default());
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    call(&*client, execute("first")).unwrap();
    let num_open = proxy.num_open();
    let (sender, answers) = channel();
    for number in 0..400 {
        let options = CallOptions {
            max_retries: number % 2,
            ..CallOptions::default()
        };
        let sender = sender.clone();
        let name = number.to_string();
        match number % 4 {
            0 => {
                let payload = payload(&name, 300_000);
                tfrt_distributed::fabric::call(&*client, options, payload, move |answer| {
                    sender.send(answer.map(drop)).unwrap();
                });
            }
            _ => tfrt_distributed::fabric::call(&*client, options, execute(&name), move |answer| {
                sender.send(answer.map(drop)).unwrap();
            }),
        }
    }
    for _ in 0..400 {
        answers.recv_timeout(MINUTE).unwrap().unwrap();
    }
    let mut found: Vec<u32> = names.lock().unwrap()[1..]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    found.sort_unstable();
    assert!(found.into_iter().eq(0..400));
    assert_eq!(proxy.num_open(), num_open);
}

#[test]
fn calls_end_by_deadline_cancellation_and_cut() {
    let (task, replies) = silent(&host());
    let (client, address) = (task.own_client(), task.communicator.address());
    let is_told = |answer: tfrt_distributed::Answer<_>, expected: &str| {
        let message = text::<RemoteExecuteResponse>(answer);
        let (code, cause) = expected.split_once(": ").unwrap();
        assert_eq!(
            message,
            format!("{code}: RemoteExecute to {address}: {cause}")
        );
    };
    let mut kept = Vec::new();
    // The second time, there is a connection.
    for _ in 0..2 {
        let options = CallOptions {
            timeout: Some(Duration::from_millis(50)),
            ..CallOptions::default()
        };
        let late = begin(&*client, options, execute("late")).recv_timeout(MINUTE);
        is_told(late.unwrap(), "RpcDeadlineExceeded: the deadline passed");
        let cancel = CancelCall::default();
        let options = CallOptions {
            cancel: Some(cancel.clone()),
            ..CallOptions::default()
        };
        let cancelled = begin(&*client, options.clone(), execute("cancelled"));
        assert!(cancelled.recv_timeout(Duration::from_millis(20)).is_err());
        cancel.start();
        let cancelled = cancelled.recv_timeout(MINUTE).unwrap();
        is_told(cancelled, "RpcCancelled: the call was cancelled");
        let cut = begin(&*client, CallOptions::default(), execute("cut"));
        kept.extend((0..3).map(|_| replies.recv_timeout(MINUTE).unwrap()));
        // One that is cancelled before it begins does not arrive.
        let early = begin(&*client, options, execute("early"));
        let early = early.recv_timeout(MINUTE).unwrap();
        is_told(early, "RpcCancelled: the call was cancelled");
        assert!(replies.recv_timeout(Duration::from_millis(50)).is_err());
        client.cut();
        let cut = cut.recv_timeout(MINUTE).unwrap();
        is_told(cut, "RpcCancelled: the connection was cut");
    }
    let later = begin(&*client, CallOptions::default(), execute("later"));
    let reply = replies.recv_timeout(MINUTE).unwrap();
    reply.send(Ok(RemoteExecuteResponse::default().into()));
    later.recv_timeout(MINUTE).unwrap().unwrap();
}

#[test]
fn a_call_under_way_when_its_connection_breaks_is_repeated_if_it_has_a_number() {
    let (task, replies) = silent(&host());
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    let ready = begin(&*client, CallOptions::default(), execute("ready"));
    let reply = replies.recv_timeout(MINUTE).unwrap();
    reply.send(Ok(RemoteExecuteResponse::default().into()));
    ready.recv_timeout(MINUTE).unwrap().unwrap();
    for _ in 0..3 {
        let numbered = CallOptions {
            max_retries: 20,
            ..CallOptions::default()
        };
        let repeated = begin(&*client, numbered, execute("f"));
        let reply = replies.recv_timeout(MINUTE).unwrap();
        let once = begin(&*client, CallOptions::default(), execute("g"));
        let _kept = replies.recv_timeout(MINUTE).unwrap();
        proxy.cut();
        let message = text(once.recv_timeout(MINUTE).unwrap());
        let start = format!("RpcUnavailable: RemoteExecute to {}: ", proxy.address);
        assert!(message.starts_with(&start), "{message}");
        assert!(
            replies.recv_timeout(Duration::from_millis(300)).is_err(),
            "it ran twice"
        );
        reply.send(Ok(RemoteExecuteResponse::default().into()));
        repeated.recv_timeout(MINUTE).unwrap().unwrap();
    }
}

#[test]
fn calls_under_way_are_answered_when_a_task_closes() {
    let (task, replies) = silent(&host());
    let client = task.own_client();
    let answers = ["a", "b"].map(|name| begin(&*client, CallOptions::default(), execute(name)));
    let held = answers
        .each_ref()
        .map(|_| replies.recv_timeout(MINUTE).unwrap());
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(MINUTE, done);
    // Those that come later are refused meanwhile, as soon as the connection knows.
    let refused = loop {
        let late = begin(&*client, CallOptions::default(), execute("late"));
        let answer = loop {
            if let Ok(reply) = replies.try_recv() {
                reply.send(Ok(RemoteExecuteResponse::default().into()));
            }
            if let Ok(answer) = late.recv_timeout(Duration::from_millis(10)) {
                break answer;
            }
        };
        if answer.is_err() {
            break text(answer);
        }
    };
    assert!(refused.starts_with("RpcUnavailable: "), "{refused}");
    assert!(refused.contains("the task ends"), "{refused}");
    for reply in held {
        assert!(closed.recv_timeout(Duration::from_millis(50)).is_err());
        reply.send(Ok(RemoteExecuteResponse::default().into()));
    }
    for answer in answers {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
    assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
    // Nothing arrives any more.
    let refused = text(call(&*client, execute("c")));
    assert!(refused.starts_with("RpcUnavailable: "), "{refused}");
}

#[test]
fn the_last_answer_arrives_although_the_client_goes_on() {
    let (task, replies) = silent(&host());
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    let bytes = [greeting(b""), small_call(1, 1)].concat();
    stream.write_all(&bytes).unwrap();
    let reply = replies.recv_timeout(MINUTE).unwrap();
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(MINUTE, done);
    // Time for the connection to notice, and more than the sockets hold.
    std::thread::sleep(Duration::from_millis(50));
    let num_bytes = 32 << 20;
    let response = RemoteExecuteResponse {
        metadata: vec![vec![0; num_bytes].into()],
        ..RemoteExecuteResponse::default()
    };
    reply.send(Ok(response.into()));
    std::thread::sleep(Duration::from_millis(50));
    stream.write_all(&small_call(2, 2)).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    assert!(said.len() > num_bytes, "{} bytes", said.len());
    assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
}

#[test]
fn calls_without_an_answer_are_cut_when_a_task_closes() {
    let (task, replies) = silent(&host());
    let answer = begin(&*task.own_client(), CallOptions::default(), execute("f"));
    let _reply = replies.recv_timeout(MINUTE).unwrap();
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(Duration::from_millis(1), done);
    assert!(closed.recv_timeout(MINUTE).unwrap().is_err());
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    let start = "RpcUnavailable: RemoteExecute to ";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn a_connection_whose_client_has_gone_does_not_wait_for_answers() {
    let (task, replies) = silent(&host());
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    let bytes = [greeting(b""), small_call(1, 1), small_payload(2)].concat();
    stream.write_all(&bytes).unwrap();
    let _kept = [1, 2].map(|_| replies.recv_timeout(MINUTE).unwrap());
    stream.shutdown(Shutdown::Write).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    assert_eq!(said, frame(4, 0, b""));
}

#[test]
fn a_client_that_takes_no_answers_is_given_up() {
    let options = GrpcOptions {
        keepalive_interval: Duration::from_millis(50),
        keepalive_timeout: Duration::from_millis(50),
        ..GrpcOptions::default()
    };
    let task = fake(&host(), &options, |_, reply| {
        let response = RemoteExecuteResponse {
            metadata: vec![vec![0; 8 << 20].into()],
            ..RemoteExecuteResponse::default()
        };
        reply.send(Ok(response.into()));
    });
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    // More than the socket holds.
    let calls = (1..=8).flat_map(|number| small_call(number, number as u8));
    let bytes: Vec<u8> = greeting(b"").into_iter().chain(calls).collect();
    stream.write_all(&bytes).unwrap();
    let begin = Instant::now();
    // It says something all the time, which nobody reads.
    while stream.write_all(&frame(6, 0, b"")).is_ok() {
        assert!(begin.elapsed() < MINUTE, "the connection goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn calls_pass_payloads_that_wait_for_room() {
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let options = GrpcOptions {
        max_inflight_requests: 2,
        ..GrpcOptions::default()
    };
    let task = fake(&host(), &options, move |request, reply| match request {
        Request::SendData(_) => sender.lock().unwrap().send(reply).unwrap(),
        request => answer(&request, reply),
    });
    let client = task.own_client();
    let payloads = [0; 5].map(|_| begin(&*client, CallOptions::default(), payload("k", 1)));
    let held = [0; 2].map(|_| replies.recv_timeout(MINUTE).unwrap());
    for _ in 0..3 {
        call(&*client, execute("f")).unwrap();
    }
    assert!(replies.try_recv().is_err(), "a third one arrived");
    let mut held = held.into_iter();
    for _ in 0..5 {
        let reply = held.next();
        let reply = reply.unwrap_or_else(|| replies.recv_timeout(MINUTE).unwrap());
        reply.send(Ok(SendDataResponse {}.into()));
    }
    for payload in payloads {
        payload.recv_timeout(MINUTE).unwrap().unwrap();
    }
}

#[test]
fn a_client_that_reads_no_answers_is_not_read_either() {
    let response = RemoteExecuteResponse {
        metadata: vec![Bytes::from(vec![7; 60_000])],
        ..RemoteExecuteResponse::default()
    };
    let task = fake(&host(), &GrpcOptions::default(), move |_, reply| {
        reply.send(Ok(response.clone().into()));
    });
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    let timeout = Some(Duration::from_millis(300));
    stream.set_write_timeout(timeout).unwrap();
    stream.write_all(&greeting(b"")).unwrap();
    let request = [&b"\x0dRemoteExecute\x12\xb0\xea\x01"[..], &[b'p'; 30_000]].concat();
    let calls = frame(8, 1, &request);
    // Their answers have more bytes than both ends of a connection take.
    let num_sent = (0..10_000).take_while(|_| stream.write_all(&calls).is_ok());
    let num_sent = num_sent.count();
    assert!((10..9_000).contains(&num_sent), "{num_sent}");
    // Others do not mind.
    call(&*task.own_client(), execute("f")).unwrap();
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

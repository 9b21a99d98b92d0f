//! The ends of data connections: tasks that close, and clients that go or do not read.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::{RemoteExecuteResponse, SendDataResponse};
use tfrt_grpc::GrpcOptions;

use super::{execute, frame, greeting, payload, small_call, small_payload};
use crate::{MINUTE, begin, call, fake, host, silent, text};

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

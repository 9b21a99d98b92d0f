//! Calls on data connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use prost::bytes::Bytes;
use tfrt_distributed::fabric::{CallOptions, CancelCall};
use tfrt_distributed::message::{
    DeleteRemoteObjectsRequest, RemoteExecuteResponse, Request, SendDataResponse,
};
use tfrt_grpc::GrpcOptions;

use super::{answer, execute, frame, greeting, payload, small_call, taking};
use crate::proxy::{Behaviour, Proxy};
use crate::{MINUTE, begin, call, fake, host, silent, text};

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

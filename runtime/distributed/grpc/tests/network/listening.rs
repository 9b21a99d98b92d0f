//! Where tasks listen, and how they stop.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_distributed::fabric::{CallOptions, Reply, RequestHandler};
use tfrt_distributed::message::{DistributedContextConfiguration, KeepAliveResponse, Response};
use tfrt_distributed::{RemoteErrors, Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};

use super::{Handler, MINUTE, begin, call, fake, host, ping, silent, text};

#[test]
fn frames_of_sizes_that_http_2_forbids_are_refused() {
    let host = host();
    let handler: Arc<dyn RequestHandler> = Arc::new(Handler(|_, _| ()));
    let listen = |frame_bytes: u32, address: &str| {
        let network = GrpcNetwork::new(GrpcOptions {
            frame_bytes,
            ..GrpcOptions::default()
        });
        let listening = network.listen(&host, address, Arc::downgrade(&handler));
        listening.map_err(|error| error.message().to_owned())
    };
    for (frame_bytes, is_allowed) in [
        (0, false),
        ((1 << 14) - 1, false),
        (1 << 14, true),
        ((1 << 24) - 1, true),
        (1 << 24, false),
    ] {
        let found = listen(frame_bytes, "127.0.0.1:0").err();
        let refusal = format!("expected `frame_bytes` from 16384 to 16777215, found {frame_bytes}");
        assert_eq!(found, (!is_allowed).then_some(refusal));
    }
}

#[test]
fn other_machines_reach_nobody_unless_that_is_allowed() {
    let host = host();
    let handler: Arc<dyn RequestHandler> = Arc::new(Handler(|_, _| ()));
    let network = GrpcNetwork::new(GrpcOptions::default());
    let refused = network
        .listen(&host, "0.0.0.0:0", Arc::downgrade(&handler))
        .unwrap_err();
    assert!(
        refused
            .message()
            .starts_with("refused to listen on 0.0.0.0:0: "),
        "{refused}"
    );
    let adopted = tfrt_grpc::adopt(TcpListener::bind("0.0.0.0:0").unwrap()).unwrap();
    let refused = network
        .listen(&host, &adopted, Arc::downgrade(&handler))
        .unwrap_err();
    let expected = format!("refused to listen on {adopted}: ");
    assert!(refused.message().starts_with(&expected), "{refused}");
    let wrong = network
        .listen(&host, "127.0.0.1", Arc::downgrade(&handler))
        .unwrap_err();
    assert!(
        wrong
            .message()
            .starts_with("`127.0.0.1` is not an address to listen on: "),
        "{wrong}"
    );
    let network = GrpcNetwork::new(GrpcOptions {
        allow_insecure_network: true,
        ..GrpcOptions::default()
    });
    let open = network
        .listen(&host, "0.0.0.0:0", Arc::downgrade(&handler))
        .unwrap();
    let again = network
        .listen(&host, open.address(), Arc::downgrade(&handler))
        .unwrap_err();
    assert!(
        again.message().starts_with("cannot listen on 0.0.0.0:"),
        "{again}"
    );
}

#[cfg(unix)]
#[test]
fn tasks_reach_each_other_at_unix_sockets() {
    use std::os::unix::fs::PermissionsExt;

    let folder = std::env::temp_dir().join(format!("tfrt-sockets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let paths = [0, 1].map(|number| folder.join(number.to_string()));
    let addresses = paths
        .each_ref()
        .map(|path| format!("unix:{}", path.display()));
    // A process has left its socket.
    drop(std::os::unix::net::UnixListener::bind(&paths[1]).unwrap());
    let host = host();
    let start = |address: &String| Server::new(&host, ServerConfig::new(TYPE_NAME, address));
    let client = start(&addresses[0]).unwrap();
    let worker = start(&addresses[1]).unwrap();
    let taken = start(&addresses[1]).unwrap_err();
    assert!(taken.message().contains("in use"), "{taken}");
    let mode = std::fs::metadata(&paths[1]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let task = context.cluster().find_task("worker", 1).unwrap();
    // Larger than what goes in one message.
    let payload = vec![Bytes::from(vec![3_u8; 5 << 20])];
    let (sender, sent) = channel();
    context.send_data(task, "k", payload, move |answer| {
        sender.send(answer).unwrap()
    });
    sent.recv_timeout(MINUTE).unwrap().unwrap();
    assert_eq!(worker.context(7).unwrap().rendezvous().num_payloads(), 1);
    drop(context);
    client.shut_down();
    worker.shut_down();
    drop((client, worker));
    let end = Instant::now() + MINUTE;
    while paths.iter().any(|path| path.exists()) {
        assert!(Instant::now() < end, "a socket stays");
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_address_is_free_again_when_its_task_is_gone() {
    // A request races with the end of the old connection in some rounds only.
    for _ in 0..40 {
        move_to_a_new_task();
    }
}

fn move_to_a_new_task() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |_, reply| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    });
    let other = fake(&host, &GrpcOptions::default(), |_, _| ());
    let address = task.communicator.address().to_owned();
    let client = other.communicator.client(&address);
    call(&*client, ping()).unwrap();
    drop(task);
    let handler: Arc<dyn RequestHandler> = Arc::new(Handler(|_, reply: Reply<Response>| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    }));
    let network = GrpcNetwork::new(GrpcOptions::default());
    let deadline = std::time::Instant::now() + MINUTE;
    let next = loop {
        match network.listen(&host, &address, Arc::downgrade(&handler)) {
            Ok(next) => break next,
            Err(error) => assert!(std::time::Instant::now() < deadline, "{error}"),
        }
        std::thread::yield_now();
    };
    // The client connects anew.
    let options = CallOptions {
        max_retries: 20,
        ..CallOptions::default()
    };
    let answer = begin(&*client, options, ping()).recv_timeout(MINUTE);
    assert!(matches!(answer, Ok(Ok(_))), "{answer:?}");
    drop(next);
}

#[test]
fn answers_under_way_arrive_when_a_task_closes() {
    let host = host();
    let (task, replies) = silent(&host);
    let answer = begin(&*task.own_client(), CallOptions::default(), ping());
    let reply = replies.recv_timeout(MINUTE).unwrap();
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(MINUTE, done);
    assert!(closed.try_recv().is_err());
    reply.send(Ok(KeepAliveResponse {}.into()));
    assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
    // It is closed already.
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(MINUTE, done);
    assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
}

#[test]
fn what_is_not_answered_in_time_is_cut_when_a_task_closes() {
    let host = host();
    let (task, replies) = silent(&host);
    let answer = begin(&*task.own_client(), CallOptions::default(), ping());
    let _reply = replies.recv_timeout(MINUTE).unwrap();
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.communicator.close(Duration::from_millis(1), done);
    let cut = closed.recv_timeout(MINUTE).unwrap().unwrap_err();
    let expected = "DeadlineExceeded: connections had not ended after 1ms";
    assert_eq!(cut.to_string(), expected);
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    let address = task.communicator.address();
    let start = format!("RpcUnavailable: KeepAlive to {address}: ");
    assert!(message.starts_with(&start), "{message}");
}

#[test]
fn an_answer_arrives_after_its_task_stopped_listening() {
    let host = host();
    let kept: Arc<Mutex<Vec<Reply<Response>>>> = Arc::default();
    let replies = Arc::clone(&kept);
    let task = fake(&host, &GrpcOptions::default(), move |_, reply| {
        replies.lock().unwrap().push(reply)
    });
    let answer: Receiver<Result<KeepAliveResponse, RemoteErrors>> =
        begin(&*task.own_client(), CallOptions::default(), ping());
    while kept.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    // The handler is gone, its reply is not.
    drop(task);
    assert!(answer.recv_timeout(Duration::from_millis(50)).is_err());
    kept.lock().unwrap().clear();
    assert_eq!(
        text(answer.recv_timeout(MINUTE).unwrap()),
        "RpcUnknown: the request was dropped without an answer"
    );
}

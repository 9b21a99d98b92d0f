//! Tasks that reach each other over gRPC, on loopback.

mod connections;

mod data;

mod faults;

#[cfg(feature = "flight")]
mod flight;

mod proxy;

mod security;

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::Reply;
use tfrt_distributed::fabric::{
    self, CallOptions, CancelCall, CommunicatorType, FabricCommunicator, RemoteClient,
    RequestHandler,
};
use tfrt_distributed::message::{
    Call, DistributedContextConfiguration, GetDevicesRequest, KeepAliveRequest, KeepAliveResponse,
    Method, RegisterFunctionRequest, RemoteExecuteRequest, RemoteExecuteResponse, Request,
    Response, SendDataRequest, SendDataResponse,
};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Answer, RemoteErrors, Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};
use tfrt_host::HostContext;
use tfrt_queue::create_queue;

use proxy::Proxy;

const MINUTE: Duration = Duration::from_secs(60);

fn host() -> Arc<HostContext> {
    let queue = create_queue("mstd:2").expect("the queue exists");
    HostContext::builder().queue(queue).build()
}

fn free_address() -> String {
    let kind = CommunicatorType::find(TYPE_NAME).expect("the crate is linked");
    (kind.free_address)().expect("a port is free")
}

/// Notes requests, and answers them as a function says.
struct Handler<F>(F);

impl<F: Fn(Request, Reply<Response>) + Send + Sync> RequestHandler for Handler<F> {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        (self.0)(request, reply);
    }
}

/// A task that answers as a function says.
struct Fake {
    _handler: Arc<dyn RequestHandler>,
    communicator: Arc<dyn FabricCommunicator>,
}

fn fake(
    host: &Arc<HostContext>,
    options: &GrpcOptions,
    answer: impl Fn(Request, Reply<Response>) + Send + Sync + 'static,
) -> Fake {
    let handler: Arc<dyn RequestHandler> = Arc::new(Handler(answer));
    let network = GrpcNetwork::new(options.clone());
    let communicator = network.listen(host, "127.0.0.1:0", Arc::downgrade(&handler));
    Fake {
        _handler: handler,
        communicator: communicator.expect("loopback is allowed"),
    }
}

impl Fake {
    fn own_client(&self) -> Arc<dyn RemoteClient> {
        self.communicator.client(self.communicator.address())
    }
}

fn begin<C: Call>(
    client: &dyn RemoteClient,
    options: CallOptions,
    request: C,
) -> Receiver<Answer<C::Response>>
where
    C::Response: Send + 'static,
{
    let (sender, receiver) = channel();
    fabric::call(client, options, request, move |answer| {
        // A test that failed does not wait any more.
        let _ = sender.send(answer);
    });
    receiver
}

fn call<C: Call>(client: &dyn RemoteClient, request: C) -> Answer<C::Response>
where
    C::Response: Send + 'static,
{
    begin(client, CallOptions::default(), request)
        .recv_timeout(MINUTE)
        .expect("an answer comes")
}

fn text<T: std::fmt::Debug>(answer: Answer<T>) -> String {
    answer.expect_err("the call fails").to_string()
}

fn ping() -> KeepAliveRequest {
    KeepAliveRequest { context_id: 1 }
}

#[test]
fn a_cluster_initializes_while_its_tasks_start() {
    let host = host();
    let addresses: Vec<String> = (0..3).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start =
        |address: &String| Server::new(&host, ServerConfig::new(TYPE_NAME, address)).unwrap();
    let client = start(&addresses[0]);
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
    let workers = [start(&addresses[1]), start(&addresses[2])];
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    for task in 0..3 {
        let device = format!("/job:worker/task:{task}/device:CPU:0");
        for context in [
            &context,
            &workers[0].context(7).unwrap(),
            &workers[1].context(7).unwrap(),
        ] {
            assert!(context.devices().get(&device).is_some(), "{device}");
        }
    }
}

#[test]
fn a_task_that_goes_away_is_lost() {
    let host = host();
    let addresses: Vec<String> = (0..2).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String| {
        let config = ServerConfig {
            failure_timeout: Duration::from_secs(1),
            ..ServerConfig::new(TYPE_NAME, address)
        };
        Server::new(&host, config).unwrap()
    };
    let (client, worker) = (start(&addresses[0]), start(&addresses[1]));
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let (sender, received) = channel();
    let task = context.cluster().find_task("worker", 1).unwrap();
    context.receive(
        task,
        "k",
        Box::new(move |payload| sender.send(payload.map(|_| ())).unwrap()),
    );
    drop(worker);
    let error = received.recv_timeout(MINUTE).unwrap().unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("Unavailable: task /job:worker/task:1 is lost: "),
        "{text}"
    );
}

#[test]
fn receivers_and_replies_run_on_workers() {
    let host = host();
    let addresses: Vec<String> = (0..2).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start =
        |address: &String| Server::new(&host, ServerConfig::new(TYPE_NAME, address)).unwrap();
    let (client, worker) = (start(&addresses[0]), start(&addresses[1]));
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let here = done.recv_timeout(MINUTE).unwrap().unwrap();
    let there = worker.context(7).unwrap();
    let task = |number| here.cluster().find_task("worker", number).unwrap();
    let is_on_network = || {
        let thread = std::thread::current();
        thread
            .name()
            .is_some_and(|name| name.starts_with("tfrt-grpc"))
    };
    for index in 0..100 {
        let (key, size) = (format!("k{index}"), [8, 200 << 10][index % 2]);
        let (sender, outcomes) = channel();
        let replied = sender.clone();
        let receiver = move |payload: Result<tfrt_distributed::Payload, tfrt_support::Error>| {
            sender.send((payload.is_ok(), is_on_network())).unwrap();
        };
        there.receive(task(0), &key, Box::new(receiver));
        here.send_data(task(1), key, vec![vec![0; size].into()], move |answer| {
            replied.send((answer.is_ok(), is_on_network())).unwrap();
        });
        for _ in 0..2 {
            assert_eq!(outcomes.recv_timeout(MINUTE), Ok((true, false)));
        }
    }
}

#[test]
fn errors_of_tasks_arrive_with_their_types() {
    let host = host();
    let address = free_address();
    let server = Server::new(&host, ServerConfig::new(TYPE_NAME, &address)).unwrap();
    let network = GrpcNetwork::new(GrpcOptions::default());
    let nobody: std::sync::Weak<Server> = std::sync::Weak::new();
    let communicator = network.listen(&host, "127.0.0.1:0", nobody).unwrap();
    let client = communicator.client(&address);
    assert!(call(&*client, GetDevicesRequest {}).is_ok());
    let answer = call(&*client, ping());
    assert_eq!(
        text(answer),
        "InvalidDistributedContextId: Context with id 1 does not exist."
    );
    drop(server);
}

#[test]
fn a_task_of_another_name_gets_no_requests() {
    let host = host();
    let addresses = [free_address(), free_address(), free_address()];
    // Two workers have each other's addresses.
    let names = [0, 2, 1].map(|number| TaskName::new("worker", number));
    let servers = [0, 1, 2].map(|index| {
        let config = ServerConfig {
            task: Some(names[index].clone()),
            ..ServerConfig::new(TYPE_NAME, &addresses[index])
        };
        Server::new(&host, config).unwrap()
    });
    let client = fake(&host, &GrpcOptions::default(), |_, _| ());
    let to = |name: &TaskName, address: &str| client.communicator.client_of(name, address);
    assert!(call(&*to(&names[1], &addresses[1]), GetDevicesRequest {}).is_ok());
    let others = call(&*to(&names[2], &addresses[1]), GetDevicesRequest {});
    let expected = |(name, address): (&TaskName, &String), found: &TaskName| {
        format!("RpcUnknown: GetDevices to {address}: expected the task `{name}`, found `{found}`")
    };
    let of_first = expected((&names[2], &addresses[1]), &names[1]);
    assert_eq!(text(others), of_first);
    // Whoever knows no name, or whose name nobody knows, is not checked.
    let unchecked = client.communicator.client(&addresses[1]);
    assert!(call(&*unchecked, GetDevicesRequest {}).is_ok());
    let unnamed = fake(&host, &GrpcOptions::default(), |_, reply| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    });
    assert!(call(&*to(&names[1], unnamed.communicator.address()), ping()).is_ok());
    // A cluster is not initialized, and says why without trying again.
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let (sender, done) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome.map(drop)).unwrap();
    });
    let errors = text(done.recv_timeout(MINUTE).unwrap());
    assert!(errors.contains(&of_first), "{errors}");
    assert!(servers.iter().all(|server| server.context(7).is_err()));
}

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
fn a_message_over_the_limit_is_refused_with_its_size() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |_, _| {
        panic!("nothing arrives")
    });
    let request = RegisterFunctionRequest {
        program: vec![0; 64 << 20].into(),
        ..RegisterFunctionRequest::default()
    };
    let size = request.encoded_len();
    let address = task.communicator.address();
    assert_eq!(
        text(call(&*task.own_client(), request)),
        format!(
            "InvalidArgument: RegisterFunction to {address}: a message of {size} bytes exceeds \
             the limit of 67108864 bytes"
        )
    );
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
fn calls_end_by_deadline_and_cancellation() {
    let host = host();
    let kept = Mutex::new(Vec::new());
    let task = fake(&host, &GrpcOptions::default(), move |_, reply| {
        kept.lock().unwrap().push(reply)
    });
    let (client, address) = (task.own_client(), task.communicator.address());
    let options = CallOptions {
        timeout: Some(Duration::from_millis(20)),
        ..CallOptions::default()
    };
    let late = begin(&*client, options, ping())
        .recv_timeout(MINUTE)
        .unwrap();
    assert_eq!(
        text(late),
        format!("RpcDeadlineExceeded: KeepAlive to {address}: the deadline passed")
    );
    let cancel = CancelCall::default();
    let options = CallOptions {
        cancel: Some(cancel.clone()),
        ..CallOptions::default()
    };
    let answer = begin(&*client, options, ping());
    assert!(answer.recv_timeout(Duration::from_millis(20)).is_err());
    cancel.start();
    let cancelled = answer.recv_timeout(MINUTE).unwrap();
    assert_eq!(
        text(cancelled),
        format!("RpcCancelled: KeepAlive to {address}: the call was cancelled")
    );
}

#[test]
fn a_request_of_administration_has_a_deadline_of_its_own() {
    let host = host();
    let kept = Mutex::new(Vec::new());
    let options = GrpcOptions {
        control_timeout: Duration::from_millis(20),
        ..GrpcOptions::default()
    };
    let task = fake(&host, &options, move |_, reply| {
        kept.lock().unwrap().push(reply)
    });
    let message = text(call(&*task.own_client(), ping()));
    assert!(
        message.starts_with("RpcDeadlineExceeded: KeepAlive to 127.0.0.1:"),
        "{message}"
    );
}

#[test]
fn nobody_at_an_address_is_an_error() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |_, _| {
        panic!("nothing arrives")
    });
    // A privileged port: no test listens there.
    let closed = "127.0.0.1:1".to_owned();
    let client = task.communicator.client(&closed);
    let message = text(call(&*client, ping()));
    assert!(
        message.starts_with(&format!("RpcUnavailable: KeepAlive to {closed}: ")),
        "{message}"
    );
    assert!(message.contains("refused"), "{message}");
    let client = task.communicator.client("not an address");
    let message = text(call(&*client, ping()));
    assert!(
        message.starts_with("RpcUnknown: KeepAlive to not an address: "),
        "{message}"
    );
}

/// A task that keeps its replies, and where they are.
fn silent(host: &Arc<HostContext>) -> (Fake, Receiver<Reply<Response>>) {
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let task = fake(host, &GrpcOptions::default(), move |_, reply| {
        sender.lock().unwrap().send(reply).unwrap();
    });
    (task, replies)
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
fn calls_of_a_client_that_is_cut_end() {
    let host = host();
    let (task, replies) = silent(&host);
    let client = task.own_client();
    let answer = begin(&*client, CallOptions::default(), ping());
    let _reply = replies.recv_timeout(MINUTE).unwrap();
    client.cut();
    let address = task.communicator.address();
    assert_eq!(
        text(answer.recv_timeout(MINUTE).unwrap()),
        format!("RpcCancelled: KeepAlive to {address}: the connection was cut")
    );
    // Those that begin later do not.
    let later = begin(&*client, CallOptions::default(), ping());
    let reply = replies.recv_timeout(MINUTE).unwrap();
    reply.send(Ok(KeepAliveResponse {}.into()));
    assert!(later.recv_timeout(MINUTE).unwrap().is_ok());
}

#[test]
fn a_panic_is_an_error_and_the_task_lives_on() {
    let host = host();
    let task = fake(
        &host,
        &GrpcOptions::default(),
        |request, reply| match request {
            Request::GetDevices(_) => panic!("as the test wants"),
            _ => reply.send(Ok(KeepAliveResponse {}.into())),
        },
    );
    let client = task.own_client();
    assert_eq!(
        text(call(&*client, GetDevicesRequest {})),
        "RpcUnknown: the request was dropped without an answer"
    );
    assert!(call(&*client, ping()).is_ok());
}

#[test]
fn a_task_behind_a_half_open_connection_is_lost() {
    const TIMEOUT: Duration = Duration::from_secs(5);
    let host = host();
    let start = |address: &str| {
        let config = ServerConfig {
            failure_timeout: TIMEOUT,
            ..ServerConfig::new(TYPE_NAME, address)
        };
        Server::new(&host, config).unwrap()
    };
    let addresses = [free_address(), free_address()];
    let [client, worker] = addresses.each_ref().map(|address| start(address));
    // Each reaches the other one only through a proxy.
    let proxies = addresses.each_ref().map(|address| Proxy::to(address));
    let known = proxies.each_ref().map(|proxy| proxy.address.clone());
    let configs = DistributedContextConfiguration::local_cluster(&known);
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let task = context.cluster().find_task("worker", 1).unwrap();
    let receive = || {
        let (sender, received) = channel();
        let receiver = move |payload: Result<_, _>| {
            let _ = sender.send(payload.map(|_| ()));
        };
        context.receive(task, "k", Box::new(receiver));
        received
    };
    let received = receive();
    // Nobody closes a connection, and nothing arrives any more.
    proxies.iter().for_each(Proxy::freeze);
    let error = received.recv_timeout(MINUTE).unwrap().unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("Unavailable: task /job:worker/task:1 is lost: "),
        "{text}"
    );
    // The worker loses its client, and the context with it.
    let end = Instant::now() + MINUTE;
    let is_over =
        || worker.context(7).is_err() && proxies.iter().all(|proxy| proxy.num_open() == 0);
    while !is_over() {
        assert!(
            Instant::now() < end,
            "a connection to a lost task stays open"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_request_that_is_sent_again_runs_once() {
    let host = host();
    let (sender, requests) = channel();
    let sender = Mutex::new(sender);
    let task = fake(&host, &GrpcOptions::default(), move |request, reply| {
        sender.lock().unwrap().send((request, reply)).unwrap();
    });
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    let execute = RemoteExecuteRequest {
        program_name: "f".to_owned(),
        ..RemoteExecuteRequest::default()
    };
    let options = CallOptions {
        max_retries: 20,
        ..CallOptions::default()
    };
    let answer = begin(&*client, options, execute.clone());
    let (request, reply) = requests.recv_timeout(MINUTE).unwrap();
    assert_eq!(request, execute.clone().into());
    // The caller does not know whether its request arrived.
    proxy.cut();
    let response = RemoteExecuteResponse {
        metadata: vec![Bytes::from_static(b"m")],
        ..RemoteExecuteResponse::default()
    };
    assert!(
        requests.recv_timeout(Duration::from_millis(300)).is_err(),
        "it ran twice"
    );
    reply.send(Ok(response.clone().into()));
    assert_eq!(answer.recv_timeout(MINUTE).unwrap(), Ok(response));
    // Without retries, a cut is an error.
    let answer = begin(&*client, CallOptions::default(), execute);
    let (_request, _reply) = requests.recv_timeout(MINUTE).unwrap();
    proxy.cut();
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    assert!(
        message.starts_with("RpcUnavailable: RemoteExecute to 127.0.0.1:"),
        "{message}"
    );
}

#[test]
fn executions_that_wait_for_each_other_keep_nobody_back() {
    let host = host();
    let waiting: Mutex<Vec<Reply<Response>>> = Mutex::default();
    let options = GrpcOptions {
        max_inflight_requests: 2,
        ..GrpcOptions::default()
    };
    // The tenth execution makes what the others wait for.
    let task = fake(&host, &options, move |_, reply| {
        let mut waiting = waiting.lock().unwrap();
        waiting.push(reply);
        if waiting.len() == 10 {
            for reply in waiting.drain(..) {
                reply.send(Ok(RemoteExecuteResponse::default().into()));
            }
        }
    });
    let client = task.own_client();
    let execute = || {
        begin(
            &*client,
            CallOptions::default(),
            RemoteExecuteRequest::default(),
        )
    };
    let answers: Vec<_> = (0..10).map(|_| execute()).collect();
    for answer in answers {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
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

/// Messages that are damaged, against a real server.
#[test]
fn damaged_messages_are_answered() {
    let host = host();
    let address = free_address();
    let server = Server::new(&host, ServerConfig::new(TYPE_NAME, &address)).unwrap();
    let (sender, done) = channel();
    let config = &DistributedContextConfiguration::local_cluster(std::slice::from_ref(&address))[0];
    server.initialize_single_client(Some(1), config, move |outcome| {
        sender.send(outcome).unwrap()
    });
    let _context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let samples: Vec<Request> = vec![
        ping().into(),
        SendDataRequest {
            context_id: 1,
            instance_key: "k".to_owned(),
            payload: vec![Bytes::from_static(b"abc")],
        }
        .into(),
        RegisterFunctionRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            program: Bytes::from_static(b"func @f() { tfrt.return }"),
            ..RegisterFunctionRequest::default()
        }
        .into(),
        RemoteExecuteRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            ..RemoteExecuteRequest::default()
        }
        .into(),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let endpoint =
            tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for method in
            Method::ALL
                .iter()
                .map(|method| method.name())
                .chain(["Hello", "StreamData", "None"])
        {
            for round in 0..100 {
                let mut bytes = samples[round % samples.len()].encode();
                for _ in 0..=random() % 4 {
                    if bytes.is_empty() {
                        break;
                    }
                    let at = random() % bytes.len();
                    match random() % 3 {
                        0 => bytes[at] = random() as u8,
                        1 => bytes.truncate(at),
                        _ => bytes.insert(at, random() as u8),
                    }
                }
                let mut grpc = tonic::client::Grpc::new(channel.clone());
                grpc.ready().await.unwrap();
                let path =
                    http::uri::PathAndQuery::try_from(format!("/tfrt.Worker/{method}")).unwrap();
                let call = grpc.unary(tonic::Request::new(bytes), path, tonic_bytes::Codec);
                // Whatever is answered: an answer comes.
                let answered = tokio::time::timeout(MINUTE, call).await;
                assert!(
                    answered.is_ok(),
                    "{method} in round {round} was not answered"
                );
            }
        }
    });
    let client = GrpcNetwork::new(GrpcOptions::default())
        .listen(&host, "127.0.0.1:0", std::sync::Weak::<Server>::new())
        .unwrap()
        .client(&address);
    assert!(call(&*client, GetDevicesRequest {}).is_ok());
}

/// Frames bytes as they are.
mod tonic_bytes {
    use prost::bytes::{Buf, BufMut};
    use tonic::Status;
    use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

    #[derive(Clone, Copy)]
    pub(crate) struct Codec;

    impl tonic::codec::Codec for Codec {
        type Encode = Vec<u8>;
        type Decode = Vec<u8>;
        type Encoder = Self;
        type Decoder = Self;

        fn encoder(&mut self) -> Self {
            *self
        }

        fn decoder(&mut self) -> Self {
            *self
        }
    }

    impl Encoder for Codec {
        type Item = Vec<u8>;
        type Error = Status;

        fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
            buffer.put_slice(&item);
            Ok(())
        }
    }

    impl Decoder for Codec {
        type Item = Vec<u8>;
        type Error = Status;

        fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
            Ok(Some(buffer.copy_to_bytes(buffer.remaining()).to_vec()))
        }
    }
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

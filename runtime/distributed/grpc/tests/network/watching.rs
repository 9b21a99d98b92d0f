//! Streams of heartbeats: what breaks is noticed at once. The intervals are so long that nothing
//! else can notice it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt_distributed::fabric::{CallOptions, Pace, Reply, RequestHandler, Sign};
use tfrt_distributed::message::{
    CancelExecutionRequest, CancelExecutionResponse, DistributedContextConfiguration,
    HeartbeatRequest, HeartbeatResponse, RemoteExecuteRequest, Request, Response,
};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Answer, DistributedContext, Server, ServerConfig, TaskHandle};
use tfrt_grpc::{GrpcNetwork, GrpcOptions};
use tfrt_host::HostContext;

use super::proxy::{Behaviour, Proxy};
use super::{MINUTE, begin, call, fake, host};

/// Five heartbeats come in this time: no test waits for the second one.
const HOURS: Duration = Duration::from_hours(5);

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + MINUTE;
    while !is_so() {
        assert!(Instant::now() < end, "{what} takes more than a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Counts the heartbeats of a server, by how they were asked for.
struct Counting {
    server: std::sync::Weak<dyn RequestHandler>,
    has_streams: bool,
    num_by_streams: AtomicUsize,
    num_by_requests: AtomicUsize,
}

impl Counting {
    fn server(&self) -> Arc<dyn RequestHandler> {
        self.server.upgrade().expect("the server is there")
    }
}

impl RequestHandler for Counting {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        if let Request::Heartbeat(_) = request {
            self.num_by_requests.fetch_add(1, Ordering::SeqCst);
        }
        if let Some(server) = self.server.upgrade() {
            server.handle(request, reply);
        }
    }

    fn answer_heartbeat(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        request: &HeartbeatRequest,
    ) -> Answer<HeartbeatResponse> {
        if !self.has_streams {
            let missing = tfrt_support::ErrorCode::Unimplemented;
            return Err(tfrt_distributed::RemoteError::new(missing, "none").into());
        }
        self.num_by_streams.fetch_add(1, Ordering::SeqCst);
        self.server().answer_heartbeat(caller, request)
    }
}

/// A client, and a worker, behind a proxy if the way to it behaves in some way.
struct Pair {
    _host: Arc<HostContext>,
    _client: Arc<Server>,
    worker: Option<Arc<Server>>,
    counting: Arc<Counting>,
    proxy: Proxy,
    context: Arc<DistributedContext>,
    task: TaskHandle,
}

impl Pair {
    fn new(timeout: Duration, has_streams: bool, behaviour: Option<Behaviour>) -> Self {
        let host = host();
        let network = GrpcNetwork::new(GrpcOptions::default());
        let addresses = [0, 1].map(|_| network.open("127.0.0.1:0").unwrap());
        let config = |address: &String| ServerConfig {
            failure_timeout: timeout,
            ..ServerConfig::new("grpc", address)
        };
        let listen = |address: &String, handler| network.listen(&host, address, handler);
        let client = Server::on_network(&host, config(&addresses[0]), |handler| {
            listen(&addresses[0], handler)
        });
        let mut counting = None;
        let worker = Server::on_network(&host, config(&addresses[1]), |server| {
            let counted = counting.insert(Arc::new(Counting {
                server,
                has_streams,
                num_by_streams: AtomicUsize::new(0),
                num_by_requests: AtomicUsize::new(0),
            }));
            let counted: Arc<dyn RequestHandler> = Arc::clone(counted) as _;
            listen(&addresses[1], Arc::downgrade(&counted))
        });
        let (client, worker) = (client.unwrap(), worker.unwrap());
        let proxy = Proxy::with(&addresses[1], behaviour.unwrap_or_default());
        let of_worker = match behaviour {
            Some(_) => &proxy.address,
            None => &addresses[1],
        };
        let known = [&addresses[0], of_worker].map(String::clone);
        let configs = DistributedContextConfiguration::local_cluster(&known);
        let (sender, done) = channel();
        client.initialize_single_client(Some(7), &configs[0], move |outcome| {
            sender.send(outcome).unwrap()
        });
        let context = done.recv_timeout(MINUTE).unwrap().unwrap();
        let task = context.cluster().find_task("worker", 1).unwrap();
        Self {
            _host: host,
            _client: client,
            worker: Some(worker),
            counting: counting.unwrap(),
            proxy,
            context,
            task,
        }
    }

    fn num_by_streams(&self) -> usize {
        self.counting.num_by_streams.load(Ordering::SeqCst)
    }

    fn num_by_requests(&self) -> usize {
        self.counting.num_by_requests.load(Ordering::SeqCst)
    }

    fn is_lost(&self) -> bool {
        self.context.health().lost(self.task).is_some()
    }
}

#[test]
fn a_task_that_ends_is_lost_at_once() {
    let mut pair = Pair::new(HOURS, true, None);
    wait_until("the first heartbeat", || pair.num_by_streams() > 0);
    let worker = pair.worker.take().unwrap();
    worker.shut_down();
    drop(worker);
    wait_until("the loss", || pair.is_lost());
    assert_eq!(pair.num_by_requests(), 0);
}

#[test]
fn a_stream_that_breaks_is_opened_again_at_once() {
    let pair = Pair::new(HOURS, true, Some(Behaviour::default()));
    for round in 1..4 {
        wait_until("a heartbeat", || pair.num_by_streams() >= round);
        wait_until("trust", || !pair.context.health().is_suspect(pair.task));
        pair.proxy.cut();
    }
    wait_until("the last heartbeat", || pair.num_by_streams() >= 4);
    assert!(!pair.is_lost());
    // What answers no more is suspect, but has the whole time.
    wait_until("trust", || !pair.context.health().is_suspect(pair.task));
    pair.proxy.freeze();
    pair.proxy.cut();
    wait_until("suspicion", || pair.context.health().is_suspect(pair.task));
    assert!(!pair.is_lost());
}

#[test]
fn tasks_without_streams_are_asked_for_heartbeats() {
    const TIMEOUT: Duration = Duration::from_secs(5);
    let old = Behaviour {
        is_old: true,
        ..Behaviour::default()
    };
    for (has_streams, behaviour) in [(false, None), (true, Some(old))] {
        let mut pair = Pair::new(TIMEOUT, has_streams, behaviour);
        wait_until("heartbeats", || pair.num_by_requests() > 2);
        assert_eq!(pair.num_by_streams(), 0);
        assert!(!pair.is_lost());
        drop(pair.worker.take());
        wait_until("the loss", || pair.is_lost());
    }
}

#[test]
fn a_task_that_closes_ends_its_streams() {
    struct Alive;

    impl RequestHandler for Alive {
        fn handle(self: Arc<Self>, _: Request, _: Reply<Response>) {}

        fn answer_heartbeat(
            self: Arc<Self>,
            _: Option<&TaskName>,
            _: &HeartbeatRequest,
        ) -> Answer<HeartbeatResponse> {
            Ok(HeartbeatResponse {
                incarnation: 5,
                ..HeartbeatResponse::default()
            })
        }
    }

    let handler: Arc<dyn RequestHandler> = Arc::new(Alive);
    let network = GrpcNetwork::new(GrpcOptions::default());
    let host = host();
    let task = network.listen(&host, "127.0.0.1:0", Arc::downgrade(&handler));
    let task = task.unwrap();
    let client = task.client(task.address());
    let watch = || {
        let (sender, signs) = channel();
        let pace = Pace {
            interval: Duration::from_millis(1),
            limit: HOURS,
        };
        let hear = move |sign| {
            let _ = sender.send(sign);
        };
        let watching = client.watch(HeartbeatRequest::default(), pace, Box::new(hear));
        (watching.unwrap(), signs)
    };
    // Nothing is heard any more after the watch.
    let (watching, signs) = watch();
    assert!(matches!(
        signs.recv_timeout(MINUTE),
        Ok(Sign::Heartbeat(heartbeat)) if heartbeat.incarnation == 5
    ));
    drop(watching);
    wait_until("the end", || {
        signs.try_iter().for_each(drop);
        signs.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected)
    });
    let (_watching, signs) = watch();
    assert!(matches!(signs.recv_timeout(MINUTE), Ok(Sign::Heartbeat(_))));
    let (sender, closed) = channel();
    let done = Box::new(move |outcome| sender.send(outcome).unwrap());
    task.close(HOURS, done);
    assert_eq!(closed.recv_timeout(MINUTE).unwrap(), Ok(()));
    let end = signs
        .iter()
        .find(|sign| !matches!(sign, Sign::Heartbeat(_)));
    let Some(Sign::Over(errors)) = end else {
        panic!("expected the end, found {end:?}");
    };
    let start = format!("RpcUnavailable: Watch to {}: ", task.address());
    assert!(errors.to_string().starts_with(&start), "{errors}");
}

#[test]
fn heartbeats_and_cancellations_pass_any_number_of_other_requests() {
    let host = host();
    let options = GrpcOptions {
        max_streams: 16,
        data_connections: false,
        ..GrpcOptions::default()
    };
    let (sender, held) = channel();
    let sender = std::sync::Mutex::new(sender);
    let task = fake(&host, &options, move |request, reply| match request {
        Request::Heartbeat(_) => reply.send(Ok(HeartbeatResponse::default().into())),
        Request::CancelExecution(_) => reply.send(Ok(CancelExecutionResponse {}.into())),
        _ => sender.lock().unwrap().send(reply).unwrap(),
    });
    let client = task.own_client();
    let executions: Vec<_> = (0..40)
        .map(|_| {
            begin(
                &*client,
                CallOptions::default(),
                RemoteExecuteRequest::default(),
            )
        })
        .collect();
    // As many as there is room for.
    let first: Vec<_> = (0..12)
        .map(|_| held.recv_timeout(MINUTE).unwrap())
        .collect();
    call(&*client, HeartbeatRequest::default()).unwrap();
    call(&*client, CancelExecutionRequest::default()).unwrap();
    call(&*client, HeartbeatRequest::default()).unwrap();
    assert!(held.try_recv().is_err());
    // The others follow.
    drop(first);
    for _ in 12..40 {
        drop(held.recv_timeout(MINUTE).unwrap());
    }
    for execution in executions {
        assert!(execution.recv_timeout(MINUTE).unwrap().is_err());
    }
}

#[test]
fn too_few_streams_are_refused() {
    let network = GrpcNetwork::new(GrpcOptions {
        max_streams: 15,
        ..GrpcOptions::default()
    });
    let nobody: std::sync::Weak<Server> = std::sync::Weak::new();
    let refused = network.listen(&host(), "127.0.0.1:0", nobody).unwrap_err();
    assert_eq!(
        refused.message(),
        "expected `max_streams` of at least 16, found 15"
    );
}

//! Initializations that wait for tasks which are missing, lost or started again.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tfrt_host::HostContext;
use tfrt_support::ErrorCode;

use crate::RemoteError;
use crate::context::DistributedContext;
use crate::error::Answer;
use crate::fabric::in_process::InProcessNetwork;
use crate::fabric::{self, CallOptions, FabricCommunicator, RemoteClient, Reply, RequestHandler};
use crate::message::{
    CreateContextRequest, DeviceInfo, DistributedContextConfiguration, GetDevicesResponse,
    HeartbeatResponse, Request, Response, SendReadyChainsRequest,
};
use crate::server::{DEFAULT_INITIALIZATION_TIMEOUT, Server, ServerConfig};
use crate::testing::{finish, host, started, wait};

/// How long to wait for an answer that must come.
const LIMIT: Duration = Duration::from_secs(60);

/// Two tasks on a network, of which the second runs a server.
struct Pair {
    host: Arc<HostContext>,
    network: InProcessNetwork,
    configs: Vec<DistributedContextConfiguration>,
    second: Arc<Server>,
}

impl Pair {
    fn new(configure: impl FnOnce(&mut ServerConfig)) -> Self {
        let (host, network) = (host("mstd:2"), InProcessNetwork::default());
        let addresses = [network.free_address(), network.free_address()];
        let mut config = ServerConfig::new("test", &addresses[1]);
        configure(&mut config);
        let listen = |handler| network.listen(&host, &addresses[1], handler);
        let second = Server::on_network(&host, config, listen);
        Self {
            second: second.expect("the address is free"),
            configs: DistributedContextConfiguration::local_cluster(&addresses),
            host,
            network,
        }
    }

    fn first_address(&self) -> &str {
        self.configs[0].own_address().expect("the task has one")
    }

    /// The request of the lead task for a context.
    fn claim(&self, context_id: u64) -> Request {
        let request = CreateContextRequest {
            context_id,
            dist_config: Some(self.configs[1].clone()),
            is_multi_client: true,
            ..CreateContextRequest::default()
        };
        request.into()
    }

    /// Starts the initialization of the second task.
    fn follow(&self) -> Receiver<Answer<Arc<DistributedContext>>> {
        started(|done| self.second.initialize_multi_client(&self.configs[1], done))
    }

    /// Sends a request to the second task. It is handled on a thread of its own: one that never
    /// returns fails the test.
    fn ask(&self, request: impl Into<Request>) -> Receiver<Answer<Response>> {
        let (request, server) = (request.into(), Arc::clone(&self.second));
        started(|done| {
            std::thread::spawn(move || server.handle(request, Reply::new(done)));
        })
    }

    /// Puts a handler at the address of the first task.
    fn lead(&self, handler: &Arc<impl RequestHandler + 'static>) -> Arc<dyn FabricCommunicator> {
        let handler: Weak<dyn RequestHandler> = Arc::downgrade(handler) as _;
        let listening = self
            .network
            .listen(&self.host, self.first_address(), handler);
        listening.expect("the address is free")
    }
}

/// A task whose only answer is an error, and a sender that is told of each request.
struct Answering(ErrorCode, &'static str, Sender<()>);

/// What a task without contexts answers to heartbeats.
fn present(asked: Sender<()>) -> Arc<dyn RequestHandler> {
    let code = ErrorCode::InvalidDistributedContextId;
    Arc::new(Answering(code, "no context", asked))
}

impl RequestHandler for Answering {
    fn handle(self: Arc<Self>, _request: Request, reply: Reply<Response>) {
        let Self(code, message, asked) = &*self;
        reply.send(Err(RemoteError::new(*code, *message).into()));
        // The test may be over.
        let _ = asked.send(());
    }
}

/// A lead task whose answer changes.
struct Changing {
    answer: Mutex<Answer<Response>>,
    /// Told what it answers.
    answered: Sender<Answer<Response>>,
}

impl Changing {
    fn new(answer: Answer<Response>) -> (Arc<Self>, Receiver<Answer<Response>>) {
        let (answered, answers) = channel();
        let answer = Mutex::new(answer);
        (Arc::new(Self { answer, answered }), answers)
    }

    /// Changes the answer.
    fn change(&self, answer: Answer<Response>) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl RequestHandler for Changing {
    fn handle(self: Arc<Self>, _request: Request, reply: Reply<Response>) {
        let answer = self.answer.lock().unwrap().clone();
        reply.send(answer.clone());
        // The test may be over.
        let _ = self.answered.send(answer);
    }
}

/// Waits until an answer was given and heard: the next request comes after that.
fn heard(answers: &Receiver<Answer<Response>>, expected: &Answer<Response>) {
    let mut num_given = 0;
    while num_given < 2 {
        if answers.recv_timeout(LIMIT).unwrap() == *expected {
            num_given += 1;
        }
    }
}

fn error(code: ErrorCode, message: &str) -> Answer<Response> {
    Err(RemoteError::new(code, message).into())
}

#[test]
fn a_lead_task_that_never_comes_is_not_waited_for() {
    let timeout = Duration::from_millis(50);
    let pair = Pair::new(|config| {
        config.failure_timeout = timeout;
        config.initialization_timeout = Some(timeout);
    });
    // After the error, the task may try again.
    for _ in 0..2 {
        let outcome = finish(&pair.host, |done| {
            pair.second.initialize_multi_client(&pair.configs[1], done);
        });
        let address = pair.first_address();
        let expected = format!(
            "RpcDeadlineExceeded: waited in vain for /job:worker/task:0 at {address}, which \
             leads: "
        );
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_lead_task_that_ends_before_the_context_is_lost() {
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_secs(1));
    let (sender, asked) = channel();
    let handler = present(sender);
    let leader = pair
        .network
        .listen(&pair.host, pair.first_address(), Arc::downgrade(&handler));
    let done = started(|done| {
        pair.second.initialize_multi_client(&pair.configs[1], done);
    });
    // The second time, the first answer has arrived.
    for _ in 0..2 {
        asked.recv_timeout(LIMIT).unwrap();
    }
    assert!(done.try_recv().is_err());
    drop(leader);
    let error = wait(&pair.host, &done).unwrap_err().to_string();
    let expected = "Unavailable: task /job:worker/task:0 is lost: ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_lead_task_that_does_not_begin_is_not_waited_for() {
    // A task that may not talk about a context is there, too.
    let codes = [
        ErrorCode::InvalidDistributedContextId,
        ErrorCode::FailedPrecondition,
    ];
    let started = codes.map(|code| {
        let pair = Pair::new(|config| config.initialization_timeout = Some(Duration::from_secs(2)));
        let (handler, _) = Changing::new(error(code, "no context"));
        let leader = pair.lead(&handler);
        let done = pair.follow();
        (pair, handler, leader, done)
    });
    for (pair, _handler, _leader, done) in started {
        let outcome = wait(&pair.host, &done);
        let expected = format!(
            "RpcDeadlineExceeded: waited in vain for /job:worker/task:0 at {}, which leads: it \
             answers, but has not created the context",
            pair.first_address()
        );
        assert_eq!(outcome.unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_lead_task_that_cannot_be_talked_to_is_not_waited_for() {
    // By default, the wait is longer than the test.
    let pair = Pair::new(|_| ());
    let (handler, _) = Changing::new(error(ErrorCode::RpcUnknown, "expected another task"));
    let _leader = pair.lead(&handler);
    let outcome = wait(&pair.host, &pair.follow());
    let expected = format!(
        "RpcUnknown: cannot follow /job:worker/task:0 at {}, which leads: RpcUnknown: expected \
         another task",
        pair.first_address()
    );
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

#[test]
fn a_task_whose_program_does_not_take_part_is_not_waited_for() {
    let pair = Pair::new(|_| ());
    let (network, address) = (&pair.network, pair.first_address());
    let config = ServerConfig {
        initialization_timeout: Some(Duration::from_secs(2)),
        ..ServerConfig::new("test", address)
    };
    let listen = |handler| network.listen(&pair.host, address, handler);
    let leader = Server::on_network(&pair.host, config, listen).unwrap();
    let second = pair.configs[1].own_address().unwrap();
    let fails = |expected: &str| {
        let outcome = finish(&pair.host, |done| {
            leader.initialize_multi_client(&pair.configs[0], done);
        });
        let error = outcome.unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    };
    let vain = "waited in vain for /job:worker/task:1 at";
    fails(&format!(
        "RpcDeadlineExceeded: {vain} {second}: it answers, but its program does not take part"
    ));
    network.cut(second);
    fails(&format!(
        "RpcUnavailable: GetDevices to {second}: no task listens at this address (from task: \
         /job:worker/task:1)"
    ));
}

#[test]
fn a_lead_task_that_was_started_again_is_followed() {
    let pair = Pair::new(|_| ());
    let ask = |context_id: u64| {
        started::<Response>(|done| {
            let server = Arc::clone(&pair.second);
            server.handle(pair.claim(context_id), Reply::new(done));
        })
    };
    let before = ask(71);
    let repeated = wait(&pair.host, &ask(71)).unwrap_err().code();
    assert_eq!(repeated, ErrorCode::DistributedContextAlreadyExists);
    let again = ask(72);
    let error = wait(&pair.host, &before).unwrap_err().to_string();
    let expected = "Cancelled: a later request of the task that leads has replaced this one";
    assert_eq!(error, expected);
    let done = started(|done| {
        pair.second.initialize_multi_client(&pair.configs[1], done);
    });
    assert!(wait(&pair.host, &again).is_ok());
    // The context is there, and not complete.
    let repeated = wait(&pair.host, &ask(72)).unwrap_err().code();
    assert_eq!(repeated, ErrorCode::DistributedContextAlreadyExists);
    assert!(wait(&pair.host, &ask(73)).is_ok());
    assert!(pair.second.context(72).is_err());
    assert!(done.try_recv().is_err());
    let chains = finish::<Response>(&pair.host, |done| {
        let request = SendReadyChainsRequest {
            context_id: 73,
            ready_chains: Vec::new(),
        };
        Arc::clone(&pair.second).handle(request.into(), Reply::new(done));
    });
    assert!(chains.is_ok());
    assert_eq!(wait(&pair.host, &done).unwrap().id(), 73);
    // A complete one stays.
    let late = wait(&pair.host, &ask(74)).unwrap_err().code();
    assert_eq!(late, ErrorCode::DistributedContextAlreadyExists);
}

#[test]
fn a_lead_task_may_be_away_while_it_is_started_again() {
    // Longer than the test.
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_secs(3600));
    let absent = error(ErrorCode::RpcUnavailable, fabric::NOBODY_LISTENS);
    let forgetful = error(ErrorCode::InvalidDistributedContextId, "no context");
    let (handler, answers) = Changing::new(forgetful.clone());
    let _leader = pair.lead(&handler);
    let done = pair.follow();
    heard(&answers, &forgetful);
    handler.change(absent.clone());
    heard(&answers, &absent);
    let alive = HeartbeatResponse {
        incarnation: 1,
        is_lost: false,
        lost: Vec::new(),
    };
    let alive: Answer<Response> = Ok(alive.into());
    handler.change(alive.clone());
    assert!(wait(&pair.host, &pair.ask(pair.claim(71))).is_ok());
    heard(&answers, &alive);
    handler.change(absent.clone());
    heard(&answers, &absent);
    handler.change(forgetful.clone());
    heard(&answers, &forgetful);
    assert!(pair.second.context(71).is_ok());
    assert!(wait(&pair.host, &pair.ask(pair.claim(72))).is_ok());
    let chains = SendReadyChainsRequest {
        context_id: 72,
        ready_chains: Vec::new(),
    };
    assert!(wait(&pair.host, &pair.ask(chains)).is_ok());
    assert_eq!(wait(&pair.host, &done).unwrap().id(), 72);
}

#[test]
fn a_lead_task_that_has_forgotten_the_context_is_lost_in_the_end() {
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_secs(1));
    let code = ErrorCode::InvalidDistributedContextId;
    let (handler, _answers) = Changing::new(error(code, "no context"));
    let _leader = pair.lead(&handler);
    let done = pair.follow();
    assert!(wait(&pair.host, &pair.ask(pair.claim(71))).is_ok());
    let error = wait(&pair.host, &done).unwrap_err().to_string();
    let expected = "Unavailable: task /job:worker/task:0 is lost: ";
    assert!(error.starts_with(expected), "{error}");
    assert!(pair.second.context(71).is_err());
}

#[test]
fn a_lead_task_that_has_lost_this_one_is_lost() {
    // Longer than the test.
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_secs(3600));
    let alive = HeartbeatResponse {
        incarnation: 1,
        is_lost: true,
        lost: Vec::new(),
    };
    let alive: Answer<Response> = Ok(alive.into());
    let (handler, answers) = Changing::new(alive.clone());
    let _leader = pair.lead(&handler);
    let done = pair.follow();
    // That is about another context until this one exists.
    heard(&answers, &alive);
    assert!(done.try_recv().is_err());
    assert!(wait(&pair.host, &pair.ask(pair.claim(71))).is_ok());
    assert_eq!(
        wait(&pair.host, &done).unwrap_err().to_string(),
        "Unavailable: task /job:worker/task:0 is lost: it has lost this task"
    );
    assert!(pair.second.context(71).is_err());
}

#[test]
fn a_context_with_impossible_devices_is_refused_and_the_task_goes_on() {
    let pair = Pair::new(|_| ());
    let device = |name: &str, r#type: &str| DeviceInfo {
        name: name.to_owned(),
        r#type: r#type.to_owned(),
    };
    let impossible = [
        device("/job:worker/task:7/device:CPU:0", "cpu"),
        device("/job:worker/task:0/device:ABACUS:0", "abacus"),
    ];
    for device in impossible {
        let done = pair.follow();
        let Request::CreateContext(mut request) = pair.claim(71) else {
            unreachable!("it asks for a context");
        };
        request.devices = vec![device];
        let answer = wait(&pair.host, &pair.ask(request)).unwrap_err();
        assert_eq!(wait(&pair.host, &done).unwrap_err(), answer);
        assert!(pair.second.context(71).is_err());
    }
    let done = pair.follow();
    assert!(wait(&pair.host, &pair.ask(pair.claim(71))).is_ok());
    pair.second.close_context(71).unwrap();
    let error = wait(&pair.host, &done).unwrap_err().to_string();
    assert_eq!(error, "Cancelled: context 71 is closed");
}

/// A network whose tasks say that they have no devices, and that tells how long it may take until
/// they have the context.
#[derive(Debug)]
struct Measuring(Sender<Option<Duration>>);

impl FabricCommunicator for Measuring {
    fn address(&self) -> &str {
        "a"
    }

    fn client(&self, _address: &str) -> Arc<dyn RemoteClient> {
        Arc::new(Self(self.0.clone()))
    }
}

impl RemoteClient for Measuring {
    fn call(&self, options: CallOptions, request: Request, reply: Reply<Response>) {
        if let Request::GetDevices(_) = request {
            return reply.send(Ok(GetDevicesResponse::default().into()));
        }
        if let Request::CreateContext(_) = request {
            // The test may be over.
            let _ = self.0.send(options.timeout);
        }
        reply.send(error(ErrorCode::Unimplemented, "not here"));
    }
}

#[test]
fn without_a_limit_the_time_until_all_are_there_does_not_count() {
    let host = host("mstd:2");
    let addresses = ["a:1", "b:1"].map(str::to_owned);
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let time_of = |limit| {
        let (sender, timeouts) = channel();
        let config = ServerConfig {
            initialization_timeout: limit,
            ..ServerConfig::new("test", "a")
        };
        let server = Server::on_network(&host, config, |_| Ok(Arc::new(Measuring(sender))));
        let server = server.unwrap();
        let outcome = finish(&host, |done| {
            server.initialize_multi_client(&configs[0], done)
        });
        assert!(outcome.is_err());
        timeouts.recv_timeout(LIMIT).unwrap().unwrap()
    };
    assert_eq!(time_of(None), DEFAULT_INITIALIZATION_TIMEOUT);
    assert!(time_of(Some(LIMIT)) < LIMIT);
}

#[test]
fn the_loss_of_the_only_client_is_told() {
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_millis(50));
    the_only_client_is_lost(&pair);
}

#[test]
fn an_only_client_that_does_not_listen_is_lost_at_once() {
    // Longer than the test.
    let pair = Pair::new(|config| config.failure_timeout = Duration::from_secs(3600));
    let (sender, _asked) = channel();
    let (code, refused) = (ErrorCode::RpcUnavailable, fabric::NOBODY_LISTENS);
    let handler: Arc<dyn RequestHandler> = Arc::new(Answering(code, refused, sender));
    let address = pair.first_address();
    let _network = pair
        .network
        .listen(&pair.host, address, Arc::downgrade(&handler));
    the_only_client_is_lost(&pair);
}

/// Waits until the second task has lost the first one, whose context it has.
fn the_only_client_is_lost(pair: &Pair) {
    let (sender, told) = channel();
    pair.second.on_owner_lost(move |task, error| {
        // The test waits for it.
        let _ = sender.send((task.to_string(), error.message.clone()));
    });
    let created = finish::<Response>(&pair.host, |done| {
        let request = CreateContextRequest {
            context_id: 7,
            dist_config: Some(pair.configs[1].clone()),
            owner: "/job:worker/task:0".to_owned(),
            ..CreateContextRequest::default()
        };
        Arc::clone(&pair.second).handle(request.into(), Reply::new(done));
    });
    assert!(created.is_ok());
    let (task, message) = wait(&pair.host, &told);
    assert_eq!(task, "/job:worker/task:0");
    let expected = "task /job:worker/task:0 is lost: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(pair.second.context(7).is_err());
}

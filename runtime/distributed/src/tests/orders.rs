//! Initialization by many clients in every order of what happens: a model checker over the shipped
//! servers.
//!
//! A network delivers nothing by itself. Each request and each answer is an event, and so is each
//! start of an initialization, and one fault: a message that is lost, or a server that is shut
//! down. A run takes one event after another until there are none; the next run makes another
//! choice at the last place where there is one. Heartbeats are never answered: nobody is lost.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tfrt_host::HostContext;
use tfrt_support::ErrorCode;

use super::seeds::Numbers;
use crate::RemoteError;
use crate::context::DistributedContext;
use crate::error::Answer;
use crate::fabric::{CallOptions, FabricCommunicator, RemoteClient, Reply, RequestHandler};
use crate::message::{DistributedContextConfiguration, Method, Request, Response};
use crate::server::{Server, ServerConfig};
use crate::testing::{host, started};

/// A request or an answer on its way.
struct Message {
    deliver: Box<dyn FnOnce() + Send>,
    lose: Box<dyn FnOnce() + Send>,
}

/// The tasks, by their addresses, and the messages on their way, oldest first.
#[derive(Default)]
struct State {
    tasks: HashMap<String, Weak<dyn RequestHandler>>,
    messages: Vec<Message>,
    /// Heartbeats, which wait for ever.
    held: Vec<Reply<Response>>,
}

#[derive(Clone, Default)]
struct Network(Arc<Mutex<State>>);

impl Network {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn push(&self, deliver: impl FnOnce() + Send + 'static, lose: impl FnOnce() + Send + 'static) {
        let (deliver, lose) = (Box::new(deliver), Box::new(lose));
        self.lock().messages.push(Message { deliver, lose });
    }
}

#[derive(Clone)]
struct Client {
    network: Network,
    address: String,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.address)
    }
}

impl FabricCommunicator for Client {
    fn address(&self) -> &str {
        &self.address
    }

    fn client(&self, address: &str) -> Arc<dyn RemoteClient> {
        Arc::new(Self {
            address: address.to_owned(),
            ..self.clone()
        })
    }
}

fn lost() -> RemoteError {
    RemoteError::new(ErrorCode::RpcUnavailable, "lost")
}

impl RemoteClient for Client {
    fn call(&self, _options: CallOptions, request: Request, reply: Reply<Response>) {
        if request.method() == Method::Heartbeat {
            return self.network.lock().held.push(reply);
        }
        let reply = Arc::new(Mutex::new(Some(reply)));
        let take = |reply: &Mutex<Option<Reply<Response>>>| reply.lock().unwrap().take();
        let (own, unanswered) = (self.clone(), Arc::clone(&reply));
        let deliver = move || {
            let handler = own.network.lock().tasks.get(&own.address).cloned();
            let Some(handler) = handler.and_then(|handler| handler.upgrade()) else {
                return take(&reply).unwrap().send(Err(lost().into()));
            };
            let answering = Reply::new(move |answer: Answer<Response>| {
                let unanswered = Arc::clone(&reply);
                let deliver = move || take(&reply).unwrap().send(answer);
                let lose = move || take(&unanswered).unwrap().send(Err(lost().into()));
                own.network.push(deliver, lose);
            });
            handler.handle(request, answering);
        };
        let lose = move || take(&unanswered).unwrap().send(Err(lost().into()));
        self.network.push(deliver, lose);
    }
}

/// The faults that runs may have: one of them, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// A message is lost.
    Loss,
    /// The server of this task is shut down.
    End(usize),
    /// The last task has another configuration.
    OtherConfiguration,
}

/// What becomes of an initialization.
type Outcome = Receiver<Answer<Arc<DistributedContext>>>;

/// One run.
struct Run {
    host: Arc<HostContext>,
    network: Network,
    servers: Vec<Arc<Server>>,
    configs: Vec<DistributedContextConfiguration>,
    outcomes: Vec<Option<Outcome>>,
    fault: Fault,
    has_failed: bool,
}

impl Run {
    fn new(num_tasks: usize, fault: Fault) -> Self {
        let (host, network) = (host("s"), Network::default());
        let addresses: Vec<String> = (0..num_tasks).map(|task| format!("t{task}")).collect();
        let mut configs = DistributedContextConfiguration::local_cluster(&addresses);
        if fault == Fault::OtherConfiguration {
            configs[num_tasks - 1].collective_groups[0]
                .members
                .reverse();
        }
        let start = |address: &String| {
            let mut config = ServerConfig::new("test", address);
            config.failure_timeout = Duration::from_secs(3600);
            let listen = |handler| {
                network.lock().tasks.insert(address.clone(), handler);
                let (network, address) = (network.clone(), address.clone());
                Ok(Arc::new(Client { network, address }) as Arc<dyn FabricCommunicator>)
            };
            Server::on_network(&host, config, listen).unwrap()
        };
        Self {
            servers: addresses.iter().map(start).collect(),
            outcomes: addresses.iter().map(|_| None).collect(),
            host,
            network,
            configs,
            fault,
            has_failed: fault == Fault::None || fault == Fault::OtherConfiguration,
        }
    }

    /// Returns the number of events that may be next: starts, messages, and faults.
    fn num_events(&self) -> usize {
        let num_starts = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.is_none())
            .count();
        let num_messages = self.network.lock().messages.len();
        let num_faults = match self.fault {
            _ if self.has_failed => 0,
            Fault::Loss => num_messages,
            _ => 1,
        };
        match num_starts + num_messages {
            // A fault alone is not worth a run.
            0 => 0,
            num_events => num_events + num_faults,
        }
    }

    /// Lets an event happen.
    fn take(&mut self, event: usize) {
        let starts = self.outcomes.iter().enumerate();
        let mut starts = starts.filter(|(_, outcome)| outcome.is_none());
        let num_starts = starts.clone().count();
        let num_messages = self.network.lock().messages.len();
        if let Some((task, _)) = starts.nth(event) {
            let (server, config) = (&self.servers[task], &self.configs[task]);
            let outcome = started(|done| server.initialize_multi_client(config, done));
            self.outcomes[task] = Some(outcome);
        } else if event < num_starts + num_messages {
            let message = self.network.lock().messages.remove(event - num_starts);
            (message.deliver)();
        } else {
            self.has_failed = true;
            match self.fault {
                Fault::End(task) => self.servers[task].shut_down(),
                _ => {
                    let index = event - num_starts - num_messages;
                    let message = self.network.lock().messages.remove(index);
                    (message.lose)();
                }
            }
        }
        self.host.quiesce().unwrap();
    }

    /// Checks what became of the initializations, and that nothing waits at the end.
    fn end(self, path: &[usize]) {
        let shown = format!("{:?}, events {path:?}", self.fault);
        let outcomes = self
            .outcomes
            .iter()
            .map(|outcome| outcome.as_ref().unwrap());
        let early: Vec<_> = outcomes
            .clone()
            .map(|outcome| outcome.try_recv().ok())
            .collect();
        let is_led = match &early[0] {
            Some(led) => led.is_ok(),
            None => panic!("the lead task waits: {shown}"),
        };
        let ended = match self.fault {
            Fault::End(task) => Some(task),
            _ => None,
        };
        for (task, outcome) in early.iter().enumerate() {
            match (self.fault, outcome) {
                // All begin, or none does, unless a task has left since.
                (Fault::None, Some(Ok(_))) => assert!(is_led, "{shown}"),
                (_, Some(Ok(context))) => {
                    let still_there = self.servers[task].context(context.id()).is_ok();
                    assert!(is_led || !still_there, "task {task} alone: {shown}");
                }
                (Fault::None, other) => panic!("task {task} has {other:?}: {shown}"),
                (Fault::OtherConfiguration, Some(Err(errors))) => {
                    let text = errors.to_string();
                    let is_odd = task == 0 || task + 1 == early.len();
                    assert_eq!(text.contains("Incompatible"), is_odd, "{text}: {shown}");
                }
                (_, Some(Err(_))) => {
                    let is_excused = !is_led || ended == Some(task);
                    assert!(is_excused, "task {task} is missing: {shown}");
                }
                // Nothing is lost on the way: whoever had a context is told that it is closed.
                (Fault::OtherConfiguration, None) => panic!("task {task} waits: {shown}"),
                // It waits for the lead task, which has given up: the watch over that ends it.
                (_, None) => assert!(!is_led, "task {task} waits: {shown}"),
            }
        }
        let num_early = early.iter().flatten().count();
        for server in &self.servers {
            server.shut_down();
        }
        self.host.quiesce().unwrap();
        // Requests under way are answered, at the latest now.
        while !self.network.lock().messages.is_empty() {
            let message = self.network.lock().messages.remove(0);
            (message.deliver)();
            self.host.quiesce().unwrap();
        }
        let late = outcomes
            .filter(|outcome| outcome.try_recv().is_ok())
            .count();
        assert_eq!(
            num_early + late,
            early.len(),
            "one waits at the end: {shown}"
        );
    }
}

/// Runs every order of the events of so many tasks. Returns the number of orders.
fn explore(num_tasks: usize, fault: Fault) -> usize {
    let (mut path, mut num_runs): (Vec<usize>, usize) = (Vec::new(), 0);
    loop {
        let (mut run, mut num_choices) = (Run::new(num_tasks, fault), Vec::new());
        loop {
            let num_events = run.num_events();
            if num_events == 0 {
                break;
            }
            if path.len() == num_choices.len() {
                path.push(0);
            }
            let event = path[num_choices.len()];
            num_choices.push(num_events);
            run.take(event);
        }
        run.end(&path);
        num_runs += 1;
        // The last choice that has another one.
        while path
            .last()
            .is_some_and(|event| event + 1 == num_choices[path.len() - 1])
        {
            path.pop();
        }
        match path.last_mut() {
            Some(event) => *event += 1,
            None => return num_runs,
        }
    }
}

/// Runs some orders of the events of so many tasks.
fn sample(num_tasks: usize, fault: Fault, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let (mut run, mut numbers) = (Run::new(num_tasks, fault), Numbers(seed));
        numbers.below(2);
        let mut path = Vec::new();
        while let Some(limit) = Some(run.num_events()).filter(|limit| *limit > 0) {
            let event = numbers.below(limit as u64) as usize;
            path.push(event);
            run.take(event);
        }
        run.end(&path);
    }
}

#[test]
fn two_tasks_initialize_in_every_order_of_events() {
    let faults = [
        Fault::None,
        Fault::Loss,
        Fault::End(0),
        Fault::End(1),
        Fault::OtherConfiguration,
    ];
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || {
                let num_runs = explore(2, fault);
                println!("{fault:?}: {num_runs} orders");
                assert!(num_runs > 20, "{fault:?}: only {num_runs} orders");
            });
        }
    });
}

#[test]
fn three_tasks_initialize_in_many_orders_of_events() {
    let faults = [
        Fault::None,
        Fault::Loss,
        Fault::End(0),
        Fault::End(1),
        Fault::End(2),
        Fault::OtherConfiguration,
    ];
    let count = if std::env::var_os("TFRT_LONG_TESTS").is_some() {
        100_000
    } else {
        300
    };
    std::thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || sample(3, fault, 0..count));
        }
    });
}

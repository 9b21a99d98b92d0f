//! Clusters for tests: several servers in this process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use tfrt_host::HostContext;
use tfrt_queue::create_queue;

use crate::context::DistributedContext;
use crate::error::Answer;
use crate::fabric::in_process::InProcessNetwork;
use crate::message::DistributedContextConfiguration;
use crate::server::{Server, ServerConfig};

/// Returns a host with this queue.
pub(crate) fn host(queue: &str) -> Arc<HostContext> {
    HostContext::builder()
        .queue(create_queue(queue).expect("the queue exists"))
        .build()
}

/// Servers on one network, each with its configuration.
pub(crate) struct Cluster {
    pub(crate) host: Arc<HostContext>,
    pub(crate) network: InProcessNetwork,
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) configs: Vec<DistributedContextConfiguration>,
}

impl Cluster {
    pub(crate) fn new(queue: &str, num_tasks: usize) -> Self {
        Self::on(queue, InProcessNetwork::default(), num_tasks)
    }

    pub(crate) fn on(queue: &str, network: InProcessNetwork, num_tasks: usize) -> Self {
        let host = host(queue);
        let addresses: Vec<String> = (0..num_tasks).map(|_| network.free_address()).collect();
        let servers = addresses
            .iter()
            .map(|address| server(&host, &network, address));
        Self {
            servers: servers.collect(),
            configs: DistributedContextConfiguration::local_cluster(&addresses),
            host,
            network,
        }
    }

    /// Initializes from the first task, and returns the contexts of all.
    pub(crate) fn contexts(&self) -> Vec<Arc<DistributedContext>> {
        let outcome = finish(&self.host, |done| {
            self.servers[0].initialize_single_client(Some(1), &self.configs[0], done);
        });
        let first = outcome.unwrap_or_else(|errors| panic!("{errors}"));
        let others = self.servers[1..].iter().map(|server| {
            let context = server.context(1);
            context.unwrap_or_else(|error| panic!("{error}"))
        });
        std::iter::once(first).chain(others).collect()
    }
}

pub(crate) fn server(
    host: &Arc<HostContext>,
    network: &InProcessNetwork,
    address: &str,
) -> Arc<Server> {
    let config = ServerConfig::new("test", address);
    Server::on_network(host, config, |handler| {
        network.listen(host, address, handler)
    })
    .expect("the address is free")
}

/// Starts something, and waits until it is done.
pub(crate) fn finish<T: Send + 'static>(
    host: &HostContext,
    start: impl FnOnce(Box<dyn FnOnce(Answer<T>) + Send>),
) -> Answer<T> {
    let done = started(start);
    wait(host, &done)
}

/// Starts something that is done later.
pub(crate) fn started<T: Send + 'static>(
    start: impl FnOnce(Box<dyn FnOnce(Answer<T>) + Send>),
) -> Receiver<Answer<T>> {
    let (sender, receiver) = channel();
    start(Box::new(move |outcome| {
        // A test that failed does not wait any more.
        let _ = sender.send(outcome);
    }));
    receiver
}

/// Waits for what arrives at the end of work on the queue of `host`.
pub(crate) fn wait<T>(host: &HostContext, receiver: &Receiver<T>) -> T {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        // Runs the tasks of a queue without threads.
        host.quiesce().expect("tests are not tasks");
        match receiver.recv_timeout(std::time::Duration::from_millis(1)) {
            Ok(outcome) => return outcome,
            Err(_) => assert!(
                std::time::Instant::now() < deadline,
                "nothing came for a minute"
            ),
        }
    }
}

use std::sync::mpsc::channel;

use super::*;
use crate::fabric::{FabricCommunicator, Reply};
use crate::message::{DistributedContextConfiguration, KeepAliveRequest, Request, Response};
use crate::server::{Server, ServerConfig};
use crate::testing::host;

/// Runs something when a client is made.
type OnClient = Box<dyn FnOnce() + Send>;

/// A network on which nobody answers.
#[derive(Default)]
struct Silent {
    on_client: Mutex<Option<OnClient>>,
    kept: Mutex<Vec<Reply<Response>>>,
}

#[derive(Default)]
struct SilentNetwork(Arc<Silent>);

impl fmt::Debug for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Silent")
    }
}

impl RemoteClient for Silent {
    fn call(&self, _: CallOptions, _: Request, reply: Reply<Response>) {
        self.kept.lock().unwrap().push(reply);
    }
}

impl fmt::Debug for SilentNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SilentNetwork")
    }
}

impl FabricCommunicator for SilentNetwork {
    fn address(&self) -> &str {
        "a"
    }

    fn client(&self, _: &str) -> Arc<dyn RemoteClient> {
        let on_client = self.0.on_client.lock().unwrap().take();
        if let Some(on_client) = on_client {
            on_client();
        }
        Arc::clone(&self.0) as _
    }
}

#[test]
fn a_call_that_meets_the_end_of_its_context_is_answered() {
    let host = host("mstd:2");
    let config = ServerConfig {
        // What is not answered ends much later.
        drain_timeout: Duration::from_secs(3600),
        ..ServerConfig::new("test", "a")
    };
    let silent = Arc::new(Silent::default());
    let network = Arc::new(SilentNetwork(Arc::clone(&silent)));
    let server = Server::on_network(&host, config, |_| Ok(network)).unwrap();
    let addresses = ["a".to_owned(), "b".to_owned()];
    let config = &DistributedContextConfiguration::local_cluster(&addresses)[0];
    let context = server.create_context(7, config).unwrap();
    let other = context.cluster().find_task("worker", 1).unwrap();
    let (closer, closed) = (Arc::clone(&server), Arc::clone(&context));
    *silent.on_client.lock().unwrap() = Some(Box::new(move || {
        // It ends once this client is made: it waits for the lock of the clients.
        std::thread::spawn(move || closer.close_context(7));
        let end = Instant::now() + Duration::from_secs(60);
        while closed.end_if_closed().is_none() {
            assert!(Instant::now() < end, "the context is not closed");
            std::thread::yield_now();
        }
    }));
    let (sender, answered) = channel();
    let request = KeepAliveRequest { context_id: 7 };
    context.call(other, CallOptions::default(), request, move |answer| {
        sender.send(answer).unwrap();
    });
    let answer = answered.recv_timeout(Duration::from_secs(60)).unwrap();
    let error = answer.unwrap_err().to_string();
    assert_eq!(error, "Cancelled: context 7 is closed");
}

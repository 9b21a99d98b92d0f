//! Tasks that reach each other over gRPC, on loopback.

mod calls;

mod clusters;

mod connections;

mod data;

mod faults;

#[cfg(feature = "flight")]
mod flight;

mod lent_tensors;
mod listening;

mod payloads;

mod proxy;

mod security;

mod watching;

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tfrt_distributed::Answer;
use tfrt_distributed::fabric::{
    CallOptions, CommunicatorType, FabricCommunicator, RemoteClient, Reply, RequestHandler,
};
use tfrt_distributed::message::{Call, KeepAliveRequest, Request, Response};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};
use tfrt_host::HostContext;
use tfrt_queue::create_queue;

const MINUTE: Duration = Duration::from_secs(60);

fn is_long() -> bool {
    std::env::var_os("TFRT_LONG_TESTS").is_some()
}

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
    tfrt_distributed::fabric::call(client, options, request, move |answer| {
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

/// A task that keeps its replies, and where they are.
fn silent(host: &Arc<HostContext>) -> (Fake, Receiver<Reply<Response>>) {
    let (sender, replies) = channel();
    let sender = Mutex::new(sender);
    let task = fake(host, &GrpcOptions::default(), move |_, reply| {
        sender.lock().unwrap().send(reply).unwrap();
    });
    (task, replies)
}

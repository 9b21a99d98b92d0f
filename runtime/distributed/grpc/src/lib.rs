//! The transport of distributed programs over gRPC.
//!
//! ```text
//!  RemoteClient::call ──► client ── permit ── connection ──► service ──► task of the work queue ──► RequestHandler
//!        reply, as a task of the work queue ◄── answer ◄── connection ◄── Reply, from any thread
//! ```
//!
//! Linking this crate registers the type of communicator `grpc_communicator`. A program that needs
//! options other than the defaults creates a [`GrpcNetwork`].
//!
//! | module | contents |
//! |---|---|
//! | `options` | limits, timeouts, windows and credentials |
//! | `unix` | Unix sockets |
//! | `tls` | encrypted connections, whose ends prove their identity |
//! | `token` | a secret that all tasks share |
//! | `runtime` | the threads of the network |
//! | `wire` | messages of this transport, and framing |
//! | `op_library` | the kernels of tasks, and in which of them two tasks differ |
//! | `status` | errors as gRPC statuses, and back |
//! | `service` | the handling of requests |
//! | `health` | the standard health service |
//! | `accepting` | connections that are accepted: how many, and how long they may take to open |
//! | `arriving` | the bytes of requests that are arriving over HTTP/2 |
//! | `cut` | the end of connections whose requests take too long |
//! | `answers` | deduplication of requests that arrive twice |
//! | `etcd` | an etcd server as the place where tasks meet, with the feature `etcd` |
//! | `flight` | tensors for other engines over Arrow Flight, with the feature `flight` |
//! | `watching` | streams of heartbeats |
//! | `data` | connections of payloads and small calls |
//! | `transfer` | large payloads in chunks, on a connection of HTTP/2 |
//! | `client` | sending of requests: flow control, retries, deadlines, cancellation |
//! | `numbers` | the numbers of requests that run once, and which of them are over |
//! | `budget` | bytes that requests take together, up to a limit |
//! | `pending` | a limit on the requests that are under way |
//!
//! # Threads
//!
//! One thread serves the sockets, or two on a machine with eight processors or more; all
//! communicators of a process share them. They decode messages and run neither kernels nor waiters:
//! a request becomes a task of the receiver's work queue, and an answer a task of the sender's. No
//! worker of a queue waits for a socket: one that writes to it leaves to these threads what it does
//! not take at once. These threads themselves do only what takes little time: they answer
//! heartbeats, so that a task with busy workers is not considered lost, keep payloads for receivers
//! that are still to come, and hand messages and answers to the members of collectives.
//!
//! # Connections
//!
//! A task has up to two data connections to each other task, and two of HTTP/2:
//!
//! | connection | what goes on it |
//! |---|---|
//! | data, small | payloads of up to `GrpcOptions::inline_limit_bytes`, and the small requests of ops and executions |
//! | data, large | other payloads |
//! | HTTP/2 | greetings, heartbeats, cancellations, the rest of administration, and large requests of ops and executions |
//! | HTTP/2, bulk | programs, and the payloads that data connections do not take |
//!
//! Payloads and programs fill the windows of their connection: heartbeats do not wait for them, and
//! a call waits for one small payload and what the sockets hold, but passes the others. Between
//! tasks of which one takes no data connections, or no calls on them, payloads go with programs, or
//! calls with heartbeats.
//!
//! So a task accepts up to four connections of each other task, of at most
//! [`GrpcOptions::max_connections`] in all. One that does not say what it is and prove who it is of
//! within [`GrpcOptions::connect_timeout`] is closed.
//!
//! Heartbeats come by a stream, `Watch`, which the task that is watched sends: if its connection
//! breaks, the watcher notices at once. Tasks of older versions, which have none, are asked for
//! each heartbeat. Other requests of the connection leave room for heartbeats
//! ([`GrpcOptions::max_streams`]).
//!
//! # Other engines
//!
//! With the feature `flight` and `GrpcOptions::flight`, the port of a task is also one of Arrow
//! Flight: other engines put and get tensors by context and key, as record batches. The same
//! credentials, limits and deadlines apply, and the same end.
//!
//! # Who is who
//!
//! Tasks greet each other before anything else. A greeting has the version of the protocol and of
//! the runtime, the name of the task, a number of its process, and fingerprints of its messages and
//! kernels. A client of a task of a known name sends nothing to one that has another name: two
//! tasks whose addresses were exchanged are an error of the first request.
//!
//! # Security
//!
//! Anyone who can connect to a task can run programs on it. So a communicator refuses to listen on
//! an address other than loopback, unless it has certificates ([`GrpcOptions::tls`]), or
//! [`GrpcOptions::allow_insecure_network`] declares that the network is trusted. With certificates,
//! both ends of each connection prove their identity: a task accepts requests only from tasks of
//! its cluster, knows the sender of each request ([`RequestHandler::handle_from`]), refuses what is
//! not the sender's to ask for, such as closing the context of another task, and sends nothing to a
//! task other than the one that it calls. A [`GrpcOptions::token`] is checked in addition, before
//! any part of a request is read; without TLS, anyone who can read the network traffic learns it.
#![forbid(unsafe_code)]

mod forward;

mod options;

mod pending;

mod tls;

mod token;

mod accepting;

mod arriving;

mod budget;

mod answers;

mod health;

mod client;

mod cut;

mod data;

#[cfg(feature = "etcd")]
mod etcd;

#[cfg(feature = "flight")]
mod flight;

mod numbers;

mod op_library;

mod runtime;

mod service;

mod status;

mod transfer;

#[cfg(unix)]
mod unix;

mod watching;

mod wire;

use std::collections::HashMap;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use tfrt_distributed::fabric::{
    CommunicatorType, FabricCommunicator, OnClosed, RemoteClient, RequestHandler, TaskIdentity,
};
use tfrt_distributed::name::TaskName;
use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};
use tokio::sync::oneshot;

#[cfg(feature = "etcd")]
pub use etcd::Etcd;
pub use options::GrpcOptions;
pub use tls::{TaskNames, Tls};
pub use token::Token;

use client::Client;
use runtime::NetworkThreads;
use service::Stop;

/// The name of this type of communicator.
pub const TYPE_NAME: &str = "grpc_communicator";

/// The gRPC network between tasks. Clones share the options.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
/// use tfrt_distributed::fabric::{self, CallOptions, FabricCommunicator, RequestHandler};
/// use tfrt_distributed::message::{KeepAliveRequest, KeepAliveResponse, Request, Response};
/// use tfrt_distributed::fabric::Reply;
/// use tfrt_grpc::{GrpcNetwork, GrpcOptions};
/// use tfrt_host::HostContext;
///
/// struct AlwaysThere;
///
/// impl RequestHandler for AlwaysThere {
///     fn handle(self: Arc<Self>, _request: Request, reply: Reply<Response>) {
///         reply.send(Ok(KeepAliveResponse {}.into()));
///     }
/// }
///
/// let host = HostContext::builder().queue(tfrt_queue::create_queue("mstd:1").unwrap()).build();
/// let network = GrpcNetwork::new(GrpcOptions::default());
/// let handler: Arc<dyn RequestHandler> = Arc::new(AlwaysThere);
/// let communicator = network.listen(&host, "127.0.0.1:0", Arc::downgrade(&handler))?;
/// let client = communicator.client(communicator.address());
/// let (sender, answers) = channel();
/// fabric::call(&*client, CallOptions::default(), KeepAliveRequest { context_id: 1 }, move |answer| sender.send(answer).unwrap());
/// assert!(answers.recv_timeout(Duration::from_secs(60))?.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GrpcNetwork {
    options: Arc<GrpcOptions>,
}

impl GrpcNetwork {
    /// Creates a network with these options.
    #[must_use]
    pub fn new(options: GrpcOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }

    /// Listens at an address, `HOST:PORT` or `unix:/PATH`, until the communicator is dropped. With
    /// port 0 the system chooses one: [`FabricCommunicator::address`] returns it.
    ///
    /// # Errors
    /// - `InvalidArgument` if the address cannot be resolved, or is a Unix socket and there is a
    ///   [`GrpcOptions::tls`]: certificates prove nothing there; or if
    ///   [`GrpcOptions::frame_bytes`] is out of range.
    /// - `FailedPrecondition` if it is not a loopback address, there is no [`GrpcOptions::tls`],
    ///   and [`GrpcOptions::allow_insecure_network`] is off.
    /// - `Unavailable` if the system refuses to listen there.
    pub fn listen(
        &self,
        host: &Arc<HostContext>,
        address: &str,
        handler: Weak<dyn RequestHandler>,
    ) -> Result<Arc<dyn FabricCommunicator>, Error> {
        self.options.check()?;
        #[cfg(unix)]
        if let Some(path) = unix::path(address) {
            return self.listen_at_path(host, address, path, handler);
        }
        let listener = match reserved(address) {
            Some(listener) => listener,
            None => self.bind(address)?,
        };
        let refused = |error: std::io::Error| cannot_listen(address, &error);
        let bound = listener.local_addr().map_err(refused)?;
        // A socket that was adopted is bound already.
        self.check_exposure(&[bound])?;
        let threads = NetworkThreads::shared()
            .map_err(|error| Error::new(format!("cannot start the network threads: {error}")))?;
        let (stop, stopped) = oneshot::channel();
        let endpoint = service::Endpoint::new(host, handler, &self.options);
        let identity = Arc::clone(endpoint.identity());
        service::serve(&threads, listener, endpoint, stopped).map_err(refused)?;
        Ok(Arc::new(Communicator {
            address: bound.to_string(),
            identity,
            host: Arc::clone(host),
            options: Arc::clone(&self.options),
            threads,
            #[cfg(unix)]
            _file: None,
            stop: Mutex::new(Some(stop)),
        }))
    }

    #[cfg(unix)]
    fn listen_at_path(
        &self,
        host: &Arc<HostContext>,
        address: &str,
        path: &std::path::Path,
        handler: Weak<dyn RequestHandler>,
    ) -> Result<Arc<dyn FabricCommunicator>, Error> {
        if self.options.tls.is_some() {
            return Err(no_tls(address));
        }
        let refused = |error: std::io::Error| cannot_listen(address, &error);
        let threads = NetworkThreads::shared()
            .map_err(|error| Error::new(format!("cannot start the network threads: {error}")))?;
        let entered = threads.handle().enter();
        let (listener, file) = unix::SocketFile::bind(path).map_err(refused)?;
        let (stop, stopped) = oneshot::channel();
        let endpoint = service::Endpoint::new(host, handler, &self.options);
        let identity = Arc::clone(endpoint.identity());
        service::serve_at_path(&threads, listener, endpoint, stopped);
        drop(entered);
        Ok(Arc::new(Communicator {
            address: address.to_owned(),
            identity,
            host: Arc::clone(host),
            options: Arc::clone(&self.options),
            threads,
            _file: Some(file),
            stop: Mutex::new(Some(stop)),
        }))
    }

    /// Opens a socket at an address `HOST:PORT`, and returns the address: with port 0, the port is
    /// the one that the system has chosen. The next communicator that [listens](Self::listen) there
    /// uses the socket.
    ///
    /// ```
    /// use tfrt_grpc::{GrpcNetwork, GrpcOptions};
    ///
    /// let network = GrpcNetwork::new(GrpcOptions::default());
    /// let address = network.open("localhost:0")?;
    /// assert!(address.starts_with("localhost:") && !address.ends_with(":0"));
    /// // Other machines would reach it, without encryption.
    /// assert!(network.open("0.0.0.0:0").is_err());
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`listen`](Self::listen).
    pub fn open(&self, address: &str) -> Result<String, Error> {
        let listener = self.bind(address)?;
        let bound = listener.local_addr();
        let port = bound
            .map_err(|error| cannot_listen(address, &error))?
            .port();
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let opened = format!("{host}:{port}");
        let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.insert(opened.clone(), listener);
        Ok(opened)
    }

    fn bind(&self, address: &str) -> Result<TcpListener, Error> {
        use std::net::ToSocketAddrs;

        let unresolved = |cause: &dyn fmt::Display| {
            Error::new(format!(
                "`{address}` is not an address to listen on: {cause}"
            ))
            .with_code(ErrorCode::InvalidArgument)
        };
        let found: Vec<SocketAddr> = address
            .to_socket_addrs()
            .map_err(|error| unresolved(&error))?
            .collect();
        if found.is_empty() {
            return Err(unresolved(&"the host name has no address"));
        }
        self.check_exposure(&found)?;
        TcpListener::bind(&found[..]).map_err(|error| cannot_listen(address, &error))
    }

    /// Refuses addresses that other machines reach, unless connections are encrypted or the network
    /// is trusted.
    fn check_exposure(&self, addresses: &[SocketAddr]) -> Result<(), Error> {
        let open = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(open) = open
            && self.options.tls.is_none()
            && !self.options.allow_insecure_network
        {
            let message = format!(
                "refused to listen on {open}: unencrypted connections are allowed only on \
                 loopback addresses; use TLS, or allow an insecure network"
            );
            return Err(Error::new(message).with_code(ErrorCode::FailedPrecondition));
        }
        Ok(())
    }
}

/// Returns the error for a Unix socket in a network with certificates.
#[cfg(unix)]
#[cold]
pub(crate) fn no_tls(address: &str) -> Error {
    let message = format!("{address}: certificates are not available on Unix sockets");
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

#[cold]
fn cannot_listen(address: &str, error: &std::io::Error) -> Error {
    Error::new(format!("cannot listen on {address}: {error}")).with_code(ErrorCode::Unavailable)
}

#[derive(Debug)]
struct Communicator {
    address: String,
    /// Who the own task is.
    identity: Arc<TaskIdentity>,
    host: Arc<HostContext>,
    options: Arc<GrpcOptions>,
    threads: Arc<NetworkThreads>,
    /// Its drop removes the Unix socket.
    #[cfg(unix)]
    _file: Option<unix::SocketFile>,
    /// Ends the service, also when it is dropped: open requests are answered, new connections are
    /// refused.
    stop: Mutex<Option<oneshot::Sender<Stop>>>,
}

impl Communicator {
    fn client_to(&self, task: Option<TaskName>, address: &str) -> Arc<dyn RemoteClient> {
        let (own, options, threads) = (&self.identity, &self.options, &self.threads);
        Arc::new(Client::new(
            address, task, own, &self.host, options, threads,
        ))
    }
}

impl FabricCommunicator for Communicator {
    fn address(&self) -> &str {
        &self.address
    }

    fn client(&self, address: &str) -> Arc<dyn RemoteClient> {
        self.client_to(None, address)
    }

    fn client_of(&self, task: &TaskName, address: &str) -> Arc<dyn RemoteClient> {
        self.client_to(Some(task.clone()), address)
    }

    fn close(&self, limit: Duration, done: OnClosed) {
        let stop = self.stop.lock();
        let stop = stop.unwrap_or_else(PoisonError::into_inner).take();
        let unsent = Stop {
            limit,
            done: Some(done),
        };
        let refused = match stop {
            Some(stop) => stop.send(unsent).err(),
            None => Some(unsent),
        };
        // The service has ended.
        if let Some(done) = refused.and_then(|stop| stop.done) {
            done(Ok(()));
        }
    }
}

/// Listeners of addresses that [`free_address`] returned, until a task listens there: no one else
/// can take the port.
static RESERVED: LazyLock<Mutex<HashMap<String, TcpListener>>> = LazyLock::new(Mutex::default);

fn reserved(address: &str) -> Option<TcpListener> {
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    reserved.remove(address)
}

/// Registers a listener, such as one that another process opened for this one, and returns its
/// address. The next communicator that [listens there](GrpcNetwork::listen) uses it, if it may
/// listen at that address.
///
/// # Errors
/// `Unavailable` if it has no address.
pub fn adopt(listener: TcpListener) -> Result<String, Error> {
    let address = listener.local_addr();
    let address = address.map_err(|error| cannot_listen("a listener that was adopted", &error))?;
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    reserved.insert(address.to_string(), listener);
    Ok(address.to_string())
}

fn free_address() -> Result<String, Error> {
    let refused = |error: std::io::Error| cannot_listen("127.0.0.1:0", &error);
    adopt(TcpListener::bind("127.0.0.1:0").map_err(refused)?)
}

inventory::submit! {
    CommunicatorType {
        name: TYPE_NAME,
        listen: |host, address, handler| GrpcNetwork::new(GrpcOptions::default()).listen(host, address, handler),
        free_address,
    }
}

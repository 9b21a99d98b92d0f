//! Sending of requests: flow control, retries, deadlines, cancellation.

mod watcher;

use std::fmt;
use std::future::{Future, pending};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::Reply;
use tfrt_distributed::fabric::{
    CallOptions, OnSign, Pace, RemoteClient, Sign, TaskIdentity, Watching,
};
use tfrt_distributed::message::{HeartbeatRequest, Method, Request, Response, SendDataRequest};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Answer, RemoteError};
use tfrt_host::{HostContext, log};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit, oneshot, watch};
use tonic::Status;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};

use crate::data::{self, CallFrame, Lane, Opened};
use crate::numbers::{Numbered, Numbers};
use crate::op_library::OpLibrary;
use crate::options::GrpcOptions;
use crate::runtime::NetworkThreads;
use crate::status::{Failure, MAX_HEADERS};
use crate::tls::{Connector, HTTP_2};
use crate::transfer::{PayloadBody, WithBody};
use crate::wire::{self, BytesCodec, Hello};

/// The first wait before a request is sent again; each further one is twice as long.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);

/// The longest such wait.
const MAX_BACKOFF: Duration = Duration::from_secs(2);

/// The most bytes of a payload that the calling thread writes to the socket.
const MAX_BYTES_AT_ONCE: usize = 64 << 10;

/// Sends requests to one task.
#[derive(Debug)]
pub(crate) struct Client {
    peer: Arc<Peer>,
    threads: Arc<NetworkThreads>,
    /// Changes when the calls in progress are cut. They go on if it is dropped.
    cut: watch::Sender<()>,
}

struct Peer {
    address: String,
    host: Arc<HostContext>,
    options: Arc<GrpcOptions>,
    /// Connects when it is used; an error if the address cannot be one.
    channel: Result<Channel, Error>,
    /// The connection of payloads and programs: they fill its windows, for which heartbeats and
    /// calls would wait.
    bulk: Result<Channel, Error>,
    /// The connections of small payloads and calls, and of large payloads.
    small: Lane,
    large: Lane,
    /// The task that is expected.
    task: Option<TaskName>,
    /// Who the own task is.
    own: Arc<TaskIdentity>,
    /// Room for requests and for their bytes.
    requests: Semaphore,
    bytes: Semaphore,
    /// Room on the first connection of HTTP/2.
    streams: Streams,
    /// The numbers of the requests that run once.
    numbers: Numbers,
    /// What the task takes, once it has said so.
    greeted: OnceCell<Takes>,
}

/// What a task takes on data connections.
#[derive(Clone, Copy, Debug, Default)]
struct Takes {
    payloads: bool,
    calls: bool,
    watches: bool,
}

/// The requests that one connection takes at a time. Without a limit here, heartbeats would wait
/// behind any number of requests that may not end without what the next ones do.
#[derive(Debug)]
struct Streams {
    /// Those of most methods.
    most: Semaphore,
    /// Those that cancel others: these may be what the rest waits for.
    cancels: Semaphore,
}

impl Streams {
    fn new(options: &GrpcOptions) -> Self {
        let (all, kept) = (options.max_streams, options.num_reserved_streams());
        Self {
            most: Semaphore::new((all - kept) as usize),
            // The others are for heartbeats, their stream, and the greeting.
            cancels: Semaphore::new((kept / 2) as usize),
        }
    }

    /// Waits until a request may be on its way. Those that say that a task lives never wait.
    async fn room_for(&self, method: Method) -> Option<SemaphorePermit<'_>> {
        // Neither semaphore is ever closed.
        match method {
            Method::Heartbeat => None,
            Method::CancelExecution => self.cancels.acquire().await.ok(),
            _ => self.most.acquire().await.ok(),
        }
    }
}

impl Client {
    /// Creates a client of the task at an address, which may not be running yet. The task must be
    /// the one of this name, if it tells or proves its own, or any of the cluster without one.
    pub(crate) fn new(
        address: &str,
        task: Option<TaskName>,
        own: &Arc<TaskIdentity>,
        host: &Arc<HostContext>,
        options: &Arc<GrpcOptions>,
        threads: &Arc<NetworkThreads>,
    ) -> Self {
        // A channel starts a task of the network when it is made.
        let _entered = threads.handle().enter();
        let peer = Peer {
            channel: channel(address, task.clone(), options),
            bulk: channel(address, task.clone(), options),
            small: Lane::default(),
            large: Lane::default(),
            task,
            own: Arc::clone(own),
            address: address.to_owned(),
            host: Arc::clone(host),
            requests: Semaphore::new(options.max_inflight_requests as usize),
            bytes: Semaphore::new(options.max_inflight_bytes as usize),
            streams: Streams::new(options),
            options: Arc::clone(options),
            numbers: Numbers::new(random(), random()),
            greeted: OnceCell::new(),
        };
        Self {
            peer: Arc::new(peer),
            threads: Arc::clone(threads),
            cut: watch::Sender::default(),
        }
    }
}

fn channel(address: &str, task: Option<TaskName>, options: &GrpcOptions) -> Result<Channel, Error> {
    #[cfg(unix)]
    let path = crate::unix::path(address);
    #[cfg(not(unix))]
    let path: Option<&std::path::Path> = None;
    // A Unix socket has no host name; requests must have one.
    let authority = if path.is_some() { "localhost" } else { address };
    let endpoint = Endpoint::from_shared(format!("http://{authority}"))
        .map_err(Error::other)?
        .tcp_nodelay(true)
        .connect_timeout(options.connect_timeout)
        .http2_keep_alive_interval(options.keepalive_interval)
        .keep_alive_timeout(options.keepalive_timeout)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(options.stream_window_bytes)
        .initial_connection_window_size(options.connection_window_bytes)
        .max_frame_size(options.frame_bytes)
        .http2_max_header_list_size(MAX_HEADERS);
    #[cfg(unix)]
    if let Some(path) = path {
        return match &options.tls {
            None => Ok(endpoint.connect_with_connector_lazy(crate::unix::Connector::new(path))),
            Some(_) => Err(crate::no_tls(address)),
        };
    }
    Ok(match &options.tls {
        None => endpoint.connect_lazy(),
        Some(tls) => {
            let connector = Connector::new(tls, address, task, HTTP_2).map_err(Error::other)?;
            endpoint.connect_with_connector_lazy(connector)
        }
    })
}

impl RemoteClient for Client {
    fn hands_over(&self) -> bool {
        true
    }

    fn call(&self, options: CallOptions, request: Request, reply: Reply<Response>) {
        let peer = Arc::clone(&self.peer);
        let waiting = Waiting {
            reply: Some(reply),
            is_light: request.method().is_urgent() || options.has_light_reply,
            host: Arc::clone(&peer.host),
        };
        let (cancel, cancelled) = oneshot::channel::<()>();
        if let Some(token) = &options.cancel {
            token.install(move || {
                // The call may be over.
                let _ = cancel.send(());
            });
        }
        let method = request.method().name();
        let (threads, cut) = (Arc::clone(&self.threads), self.cut.subscribe());
        let sends_at_once = options.max_retries == 0 && peer.sends_at_once(&request);
        let receiver = Arc::clone(&peer);
        let call = async move {
            tokio::select! {
                biased;
                () = requested(cancelled) => {
                    Err(Failure::Network(ErrorCode::RpcCancelled, "the call was cancelled".to_owned()))
                }
                () = deadline(options.timeout) => Err(deadline_passed()),
                () = changed(cut) => {
                    let cause = "the connection was cut".to_owned();
                    Err(Failure::Network(ErrorCode::RpcCancelled, cause))
                }
                outcome = receiver.send(request, options.max_retries) => outcome,
            }
        };
        let finish = move |outcome: Result<Response, Failure>| {
            waiting.answer(outcome.map_err(|failure| failure.into_errors(method, &peer.address)));
            // The threads stay until the answer is there, even if client and communicator are gone.
            drop(threads);
        };
        let network = self.threads.handle();
        if !sends_at_once {
            network.spawn(async move { finish(call.await) });
            return;
        }
        let mut call = Box::pin(call);
        let sent = {
            let _entered = network.enter();
            // The next poll registers the waker of the task, which is always polled.
            let mut context = Context::from_waker(Waker::noop());
            call.as_mut().poll(&mut context)
        };
        match sent {
            // A reply does not run on the stack of the call.
            Poll::Ready(outcome) => network.spawn(async move { finish(outcome) }),
            Poll::Pending => network.spawn(async move { finish(call.await) }),
        };
    }

    fn copies_payloads(&self) -> bool {
        // Data connections read payloads where they are; HTTP/2 may keep them for a while.
        let greeted = self.peer.greeted.get();
        greeted.is_some_and(|takes| takes.payloads)
    }

    fn watch(&self, request: HeartbeatRequest, pace: Pace, mut hear: OnSign) -> Option<Watching> {
        let (peer, threads) = (Arc::clone(&self.peer), Arc::clone(&self.threads));
        let cut = self.cut.subscribe();
        let (stop, stopped) = oneshot::channel::<()>();
        self.threads.handle().spawn(async move {
            let end = tokio::select! {
                biased;
                // Its sender is dropped.
                _ = stopped => None,
                () = changed(cut) => {
                    let cause = "the connection was cut".to_owned();
                    let failure = Failure::Network(ErrorCode::RpcCancelled, cause);
                    Some(Sign::Over(failure.into_errors(wire::WATCH, &peer.address)))
                }
                end = peer.watch(request, pace, &mut *hear) => Some(end),
            };
            if let Some(end) = end {
                hear(end);
            }
            // As for calls.
            drop(threads);
        });
        Some(Watching::new(stop))
    }

    fn cut(&self) {
        self.cut.send_replace(());
    }
}

/// Resolves when a call is cancelled; never if it can no longer be cancelled.
async fn requested(cancelled: oneshot::Receiver<()>) {
    if cancelled.await.is_err() {
        pending().await
    }
}

/// Resolves when the calls in progress are cut.
async fn changed(mut cut: watch::Receiver<()>) {
    if cut.changed().await.is_err() {
        pending().await
    }
}

/// Resolves when time is up.
async fn deadline(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => pending().await,
    }
}

#[cold]
fn deadline_passed() -> Failure {
    Failure::Network(
        ErrorCode::RpcDeadlineExceeded,
        "the deadline passed".to_owned(),
    )
}

/// A reply that runs on the work queue of the caller's host unless it takes little time, even if
/// the network ends before there is an answer.
struct Waiting {
    reply: Option<Reply<Response>>,
    is_light: bool,
    host: Arc<HostContext>,
}

impl Waiting {
    fn answer(mut self, answer: Answer<Response>) {
        match self.reply.take() {
            Some(reply) if self.is_light => reply.send(answer),
            Some(reply) => {
                let task = Task::new(move || reply.send(answer));
                self.host.queue().add_task(task);
            }
            None => {}
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.take() {
            // Answers that there is no answer.
            self.host.queue().add_task(Task::new(move || drop(reply)));
        }
    }
}

impl Peer {
    /// Returns `true` for a payload that the calling thread writes to the socket, because a change
    /// of threads would take longer: a small one, once there is a connection for it.
    fn sends_at_once(&self, request: &Request) -> bool {
        let takes_payloads = self.greeted.get().is_some_and(|takes| takes.payloads);
        match request {
            Request::SendData(request) => {
                let most = MAX_BYTES_AT_ONCE.min(self.options.inline_limit_bytes);
                takes_payloads
                    && data::fits(request)
                    && request.encoded_len() <= most
                    && self.small.is_open()
            }
            _ => false,
        }
    }

    /// Sends a request, again after a while if the task cannot be reached.
    async fn send(&self, request: Request, max_retries: u32) -> Result<Response, Failure> {
        let method = request.method();
        let size = request.encoded_len();
        let in_chunks = method == Method::SendData && size > self.options.inline_limit_bytes;
        let max_bytes = self.options.max_message_bytes;
        if size > max_bytes && !in_chunks {
            let message = format!(
                "{} to {}: a message of {size} bytes exceeds the limit of {max_bytes} bytes",
                method.name(),
                self.address
            );
            let error = RemoteError::new(ErrorCode::InvalidArgument, message);
            return Err(Failure::Application(error.into()));
        }
        let _room = match wire::takes_room(method) {
            true => Some(self.room_for(size).await),
            false => None,
        };
        // Payloads in chunks are kept by key, so a second one is refused.
        let runs_once = max_retries > 0 && !wire::may_repeat(method) && !in_chunks;
        let number = runs_once.then(|| self.numbers.next());
        let mut retries_left = if in_chunks { 0 } else { max_retries };
        let mut backoff = FIRST_BACKOFF;
        loop {
            let attempt = self.attempt(&request, in_chunks, number.as_ref());
            let outcome = match wire::is_control(method) {
                true => within(self.options.control_timeout, attempt).await,
                false => attempt.await,
            };
            match outcome {
                Err(failure) if retries_left > 0 && failure.is_worth_a_retry() => {}
                outcome => return outcome,
            }
            retries_left -= 1;
            // Between half of the time and all of it, so that callers do not come back together.
            let half = backoff / 2;
            let jitter = half.mul_f64((random() % 1024) as f64 / 1024.0);
            tokio::time::sleep(half + jitter).await;
            backoff = MAX_BACKOFF.min(backoff * 2);
        }
    }

    /// Waits until a request of this size may be on its way.
    async fn room_for(&self, size: usize) -> [Option<SemaphorePermit<'_>>; 2] {
        // Neither semaphore is ever closed. A request that is larger than all room waits for all of
        // it.
        let request = self.requests.acquire().await.ok();
        let all = self.options.max_inflight_bytes;
        let room = u32::try_from(size).map_or(all, |size| size.min(all));
        let bytes = self.bytes.acquire_many(room).await.ok();
        [request, bytes]
    }

    async fn attempt(
        &self,
        request: &Request,
        in_chunks: bool,
        number: Option<&Numbered<'_>>,
    ) -> Result<Response, Failure> {
        let takes = self.greeted.get_or_try_init(|| self.greet()).await?;
        let method = request.method();
        if let Request::SendData(request) = request
            && takes.payloads
            // Payloads of data connections have no numbers of requests.
            && number.is_none()
            && data::fits(request)
        {
            return self.send_data(request, in_chunks).await;
        }
        if takes.calls && wire::is_call(method) && data::fits_call(request) {
            let call = CallFrame::new(method, &self.encode(request, number));
            let bytes = self.small.call(&self.options, self.open(), call).await;
            return response(method, bytes);
        }
        let (channel, _stream) = match wire::takes_room(method) {
            true => (&self.bulk, None),
            false => (&self.channel, self.streams.room_for(method).await),
        };
        let bytes = match request {
            Request::SendData(request) if in_chunks => {
                let body = Body::new(PayloadBody::new(request));
                self.post(channel, wire::STREAM_DATA, Bytes::new(), Some(body))
                    .await
            }
            _ => {
                let bytes = self.encode(request, number).into();
                self.post(channel, method.name(), bytes, None).await
            }
        };
        response(method, bytes)
    }

    /// Returns an encoded request with its number, if it has one.
    fn encode(&self, request: &Request, number: Option<&Numbered<'_>>) -> Vec<u8> {
        let fields = match number {
            Some(number) => Some(number.fields()),
            // They come without end, so that the last answers are not kept forever.
            None if wire::confirms(request.method()) => self.numbers.confirmation(),
            None => None,
        };
        let mut bytes = request.encode();
        if let Some(fields) = fields {
            bytes.extend(fields.encode_to_vec());
        }
        bytes
    }

    /// Sends a payload on a data connection.
    async fn send_data(
        &self,
        request: &SendDataRequest,
        is_large: bool,
    ) -> Result<Response, Failure> {
        let lane = match is_large {
            true => &self.large,
            false => &self.small,
        };
        let bytes = lane.send(&self.options, self.open(), request).await;
        response(Method::SendData, bytes)
    }

    /// Opens a data connection.
    async fn open(&self) -> io::Result<Opened> {
        #[cfg(unix)]
        if let Some(path) = crate::unix::path(&self.address) {
            let connector = crate::unix::Connector::new(path);
            return Ok(Opened::protected(connector.open_wide().await?));
        }
        Ok(match &self.options.tls {
            Some(tls) => {
                let task = self.task.clone();
                let connector = Connector::new(tls, &self.address, task, data::PROTOCOL)?;
                Opened::protected(connector.open().await?)
            }
            None => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                Opened::to_address(stream.peer_addr()?.ip(), stream)
            }
        })
    }

    /// Checks that the task supports this version of the protocol, and that it is the one that is
    /// expected. Returns what it takes.
    async fn greet(&self) -> Result<Takes, Failure> {
        let library = OpLibrary::of(&self.host);
        let hello = library.greet(Hello::of(&self.own));
        let hello = hello.encode_to_vec().into();
        let answer = self.post(&self.channel, wire::HELLO, hello, None).await;
        let bytes = answer.map_err(|status| Failure::of(&status))?;
        let mut takes = Takes::default();
        let mismatch = match Hello::decode(bytes) {
            Ok(hello) => {
                takes.payloads = hello.takes_data && self.options.data_connections;
                takes.calls = hello.takes_calls && takes.payloads;
                takes.watches = hello.is_watchable;
                if let Some(difference) = library.difference(&hello) {
                    log::info!("the task at {} {difference}", self.address);
                }
                if hello.has_other_messages() {
                    let (theirs, own) = (&hello.runtime_version, env!("CARGO_PKG_VERSION"));
                    let address = &self.address;
                    log::info!("the task at {address} has other messages: {theirs}, not {own}");
                }
                let other = self.task.as_ref().and_then(|task| hello.misses(task));
                hello.mismatch().or(other)
            }
            Err(error) => Some(format!("malformed greeting: {error}")),
        };
        match mismatch {
            Some(mismatch) => Err(Failure::Network(ErrorCode::RpcUnknown, mismatch)),
            None => Ok(takes),
        }
    }

    /// Sends a message. With a `body`, that is sent in its place.
    async fn post(
        &self,
        channel: &Result<Channel, Error>,
        method: &str,
        message: Bytes,
        body: Option<Body>,
    ) -> Result<Bytes, Status> {
        let service = channel
            .clone()
            .map_err(|error| Status::invalid_argument(error.message()))?;
        let max_bytes = self.options.max_message_bytes;
        let mut grpc = Grpc::new(WithBody { service, body })
            .max_decoding_message_size(max_bytes)
            .max_encoding_message_size(max_bytes);
        let ready = grpc.ready().await;
        ready.map_err(|error| Status::from_error(error.into()))?;
        let request = self.request(message);
        let response = grpc.unary(request, path(method)?, BytesCodec).await?;
        Ok(response.into_inner())
    }

    /// Returns a request with the token of the cluster, if there is one.
    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        if let Some(token) = &self.options.token {
            token.add_to(request.metadata_mut());
        }
        request
    }
}

/// Returns the response in an answer.
fn response(method: Method, answer: Result<Bytes, Status>) -> Result<Response, Failure> {
    let bytes = answer.map_err(|status| Failure::of(&status))?;
    Response::decode(method, bytes).map_err(|error| {
        let cause = format!("malformed response: {error}");
        Failure::Network(ErrorCode::RpcUnknown, cause)
    })
}

fn path(method: &str) -> Result<PathAndQuery, Status> {
    let path = PathAndQuery::try_from(wire::path(method));
    path.map_err(|error| Status::internal(error.to_string()))
}

async fn within<T, E: From<Failure>>(
    timeout: Duration,
    attempt: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match tokio::time::timeout(timeout, attempt).await {
        Ok(outcome) => outcome,
        Err(_) => Err(deadline_passed().into()),
    }
}

/// Returns a number that no other request has.
fn random() -> u64 {
    // Every state has keys of its own, and the first of a thread takes them from the system.
    RandomState::new().hash_one(Instant::now())
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

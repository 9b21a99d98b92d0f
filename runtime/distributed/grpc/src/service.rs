//! The handling of incoming requests.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::{ArrivedPayload, OnClosed, Reply, RequestHandler, TaskIdentity};
use tfrt_distributed::message::{Method, Request, Response as Answered};
use tfrt_distributed::rendezvous::{OVERHEAD, PayloadRoom};
use tfrt_distributed::{DEFAULT_DRAIN_TIMEOUT, PayloadMemory, RemoteError, RemoteErrors};
use tfrt_host::{HostContext, log};
use tfrt_queue::Task;
use tfrt_support::ErrorCode;
use tokio::sync::{oneshot, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{ClientStreamingService, Grpc, UnaryService};
use tonic::transport::Server;
use tonic::{Response, Status, Streaming};

use crate::accepting::{self, Incoming, Introduced, Listener};
use crate::answers::{Answer, Answers, Arrival};
use crate::arriving::ArrivingBytes;
use crate::cut::Cuttable;
use crate::data;
#[cfg(feature = "flight")]
use crate::flight;
use crate::health;
use crate::op_library::OpLibrary;
use crate::options::GrpcOptions;
use crate::pending::Pending;
use crate::runtime::NetworkThreads;
use crate::status::{self, MAX_HEADERS};
use crate::tls::{self, Caller};
use crate::transfer::{self, Assembly};
use crate::watching::Watched;
use crate::wire::{self, BytesCodec, DataChunk, Hello, RequestId};

/// The largest payload for which no room is reserved before it arrives.
const MAX_UNEXPECTED_BYTES: u64 = 64 << 10;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The task behind an address.
pub(crate) struct Endpoint {
    host: Weak<HostContext>,
    handler: Weak<dyn RequestHandler>,
    options: Arc<GrpcOptions>,
    /// Who the task is.
    identity: Arc<TaskIdentity>,
    /// What is arriving of requests over HTTP/2.
    arriving: ArrivingBytes,
    answers: Answers,
    pending: Pending,
}

impl Endpoint {
    pub(crate) fn new(
        host: &Arc<HostContext>,
        handler: Weak<dyn RequestHandler>,
        options: &Arc<GrpcOptions>,
    ) -> Arc<Self> {
        let identity = handler.upgrade().map(|handler| handler.identity());
        Arc::new(Self {
            host: Arc::downgrade(host),
            handler,
            identity: Arc::new(identity.unwrap_or_default()),
            options: Arc::clone(options),
            arriving: ArrivingBytes::new(options.max_message_bytes),
            answers: Answers::default(),
            pending: Pending::new(options.max_pending_bytes),
        })
    }

    /// Answers an encoded request, which may have a number: calls `done`, on any thread. Called
    /// within the runtime.
    pub(crate) fn answer(
        self: &Arc<Self>,
        caller: Option<Caller>,
        method: Method,
        bytes: Bytes,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let num_bytes = bytes.len();
        let (number, request) = match decode(method, bytes) {
            Ok(decoded) => decoded,
            Err(error) => {
                let message = format!("malformed {} request: {error}", method.name());
                return done(Err(Status::invalid_argument(message)));
            }
        };
        // Others are over soon, and end what takes room.
        let admitted = match wire::is_control(method) {
            true => None,
            false => match self.pending.admit(num_bytes) {
                Ok(admitted) => Some(admitted),
                Err(status) => return done(Err(status)),
            },
        };
        let done = move |answer| {
            drop(admitted);
            done(answer);
        };
        if number.request_id.is_some() {
            return self.run_once(number, caller, request, done);
        }
        if number.done_below.is_some() {
            self.answers.confirm(&number);
        }
        self.run(caller, request, done);
    }

    /// Runs a request unless one of its number was run already.
    fn run_once(
        self: &Arc<Self>,
        number: RequestId,
        caller: Option<Caller>,
        request: Request,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        match self.answers.arrive(&number) {
            Arrival::Again(answer) => {
                tokio::spawn(async { done(answer.await.unwrap_or_else(|_| Err(gone()))) });
            }
            Arrival::Refused(status) => done(Err(status)),
            Arrival::First => {
                let this = Arc::clone(self);
                self.run(caller, request, move |answer| {
                    // A caller that has gone away and comes back finds it.
                    this.answers.finish(&number, &answer);
                    done(answer);
                });
            }
        }
    }

    /// Runs a request as a task of the work queue, or here if it is urgent; `done` gets the answer.
    fn run(
        &self,
        caller: Option<Caller>,
        request: Request,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let method = request.method();
        let handle = move |handler: Arc<dyn RequestHandler>, reply| match caller {
            Some(Caller(task)) => handler.handle_from(&task, request, reply),
            None => handler.handle(request, reply),
        };
        self.hand_over(method, handle, done);
    }

    /// Hands over a payload, and calls `done` with the answer: here if that takes little time, and
    /// otherwise as a task of the work queue.
    pub(crate) fn take(
        &self,
        caller: Option<Caller>,
        arrived: ArrivedPayload,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let Some((_, handler)) = self.task() else {
            return done(Err(gone()));
        };
        let name = |caller: &Option<Caller>| caller.as_ref().map(|Caller(task)| Arc::clone(task));
        let take = || handler.take_at_once(name(&caller).as_deref(), arrived);
        let arrived = match catch_unwind(AssertUnwindSafe(take)) {
            Ok(Ok(taken)) => return done(encoded(taken.map(Into::into))),
            Ok(Err(arrived)) => arrived,
            // What the call owned was dropped here, as where a receiver refuses a payload: that is
            // memory, of which nobody waits for the end. Receivers that run here only add a task
            // to the work queue, or keep the payload.
            Err(_) => {
                log::error!("taking a payload panicked");
                return done(Err(Status::internal("the payload cannot be taken")));
            }
        };
        let handle = move |handler: Arc<dyn RequestHandler>, reply: Reply<Answered>| {
            handler.take_payload(name(&caller).as_deref(), arrived, reply.map(Into::into));
        };
        self.hand_over(Method::SendData, handle, done);
    }

    /// Reserves room for a payload, of which the description has arrived and the bytes are to come.
    /// Small ones have none: they have arrived by the time that this would take.
    pub(crate) fn expect(
        &self,
        caller: Option<&Caller>,
        head: &DataChunk,
    ) -> Result<PayloadRoom, Status> {
        let num_bytes = head.total_bytes();
        if num_bytes <= MAX_UNEXPECTED_BYTES {
            return Ok(PayloadRoom::default());
        }
        let (_, handler) = self.task().ok_or_else(gone)?;
        let caller = caller.map(|Caller(task)| &**task);
        let (id, key) = (head.context_id, &head.instance_key);
        let overhead = (head.element_bytes.len() * OVERHEAD) as u64;
        let num_bytes = num_bytes.saturating_add(overhead);
        let room = handler.expect_payload(caller, id, key, num_bytes);
        room.map_err(|errors| status::of_errors(&errors))
    }

    /// Returns the memory for payloads.
    pub(crate) fn memory(&self) -> Result<PayloadMemory, Status> {
        Ok(PayloadMemory::of(&self.host()?))
    }

    pub(crate) fn host(&self) -> Result<Arc<HostContext>, Status> {
        self.host.upgrade().ok_or_else(gone)
    }

    pub(crate) fn identity(&self) -> &Arc<TaskIdentity> {
        &self.identity
    }

    pub(crate) fn options(&self) -> &GrpcOptions {
        &self.options
    }

    fn hand_over(
        &self,
        method: Method,
        handle: impl FnOnce(Arc<dyn RequestHandler>, Reply<Answered>) + Send + 'static,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let Some((host, handler)) = self.task() else {
            return done(Err(gone()));
        };
        let reply = Reply::new(|answer: Result<Answered, RemoteErrors>| done(encoded(answer)));
        let work = caught(method.name(), move || handle(handler, reply));
        match method.is_urgent() {
            true => work(),
            false => host.queue().add_task(Task::new(work)),
        }
    }

    /// Returns the task, unless it has ended.
    pub(crate) fn task(&self) -> Option<(Arc<HostContext>, Arc<dyn RequestHandler>)> {
        Some((self.host.upgrade()?, self.handler.upgrade()?))
    }
}

/// Returns the work of a call. A panic drops the reply, which answers with an error; the task lives
/// on.
fn caught(name: &'static str, handle: impl FnOnce() + Send) -> impl FnOnce() + Send {
    move || {
        if catch_unwind(AssertUnwindSafe(handle)).is_err() {
            log::error!("the handler of a {name} request panicked");
        }
    }
}

/// Returns what an encoded request says of its number, and the request.
fn decode(method: Method, bytes: Bytes) -> Result<(RequestId, Request), prost::DecodeError> {
    let number = match wire::may_repeat(method) && !wire::confirms(method) {
        true => RequestId::default(),
        false => RequestId::decode(bytes.clone())?,
    };
    Ok((number, Request::decode(method, bytes)?))
}

/// What the services of other protocols need.
#[cfg(feature = "flight")]
impl Endpoint {
    /// Hands a call over to the handler as a task of the work queue, unless the task has ended.
    pub(crate) fn begin<T: 'static>(
        &self,
        name: &'static str,
        reply: Reply<T>,
        handle: impl FnOnce(Arc<dyn RequestHandler>, Reply<T>) + Send + 'static,
    ) {
        if let Some((host, handler)) = self.task() {
            let work = caught(name, move || handle(handler, reply));
            host.queue().add_task(Task::new(work));
        }
    }

    /// As [`begin`](Self::begin), and waits for the answer.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        name: &'static str,
        handle: impl FnOnce(Arc<dyn RequestHandler>, Reply<T>) + Send + 'static,
    ) -> Result<Result<T, RemoteErrors>, Status> {
        let (reply, answer) = reply();
        self.begin(name, reply, handle);
        answer.await.map_err(|_| gone())
    }

    /// Runs a function as a task of the work queue.
    pub(crate) async fn run_on_queue<T: Send + 'static>(
        &self,
        function: impl FnOnce() -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let (sender, outcome) = oneshot::channel();
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(function));
            let panicked = |_| Err(Status::internal("the data cannot be processed"));
            // The caller may be gone.
            let _ = sender.send(outcome.unwrap_or_else(panicked));
        };
        self.host()?.queue().add_task(Task::new(run));
        outcome.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Returns a reply, and what receives its answer.
#[cfg(feature = "flight")]
fn reply<T: Send + 'static>() -> (Reply<T>, oneshot::Receiver<Result<T, RemoteErrors>>) {
    let (sender, answer) = oneshot::channel();
    let reply = Reply::new(move |answer| {
        // The caller may be gone.
        let _ = sender.send(answer);
    });
    (reply, answer)
}

/// Returns what is called with an answer, and what waits for it.
fn waiting() -> (
    impl FnOnce(Answer) + Send + 'static,
    impl Future<Output = Result<Response<Bytes>, Status>> + Send + 'static,
) {
    let (sender, answer) = oneshot::channel();
    let done = |answer| {
        // The caller may be gone.
        let _ = sender.send(answer);
    };
    let answer = async {
        let answer = answer.await.unwrap_or_else(|_| Err(gone()));
        answer.map(Response::new)
    };
    (done, answer)
}

/// Returns an answer as it is sent.
fn encoded(answer: Result<Answered, RemoteErrors>) -> Answer {
    match answer {
        Ok(response) => Ok(response.encode().into()),
        Err(errors) => Err(status::of_errors(&errors)),
    }
}

#[cold]
pub(crate) fn gone() -> Status {
    Status::unavailable("the task has ended")
}

/// Serves what arrives at a listener, until `stopped` resolves.
pub(crate) fn serve(
    threads: &Arc<NetworkThreads>,
    listener: TcpListener,
    endpoint: Arc<Endpoint>,
    stopped: oneshot::Receiver<Stop>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = threads.handle();
    let _entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    match endpoint.options.tls.clone() {
        None => serve_accepted(threads, listener, opened, endpoint, stopped),
        Some(tls) => {
            let open = move |stream| tls::accept(tls.clone(), stream);
            serve_accepted(threads, listener, open, endpoint, stopped);
        }
    }
    Ok(())
}

/// A connection that is open as it is.
async fn opened<IO>(io: IO) -> io::Result<IO> {
    Ok(io)
}

/// Serves what arrives at a Unix socket, until `stopped` resolves. Called within the runtime.
#[cfg(unix)]
pub(crate) fn serve_at_path(
    threads: &Arc<NetworkThreads>,
    listener: tokio::net::UnixListener,
    endpoint: Arc<Endpoint>,
    stopped: oneshot::Receiver<Stop>,
) {
    serve_accepted(threads, listener, opened, endpoint, stopped);
}

/// How a service ends.
pub(crate) struct Stop {
    /// The time for answers under way.
    pub(crate) limit: Duration,
    /// Called at the end.
    pub(crate) done: Option<OnClosed>,
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            limit: DEFAULT_DRAIN_TIMEOUT,
            done: None,
        }
    }
}

/// Serves connections. Called within the runtime.
fn serve_accepted<L, IO, O>(
    threads: &Arc<NetworkThreads>,
    listener: L,
    open: impl Fn(L::Stream) -> O + Send + Sync + 'static,
    endpoint: Arc<Endpoint>,
    stopped: oneshot::Receiver<Stop>,
) where
    L: Listener,
    IO: Incoming,
    O: Future<Output = io::Result<IO>> + Send + 'static,
{
    let options = &endpoint.options;
    let (begin, begun) = oneshot::channel::<()>();
    // Its drop cuts the connections that are left.
    let (cut, is_cut) = watch::channel(());
    // Says that the service ends. Every data connection has a receiver.
    let (stopping, is_stopping) = watch::channel(false);
    let (of_data, for_data) = (Arc::clone(&endpoint), is_cut.clone());
    let serve_data = move |io, caller, opening| {
        let endpoint = Arc::clone(&of_data);
        let served = data::serve(io, caller, opening, endpoint, is_stopping.clone());
        let mut is_cut = for_data.clone();
        async move {
            tokio::select! {
                () = served => {}
                () = async { while is_cut.changed().await.is_ok() {} } => {}
            }
        }
    };
    let accepted = accepting::accept(listener, options, open, serve_data);
    let incoming =
        ReceiverStream::new(accepted).map(move |io| io.map(|io| Cuttable::new(io, is_cut.clone())));
    // The same for streams, which have no end of their own.
    let (ending, is_ending) = watch::channel(false);
    let service = Service {
        endpoint: Arc::clone(&endpoint),
        ending: is_ending,
    };
    let server = Server::builder()
        .initial_stream_window_size(options.stream_window_bytes)
        .initial_connection_window_size(options.connection_window_bytes)
        .http2_keepalive_interval(Some(options.keepalive_interval))
        .http2_keepalive_timeout(Some(options.keepalive_timeout))
        .max_frame_size(options.frame_bytes)
        .max_concurrent_streams(options.max_streams)
        .http2_max_header_list_size(MAX_HEADERS)
        .serve_with_incoming_shutdown(service, incoming, async {
            // The other end is below.
            let _ = begun.await;
        });
    let own_threads = Arc::clone(threads);
    threads.handle().spawn(async move {
        let mut server = pin!(server);
        // Resolves with the end of the communicator.
        let (stop, outcome) = tokio::select! {
            outcome = &mut server => {
                tell(outcome);
                (Stop::default(), Ok(()))
            }
            stop = stopped => {
                let stop = stop.unwrap_or_default();
                // No connection is accepted any more, and answers under way are sent.
                let _ = begin.send(());
                stopping.send_replace(true);
                ending.send_replace(true);
                let limit = stop.limit;
                let ended = async {
                    let outcome = server.await;
                    stopping.closed().await;
                    outcome
                };
                let outcome = match tokio::time::timeout(limit, ended).await {
                    Ok(outcome) => {
                        tell(outcome);
                        Ok(())
                    }
                    Err(_) => {
                        let message = format!("connections had not ended after {limit:?}");
                        Err(RemoteError::new(ErrorCode::DeadlineExceeded, message).into())
                    }
                };
                (stop, outcome)
            }
        };
        drop(cut);
        if let Some(done) = stop.done {
            done(outcome);
        }
        // The threads stay until the last connection is closed.
        drop(own_threads);
    });
}

fn tell(outcome: Result<(), tonic::transport::Error>) {
    if let Err(error) = outcome {
        log::error!("the server of a task failed: {error}");
    }
}

/// The service `tfrt.Worker`.
#[derive(Clone)]
struct Service {
    endpoint: Arc<Endpoint>,
    /// Says that the service ends.
    ending: watch::Receiver<bool>,
}

impl tower_service::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let endpoint = Arc::clone(&self.endpoint);
        let introduced = request.extensions().get::<Introduced>().cloned();
        let path = request.uri().path();
        let token = endpoint.options.token.as_ref();
        let checked = token.map_or(Ok(()), |token| token.check(request.headers()));
        if checked.is_ok()
            && let Some(introduced) = &introduced
        {
            introduced.accept();
        }
        if path == health::CHECK {
            return Box::pin(async { Ok(health::answer(request).await) });
        }
        let called = path.strip_prefix(wire::SERVICE).and_then(Called::find);
        if let Err(status) = checked {
            return Box::pin(async { Ok(status.into_http()) });
        }
        #[cfg(feature = "flight")]
        let is_flight = endpoint.options.flight && path.starts_with(flight::SERVICE);
        // A payload in chunks has room of its own.
        let request = match called {
            Some(Called::StreamData) => request,
            _ => request.map(|body| endpoint.arriving.count(body)),
        };
        #[cfg(feature = "flight")]
        if is_flight {
            return Box::pin(flight::answer(endpoint, request));
        }
        let caller = introduced.and_then(|introduced| introduced.caller);
        let ending = self.ending.clone();
        Box::pin(async move {
            let max_bytes = endpoint.options.max_message_bytes;
            let mut grpc = Grpc::new(BytesCodec)
                .max_decoding_message_size(max_bytes)
                .max_encoding_message_size(max_bytes);
            Ok(match called {
                Some(Called::Request(method)) => {
                    let service = Unary {
                        endpoint,
                        caller,
                        method,
                    };
                    grpc.unary(service, request).await
                }
                Some(Called::Watch) => {
                    let service = Watched {
                        endpoint,
                        caller,
                        ending,
                    };
                    grpc.server_streaming(service, request).await
                }
                Some(Called::Hello) => grpc.unary(Greeting(endpoint), request).await,
                Some(Called::StreamData) => {
                    // Not read by tonic, which copies every message.
                    let (head, body) = request.into_parts();
                    let service = InChunks {
                        endpoint,
                        caller,
                        body,
                    };
                    let request = http::Request::from_parts(head, Body::empty());
                    grpc.client_streaming(service, request).await
                }
                None => Status::unimplemented("unknown method").into_http(),
            })
        })
    }
}

/// The methods of the service.
#[derive(Clone, Copy)]
enum Called {
    Hello,
    StreamData,
    Watch,
    Request(Method),
}

impl Called {
    fn find(name: &str) -> Option<Self> {
        match name {
            wire::HELLO => Some(Self::Hello),
            wire::STREAM_DATA => Some(Self::StreamData),
            wire::WATCH => Some(Self::Watch),
            _ => Method::find(name).map(Self::Request),
        }
    }
}

struct Unary {
    endpoint: Arc<Endpoint>,
    caller: Option<Caller>,
    method: Method,
}

impl UnaryService<Bytes> for Unary {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let (done, answer) = waiting();
        let bytes = request.into_inner();
        self.endpoint
            .answer(self.caller.clone(), self.method, bytes, done);
        Box::pin(answer)
    }
}

struct Greeting(Arc<Endpoint>);

impl UnaryService<Bytes> for Greeting {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let host = self.0.host.upgrade();
        let takes_data = self.0.options.data_connections;
        let identity = Arc::clone(&self.0.identity);
        Box::pin(async move {
            let hello = Hello::decode(request.into_inner()).map_err(|error| {
                Status::invalid_argument(format!("malformed greeting: {error}"))
            })?;
            match hello.mismatch() {
                Some(mismatch) => Err(Status::failed_precondition(mismatch)),
                None => {
                    let library = OpLibrary::of(&*host.ok_or_else(gone)?);
                    let own = Hello {
                        takes_data,
                        takes_calls: takes_data,
                        is_watchable: true,
                        ..Hello::of(&identity)
                    };
                    let answer = library.answer(&hello, own);
                    Ok(Response::new(answer.encode_to_vec().into()))
                }
            }
        })
    }
}

/// Takes a payload from the body of the request.
struct InChunks {
    endpoint: Arc<Endpoint>,
    caller: Option<Caller>,
    body: Body,
}

impl ClientStreamingService<Bytes> for InChunks {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let (endpoint, caller) = (Arc::clone(&self.endpoint), self.caller.clone());
        let body = std::mem::take(&mut self.body);
        Box::pin(async move {
            let options = &endpoint.options;
            let assembly = Assembly::new(options.max_payload_bytes, endpoint.memory()?);
            let expect = |head: &DataChunk| endpoint.expect(caller.as_ref(), head);
            let max_bytes = options.max_message_bytes;
            let arrived = transfer::receive(body, max_bytes, assembly, expect).await?;
            let (done, answer) = waiting();
            endpoint.take(caller, arrived, done);
            answer.await
        })
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

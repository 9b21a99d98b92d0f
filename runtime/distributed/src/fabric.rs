//! The transport between tasks: its interface, and the implementation inside a process.
//!
//! ```text
//!  RemoteClient::call(request, reply) ──► … ──► RequestHandler::handle(request, reply)
//!         reply runs on the caller's queue ◄── … ◄── reply.send(answer), from any thread, once
//! ```
//!
//! What takes little time may run on threads of the communicator instead: light replies, urgent
//! requests, and payloads that are taken at once. A communicator never runs a reply on the stack of
//! the call. Every reply is answered: dropping one answers it with an error.

pub mod in_process;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};

use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::message::{
    Call, HeartbeatRequest, HeartbeatResponse, Request, Response, SendDataRequest, SendDataResponse,
};
use crate::name::TaskName;
use crate::payload::Payload;
use crate::rendezvous::PayloadRoom;

/// The destination of an answer, called once, on any thread.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::fabric::Reply;
///
/// let (sender, answers) = channel();
/// let reply = Reply::new(move |answer: Result<i32, _>| sender.send(answer).unwrap());
/// drop(reply);
/// let error = answers.try_recv().unwrap().unwrap_err();
/// assert_eq!(error.to_string(), "RpcUnknown: the request was dropped without an answer");
/// ```
pub struct Reply<T>(Option<Box<dyn FnOnce(Answer<T>) + Send>>);

impl<T> Reply<T> {
    /// Creates a reply that calls `done`.
    #[must_use]
    pub fn new(done: impl FnOnce(Answer<T>) + Send + 'static) -> Self {
        Self(Some(Box::new(done)))
    }

    /// Sends the answer.
    pub fn send(mut self, answer: Answer<T>) {
        if let Some(done) = self.0.take() {
            done(answer);
        }
    }

    /// Returns a reply whose answer `f` converts to that of this one.
    #[must_use]
    pub fn map<U>(self, f: impl FnOnce(U) -> T + Send + 'static) -> Reply<U>
    where
        T: 'static,
    {
        Reply::new(move |answer: Answer<U>| self.send(answer.map(f)))
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            let message = "the request was dropped without an answer";
            done(Err(RemoteError::new(ErrorCode::RpcUnknown, message).into()));
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}

/// Options for sending a request.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// The maximum number of retries if the task cannot be reached, or may not have received the
    /// request.
    pub max_retries: u32,
    /// The time after which the caller gives up. Without one, it waits forever.
    pub timeout: Option<Duration>,
    /// Cancels the call.
    pub cancel: Option<CancelCall>,
    /// The reply takes little time and waits for nothing, so it may run on a thread of the
    /// transport.
    pub has_light_reply: bool,
}

impl CallOptions {
    /// Returns how executions are sent: again until the task is reached or lost. Later requests may
    /// follow their effects or use their results, so none of them may be omitted. A transport never
    /// runs a request twice.
    #[must_use]
    pub(crate) fn until_lost() -> Self {
        Self {
            // With the waits of the transports, longer than the default failure timeout.
            max_retries: 16,
            ..Self::default()
        }
    }
}

/// The right to cancel a call, or several that have it. Cloning shares it.
///
/// ```
/// use tfrt_distributed::fabric::CancelCall;
///
/// let cancel = CancelCall::default();
/// let (sender, cancelled) = std::sync::mpsc::channel();
/// for call in 1..=2 {
///     let sender = sender.clone();
///     cancel.install(move || sender.send(call).unwrap());
/// }
/// cancel.start();
/// cancel.start();
/// assert_eq!(cancelled.try_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
#[derive(Clone, Default)]
pub struct CancelCall(Arc<Mutex<CancelState>>);

#[derive(Default)]
struct CancelState {
    is_started: bool,
    callbacks: Vec<Box<dyn FnOnce() + Send>>,
}

impl CancelCall {
    /// Sets the callback of a cancellation, for the transport. It runs immediately if the call was
    /// cancelled before.
    pub fn install(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_started {
            state.callbacks.push(Box::new(callback));
            return;
        }
        drop(state);
        callback();
    }

    /// Cancels all calls that have it.
    pub fn start(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_started = true;
        let callbacks = std::mem::take(&mut state.callbacks);
        drop(state);
        for callback in callbacks {
            callback();
        }
    }
}

impl fmt::Debug for CancelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelCall").finish_non_exhaustive()
    }
}

/// Sends requests to one task. Requests of an [urgent](crate::message::Method::is_urgent) method
/// are handled, and their replies run, on a thread of the transport.
pub trait RemoteClient: Send + Sync + fmt::Debug {
    /// Sends a request. Returns immediately; the reply runs on the work queue of the caller's host,
    /// unless it is [light](CallOptions::has_light_reply).
    fn call(&self, options: CallOptions, request: Request, reply: Reply<Response>);

    /// Returns `true` if a call takes little time, because threads of the transport do most of its
    /// work: it need not be a task of the work queue of its own. Default: `false`.
    fn hands_over(&self) -> bool {
        false
    }

    /// Returns `true` if payloads are only read while a call lasts, and given back soon, however it
    /// ends: receivers get copies. A caller may then lend memory that it writes later. Default:
    /// `false`.
    fn copies_payloads(&self) -> bool {
        false
    }

    /// Asks the task for heartbeats, until the returned watch is dropped. `hear` gets each of them,
    /// and then why there are no more, on a thread of the transport. None if the transport has no
    /// such streams: heartbeats are requests then. Default: None.
    fn watch(&self, request: HeartbeatRequest, pace: Pace, hear: OnSign) -> Option<Watching> {
        let _ = (request, pace, hear);
        None
    }

    /// Ends the calls in progress, and the connection. Their replies get an error, unless nobody
    /// waits for them any more. Default: does nothing, for transports without connections.
    fn cut(&self) {}
}

/// How often a task is to send heartbeats.
///
/// ```
/// use std::time::Duration;
/// use tfrt_distributed::fabric::Pace;
///
/// let limit = Duration::from_secs(15);
/// let pace = Pace { interval: limit / 5, limit };
/// assert_eq!(pace.interval, Duration::from_secs(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time from one to the next.
    pub interval: Duration,
    /// The time after which the watcher does not wait for the next one any more.
    pub limit: Duration,
}

/// What the watcher of a task hears.
///
/// ```
/// use tfrt_distributed::fabric::Sign;
/// use tfrt_distributed::message::HeartbeatResponse;
///
/// let heartbeat = HeartbeatResponse { incarnation: 5, ..HeartbeatResponse::default() };
/// assert_ne!(Sign::Heartbeat(heartbeat), Sign::Unsupported);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// The task lives.
    Heartbeat(HeartbeatResponse),
    /// There are no more heartbeats, for this reason.
    Over(RemoteErrors),
    /// The task sends none by itself. It answers requests.
    Unsupported,
}

/// Gets the signs of a task: any number of heartbeats, and the end.
pub type OnSign = Box<dyn FnMut(Sign) + Send>;

/// The right to hear from a task. Nothing is heard any more soon after it is dropped.
///
/// ```
/// use std::sync::mpsc::{TryRecvError, channel};
/// use tfrt_distributed::fabric::Watching;
///
/// let (keeps, ended) = channel::<()>();
/// let watching = Watching::new(keeps);
/// assert_eq!(ended.try_recv(), Err(TryRecvError::Empty));
/// drop(watching);
/// assert_eq!(ended.try_recv(), Err(TryRecvError::Disconnected));
/// ```
pub struct Watching(#[expect(dead_code, reason = "its drop counts")] Box<dyn Any + Send + Sync>);

impl Watching {
    /// Creates the right that ends when `keeps` is dropped with it, for the transport.
    #[must_use]
    pub fn new(keeps: impl Any + Send + Sync) -> Self {
        Self(Box::new(keeps))
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching").finish_non_exhaustive()
    }
}

/// Sends a request of a known method.
pub fn call<C: Call>(
    client: &dyn RemoteClient,
    options: CallOptions,
    request: C,
    done: impl FnOnce(Answer<C::Response>) + Send + 'static,
) {
    let reply = Reply::new(move |answer: Answer<Response>| {
        done(answer.and_then(expected_response));
    });
    client.call(options, request.into(), reply);
}

fn expected_response<T: TryFrom<Response>>(response: Response) -> Answer<T> {
    T::try_from(response).map_err(|_| {
        let message = "the response is for another method";
        RemoteError::new(ErrorCode::RpcUnknown, message).into()
    })
}

/// A payload that a transport has put into memory of the receiving host: what a [`SendDataRequest`]
/// sends, without a further copy.
#[derive(Debug)]
pub struct ArrivedPayload {
    /// The context.
    pub context_id: u64,
    /// The key of the receiver.
    pub instance_key: String,
    /// The payload, in memory of the host's allocator.
    pub payload: Payload,
    /// What was reserved for it.
    pub room: PayloadRoom,
}

/// What a peer asks for that receives a payload of a task.
#[derive(Clone, Debug)]
pub struct WantedPayload {
    /// The context.
    pub context_id: u64,
    /// The key that the payload is sent under.
    pub instance_key: String,
    /// Ends the wait for the payload.
    pub cancel: CancelCall,
}

/// Who a task is, as it tells those that connect to it.
///
/// ```
/// use tfrt_distributed::fabric::TaskIdentity;
/// use tfrt_distributed::name::TaskName;
///
/// let worker = TaskIdentity { name: Some(TaskName::new("worker", 1)), incarnation: 5 };
/// assert_ne!(worker, TaskIdentity::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskIdentity {
    /// Its name, if it has the same one in all contexts.
    pub name: Option<TaskName>,
    /// Tells its process from one that takes its place later; 0 if it does not say.
    pub incarnation: u64,
}

/// Answers requests.
pub trait RequestHandler: Send + Sync {
    /// Returns who the task is. A transport asks for it when it begins to listen. By default, the
    /// task does not say.
    fn identity(&self) -> TaskIdentity {
        TaskIdentity::default()
    }

    /// Answers a request, now or later. Does not block.
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>);

    /// Answers a request of a task that proved its name to the transport.
    fn handle_from(self: Arc<Self>, caller: &TaskName, request: Request, reply: Reply<Response>) {
        let _ = caller;
        self.handle(request, reply);
    }

    /// Answers a heartbeat at once, on a thread of the transport. The answer does not depend on
    /// what the task is doing. The handler may be the last reference, as in
    /// [`take_at_once`](Self::take_at_once). By default, the answer is an error with the code
    /// `Unimplemented`: heartbeats are [requests](Self::handle) then.
    fn answer_heartbeat(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        request: &HeartbeatRequest,
    ) -> Answer<HeartbeatResponse> {
        let _ = (caller, request);
        let message = "the task sends no heartbeats by itself";
        Err(RemoteError::new(ErrorCode::Unimplemented, message).into())
    }

    /// Reserves room for a payload before its bytes arrive, or refuses it: its context may not
    /// exist or not be the caller's, or too many bytes wait there. Takes little time, on a thread
    /// of the transport; the handler may be the last reference, as in
    /// [`take_at_once`](Self::take_at_once). `num_bytes` has
    /// [`OVERHEAD`](crate::rendezvous::OVERHEAD) more for each buffer of the payload. Transports need not ask for payloads of up to 64 KiB.
    /// By default, nothing is reserved.
    fn expect_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        context_id: u64,
        instance_key: &str,
        num_bytes: u64,
    ) -> Answer<PayloadRoom> {
        let _ = (caller, context_id, instance_key, num_bytes);
        Ok(PayloadRoom::default())
    }

    /// Takes a payload, of a task that proved its name if there is a `caller`. By default, it is
    /// handled as a [`SendDataRequest`] of the same bytes.
    fn take_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
        reply: Reply<SendDataResponse>,
    ) {
        let payload = match arrived.payload.to_bytes() {
            Ok(payload) => payload,
            Err(error) => return reply.send(Err(RemoteError::from(&Error::from(error)).into())),
        };
        let request = SendDataRequest {
            context_id: arrived.context_id,
            instance_key: arrived.instance_key,
            payload,
        };
        let reply = Reply::new(move |answer: Answer<Response>| {
            reply.send(answer.and_then(expected_response));
        });
        match caller {
            Some(caller) => self.handle_from(caller, request.into(), reply),
            None => self.handle(request.into(), reply),
        }
    }

    /// Takes a payload at once if that takes little time, because its receiver does little or is
    /// still to come. Returns it otherwise: the transport calls this on a thread of its own, and
    /// has the payload [taken](Self::take_payload) by a task of the work queue then. The handler
    /// may be the last reference, and should end elsewhere if its end takes long. By default, the
    /// payload is always returned.
    fn take_at_once(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
    ) -> Result<Answer<SendDataResponse>, ArrivedPayload> {
        let _ = caller;
        Err(arrived)
    }

    /// Hands the payload of a key over, now or once it arrives, as if a kernel had received it
    /// here. With a `caller`, which has proved its name, that task must belong to the context. By
    /// default, the answer is an error with the code `Unimplemented`.
    fn give_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        wanted: WantedPayload,
        reply: Reply<Payload>,
    ) {
        let _ = (caller, wanted);
        reply.send(Err(gives_no_payloads().into()));
    }

    /// Takes a payload back that was [given away](Self::give_payload) and has not arrived: it waits
    /// under its key again. By default, it is [taken](Self::take_payload) as another one.
    fn take_back_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        returned: ArrivedPayload,
        reply: Reply<()>,
    ) {
        let reply = reply.map(|_: SendDataResponse| ());
        self.take_payload(caller, returned, reply);
    }

    /// Returns the payload that waits for a receiver of a key, if there is one. By default, it is
    /// one of the [waiting payloads](Self::waiting_payloads) of the context.
    fn waiting_payload(
        &self,
        caller: Option<&TaskName>,
        context_id: u64,
        key: &str,
    ) -> Answer<Option<Payload>> {
        let waiting = self.waiting_payloads(caller, Some(context_id))?;
        let mut waiting = waiting.into_iter();
        let found = waiting.find(|waiting| waiting.instance_key == key);
        Ok(found.map(|found| found.payload))
    }

    /// Returns the payloads that wait for a receiver, in one context or in all that the caller
    /// takes part in, in order of their contexts and keys. Default: an error with the code
    /// `Unimplemented`.
    fn waiting_payloads(
        &self,
        caller: Option<&TaskName>,
        context_id: Option<u64>,
    ) -> Answer<Vec<ArrivedPayload>> {
        let _ = (caller, context_id);
        Err(gives_no_payloads().into())
    }
}

#[cold]
fn gives_no_payloads() -> RemoteError {
    RemoteError::new(ErrorCode::Unimplemented, "the task gives no payloads away")
}

/// The callback for the end of a network: an error if answers were cut.
pub type OnClosed = Box<dyn FnOnce(Answer<()>) + Send>;

/// The network as one task sees it. When it is dropped, the task is not reached any more.
pub trait FabricCommunicator: Send + Sync + fmt::Debug {
    /// Returns the address of the task.
    fn address(&self) -> &str;

    /// Returns a client of the task at an address, which may not be running yet.
    fn client(&self, address: &str) -> Arc<dyn RemoteClient>;

    /// Returns a client of a task whose name is known. If tasks tell or prove their names, nothing
    /// is sent to another task.
    fn client_of(&self, task: &TaskName, address: &str) -> Arc<dyn RemoteClient> {
        let _ = task;
        self.client(address)
    }

    /// Stops listening. Requests that have arrived may still be answered; what is not answered when
    /// `limit` has passed is cut, which is an error. Calls `done` at the end, from any thread.
    /// Default: the network ends when the communicator is dropped, and `done` is called
    /// immediately.
    fn close(&self, limit: Duration, done: OnClosed) {
        let _ = limit;
        done(Ok(()));
    }
}

/// The start of the cause of an error, in a transport that knows that no process listens at the
/// address of a task. A task that was alive before is then lost at once.
pub const NOBODY_LISTENS: &str = "nobody listens at the address";

/// Returns `true` if errors say that nobody listens at the address of a task.
pub(crate) fn nobody_listens(errors: &RemoteErrors) -> bool {
    let is_refused = |error: &RemoteError| {
        error.code == ErrorCode::RpcUnavailable && error.message.contains(NOBODY_LISTENS)
    };
    errors.as_slice().iter().all(is_refused)
}

/// Listens at an address and passes requests to a handler, as long as it exists.
pub type Listen = fn(
    host: &Arc<HostContext>,
    address: &str,
    handler: Weak<dyn RequestHandler>,
) -> Result<Arc<dyn FabricCommunicator>, Error>;

/// A type of communicator, by name. Registered when a program is linked; the first one of a name
/// counts.
///
/// ```
/// use tfrt_distributed::fabric::CommunicatorType;
///
/// assert!(CommunicatorType::find("in_process").is_some());
/// assert!(CommunicatorType::find("carrier_pigeon").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CommunicatorType {
    /// Its name.
    pub name: &'static str,
    /// Listens at an address and passes requests to a handler, as long as it exists.
    pub listen: Listen,
    /// An address that is free at the moment, for tests with several tasks in one process.
    pub free_address: fn() -> Result<String, Error>,
}

inventory::collect!(CommunicatorType);

impl CommunicatorType {
    /// Returns the type of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        inventory::iter::<Self>
            .into_iter()
            .find(|known| known.name == name)
    }
}

inventory::submit! {
    CommunicatorType {
        name: in_process::TYPE_NAME,
        listen: in_process::listen,
        free_address: in_process::free_address,
    }
}

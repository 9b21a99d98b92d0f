//! Tasks inside one process: the reference for every other transport.
//!
//! A request becomes a task of the receiver's work queue, and its answer one of the sender's.
//! Nothing is encoded. On request, the network delays messages (which reorders them), loses them,
//! and disconnects tasks: see [`Faults`] and [`PayloadLoss`].

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tfrt_host::{HostContext, Timer};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use super::{CallOptions, FabricCommunicator, RemoteClient, Reply, RequestHandler};
use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::message::{Method, Request, Response};

/// The name of this type of communicator.
pub const TYPE_NAME: &str = "in_process";

/// The time before a caller retries to reach a missing task: the first delay, which doubles with
/// each retry.
const FIRST_BACKOFF: Duration = Duration::from_millis(1);

/// The longest such wait.
const MAX_BACKOFF: Duration = Duration::from_millis(100);

/// The network that communicators of this type share by default.
static COMMON: LazyLock<InProcessNetwork> = LazyLock::new(InProcessNetwork::default);

pub(super) fn listen(
    host: &Arc<HostContext>,
    address: &str,
    handler: Weak<dyn RequestHandler>,
) -> Result<Arc<dyn FabricCommunicator>, Error> {
    COMMON.listen(host, address, handler)
}

pub(super) fn free_address() -> Result<String, Error> {
    Ok(COMMON.free_address())
}

/// The faults of a network. If one thread sends, the affected messages depend only on the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The longest time that a message takes; they differ, so that messages overtake each other.
    pub max_delay: Duration,
    /// The number of lost requests per thousand.
    pub lost_requests_per_mille: u64,
    /// The number of lost answers per thousand: the request was executed, but the caller does not
    /// know.
    pub lost_answers_per_mille: u64,
}

/// Payloads that a network loses on the way from one task to another. All other messages between
/// the two arrive, so neither takes the other one for lost.
///
/// ```
/// use tfrt_distributed::fabric::in_process::{InProcessNetwork, PayloadLoss};
///
/// let network = InProcessNetwork::default();
/// let (from, to) = (network.free_address(), network.free_address());
/// // The third payload from here on is lost.
/// network.lose_payloads(&from, &to, PayloadLoss { num_before: 2, count: 1, answers: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadLoss {
    /// The number of payloads that arrive before.
    pub num_before: u64,
    /// The number of payloads that are lost then.
    pub count: u64,
    /// Whether only the answers are lost: the payloads arrive, but their sender does not know.
    pub answers: bool,
}

/// A network of tasks in this process. Cloning shares it.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::fabric::in_process::InProcessNetwork;
/// use tfrt_distributed::fabric::{self, CallOptions, FabricCommunicator, RequestHandler};
/// use tfrt_distributed::message::{KeepAliveRequest, KeepAliveResponse, Request, Response};
/// use tfrt_distributed::fabric::Reply;
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
/// let network = InProcessNetwork::default();
/// let host = HostContext::builder().build();
/// let handler: Arc<dyn RequestHandler> = Arc::new(AlwaysThere);
/// let communicator = network.listen(&host, "a", Arc::downgrade(&handler)).unwrap();
/// let (sender, answers) = channel();
/// let client = communicator.client("a");
/// fabric::call(&*client, CallOptions::default(), KeepAliveRequest { context_id: 1 }, move |answer| sender.send(answer).unwrap());
/// host.quiesce().unwrap();
/// assert!(answers.try_recv().unwrap().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct InProcessNetwork(Arc<Network>);

#[derive(Debug, Default)]
struct Network {
    state: Mutex<State>,
    next_address: AtomicU64,
    num_drawn: AtomicU64,
    faults: Faults,
}

#[derive(Default)]
struct State {
    tasks: HashMap<String, Endpoint>,
    cut_off: HashSet<String>,
    /// The ways that are cut, by the addresses of sender and receiver.
    cut_ways: HashSet<(String, String)>,
    /// By the addresses of sender and receiver.
    losses: HashMap<(String, String), PayloadLoss>,
}

#[derive(Clone)]
struct Endpoint {
    host: Arc<HostContext>,
    handler: Weak<dyn RequestHandler>,
}

impl InProcessNetwork {
    /// Creates a network with faults.
    #[must_use]
    pub fn with_faults(faults: Faults) -> Self {
        Self(Arc::new(Network {
            faults,
            ..Network::default()
        }))
    }

    /// Returns an address that was not returned before.
    #[must_use]
    pub fn free_address(&self) -> String {
        // Relaxed: only uniqueness counts.
        let number = self.0.next_address.fetch_add(1, Ordering::Relaxed);
        format!("in-process:{number}")
    }

    /// Listens at an address, until the communicator is dropped.
    ///
    /// # Errors
    /// If the address is in use.
    pub fn listen(
        &self,
        host: &Arc<HostContext>,
        address: &str,
        handler: Weak<dyn RequestHandler>,
    ) -> Result<Arc<dyn FabricCommunicator>, Error> {
        let mut state = self.0.lock();
        if state.tasks.contains_key(address) {
            let message = format!("the address {address} is in use");
            return Err(Error::new(message).with_code(ErrorCode::AlreadyExists));
        }
        let endpoint = Endpoint {
            host: Arc::clone(host),
            handler,
        };
        state.tasks.insert(address.to_owned(), endpoint);
        Ok(Arc::new(Communicator {
            network: self.clone(),
            host: Arc::clone(host),
            address: address.to_owned(),
        }))
    }

    /// Cuts a task off: no message from or to it arrives any more, until it is
    /// [healed](Self::heal).
    pub fn cut(&self, address: &str) {
        self.0.lock().cut_off.insert(address.to_owned());
    }

    /// Cuts the connection between two tasks, for good: others still reach both.
    pub fn cut_between(&self, first: &str, second: &str) {
        let (first, second) = (first.to_owned(), second.to_owned());
        let mut state = self.0.lock();
        state.cut_ways.insert((first.clone(), second.clone()));
        state.cut_ways.insert((second, first));
    }

    /// Loses payloads on the way from one task to another, from now on. Replaces what was lost
    /// before on this way.
    pub fn lose_payloads(&self, from: &str, to: &str, loss: PayloadLoss) {
        let way = (from.to_owned(), to.to_owned());
        self.0.lock().losses.insert(way, loss);
    }

    /// Connects a task again.
    pub fn heal(&self, address: &str) {
        self.0.lock().cut_off.remove(address);
    }
}

impl Network {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the task at an address, if a message from another one reaches it.
    fn reach(&self, from: &str, to: &str) -> Option<Endpoint> {
        let state = self.lock();
        let is_cut = state.cut_off.contains(from)
            || state.cut_off.contains(to)
            || state.cut_ways.contains(&(from.to_owned(), to.to_owned()));
        match is_cut {
            true => None,
            false => state.tasks.get(to).cloned(),
        }
    }

    /// Returns the loss of a payload, if it is one that is lost.
    fn loss_of_payload(&self, method: Method, from: &str, to: &str) -> Option<PayloadLoss> {
        if method != Method::SendData {
            return None;
        }
        let mut state = self.lock();
        let loss = state.losses.get_mut(&(from.to_owned(), to.to_owned()))?;
        if let Some(before) = loss.num_before.checked_sub(1) {
            loss.num_before = before;
            return None;
        }
        loss.count = loss.count.checked_sub(1)?;
        Some(*loss)
    }

    /// Returns a random number; the generator is splitmix64.
    fn draw(&self) -> u64 {
        // Relaxed: only uniqueness counts.
        let index = self.num_drawn.fetch_add(1, Ordering::Relaxed) + 1;
        let state = self
            .faults
            .seed
            .wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ state >> 31
    }

    fn happens(&self, per_mille: u64) -> bool {
        per_mille > 0 && self.draw() % 1000 < per_mille
    }

    /// Runs a task on the queue of a host after the delay of the network, or on the thread of its
    /// timers if it is urgent.
    fn deliver(
        &self,
        host: &Arc<HostContext>,
        is_urgent: bool,
        work: impl FnOnce() + Send + 'static,
    ) {
        let max_delay = u64::try_from(self.faults.max_delay.as_nanos()).unwrap_or(u64::MAX);
        let delay = match max_delay {
            0 if !is_urgent => return host.queue().add_task(Task::new(work)),
            0 => Duration::ZERO,
            max_delay => Duration::from_nanos(self.draw() % max_delay),
        };
        let queue = Arc::clone(host.queue());
        host.timers()
            .schedule_after(delay, move || match is_urgent {
                true => work(),
                false => queue.add_task(Task::new(work)),
            });
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("tasks", &self.tasks.keys())
            .field("cut_off", &self.cut_off)
            .finish()
    }
}

#[derive(Debug)]
struct Communicator {
    network: InProcessNetwork,
    host: Arc<HostContext>,
    address: String,
}

impl FabricCommunicator for Communicator {
    fn address(&self) -> &str {
        &self.address
    }

    fn client(&self, address: &str) -> Arc<dyn RemoteClient> {
        Arc::new(Client {
            network: self.network.clone(),
            host: Arc::clone(&self.host),
            own_address: self.address.clone(),
            address: address.to_owned(),
        })
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let endpoint = self.network.0.lock().tasks.remove(&self.address);
        // Without the lock: it may be the last reference to a host.
        drop(endpoint);
    }
}

#[derive(Clone, Debug)]
struct Client {
    network: InProcessNetwork,
    host: Arc<HostContext>,
    own_address: String,
    address: String,
}

impl RemoteClient for Client {
    fn call(&self, options: CallOptions, request: Request, reply: Reply<Response>) {
        let waiting = Waiting::new(reply);
        let method = request.method();
        let gave_up = |code, cause: &str| failure(code, method, &self.address, cause);
        if let Some(timeout) = options.timeout {
            let (late, error) = (
                waiting.clone(),
                gave_up(ErrorCode::RpcDeadlineExceeded, "the deadline passed"),
            );
            let queue = Arc::clone(self.host.queue());
            let deadline = self.host.timers().schedule_after(timeout, move || {
                queue.add_task(Task::new(move || late.answer(Err(error))));
            });
            waiting.set_deadline(deadline);
        }
        if let Some(cancel) = &options.cancel {
            let (waiting, error) = (
                waiting.clone(),
                gave_up(ErrorCode::RpcCancelled, "the call was cancelled"),
            );
            let queue = Arc::clone(self.host.queue());
            cancel.install(move || {
                queue.add_task(Task::new(move || waiting.answer(Err(error))));
            });
        }
        self.clone()
            .attempt(request, waiting, options.max_retries, FIRST_BACKOFF);
    }
}

impl Client {
    fn attempt(self, request: Request, waiting: Waiting, retries_left: u32, backoff: Duration) {
        if waiting.is_answered() {
            return;
        }
        let method = request.method();
        let faults = self.network.0.faults;
        let reached = self.network.0.reach(&self.own_address, &self.address);
        let (from, to) = (&self.own_address, &self.address);
        let loss = self.network.0.loss_of_payload(method, from, to);
        let loses_answer = loss.is_some_and(|loss| loss.answers);
        let outcome = match reached {
            None => Err("no task listens at this address"),
            Some(_)
                if (loss.is_some() && !loses_answer)
                    || self.network.0.happens(faults.lost_requests_per_mille) =>
            {
                Err("the request was lost")
            }
            Some(endpoint) => Ok(endpoint),
        };
        let endpoint = match outcome {
            Ok(endpoint) => endpoint,
            Err(cause) if retries_left == 0 => return self.fail(method, waiting, cause),
            Err(_) => {
                let timers = Arc::clone(&self.host);
                timers.timers().schedule_after(backoff, move || {
                    let next = MAX_BACKOFF.min(backoff * 2);
                    self.attempt(request, waiting, retries_left - 1, next);
                });
                return;
            }
        };
        let network = self.network.clone();
        // A request under way keeps its receiver, unless the thread of the timers would drop it.
        let kept = match method.is_urgent() {
            true => None,
            false => endpoint.handler.upgrade(),
        };
        network
            .0
            .deliver(&endpoint.host, method.is_urgent(), move || {
                let address = self.address.clone();
                let reply = Reply::new(move |answer: Answer<Response>| {
                    self.come_back(method, waiting, answer, loses_answer);
                });
                match endpoint.handler.upgrade() {
                    Some(handler) => handler.handle(request, reply),
                    None => {
                        let code = ErrorCode::RpcUnavailable;
                        reply.send(Err(failure(code, method, &address, "the task has ended")));
                    }
                }
                drop(kept);
            });
    }

    /// Brings an answer to the host that waits for it.
    fn come_back(
        self,
        method: Method,
        waiting: Waiting,
        answer: Answer<Response>,
        loses_answer: bool,
    ) {
        let network = &self.network.0;
        let is_lost = loses_answer
            || network.happens(network.faults.lost_answers_per_mille)
            || network.reach(&self.address, &self.own_address).is_none();
        if is_lost {
            return self.fail(method, waiting, "the response was lost");
        }
        network.deliver(&self.host, method.is_urgent(), move || {
            waiting.answer(answer)
        });
    }

    fn fail(&self, method: Method, waiting: Waiting, cause: &str) {
        let error = failure(ErrorCode::RpcUnavailable, method, &self.address, cause);
        if method.is_urgent() {
            let timers = self.host.timers();
            timers.schedule_after(Duration::ZERO, move || waiting.answer(Err(error)));
            return;
        }
        let task = Task::new(move || waiting.answer(Err(error)));
        self.host.queue().add_task(task);
    }
}

fn failure(code: ErrorCode, method: Method, address: &str, cause: &str) -> RemoteErrors {
    let method = method.name();
    RemoteError::new(code, format!("{method} to {address}: {cause}")).into()
}

/// A reply that several events want to answer: the first one does.
#[derive(Clone)]
struct Waiting(Arc<Mutex<Option<Unanswered>>>);

struct Unanswered {
    reply: Reply<Response>,
    /// Does not outlive the wait: an hour is a usual deadline.
    deadline: Option<Timer>,
}

impl Waiting {
    fn new(reply: Reply<Response>) -> Self {
        let deadline = None;
        Self(Arc::new(Mutex::new(Some(Unanswered { reply, deadline }))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Unanswered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_answered(&self) -> bool {
        self.lock().is_none()
    }

    /// Keeps the timer that ends the wait, unless it has ended.
    fn set_deadline(&self, deadline: Timer) {
        if let Some(unanswered) = &mut *self.lock() {
            unanswered.deadline = Some(deadline);
        }
    }

    fn answer(&self, answer: Answer<Response>) {
        let unanswered = self.lock().take();
        // Without the lock: the timer and the reply refer to this.
        if let Some(Unanswered { reply, deadline }) = unanswered {
            if let Some(deadline) = deadline {
                deadline.cancel();
            }
            reply.send(answer);
        }
    }
}

//! One task: it answers requests, and keeps the contexts that it takes part in.
//!
//! ```text
//!  request ──► Server::handle ──┬─ about no context: devices, new contexts
//!                               └─ context by id (an access) ──► objects, programs, rendezvous
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `callers` | what tasks may ask for that prove their names |
//! | `initialize` | initialization by a single client and by many clients |
//! | `roll_call` | the tasks that the lead task of an initialization waits for |
//! | `lead_watch` | the watch of a task that waits for the lead task |
//! | `requests` | the requests that a task answers |
//! | `payloads` | payloads that other tasks send, ask for and return |
//! | `gate` | delayed requests in tests |
//! | `local_cluster` | servers of one process that end together |

mod callers;

mod gate;

mod initialize;

mod roll_call;

mod lead_watch;

mod local_cluster;

mod payloads;

mod requests;

use std::collections::HashMap;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tfrt_host::Timer;
use tfrt_host::{HostContext, log};
use tfrt_support::{Error, ErrorCode};

use crate::allowed_programs::AllowedPrograms;
use crate::collective::Selection;
use crate::context::{ContextSettings, DistributedContext};
use crate::drain::Drain;
use crate::error::{Answer, Gather, RemoteError};
use crate::fabric::{CommunicatorType, FabricCommunicator, RequestHandler};
use crate::message::DistributedContextConfiguration;
use crate::name::TaskName;
use crate::random;

pub use gate::RequestGate;
pub(crate) use local_cluster::KeptCluster;
pub use local_cluster::LocalCluster;

use initialize::MultiClient;
use local_cluster::Companions;

/// A context that another task owns is dropped after this time without an access.
pub const DEFAULT_GC_TIMEOUT: Duration = Duration::from_secs(600);

/// A task that was silent for this long counts as lost.
pub const DEFAULT_FAILURE_TIMEOUT: Duration = Duration::from_secs(15);

/// The default time in which all tasks must take part in an initialization.
pub const DEFAULT_INITIALIZATION_TIMEOUT: Duration = Duration::from_secs(300);

/// The default limit of unclaimed bytes of each context.
pub const DEFAULT_MAX_UNCLAIMED_BYTES: usize = 1 << 30;

/// The default limit of the time that requests under way may take after their context was closed.
pub const DEFAULT_DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The default back end of collectives.
pub const DEFAULT_COLLECTIVES: &str = "ring";

/// The configuration of a server: how it listens, and how long it keeps contexts.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The type of communicator, by its registered name.
    pub communicator: String,
    /// The address at which it listens.
    pub address: String,
    /// The name of the task, if it has the same one in all contexts. Who takes it for another task
    /// gets an error. Default: it does not say.
    pub task: Option<TaskName>,
    /// The server drops contexts that other tasks own after this time without an access.
    pub gc_timeout: Duration,
    /// A task that was silent for this long counts as lost.
    pub failure_timeout: Duration,
    /// The time in which all tasks must take part in an initialization. Without one, the lead task
    /// asks each task 64 times whether it is there, and then waits for
    /// [`DEFAULT_INITIALIZATION_TIMEOUT`] until all take part. The others wait for the lead task as
    /// long.
    pub initialization_timeout: Option<Duration>,
    /// Requests under way may take this long after their context was closed, or the server was shut
    /// down. What has not ended then is cut.
    pub drain_timeout: Duration,
    /// Whether a context that is closed reports what nobody has claimed, served or deleted, as a
    /// warning. By default, debug builds do.
    pub reports_leftovers: bool,
    /// The maximum number of bytes of unclaimed payloads in each context, including those that are
    /// arriving and that no receiver waits for.
    pub max_unclaimed_bytes: usize,
    /// The back end of collectives: `ring`, another one that is linked, or
    /// [`AUTO`](crate::collective::AUTO). All tasks of a cluster must choose alike.
    pub collectives: String,
    /// The programs that other tasks may send.
    pub programs: AllowedPrograms,
    /// Holds requests to execute programs back, for tests.
    pub gate: Option<Arc<RequestGate>>,
}

impl ServerConfig {
    /// Creates a server at an address, with the default timeout.
    #[must_use]
    pub fn new(communicator: impl Into<String>, address: impl Into<String>) -> Self {
        Self {
            communicator: communicator.into(),
            address: address.into(),
            task: None,
            gc_timeout: DEFAULT_GC_TIMEOUT,
            failure_timeout: DEFAULT_FAILURE_TIMEOUT,
            initialization_timeout: None,
            drain_timeout: DEFAULT_DRAIN_TIMEOUT,
            reports_leftovers: cfg!(debug_assertions),
            max_unclaimed_bytes: DEFAULT_MAX_UNCLAIMED_BYTES,
            collectives: DEFAULT_COLLECTIVES.to_owned(),
            programs: AllowedPrograms::any(),
            gate: None,
        }
    }
}

/// A task, client and server at once. Dropping it shuts it down.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::fabric::CommunicatorType;
/// use tfrt_distributed::message::DistributedContextConfiguration;
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// let configurations = DistributedContextConfiguration::local_cluster(&addresses);
/// let servers = addresses.map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
/// let [client, worker] = servers.map(Result::unwrap);
///
/// let (sender, done) = channel();
/// client.initialize_single_client(Some(7), &configurations[0], move |outcome| sender.send(outcome).unwrap());
/// host.quiesce()?;
/// let context = done.try_recv()?.unwrap();
/// assert_eq!(context.cluster().own_name(), "/job:worker/task:0");
/// assert_eq!(worker.context(7).unwrap().cluster().own_name(), "/job:worker/task:1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    this: Weak<Self>,
    host: Arc<HostContext>,
    config: ServerConfig,
    collectives: Selection,
    /// Tells this process from one that takes its place later.
    incarnation: u64,
    communicator: Mutex<Network>,
    contexts: Mutex<Contexts>,
    multi_client: Mutex<MultiClient>,
    /// The other servers of this process that belong to the same cluster.
    companions: OnceLock<Companions>,
    on_owner_lost: OnceLock<OnOwnerLost>,
}

/// Told the name of a lost task that owned a context, and the error that says why it is lost.
type OnOwnerLost = Box<dyn Fn(&TaskName, &RemoteError) + Send + Sync>;

#[derive(Debug, Default)]
struct Network {
    communicator: Option<Arc<dyn FabricCommunicator>>,
    is_shut_down: bool,
    /// The end of the communicator, once the server is shut down.
    end: Option<Arc<Drain>>,
}

#[derive(Debug, Default)]
struct Contexts {
    by_id: HashMap<u64, Kept>,
    /// The contexts that are closed, or soon will be, until nothing of them is under way any more.
    draining: Vec<Arc<Drain>>,
    collector: Option<Timer>,
    is_shut_down: bool,
}

#[derive(Debug)]
struct Kept {
    context: Arc<DistributedContext>,
    /// The last access, if accesses are tracked.
    last_access: Option<Instant>,
}

impl Contexts {
    /// Returns the context that a request of a task is about, if the task takes part in it. Not an
    /// access.
    fn of_task(
        &self,
        id: u64,
        caller: &TaskName,
        request: &str,
    ) -> Result<&Arc<DistributedContext>, RemoteError> {
        let kept = self.by_id.get(&id).ok_or_else(|| no_context(id))?;
        if kept.context.config().has_task(caller) {
            return Ok(&kept.context);
        }
        let why = "the task is not part of the cluster of the context";
        Err(callers::refused(request, caller, why))
    }
}

impl Server {
    /// Creates a server and starts to listen. With an unknown type of communicator, it has no
    /// network.
    ///
    /// # Errors
    /// If it cannot listen at its address, or the back end of its collectives is not linked.
    pub fn new(host: &Arc<HostContext>, config: ServerConfig) -> Result<Arc<Self>, Error> {
        let server = Self::silent(host, config)?;
        server.communicator()?;
        Ok(server)
    }

    /// Creates a server on a network of the caller's.
    ///
    /// # Errors
    /// Those of `listen`, and that the back end of its collectives is not linked.
    pub fn on_network(
        host: &Arc<HostContext>,
        config: ServerConfig,
        listen: impl FnOnce(Weak<dyn RequestHandler>) -> Result<Arc<dyn FabricCommunicator>, Error>,
    ) -> Result<Arc<Self>, Error> {
        let server = Self::silent(host, config)?;
        let handler: Weak<dyn RequestHandler> = server.this.clone();
        // Requests may arrive as soon as it listens: they wait until the network is known.
        let mut network = server.lock_network();
        network.communicator = Some(listen(handler)?);
        drop(network);
        Ok(server)
    }

    fn silent(host: &Arc<HostContext>, config: ServerConfig) -> Result<Arc<Self>, Error> {
        let collectives = Selection::parse(&config.collectives)?;
        Ok(Arc::new_cyclic(|this| Self {
            this: this.clone(),
            host: Arc::clone(host),
            config,
            collectives,
            incarnation: random::non_zero(),
            communicator: Mutex::default(),
            contexts: Mutex::default(),
            multi_client: Mutex::default(),
            companions: OnceLock::new(),
            on_owner_lost: OnceLock::new(),
        }))
    }

    fn lock_network(&self) -> MutexGuard<'_, Network> {
        let network = self.communicator.lock();
        network.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_contexts(&self) -> MutexGuard<'_, Contexts> {
        let contexts = self.contexts.lock();
        contexts.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the network of the server. One that was not found is looked for again.
    fn communicator(&self) -> Result<Option<Arc<dyn FabricCommunicator>>, Error> {
        let mut network = self.lock_network();
        if network.communicator.is_none() && !network.is_shut_down {
            let name = &self.config.communicator;
            match CommunicatorType::find(name) {
                Some(found) => {
                    let handler: Weak<dyn RequestHandler> = self.this.clone();
                    let listening = (found.listen)(&self.host, &self.config.address, handler)?;
                    network.communicator = Some(listening);
                }
                None => log::warning!(
                    "Did not find fabric communicator factory for communicator with type {name}"
                ),
            }
        }
        Ok(network.communicator.clone())
    }

    /// Returns the host of the task.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns the configuration of the server.
    #[must_use]
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// Calls back, on the work queue, whenever the only client of a context of this task is lost:
    /// with its name, and the error that says why. The context is closed by then. Only the first
    /// callback that is set counts.
    pub fn on_owner_lost(
        &self,
        callback: impl Fn(&TaskName, &RemoteError) + Send + Sync + 'static,
    ) {
        // A later one is dropped.
        let _ = self.on_owner_lost.set(Box::new(callback));
    }

    /// Creates a context on this task.
    ///
    /// # Errors
    /// `Failed to create DistributedContext: context ID X already exists!`, and those of the
    /// configuration.
    pub fn create_context(
        &self,
        id: u64,
        config: &DistributedContextConfiguration,
    ) -> Result<Arc<DistributedContext>, RemoteError> {
        let context = self.new_context(id, config)?;
        self.enter_context(&context)?;
        Ok(context)
    }

    /// Creates a context that nobody can find yet.
    fn new_context(
        &self,
        id: u64,
        config: &DistributedContextConfiguration,
    ) -> Result<Arc<DistributedContext>, RemoteError> {
        let communicator = self
            .communicator()
            .map_err(|error| RemoteError::from(&error))?;
        DistributedContext::new(
            id,
            self.this.clone(),
            &self.host,
            config,
            communicator,
            ContextSettings {
                max_unclaimed_bytes: self.config.max_unclaimed_bytes,
                collectives: self.collectives.clone(),
                drain_timeout: self.config.drain_timeout,
                reports_leftovers: self.config.reports_leftovers,
            },
        )
    }

    /// Lets requests find a context by its id.
    fn enter_context(&self, context: &Arc<DistributedContext>) -> Result<(), RemoteError> {
        let id = context.id();
        let mut contexts = self.lock_contexts();
        if contexts.is_shut_down {
            let message = "the server is shut down";
            return Err(RemoteError::new(ErrorCode::Unavailable, message));
        }
        if contexts.by_id.contains_key(&id) {
            let message =
                format!("Failed to create DistributedContext: context ID {id} already exists!");
            return Err(RemoteError::new(ErrorCode::Unknown, message));
        }
        let kept = Kept {
            context: Arc::clone(context),
            last_access: None,
        };
        contexts.by_id.insert(id, kept);
        Ok(())
    }

    /// Returns the context of this id. Counts as an access.
    ///
    /// # Errors
    /// `Context with id X does not exist.`
    pub fn context(&self, id: u64) -> Result<Arc<DistributedContext>, RemoteError> {
        let mut contexts = self.lock_contexts();
        let kept = contexts.by_id.get_mut(&id).ok_or_else(|| no_context(id))?;
        if let Some(last_access) = &mut kept.last_access {
            *last_access = Instant::now();
        }
        Ok(Arc::clone(&kept.context))
    }

    /// Removes a context and ends all its waits.
    ///
    /// # Errors
    /// `Context with id X does not exist.`
    pub fn close_context(&self, id: u64) -> Result<(), RemoteError> {
        let mut contexts = self.lock_contexts();
        let kept = contexts.by_id.remove(&id);
        let context = kept.ok_or_else(|| no_context(id))?.context;
        contexts.draining.push(Arc::clone(context.drain()));
        drop(contexts);
        self.close(&context);
        self.end_initialization_of(&context);
        Ok(())
    }

    /// Closes a context whose drain is kept, and forgets the drain at its end.
    fn close(&self, context: &DistributedContext) {
        context.close();
        let (this, drain) = (self.this.clone(), Arc::downgrade(context.drain()));
        context.drain().on_end(move |_| {
            if let Some(this) = this.upgrade() {
                let mut contexts = this.lock_contexts();
                let draining = &mut contexts.draining;
                draining.retain(|kept| !ptr::eq(Arc::as_ptr(kept), drain.as_ptr()));
            }
        });
    }

    /// Starts to track the accesses to a context, unless they are tracked already: without any for
    /// a while, it goes.
    pub(crate) fn track(&self, id: u64) {
        let mut contexts = self.lock_contexts();
        if let Some(kept) = contexts.by_id.get_mut(&id) {
            kept.last_access.get_or_insert_with(Instant::now);
        }
        if contexts.collector.is_none() && !contexts.is_shut_down {
            contexts.collector = Some(self.schedule_collection());
        }
    }

    fn schedule_collection(&self) -> Timer {
        let this = self.this.clone();
        let queue = Arc::clone(self.host.queue());
        let timers = self.host.timers();
        timers.schedule_after(self.config.gc_timeout, move || {
            queue.add_task(tfrt_queue::Task::new(move || {
                if let Some(this) = this.upgrade() {
                    this.collect();
                }
            }));
        })
    }

    /// Drops the tracked contexts that were not accessed for a while.
    fn collect(&self) {
        let mut contexts = self.lock_contexts();
        if contexts.is_shut_down {
            return;
        }
        let timeout = self.config.gc_timeout;
        let is_old = |kept: &Kept| {
            kept.last_access
                .is_some_and(|last| last.elapsed() > timeout)
        };
        let old: Vec<u64> = contexts
            .by_id
            .iter()
            .filter(|(_, kept)| is_old(kept))
            .map(|(id, _)| *id)
            .collect();
        let dropped: Vec<Kept> = old
            .iter()
            .filter_map(|id| contexts.by_id.remove(id))
            .collect();
        let drains = dropped.iter().map(|kept| Arc::clone(kept.context.drain()));
        contexts.draining.extend(drains);
        contexts.collector = Some(self.schedule_collection());
        drop(contexts);
        for kept in dropped {
            let id = kept.context.id();
            log::warning!(
                "Distributed context with id {id} is garbage collected due to inactivity."
            );
            self.close(&kept.context);
        }
    }

    /// Shuts the server down: stops its timers, closes its contexts, and stops listening. What is
    /// under way ends later: see [`shut_down_then`](Self::shut_down_then).
    pub fn shut_down(&self) {
        self.shut_down_then(|_| ());
    }

    /// Shuts the server down, and calls `done` once nothing is under way any more, also in contexts
    /// that were closed before: kernels of other tasks have ended, and answers were sent. What has
    /// not ended after [`drain_timeout`](ServerConfig::drain_timeout) is cut, which is an error.
    /// `done` runs on the work queue, or immediately if nothing is under way. Later calls wait for
    /// the same end.
    pub fn shut_down_then(&self, done: impl FnOnce(Answer<()>) + Send + 'static) {
        let drained = Gather::new(done);
        let mut contexts = self.lock_contexts();
        contexts.is_shut_down = true;
        let collector = contexts.collector.take();
        let by_id = std::mem::take(&mut contexts.by_id);
        let open = by_id.values().map(|kept| Arc::clone(kept.context.drain()));
        contexts.draining.extend(open);
        let draining = contexts.draining.clone();
        drop(contexts);
        if let Some(collector) = collector {
            collector.cancel();
        }
        for kept in by_id.into_values() {
            self.close(&kept.context);
            self.depart_from(&kept.context);
        }
        for drain in draining {
            let part = drained.clone();
            drain.on_end(|outcome| {
                part.end(outcome);
            });
        }
        if let Some(gate) = &self.config.gate {
            gate.close();
        }
        self.end_multi_client();
        self.close_network(drained);
    }

    /// Closes the network. `part` ends with it.
    fn close_network(&self, part: Gather) {
        let mut network = self.lock_network();
        network.is_shut_down = true;
        let is_first = network.end.is_none();
        let end = network
            .end
            .get_or_insert_with(|| Drain::closing(&self.host));
        let end = Arc::clone(end);
        let communicator = network.communicator.take();
        drop(network);
        end.on_end(|outcome| {
            part.end(outcome);
        });
        match communicator {
            Some(communicator) => {
                let closed = move |outcome: Answer<()>| {
                    if let Err(errors) = &outcome {
                        log::warning!("the network of a task was cut: {errors}");
                    }
                    end.end(outcome);
                };
                communicator.close(self.config.drain_timeout, Box::new(closed));
            }
            None if is_first => end.end(Ok(())),
            // Another call closes it.
            None => {}
        }
    }
}

#[cold]
fn no_context(id: u64) -> RemoteError {
    let message = format!("Context with id {id} does not exist.");
    RemoteError::new(ErrorCode::InvalidDistributedContextId, message)
}

#[cold]
fn context_exists(id: u64) -> RemoteError {
    let message =
        format!("Failed to create DistributedContext: the context with id <{id}> already exists.");
    RemoteError::new(ErrorCode::DistributedContextAlreadyExists, message)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

//! The creation of a context on all tasks of a cluster.
//!
//! # A single client
//!
//! The client creates its own context, queries the devices of all tasks, and requests the context
//! from all others. Tasks may start later, so the client retries for a while, and
//! [reports](RollCall) which ones are missing. Finally it has the ready chains of the others and
//! keeps the contexts alive.
//!
//! # Many clients
//!
//! Every task initializes with its own configuration. The lead task does the same as a single
//! client, and then sends the ready chains of all tasks to the others. A task that does not lead
//! goes through these states:
//!
//! ```text
//!              initialize                CreateContext, same configuration          SendReadyChains
//!  NotReady ───────────────► WaitForContext ────────────────────► WaitForChains ───────────────► Finished
//!     │ CreateContext: it waits │ another configuration                 │ a chain cannot be stored    │ closed
//!     └─────────────────────────┴──────────────────► Error ◄────────────┘                            ▼
//!                                                      └── initialize ──► as from NotReady ◄─────────┘
//! ```
//!
//! From `WaitForContext` to `Finished` it [watches](LeadWatch) over the lead task. A lead task may
//! be started again before the initialization is complete, if it is there within the failure
//! timeout, and has requested the context again by then if its predecessor had: its request
//! replaces that of its predecessor.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use tfrt_support::{Error, ErrorCode};

use super::lead_watch::{LeadWatch, Limits};
use super::requests::{created_response, enter_devices};
use super::roll_call::{RollCall, Stage};
use super::{DEFAULT_INITIALIZATION_TIMEOUT, Server, context_exists};
use crate::cluster::{ClusterInfo, TaskInfo};
use crate::context::DistributedContext;
use crate::error::{Answer, Gather, RemoteError, RemoteErrors};
use crate::fabric::{CallOptions, Reply};
use crate::message::{
    CloseContextRequest, CreateContextRequest, CreateContextResponse,
    DistributedContextConfiguration, GetDevicesRequest, RemoteObjectIdProto,
    SendReadyChainsRequest, SendReadyChainsResponse,
};
use crate::name::{TaskName, device_name};
use crate::object::RemoteObjectId;
use crate::random;

/// The number of requests for a task's devices before it counts as absent, without a time limit.
const GET_DEVICES_RETRIES: u32 = 64;

/// The number of such requests, with a time limit, until the reason why none is answered is known.
const RETRIES_AT_ONCE: u32 = 4;

/// The callback at the end of an initialization.
type Initialized = Box<dyn FnOnce(Answer<Arc<DistributedContext>>) + Send>;

/// The progress of the initialization by many clients, on a task that does not lead.
#[derive(Default)]
pub(super) struct MultiClient {
    state: State,
}

#[derive(Default)]
enum State {
    /// The client of this task has not initialized yet.
    #[default]
    NotReady,
    /// The lead task was faster than the client here. Until the client says which task leads,
    /// several may claim to.
    LeaderWaits(Vec<Claim>),
    WaitForContext(Follower),
    WaitForChains {
        context: Arc<DistributedContext>,
        done: Initialized,
        watch: Arc<LeadWatch>,
    },
    /// The context of this id was initialized.
    Finished(u64),
    Error,
}

/// The client of a task that does not lead, until it has a context.
struct Follower {
    config: DistributedContextConfiguration,
    done: Initialized,
    watch: Arc<LeadWatch>,
}

/// The request of a task that claims to lead.
struct Claim {
    /// The name of the task, if it proved it.
    caller: Option<TaskName>,
    request: CreateContextRequest,
    reply: Reply<CreateContextResponse>,
}

impl Claim {
    /// Returns `true` unless another task than the one that leads proved its name.
    fn is_of_leader(&self, config: &DistributedContextConfiguration) -> bool {
        let Some(caller) = &self.caller else {
            return true;
        };
        TaskName::parse(config.lead_task_name()).is_ok_and(|leader| leader == *caller)
    }

    /// Returns `true` if the lead task was started again, and asks for a context in place of one
    /// whose initialization is not complete.
    fn replaces(&self, context: &DistributedContext) -> bool {
        let config = context.config();
        self.request.context_id != context.id()
            && self.is_of_leader(config)
            && self.request.dist_config.as_ref() == Some(config)
    }

    /// Refuses a request for a context when there is one.
    fn refuse_repeated(self) {
        let exists = context_exists(self.request.context_id);
        self.reply.send(Err(exists.into()));
    }

    /// Answers that another request has taken the place of this one.
    fn supersede(self) {
        let message = "a later request of the task that leads has replaced this one";
        let error = RemoteError::new(ErrorCode::Cancelled, message);
        self.reply.send(Err(error.into()));
    }

    /// Refuses the request of a task that does not lead.
    fn refuse(self, config: &DistributedContextConfiguration) {
        let leader = config.lead_task_name();
        let message =
            format!("the context belongs to `{leader}`, not to the task that asks for it");
        let error = RemoteError::new(ErrorCode::FailedPrecondition, message);
        self.reply.send(Err(error.into()));
    }
}

impl fmt::Debug for MultiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::NotReady => "NotReady",
            State::LeaderWaits(..) => "LeaderWaits",
            State::WaitForContext(_) => "WaitForContext",
            State::WaitForChains { .. } => "WaitForChains",
            State::Finished(_) => "Finished",
            State::Error => "Error",
        })
    }
}

impl Server {
    /// Creates a context on all tasks of a cluster whose program this task owns. Without an id, a
    /// random one is drawn.
    ///
    /// `done` gets the context of this task, or the errors of all tasks; then no task keeps the
    /// context.
    pub fn initialize_single_client(
        self: &Arc<Self>,
        id: Option<u64>,
        config: &DistributedContextConfiguration,
        done: impl FnOnce(Answer<Arc<DistributedContext>>) + Send + 'static,
    ) {
        let interval = self.config.gc_timeout / 2;
        let failure_timeout = self.config.failure_timeout;
        self.lead(id, config, false, move |outcome| {
            done(outcome.map(|(context, _)| {
                context.start_keep_alive(interval);
                context.start_detection(failure_timeout, true);
                context
            }));
        });
    }

    /// Takes part in the creation of a context on all tasks of a cluster, each of which runs a
    /// client.
    pub fn initialize_multi_client(
        self: &Arc<Self>,
        config: &DistributedContextConfiguration,
        done: impl FnOnce(Answer<Arc<DistributedContext>>) + Send + 'static,
    ) {
        let cluster = match ClusterInfo::new(config) {
            Ok(cluster) => cluster,
            Err(error) => return done(Err(error.into())),
        };
        let leader = match cluster.find(config.lead_task_name()) {
            Ok(leader) => leader,
            Err(error) => return done(Err(error.into())),
        };
        if leader == cluster.own_task() {
            let failure_timeout = self.config.failure_timeout;
            let this = Arc::clone(self);
            return self.lead(None, config, true, move |outcome| match outcome {
                Ok((context, chains)) => {
                    context.start_detection(failure_timeout, true);
                    let led = Arc::clone(&context);
                    tell_ready_chains(&context, &chains, move |outcome| {
                        if outcome.is_err() {
                            led.close_remote_contexts(|_| ());
                            // It may be closed already.
                            let _ = this.close_context(led.id());
                        }
                        done(outcome);
                    });
                }
                Err(errors) => done(Err(errors)),
            });
        }
        match cluster.task(leader) {
            Ok(leader) => self.follow(config.clone(), leader, Box::new(done)),
            Err(error) => done(Err(error.into())),
        }
    }

    /// Creates a context on all tasks. `done` gets it, with the ready chains of the tasks in the
    /// order of the configuration.
    fn lead(
        self: &Arc<Self>,
        id: Option<u64>,
        config: &DistributedContextConfiguration,
        is_multi_client: bool,
        done: impl FnOnce(Answer<Led>) + Send + 'static,
    ) {
        let timeout = self.config.initialization_timeout;
        let limit = timeout.map(|timeout| Instant::now() + timeout);
        let id = id.unwrap_or_else(random::non_zero);
        let context = match self.create_context(id, config) {
            Ok(context) => context,
            Err(error) => return done(Err(error.into())),
        };
        if !is_multi_client {
            context.may_be_closed_by(context.cluster().own_task());
        }
        let (this, asked) = (Arc::clone(self), Arc::clone(&context));
        let all = Gather::new(move |outcome| match outcome {
            Ok(()) => this.create_on_others(&asked, is_multi_client, limit, done),
            Err(errors) => {
                let _ = this.close_context(id);
                done(Err(errors));
            }
        });
        let tasks = context.cluster().tasks();
        let present = RollCall::start(&self.host, Stage::Presence, tasks.len(), tasks);
        for task in tasks {
            let (task, present) = (task.clone(), Arc::clone(&present));
            let absent = Absent {
                task,
                present,
                limit,
            };
            absent.ask(&context, all.clone());
        }
    }

    fn create_on_others(
        self: &Arc<Self>,
        context: &Arc<DistributedContext>,
        is_multi_client: bool,
        limit: Option<Instant>,
        done: impl FnOnce(Answer<Led>) + Send + 'static,
    ) {
        let cluster = context.cluster();
        let others: Vec<TaskInfo> = cluster
            .tasks()
            .iter()
            .filter(|task| task.handle != cluster.own_task())
            .cloned()
            .collect();
        // One place for each task of the configuration; the own chain is known.
        let chains = vec![None; cluster.tasks().len()];
        let chains = Arc::new(Mutex::new(chains));
        let (this, led, all_chains) = (Arc::clone(self), Arc::clone(context), Arc::clone(&chains));
        let all = Gather::new(move |outcome| match outcome {
            Ok(()) => {
                let mut chains = lock(&all_chains);
                let chains = std::mem::take(&mut *chains);
                done(Ok((led, chains)));
            }
            Err(errors) => {
                // Those that answered have the context.
                let answered = std::mem::take(&mut *lock(&all_chains));
                let tasks = led.cluster().tasks().iter().zip(answered);
                for (task, _) in tasks.filter(|(_, chain)| chain.is_some()) {
                    let request = CloseContextRequest {
                        context_id: led.id(),
                    };
                    led.call(task.handle, CallOptions::default(), request, |_| ());
                }
                let _ = this.close_context(led.id());
                done(Err(errors));
            }
        });
        let devices = context.devices().to_messages();
        // Without a limit of the whole, the wait for the tasks to be there does not count.
        let timeout = limit.map_or(DEFAULT_INITIALIZATION_TIMEOUT, |limit| {
            limit.saturating_duration_since(Instant::now())
        });
        let options = CallOptions {
            timeout: Some(timeout),
            ..CallOptions::default()
        };
        let (stage, num_tasks) = (Stage::Participation, cluster.tasks().len());
        let created = RollCall::start(&self.host, stage, num_tasks, &others);
        for task in others {
            let request = CreateContextRequest {
                context_id: context.id(),
                dist_config: Some(context.config().for_task(&task.name.job, task.name.task)),
                devices: devices.clone(),
                is_multi_client,
                owner: match is_multi_client {
                    true => String::new(),
                    false => cluster.own_name(),
                },
                owner_prefix: match is_multi_client {
                    true => 0,
                    false => context.objects().prefix(),
                },
            };
            let (part, led) = (all.clone(), Arc::clone(context));
            let (chains, created) = (Arc::clone(&chains), Arc::clone(&created));
            context.call(task.handle, options.clone(), request, move |answer| {
                created.enter(task.handle);
                let answer = answer.map_err(|errors| created.explain(&task, errors));
                let Some(response) = part.clone().end(answer) else {
                    return;
                };
                let tasks = led.cluster().tasks();
                let position = tasks.iter().position(|known| known.handle == task.handle);
                if let Some(position) = position {
                    lock(&chains)[position].clone_from(&response.ready_chain);
                }
                if let Some(chain) = &response.ready_chain {
                    let chain = RemoteObjectId::from(chain);
                    if let Err(error) = led.add_ready_chain_of(task.handle, chain) {
                        part.fail(error.into());
                    }
                }
            });
        }
    }

    fn lock_multi_client(&self) -> MutexGuard<'_, MultiClient> {
        let state = self.multi_client.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the lead task.
    fn follow(
        self: &Arc<Self>,
        config: DistributedContextConfiguration,
        leader: &TaskInfo,
        done: Initialized,
    ) {
        let watch = self.watch_leader(&config, leader);
        let mut multi_client = self.lock_multi_client();
        if self.lock_contexts().is_shut_down {
            drop(multi_client);
            return done(Err(shut_down()));
        }
        let is_new = match &multi_client.state {
            State::NotReady | State::LeaderWaits(..) | State::Error => true,
            State::Finished(id) => !self.lock_contexts().by_id.contains_key(id),
            State::WaitForContext(_) | State::WaitForChains { .. } => false,
        };
        if !is_new {
            drop(multi_client);
            let message = "Trying to initialize multi-client distributed context while a previous initialization attempt has started.";
            return done(Err(RemoteError::new(ErrorCode::Unknown, message).into()));
        }
        let own_config = config.clone();
        let next = State::WaitForContext(Follower {
            config,
            done,
            watch: Arc::clone(&watch),
        });
        let before = std::mem::replace(&mut multi_client.state, next);
        drop(multi_client);
        // Not before: it ends the wait, which must have begun.
        watch.start();
        if let State::LeaderWaits(claims) = before {
            for claim in claims {
                match claim.is_of_leader(&own_config) {
                    true => self.create_for_leader(claim.caller, claim.request, claim.reply),
                    false => claim.refuse(&own_config),
                }
            }
        }
    }

    /// Returns a watch over the lead task, until the initialization is complete.
    fn watch_leader(
        &self,
        config: &DistributedContextConfiguration,
        leader: &TaskInfo,
    ) -> Arc<LeadWatch> {
        // Without a network nobody comes, which the limit of time ends.
        let communicator = self.communicator().ok().flatten();
        let client = communicator.map(|network| network.client_of(&leader.name, &leader.address));
        let timeout = self.config.initialization_timeout;
        let limits = Limits {
            failure_timeout: self.config.failure_timeout,
            deadline: Instant::now() + timeout.unwrap_or(DEFAULT_INITIALIZATION_TIMEOUT),
        };
        let own_name = config.task_name();
        Arc::new_cyclic(|own: &Weak<LeadWatch>| {
            let (this, own) = (self.this.clone(), own.clone());
            let on_failed = move |error| {
                if let Some(this) = this.upgrade() {
                    this.stop_following(&own, error);
                }
            };
            LeadWatch::new(
                &self.host,
                own_name,
                leader.clone(),
                client,
                limits,
                on_failed,
            )
        })
    }

    /// Ends the initialization that a watch belongs to with an error, unless it is over.
    fn stop_following(&self, failed: &Weak<LeadWatch>, error: RemoteError) {
        let mut multi_client = self.lock_multi_client();
        let is_waiting = match &multi_client.state {
            State::WaitForContext(Follower { watch, .. }) | State::WaitForChains { watch, .. } => {
                std::ptr::eq(Arc::as_ptr(watch), failed.as_ptr())
            }
            _ => false,
        };
        if !is_waiting {
            return;
        }
        let state = std::mem::replace(&mut multi_client.state, State::Error);
        drop(multi_client);
        match state {
            State::WaitForContext(Follower { done, .. }) => done(Err(error.into())),
            State::WaitForChains { context, done, .. } => {
                // It may be closed already.
                let _ = self.close_context(context.id());
                done(Err(error.into()));
            }
            _ => unreachable!("the state was looked at under the same lock"),
        }
    }

    /// Creates the context that the lead task requests, once the client here has initialized.
    pub(super) fn create_for_leader(
        &self,
        caller: Option<TaskName>,
        request: CreateContextRequest,
        reply: Reply<CreateContextResponse>,
    ) {
        let claim = Claim {
            caller,
            request,
            reply,
        };
        let mut multi_client = self.lock_multi_client();
        if self.lock_contexts().is_shut_down {
            drop(multi_client);
            return claim.reply.send(Err(shut_down()));
        }
        let mut outdated = None;
        let (config, done, watch) = match std::mem::take(&mut multi_client.state) {
            State::NotReady => {
                multi_client.state = State::LeaderWaits(vec![claim]);
                return;
            }
            State::WaitForContext(follower) if claim.is_of_leader(&follower.config) => {
                (follower.config, follower.done, follower.watch)
            }
            State::WaitForChains {
                context,
                done,
                watch,
            } if claim.replaces(&context) => {
                let config = context.config().clone();
                outdated = Some(context);
                (config, done, watch)
            }
            State::WaitForContext(follower) => {
                // The client here goes on waiting for the task that leads.
                let leads = follower.config.clone();
                multi_client.state = State::WaitForContext(follower);
                drop(multi_client);
                return claim.refuse(&leads);
            }
            // One of each task that proved its name: there are only so many.
            State::LeaderWaits(mut claims) => {
                let known = claims.iter_mut().find(|known| known.caller == claim.caller);
                let unused = match known {
                    None => {
                        claims.push(claim);
                        None
                    }
                    Some(known) if known.request.context_id == claim.request.context_id => {
                        Some((claim, Claim::refuse_repeated as fn(Claim)))
                    }
                    // The process that sent the known one has failed, or was started again.
                    Some(known) => {
                        let known = std::mem::replace(known, claim);
                        Some((known, Claim::supersede as fn(Claim)))
                    }
                };
                multi_client.state = State::LeaderWaits(claims);
                drop(multi_client);
                if let Some((claim, answer)) = unused {
                    answer(claim);
                }
                return;
            }
            other => {
                let is_over = match &other {
                    State::Finished(id) => !self.lock_contexts().by_id.contains_key(id),
                    State::Error => true,
                    _ => false,
                };
                if is_over {
                    multi_client.state = State::LeaderWaits(vec![claim]);
                } else {
                    multi_client.state = other;
                    drop(multi_client);
                    claim.refuse_repeated();
                }
                return;
            }
        };
        let Claim { request, reply, .. } = claim;
        let asked = request.dist_config.clone().unwrap_or_default();
        let created = match asked == config {
            true => self.create_for_client(&request),
            false => Err(incompatible(&config, &asked)),
        };
        match created {
            Ok(context) => {
                let response = created_response(&context);
                watch.enter(context.id());
                self.end_with_leader(&context);
                multi_client.state = State::WaitForChains {
                    context,
                    done,
                    watch,
                };
                drop(multi_client);
                reply.send(Ok(response));
            }
            Err(error) => {
                multi_client.state = State::Error;
                drop(multi_client);
                reply.send(Err(error.clone().into()));
                done(Err(error.into()));
            }
        }
        if let Some(outdated) = outdated {
            // It may be closed already.
            let _ = self.close_context(outdated.id());
        }
    }

    /// Ends the initialization of a context if another task says that the lead task is lost, before
    /// it is complete.
    fn end_with_leader(&self, context: &Arc<DistributedContext>) {
        let Ok(leader) = context.cluster().find(context.config().lead_task_name()) else {
            return;
        };
        let (this, weak) = (self.this.clone(), Arc::downgrade(context));
        context.belong_to(leader, move || {
            if let (Some(this), Some(context)) = (this.upgrade(), weak.upgrade())
                && this.is_awaited(&context)
            {
                // It may be closed already.
                let _ = this.close_context(context.id());
            }
        });
    }

    /// Returns `true` if the initialization waits for the ready chains of a context.
    fn is_awaited(&self, context: &Arc<DistributedContext>) -> bool {
        let multi_client = self.lock_multi_client();
        matches!(&multi_client.state, State::WaitForChains { context: awaited, .. }
            if Arc::ptr_eq(awaited, context))
    }

    /// Takes the ready chains of all tasks from the lead task.
    pub(super) fn finish_multi_client(
        &self,
        request: &SendReadyChainsRequest,
    ) -> Answer<SendReadyChainsResponse> {
        let context = self.context(request.context_id)?;
        let own = context.own_ready_chain();
        let chains = request.ready_chains.iter().map(RemoteObjectId::from);
        let stored = chains
            .filter(|chain| chain.device() != own.device())
            .try_for_each(|chain| context.add_ready_chain(chain));
        let mut multi_client = self.lock_multi_client();
        let is_awaited = matches!(&multi_client.state, State::WaitForChains { context: awaited, .. }
            if Arc::ptr_eq(awaited, &context));
        if !is_awaited {
            drop(multi_client);
            return Ok(stored.map(|()| SendReadyChainsResponse {})?);
        }
        let next = match stored {
            Ok(()) => State::Finished(context.id()),
            Err(_) => State::Error,
        };
        let State::WaitForChains { done, .. } = std::mem::replace(&mut multi_client.state, next)
        else {
            unreachable!("the state was looked at under the same lock");
        };
        drop(multi_client);
        match stored {
            Ok(()) => {
                context.start_detection(self.config.failure_timeout, false);
                done(Ok(context));
                Ok(SendReadyChainsResponse {})
            }
            Err(cause) => {
                let message = "Failed to finalize multi-client distributed context initialization with remote ready chains.";
                done(Err(RemoteError::new(ErrorCode::Unknown, message).into()));
                Err(cause.into())
            }
        }
    }

    /// Ends the initialization that is under way for a context which is closed, with an error.
    pub(super) fn end_initialization_of(&self, closed: &Arc<DistributedContext>) {
        let mut multi_client = self.lock_multi_client();
        let is_awaited = matches!(&multi_client.state, State::WaitForChains { context, .. }
            if Arc::ptr_eq(context, closed));
        if !is_awaited {
            return;
        }
        let state = std::mem::replace(&mut multi_client.state, State::Error);
        drop(multi_client);
        if let State::WaitForChains { done, .. } = state {
            let cluster = closed.cluster();
            let leader = cluster.find(closed.config().lead_task_name()).ok();
            let lost = leader.and_then(|leader| closed.health().lost(leader));
            let error = lost.unwrap_or_else(|| {
                let message = format!("context {} is closed", closed.id());
                RemoteError::new(ErrorCode::Cancelled, message)
            });
            done(Err(error.into()));
        }
    }

    /// Ends an initialization that is under way, with an error.
    pub(super) fn end_multi_client(&self) {
        let state = std::mem::replace(&mut self.lock_multi_client().state, State::Error);
        match state {
            State::LeaderWaits(claims) => {
                for claim in claims {
                    claim.reply.send(Err(shut_down()));
                }
            }
            State::WaitForContext(Follower { done, .. }) | State::WaitForChains { done, .. } => {
                done(Err(shut_down()));
            }
            State::NotReady | State::Finished(_) | State::Error => {}
        }
    }
}

#[cold]
fn shut_down() -> RemoteErrors {
    RemoteError::new(ErrorCode::Cancelled, "the server is shut down").into()
}

/// A context that this task leads, and the ready chains of all tasks that have sent theirs.
type Led = (Arc<DistributedContext>, Vec<Option<RemoteObjectIdProto>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
fn incompatible(
    expected: &DistributedContextConfiguration,
    found: &DistributedContextConfiguration,
) -> RemoteError {
    let message = format!(
        "Incompatible distributed configuration when initializing multi-client distributed \
         context. Expecting {expected}, got {found}"
    );
    RemoteError::new(ErrorCode::InvalidArgument, message)
}

/// A task whose devices are not known yet.
struct Absent {
    task: TaskInfo,
    present: Arc<RollCall>,
    /// The end of the wait. Without one, the number of requests is limited.
    limit: Option<Instant>,
}

impl Absent {
    /// Asks the task for its devices until it answers, and enters them in the context.
    fn ask(self, context: &Arc<DistributedContext>, part: Gather) {
        let left = self
            .limit
            .map(|limit| limit.saturating_duration_since(Instant::now()));
        let options = CallOptions {
            max_retries: left.map_or(GET_DEVICES_RETRIES, |_| RETRIES_AT_ONCE),
            timeout: left,
            ..CallOptions::default()
        };
        let is_patient = left.is_some_and(|left| !left.is_zero());
        let (asked, handle) = (Arc::clone(context), self.task.handle);
        context.call(handle, options, GetDevicesRequest {}, move |answer| {
            let Self { task, present, .. } = &self;
            let answer = match answer {
                Err(errors) if is_patient && errors.code() == ErrorCode::RpcUnavailable => {
                    present.note(handle, &errors);
                    return self.ask(&asked, part);
                }
                Err(errors) => Err(present.explain(task, errors)),
                Ok(response) => Ok(response),
            };
            present.enter(handle);
            let Some(response) = part.clone().end(answer) else {
                return;
            };
            let mut devices = response.devices;
            let name = task.name.to_string();
            for device in &mut devices {
                device.name = device_name(&name, &device.name);
            }
            if let Err(error) = enter_devices(&asked, &devices) {
                part.fail(error.into());
            }
        });
    }
}

/// Tells all other tasks the ready chains of all.
fn tell_ready_chains(
    context: &Arc<DistributedContext>,
    chains: &[Option<RemoteObjectIdProto>],
    done: impl FnOnce(Answer<Arc<DistributedContext>>) + Send + 'static,
) {
    let led = Arc::clone(context);
    let all = Gather::new(move |outcome: Answer<()>| done(outcome.map(|()| led)));
    let cluster = context.cluster();
    let own_task = cluster.own_task();
    let mut ready_chains = Vec::with_capacity(chains.len());
    for (task, chain) in cluster.tasks().iter().zip(chains) {
        if task.handle == own_task {
            ready_chains.push(context.own_ready_chain().into());
        } else if let Some(chain) = chain {
            ready_chains.push(chain.clone());
        } else {
            let message = format!("Missing remote ready chain from {}", task.name);
            all.add(Error::new(message).into());
        }
    }
    for task in cluster.tasks() {
        if task.handle == own_task {
            continue;
        }
        let request = SendReadyChainsRequest {
            context_id: context.id(),
            ready_chains: ready_chains.clone(),
        };
        let part = all.clone();
        context.call(task.handle, CallOptions::default(), request, |answer| {
            part.end(answer);
        });
    }
}

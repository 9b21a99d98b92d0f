//! The state of one distributed execution on one task.
//!
//! | module | contents |
//! |---|---|
//! | `calls` | requests and payloads to other tasks |
//! | `ownership` | whose the context and its ids are |
//! | `delivery` | payloads that are sent again until they have arrived |
//! | `expectation` | receivers that wait no longer than for a certain task |

mod calls;

mod delivery;

mod expectation;

mod ownership;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_host::Timer;
use tfrt_host::{HostContext, log};
use tfrt_support::{Error, ErrorCode};

use crate::cluster::{ClusterInfo, TaskHandle};
use crate::collective::epoch::Epochs;
use crate::collective::uses::Uses;
use crate::collective::{self, GroupMember, Selection, is_member};
use crate::creators::Creators;
use crate::device::{ClusterDevices, RemoteDevice};
use crate::drain::Drain;
use crate::error::{Answer, Gather, RemoteError, RemoteErrors};
use crate::execution::{Executions, UnderWay};
use crate::fabric::{self, CallOptions, FabricCommunicator, RemoteClient};
use crate::function::Programs;
use crate::health::{Detector, Health, PeerEnd};
use crate::last_reference::drop_on_queue;
use crate::lease::Releases;
use crate::message::{
    ANY_ORDER, CloseContextRequest, DistributedContextConfiguration, KeepAliveRequest,
};
use crate::name;
use crate::object::{RemoteObjectId, RemoteObjects};
use crate::random;
use crate::rendezvous::{Receiver, Rendezvous};
use crate::server::{KeptCluster, LocalCluster, Server};

use calls::Executing;

/// The device that every host has, as its task calls it.
const HOST_DEVICE: &str = "CPU:0";

/// One distributed execution, as one task sees it: cluster, devices, objects, programs, and clients
/// of the other tasks.
///
/// Made by a [`Server`]. Kernels that run on hold a reference.
pub struct DistributedContext {
    id: u64,
    /// The server that made the context.
    server: Weak<Server>,
    host: Arc<HostContext>,
    config: DistributedContextConfiguration,
    cluster: ClusterInfo,
    devices: ClusterDevices,
    objects: RemoteObjects,
    releases: Arc<Releases>,
    rendezvous: Rendezvous,
    health: Arc<Health>,
    /// Tasks of this process whose servers were shut down: they send no message any more.
    departed: Arc<Health>,
    /// Groups of survivors, by name.
    survivors: Mutex<HashMap<String, Survivors>>,
    /// How often each group was regrouped.
    num_regroupings: Mutex<HashMap<String, u64>>,
    epochs: Epochs,
    uses: Arc<Uses>,
    creators: Creators,
    closer: OnceLock<TaskHandle>,
    /// The groups that were opened for collectives, unless those go around the ring.
    group_members: Mutex<GroupMembers>,
    detector: Mutex<Option<Arc<Detector>>>,
    /// The callback for the loss of the owner task: the client of a context with a single client,
    /// on the other tasks.
    owner: Mutex<Option<(TaskHandle, OnOwnerLost)>>,
    programs: Programs,
    executions: Arc<Executions>,
    executing: Arc<Executing>,
    drain: Arc<Drain>,
    settings: ContextSettings,
    /// None without a network, and once the context is closed.
    communicator: Mutex<Option<Arc<dyn FabricCommunicator>>>,
    clients: Mutex<HashMap<TaskHandle, Arc<dyn RemoteClient>>>,
    own_ready_chain: RemoteObjectId,
    ready_chains: Mutex<HashMap<TaskHandle, RemoteObjectId>>,
    keep_alive: Mutex<KeepAlive>,
}

/// What a server decides for its contexts.
#[derive(Clone, Debug)]
pub(crate) struct ContextSettings {
    /// The maximum number of bytes of unclaimed payloads.
    pub(crate) max_unclaimed_bytes: usize,
    /// The back end of collectives.
    pub(crate) collectives: Selection,
    /// How long requests under way may take after the context was closed.
    pub(crate) drain_timeout: Duration,
    /// Whether the end of a context reports what nobody has claimed or deleted.
    pub(crate) reports_leftovers: bool,
}

/// The outcome of opening a group. None if its collectives go around the ring.
type Opened = Result<Option<Arc<dyn GroupMember>>, Error>;

/// Opened groups, by name.
#[derive(Debug, Default)]
struct GroupMembers {
    by_group: HashMap<String, Opened>,
    is_closed: bool,
}

/// A group of the tasks that are left of another one.
#[derive(Debug)]
struct Survivors {
    /// The group of the configuration.
    of: String,
    members: Arc<[TaskHandle]>,
}

/// Ends a context whose owner is lost.
type OnOwnerLost = Box<dyn FnOnce() + Send>;

#[derive(Debug, Default)]
struct KeepAlive {
    is_over: bool,
    timer: Option<Timer>,
}

impl DistributedContext {
    /// Creates a context with the local devices, and with the own ready chain.
    ///
    /// # Errors
    /// If the configuration names tasks that do not exist, or a local device cannot be one of the
    /// cluster.
    pub(crate) fn new(
        id: u64,
        server: Weak<Server>,
        host: &Arc<HostContext>,
        config: &DistributedContextConfiguration,
        communicator: Option<Arc<dyn FabricCommunicator>>,
        settings: ContextSettings,
    ) -> Result<Arc<Self>, RemoteError> {
        let cluster = ClusterInfo::new(config)?;
        let (own_task, own_name) = (cluster.own_task(), cluster.own_name());
        let devices = ClusterDevices::default();
        for device in host.devices().all() {
            let name = name::device_name(&own_name, device.0.name());
            devices.add_if_absent(RemoteDevice::new(&name, device.0.device_type(), own_task)?);
        }
        let host_device = name::device_name(&own_name, HOST_DEVICE);
        devices.add_if_absent(RemoteDevice::new(&host_device, "cpu", own_task)?);
        let objects = RemoteObjects::new(own_task.value());
        let own_ready_chain = objects.allocate(host_device);
        objects.set(&own_ready_chain, AnyRef::ready_chain())?;
        let creators = Creators::default();
        // The first one.
        let _ = creators.tell(objects.prefix(), own_task);
        let context = Arc::new(Self {
            id,
            server,
            host: Arc::clone(host),
            config: config.clone(),
            cluster,
            devices,
            objects,
            releases: Arc::default(),
            rendezvous: Rendezvous::new(own_name, settings.max_unclaimed_bytes),
            health: Arc::default(),
            departed: Arc::default(),
            survivors: Mutex::default(),
            num_regroupings: Mutex::default(),
            epochs: Epochs::default(),
            uses: Arc::default(),
            creators,
            closer: OnceLock::new(),
            group_members: Mutex::default(),
            detector: Mutex::default(),
            owner: Mutex::default(),
            programs: Programs::default(),
            executions: Arc::default(),
            executing: Arc::default(),
            drain: Drain::new(host),
            settings,
            communicator: Mutex::new(communicator),
            clients: Mutex::default(),
            own_ready_chain,
            ready_chains: Mutex::default(),
            keep_alive: Mutex::default(),
        });
        let uses = Arc::clone(&context.uses);
        context
            .rendezvous
            .discard("ended collectives".to_owned(), move |key, payload| {
                uses.are_over_for(key, payload)
            });
        context.releases.belong_to(&context);
        context.devices.belong_to(&context);
        Ok(context)
    }

    /// Returns an id for an object that another request creates on a device. The object is deleted
    /// when the last copy of the id is dropped.
    #[must_use]
    pub fn new_object(&self, device: impl Into<Arc<str>>) -> RemoteObjectId {
        self.releases.lease(self.objects.allocate(device))
    }

    /// Returns the id of the execution, which is the same on all tasks.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the host of the task.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns the configuration of the task.
    #[must_use]
    pub fn config(&self) -> &DistributedContextConfiguration {
        &self.config
    }

    /// Returns the tasks and groups.
    #[must_use]
    pub fn cluster(&self) -> &ClusterInfo {
        &self.cluster
    }

    /// Returns the devices of all tasks.
    #[must_use]
    pub fn devices(&self) -> &ClusterDevices {
        &self.devices
    }

    /// Returns the objects that live on this task.
    #[must_use]
    pub fn objects(&self) -> &RemoteObjects {
        &self.objects
    }

    /// Returns the value of an object that lives here; a placeholder if there is none yet. A
    /// placeholder becomes an error when the task is lost that produces the object.
    pub(crate) fn object(self: &Arc<Self>, id: &RemoteObjectId) -> AnyRef {
        let value = self.objects.get(id);
        if let Some(producer) = id.producer()
            && self.objects.is_unwatched(id)
            && let Ok(producer) = self.cluster.find(producer)
            && producer != self.cluster.own_task()
        {
            // Without a lease: the object does not keep its id.
            let own_id = RemoteObjectId::new(id.prefix(), id.local(), id.device());
            let this = Arc::downgrade(self);
            let fail = move |end: PeerEnd| {
                if let Some(this) = this.upgrade() {
                    let error = RemoteErrors::from(end.into_error()).to_value(&this.host);
                    this.objects.fail(&own_id, &error);
                }
            };
            let watches =
                [&self.health, &self.departed].map(|record| record.watch(producer, fail.clone()));
            self.objects.keep_watches(id, watches.into());
        }
        value
    }

    /// Returns the rendezvous of payloads and receivers.
    #[must_use]
    pub fn rendezvous(&self) -> &Rendezvous {
        &self.rendezvous
    }

    /// Returns the record of lost tasks.
    #[must_use]
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// Returns the record of the tasks that send no message any more.
    pub(crate) fn departed(&self) -> &Arc<Health> {
        &self.departed
    }

    /// Returns the members of a group, in the order of its ring: a group of the configuration, or
    /// one of [survivors](crate::collective::regroup).
    ///
    /// # Errors
    /// `No collective group with name G.`
    pub fn group(&self, name: &str) -> Result<Arc<[TaskHandle]>, RemoteError> {
        if let Some(survivors) = self.lock_survivors().get(name) {
            return Ok(Arc::clone(&survivors.members));
        }
        self.cluster.group(name).map(Arc::from)
    }

    /// Adds a group of survivors of the group `of`, unless it exists.
    pub(crate) fn add_survivors(&self, name: &str, of: &str, members: Vec<TaskHandle>) {
        let mut survivors = self.lock_survivors();
        survivors
            .entry(name.to_owned())
            .or_insert_with(|| Survivors {
                of: of.to_owned(),
                members: members.into(),
            });
    }

    /// Returns the group of the configuration that a group of survivors comes from.
    pub(crate) fn survivors_of(&self, name: &str) -> Option<String> {
        let survivors = self.lock_survivors();
        survivors.get(name).map(|survivors| survivors.of.clone())
    }

    /// Returns `true` if the reductions of a group may combine elements in any order. The survivors
    /// of a group may, if the group may.
    #[must_use]
    pub fn allows_any_order(&self, group: &str) -> bool {
        let of = self.survivors_of(group);
        let of = of.as_deref().unwrap_or(group);
        let mut groups = self.config.collective_groups.iter();
        let group = groups.find(|group| group.name == of);
        group.is_some_and(|group| group.order == ANY_ORDER)
    }

    /// Returns the names of all groups of survivors of a group.
    pub(crate) fn survivor_groups(&self, of: &str) -> Vec<String> {
        let survivors = self.lock_survivors();
        let groups = survivors.iter().filter(|(_, group)| group.of == of);
        groups.map(|(name, _)| name.clone()).collect()
    }

    /// Returns how often the members of a group have met, which is the same on all of them.
    pub(crate) fn num_regroupings(&self, name: &str) -> u64 {
        let counts = self.num_regroupings.lock();
        let counts = counts.unwrap_or_else(PoisonError::into_inner);
        counts.get(name).copied().unwrap_or(0)
    }

    /// Records that the members of a group have met.
    pub(crate) fn count_regrouping(&self, name: &str) {
        let counts = self.num_regroupings.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Returns the aborts of groups.
    pub(crate) fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// Returns the uses of the keys of collectives that have ended.
    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Returns this task as a member of a group, through the back end that was chosen for it. None
    /// if the collectives go around the ring: they need no open group.
    ///
    /// # Errors
    /// If the group cannot be opened.
    pub(crate) fn group_member(
        self: &Arc<Self>,
        group: &str,
    ) -> Result<Option<Arc<dyn GroupMember>>, Error> {
        let goes_around = matches!(self.settings.collectives, Selection::Ring);
        if goes_around || !is_member(group, self) {
            // The ring says who is not a member, for each collective in its own words.
            return Ok(None);
        }
        // Opening is short, and must happen once: it is done under the lock.
        let members = self.group_members.lock();
        let mut members = members.unwrap_or_else(PoisonError::into_inner);
        if members.is_closed {
            return Err(self.closed_error());
        }
        if let Some(opened) = members.by_group.get(group) {
            return opened.clone();
        }
        let opened = self.settings.collectives.open(group, self);
        members.by_group.insert(group.to_owned(), opened.clone());
        opened
    }

    /// Returns `true` if all members of a group have addresses of this machine.
    #[must_use]
    pub fn is_on_this_machine(&self, group: &str) -> bool {
        let members = self.group(group);
        let is_local = |member: &TaskHandle| {
            let task = self.cluster.task(*member);
            task.is_ok_and(|task| is_local_address(&task.address))
        };
        members.is_ok_and(|members| members.iter().all(is_local))
    }

    fn lock_survivors(&self) -> MutexGuard<'_, HashMap<String, Survivors>> {
        let survivors = self.survivors.lock();
        survivors.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the programs that other tasks sent.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Returns the executions that other tasks have started here.
    #[must_use]
    pub fn executions(&self) -> &Arc<Executions> {
        &self.executions
    }

    /// Returns the chain that effects on this task start with.
    #[must_use]
    pub fn own_ready_chain(&self) -> &RemoteObjectId {
        &self.own_ready_chain
    }

    /// Sends requests to a task. Made when it is used first, also for the own task.
    ///
    /// # Errors
    /// If the task does not exist, or the server is without a network.
    pub fn client(&self, task: TaskHandle) -> Result<Arc<dyn RemoteClient>, RemoteError> {
        let info = self.cluster.task(task)?;
        let clients = self.clients.lock();
        let mut clients = clients.unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&task) {
            return Ok(Arc::clone(client));
        }
        let communicator = self.communicator.lock();
        let communicator = communicator
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or_else(|| {
                let message = "the server is not connected to a network";
                let unconnected = RemoteError::new(ErrorCode::Unavailable, message);
                let end = self.health.peer_end(task);
                end.map_or(unconnected, PeerEnd::into_error)
            })?;
        let client = communicator.client_of(&info.name, &info.address);
        clients.insert(task, Arc::clone(&client));
        Ok(client)
    }

    /// Returns `true` if there is a client of a task.
    #[cfg(test)]
    pub(crate) fn has_client(&self, task: TaskHandle) -> bool {
        let clients = self.clients.lock();
        let clients = clients.unwrap_or_else(PoisonError::into_inner);
        clients.contains_key(&task)
    }

    /// Returns the server, for work under way: it continues when the last value of the context is
    /// dropped.
    pub(crate) fn keep_server(&self) -> Option<Arc<Server>> {
        self.server.upgrade()
    }

    /// Returns the server together with its cluster in this process, likewise.
    pub(crate) fn keep_cluster(&self) -> Option<KeptCluster> {
        self.keep_server().map(Server::keep)
    }

    /// Calls a receiver with the payload that a task sends under a key; with an error if the task
    /// is lost before. Returns the number of a receiver that waits, with which the
    /// [rendezvous](Rendezvous::give_up_numbered) gives it up.
    pub fn receive(
        self: &Arc<Self>,
        from: TaskHandle,
        key: &str,
        receiver: Receiver,
    ) -> Option<u64> {
        self.receive_with(from, key, receiver, Rendezvous::receive_numbered)
    }

    /// As [`receive`](Self::receive), for a receiver that takes little time and waits for nothing:
    /// it may run on a thread of the transport.
    pub(crate) fn receive_light(
        self: &Arc<Self>,
        from: TaskHandle,
        key: &str,
        receiver: Receiver,
    ) -> Option<u64> {
        self.receive_with(from, key, receiver, Rendezvous::receive_light)
    }

    fn receive_with(
        self: &Arc<Self>,
        from: TaskHandle,
        key: &str,
        receiver: Receiver,
        enter: impl FnOnce(&Rendezvous, &str, Receiver) -> Option<u64>,
    ) -> Option<u64> {
        let (this, own_key) = (Arc::downgrade(self), key.to_owned());
        let give_up = move |number, end: PeerEnd| {
            if let Some(this) = this.upgrade() {
                let error = RemoteErrors::from(end.into_error()).to_value(&this.host);
                this.rendezvous.give_up_numbered(&own_key, number, &error);
            }
        };
        let enter = |receiver| enter(&self.rendezvous, key, receiver);
        expectation::receive_until_end(
            [&self.health, &self.departed],
            from,
            receiver,
            enter,
            give_up,
        )
    }

    /// Watches over the other tasks from now on. A caller that has communicated with all of them
    /// passes `all_are_alive`.
    pub(crate) fn start_detection(self: &Arc<Self>, timeout: Duration, all_are_alive: bool) {
        let others: Vec<TaskHandle> = self.other_tasks().collect();
        let detector = Detector::start(self, &others, timeout, all_are_alive);
        let mut kept = self.lock_detector();
        let before = kept.replace(detector);
        drop(kept);
        if let Some(before) = before {
            before.stop();
        }
    }

    pub(crate) fn lock_detector(&self) -> MutexGuard<'_, Option<Arc<Detector>>> {
        self.detector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection to a lost task, and ends the context if the task owned it.
    pub(crate) fn on_task_lost(&self, task: TaskHandle) {
        let clients = self.clients.lock();
        let client = clients
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&task);
        if let Some(client) = client {
            // All who waited for the calls in progress have got their errors. The calls may have
            // memory that was lent to them.
            client.cut();
        }
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = owner.take_if(|(owner, _)| *owner == task);
        drop(owner);
        if let Some((_, on_lost)) = ended {
            on_lost();
        }
    }

    /// Returns the other tasks.
    pub(crate) fn other_tasks(&self) -> impl Iterator<Item = TaskHandle> {
        let own_task = self.cluster.own_task();
        let tasks = self.cluster.tasks().iter().map(|task| task.handle);
        tasks.filter(move |task| *task != own_task)
    }

    /// Closes the context on all other tasks, after the objects there that are not needed any more
    /// were deleted, and ends the keep-alive and the watch over them.
    pub fn close_remote_contexts(self: &Arc<Self>, done: impl FnOnce(Answer<()>) + Send + 'static) {
        self.stop_keep_alive();
        // A task that has closed the context as it was told is not lost.
        if let Some(detector) = self.lock_detector().take() {
            detector.stop();
        }
        // Each task on its own: one that does not answer does not keep the others waiting.
        let all = Gather::new(done);
        self.releases.flush();
        for task in self.other_tasks() {
            let (this, part) = (Arc::clone(self), all.clone());
            self.releases.when_answered(task, move || {
                let request = CloseContextRequest {
                    context_id: this.id,
                };
                this.call(task, CallOptions::default(), request, |answer| {
                    part.end(answer);
                });
            });
        }
    }

    /// Says every `interval` to all tasks that the context is in use.
    pub(crate) fn start_keep_alive(self: &Arc<Self>, interval: Duration) {
        let keep_alive = self.keep_alive.lock();
        let mut keep_alive = keep_alive.unwrap_or_else(PoisonError::into_inner);
        if keep_alive.is_over {
            return;
        }
        let this = Arc::downgrade(self);
        let queue = Arc::clone(self.host.queue());
        let timer = self.host.timers().schedule_after(interval, move || {
            if let Some(this) = this.upgrade() {
                this.send_keep_alive(interval);
                // It may be the last reference: waiters run on the work queue.
                drop_on_queue(&queue, this);
            }
        });
        keep_alive.timer = Some(timer);
    }

    fn send_keep_alive(self: &Arc<Self>, interval: Duration) {
        let this = Arc::downgrade(self);
        let all = Gather::new(move |outcome| {
            if let Err(errors) = outcome {
                log::error!("Error in DistributedContext::SendKeepAlive: {errors}");
            }
            if let Some(this) = this.upgrade() {
                this.start_keep_alive(interval);
            }
        });
        // A copy: no lock is held over a call.
        let clients = self.clients.lock();
        let clients: Vec<_> = clients
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect();
        for client in clients {
            let part = all.clone();
            let request = KeepAliveRequest {
                context_id: self.id,
            };
            fabric::call(&*client, CallOptions::default(), request, |answer| {
                part.end(answer);
            });
        }
    }

    fn stop_keep_alive(&self) {
        let keep_alive = self.keep_alive.lock();
        let mut keep_alive = keep_alive.unwrap_or_else(PoisonError::into_inner);
        keep_alive.is_over = true;
        if let Some(timer) = keep_alive.timer.take() {
            timer.cancel();
        }
    }

    /// Returns the error of operations in a closed context.
    fn closed_error(&self) -> Error {
        RemoteErrors::from(self.end()).to_value(&self.host)
    }

    /// Returns the reason why nothing comes from any task any more, if the context is closed.
    pub(crate) fn end_if_closed(&self) -> Option<RemoteError> {
        self.health.end_if_closed()
    }

    fn end(&self) -> RemoteError {
        let message = format!("context {} is closed", self.id);
        RemoteError::new(ErrorCode::Cancelled, message)
    }

    /// Returns the datum of a request that runs for another task: until the request has ended, the
    /// context is not [drained](Self::drain).
    pub(crate) fn under_way(&self) -> UnderWay {
        UnderWay {
            _part: self.drain.part(),
        }
    }

    /// Returns the work of the context, which ends once the context is closed and nothing is under
    /// way any more, or the rest is cut.
    pub(crate) fn drain(&self) -> &Arc<Drain> {
        &self.drain
    }

    /// Returns what nobody has claimed, served or deleted until now.
    #[must_use]
    pub fn leftovers(&self) -> Leftovers {
        let is_of_runtime = |key: &str| collective::is_listener(key);
        let waiting = self.rendezvous.count_except(is_of_runtime);
        let num_objects = self.objects.len();
        let has_chain = self.objects.contains(&self.own_ready_chain);
        Leftovers {
            num_payloads: waiting.num_payloads,
            num_receivers: waiting.num_receivers,
            // The chain may come or go between the two.
            num_objects: num_objects.saturating_sub(usize::from(has_chain)),
        }
    }

    /// Closes the context: nothing is accepted any more, requests are cancelled, waits for payloads
    /// and objects end with an error, and objects, payloads and programs are forgotten. Connections
    /// stay for a while, until requests under way have ended and answers have arrived; requests
    /// without an answer then end with the same error.
    pub(crate) fn close(&self) {
        let error = self.closed_error();
        self.stop_keep_alive();
        if let Some(detector) = self.lock_detector().take() {
            detector.stop();
        }
        let left = self.leftovers();
        if self.settings.reports_leftovers && !left.is_empty() {
            log::warning!("context {} is closed with {left}", self.id);
        }
        // While requests can be sent: those to delete objects, and to cancel executions.
        self.releases.flush();
        self.executions.close(&error);
        self.health.close(&self.end());
        self.executing.cancel_all(&self.drain);
        let members = {
            let members = self.group_members.lock();
            let mut members = members.unwrap_or_else(PoisonError::into_inner);
            members.is_closed = true;
            std::mem::take(&mut members.by_group)
        };
        // Without the lock: those that wait may ask for a group.
        self.rendezvous.close(&error);
        drop(members);
        self.objects.close(&error);
        self.programs.clear();
        let communicator = self.communicator.lock();
        let communicator = communicator.unwrap_or_else(PoisonError::into_inner).take();
        drop(communicator);
        let clients = self.clients.lock();
        let clients = std::mem::take(&mut *clients.unwrap_or_else(PoisonError::into_inner));
        if !self.drain.begin(self.settings.drain_timeout) {
            return;
        }
        let (id, health, end) = (self.id, Arc::clone(&self.health), self.end());
        self.drain.on_end(move |outcome| {
            for on_end in health.end(&end) {
                on_end();
            }
            if let Err(errors) = outcome {
                log::warning!("context {id}: {errors}");
                for client in clients.values() {
                    client.cut();
                }
            }
            drop(clients);
        });
    }
}

/// What nobody has claimed, served or deleted in a context.
///
/// ```
/// use tfrt_distributed::Leftovers;
///
/// let left = Leftovers {
///     num_payloads: 1,
///     num_receivers: 0,
///     num_objects: 2,
/// };
/// assert_eq!(left.to_string(), "1 unclaimed payload and 2 objects that were not deleted");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// The number of payloads without a receiver.
    pub num_payloads: usize,
    /// The number of receivers without a payload.
    pub num_receivers: usize,
    /// The number of objects, except the chain that every context has.
    pub num_objects: usize,
}

impl Leftovers {
    /// Returns `true` if nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = [
            (self.num_payloads, "unclaimed payload", ""),
            (self.num_receivers, "receiver", " without a payload"),
            (self.num_objects, "object", " that were not deleted"),
        ];
        let told = counted.into_iter().filter(|(count, ..)| *count > 0);
        let told: Vec<String> = told
            .map(|(count, what, end)| match count {
                1 => format!("1 {what}{}", end.replace("were", "was")),
                _ => format!("{count} {what}s{end}"),
            })
            .collect();
        match &told[..] {
            [] => f.write_str("nothing left"),
            [all] => f.write_str(all),
            [first, last] => write!(f, "{first} and {last}"),
            [first, .., last] => write!(f, "{first}, {} and {last}", told[1]),
        }
    }
}

/// Returns `true` for a Unix socket, and for an address of the loopback interface.
#[must_use]
pub fn is_local_address(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |host: &str| {
        let ip: Result<IpAddr, _> = host.parse();
        ip.is_ok_and(|ip| ip.is_loopback())
    };
    address.starts_with("unix:") || host == "localhost" || is_loopback(host)
}

impl Drop for DistributedContext {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for DistributedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributedContext")
            .field("id", &self.id)
            .field("task", &self.cluster.own_name())
            .finish_non_exhaustive()
    }
}

/// A context as a value, and as data of a request. Cloning shares it.
#[derive(Clone, Debug)]
pub struct DistContext {
    context: Arc<DistributedContext>,
    /// Kept with the context by those who made it.
    server: Option<Arc<Server>>,
    /// The other servers in this process that the context needs.
    _cluster: Option<Arc<LocalCluster>>,
    /// The invocation of a function over several tasks that uses the value; 0 if it is none.
    invocation: u64,
}

impl DistContext {
    /// Creates a context whose server is kept alive elsewhere.
    #[must_use]
    pub fn new(context: Arc<DistributedContext>) -> Self {
        Self {
            context,
            server: None,
            _cluster: None,
            invocation: 0,
        }
    }

    /// Creates a context together with its server, which lives as long as the value.
    #[must_use]
    pub fn with_server(context: Arc<DistributedContext>, server: Arc<Server>) -> Self {
        Self {
            context,
            server: Some(server),
            _cluster: None,
            invocation: 0,
        }
    }

    /// Keeps all servers of a cluster in this process, which live as long as the value.
    #[must_use]
    pub fn in_local_cluster(self, cluster: Arc<LocalCluster>) -> Self {
        Self {
            _cluster: Some(cluster),
            ..self
        }
    }

    /// Returns the value for a part of an invocation of a function over several tasks.
    #[must_use]
    pub fn in_invocation(self, invocation: u64) -> Self {
        Self { invocation, ..self }
    }

    /// Returns the value for a new invocation, which no other one shares its number with.
    #[must_use]
    pub fn in_new_invocation(self) -> Self {
        self.in_invocation(random::non_zero())
    }

    /// Returns the number of the invocation that uses the value; 0 if it is none.
    #[must_use]
    pub fn invocation(&self) -> u64 {
        self.invocation
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> &Arc<DistributedContext> {
        &self.context
    }

    /// Returns the server, if the value keeps it.
    #[must_use]
    pub fn server(&self) -> Option<&Arc<Server>> {
        self.server.as_ref()
    }
}

impl Value for DistContext {
    const MLIR_TYPE: &'static str = "!tfrt_dist.dist_context";
}

impl Immutable for DistContext {}

#[cfg(test)]
mod tests {
    use super::is_local_address;

    #[test]
    fn addresses_of_this_machine_are_known() {
        for local in [
            "127.0.0.1:80",
            "127.1.2.3:80",
            "[::1]:80",
            "localhost:80",
            "unix:/run/a",
        ] {
            assert!(is_local_address(local), "{local}");
        }
        for remote in [
            "10.0.0.1:80",
            "[fe80::1]:80",
            "localhost.example:80",
            "host",
            "",
        ] {
            assert!(!is_local_address(remote), "{remote}");
        }
    }
}

//! The requests that a task answers.

use std::sync::Arc;

use super::{Server, context_exists, no_context};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::device::RemoteDevice;
use crate::error::{Answer, RemoteError};
use crate::fabric::{ArrivedPayload, Reply, RequestHandler, TaskIdentity, WantedPayload};
use crate::function;
use crate::health;
use crate::last_reference::drop_on_queue;
use crate::message::{
    CancelExecutionResponse, CloseContextResponse, CreateContextRequest, CreateContextResponse,
    DeleteRemoteObjectsRequest, DeleteRemoteObjectsResponse, DeviceInfo, GetDevicesResponse,
    HeartbeatRequest, HeartbeatResponse, KeepAliveResponse, RemoteExecuteRequest,
    RemoteExecuteResponse, Request, Response, SendDataResponse, SentProgram, TaskLoad,
};
use crate::name::TaskName;
use crate::object::RemoteObjectId;
use crate::op_handler;
use crate::payload::Payload;
use crate::rendezvous::PayloadRoom;
use crate::transfer;

/// The maximum number of programs in the load of a task.
const MAX_TOLD: usize = 1000;

impl Server {
    /// Returns the devices of this task, as it calls them.
    fn devices(&self) -> Vec<DeviceInfo> {
        let mut devices: Vec<DeviceInfo> = Vec::new();
        for device in self.host.devices().all() {
            devices.push(DeviceInfo {
                name: device.0.name().to_owned(),
                r#type: device.0.device_type().to_owned(),
            });
        }
        devices
    }

    /// Returns the load of this task, over all contexts.
    fn load(&self) -> TaskLoad {
        let contexts = self.lock_contexts();
        let contexts: Vec<_> = contexts
            .by_id
            .values()
            .map(|kept| Arc::clone(&kept.context))
            .collect();
        let sum = |count: fn(&DistributedContext) -> usize| {
            contexts.iter().map(|context| count(context) as u64).sum()
        };
        let of_context = |context: &Arc<DistributedContext>| {
            let context_id = context.id();
            let programs = context.programs().sizes().into_iter();
            programs.map(move |(name, num_bytes)| SentProgram {
                context_id,
                name,
                num_bytes: num_bytes as u64,
            })
        };
        let left: Vec<_> = contexts.iter().map(|context| context.leftovers()).collect();
        TaskLoad {
            num_unserved: left.iter().map(|left| left.num_receivers as u64).sum(),
            programs: contexts
                .iter()
                .flat_map(of_context)
                .take(MAX_TOLD)
                .collect(),
            num_contexts: contexts.len() as u64,
            num_objects: sum(|context| context.objects().len()),
            num_unclaimed: sum(|context| context.rendezvous().num_payloads()),
        }
    }

    /// Creates a context for another task, with all devices of the cluster.
    pub(super) fn create_for_client(
        &self,
        request: &CreateContextRequest,
    ) -> Result<Arc<DistributedContext>, RemoteError> {
        let id = request.context_id;
        if self.lock_contexts().by_id.contains_key(&id) {
            return Err(context_exists(id));
        }
        let config = request.dist_config.clone().unwrap_or_default();
        let context = self.new_context(id, &config)?;
        // Before requests can find it: then an error leaves nothing to close. The caller may hold
        // a lock that closing takes.
        enter_devices(&context, &request.devices)?;
        self.enter_context(&context)?;
        Ok(context)
    }

    fn create(
        &self,
        caller: Option<TaskName>,
        request: CreateContextRequest,
        reply: Reply<CreateContextResponse>,
    ) {
        if request.is_multi_client {
            return self.create_for_leader(caller, request, reply);
        }
        let created = self.create_for_client(&request);
        if let Ok(context) = &created {
            self.track(request.context_id);
            if let Ok(owner) = context.cluster().find(&request.owner) {
                context.may_be_closed_by(owner);
                if request.owner_prefix != 0 {
                    // A number of another task stays its own.
                    let _ = context.creators().tell(request.owner_prefix, owner);
                }
                let (this, weak) = (self.this.clone(), Arc::downgrade(context));
                context.belong_to(owner, move || {
                    if let (Some(this), Some(context)) = (this.upgrade(), weak.upgrade()) {
                        this.lose_owner(&context, owner);
                    }
                });
            }
            context.start_detection(self.config.failure_timeout, false);
        }
        reply.send(
            created
                .map(|context| created_response(&context))
                .map_err(Into::into),
        );
    }

    /// Closes a context whose only client is lost.
    fn lose_owner(&self, context: &DistributedContext, owner: TaskHandle) {
        // It may be closed already.
        let _ = self.close_context(context.id());
        let task = context.cluster().task(owner);
        if let (Some(callback), Ok(task)) = (self.on_owner_lost.get(), task)
            && let Some(error) = context.health().lost(owner)
        {
            callback(&task.name, &error);
        }
    }

    /// Runs on a thread of the transport.
    fn heartbeat(&self, request: &HeartbeatRequest) -> Result<HeartbeatResponse, RemoteError> {
        let id = request.context_id;
        let contexts = self.lock_contexts();
        let kept = contexts.by_id.get(&id);
        let context = kept.map(|kept| Arc::clone(&kept.context));
        drop(contexts);
        let context = context.ok_or_else(|| no_context(id))?;
        let answer = health::answer(&context, request, self.incarnation);
        // It may be the last reference: waiters run on the work queue.
        let queue = Arc::clone(context.host().queue());
        drop_on_queue(&queue, context);
        Ok(answer)
    }

    fn execute(
        &self,
        caller: Option<&TaskName>,
        request: RemoteExecuteRequest,
        reply: Reply<RemoteExecuteResponse>,
    ) {
        let starter = caller.cloned();
        let context = self.context(request.context_id);
        let Some(gate) = &self.config.gate else {
            return match context {
                Ok(context) => function::execute(&context, &request, starter, reply),
                Err(error) => reply.send(Err(error.into())),
            };
        };
        let inputs = match &context {
            Ok(context) => function::inputs(context, &request),
            Err(_) => Vec::new(),
        };
        let this = self.this.clone();
        gate.hold(&inputs, move |on_answered| {
            // A request that was released runs to completion.
            let kept = this.upgrade().map(Self::keep);
            let reply = Reply::new(move |answer| {
                reply.send(answer);
                on_answered.pass();
                drop(kept);
            });
            match context {
                Ok(context) => function::execute(&context, &request, starter, reply),
                Err(error) => reply.send(Err(error.into())),
            }
        });
    }

    fn delete(&self, request: &DeleteRemoteObjectsRequest) -> Answer<DeleteRemoteObjectsResponse> {
        let context = self.context(request.context_id)?;
        let ids: Vec<RemoteObjectId> = request.input.iter().map(Into::into).collect();
        context.objects().delete(&ids)?;
        Ok(DeleteRemoteObjectsResponse {})
    }
}

/// Enters the devices of a cluster; the task of each is in its name.
pub(super) fn enter_devices(
    context: &DistributedContext,
    devices: &[DeviceInfo],
) -> Result<(), RemoteError> {
    for device in devices {
        let task = context.cluster().find(&device.name)?;
        let device = RemoteDevice::new(&device.name, &device.r#type, task)?;
        context.devices().add_if_absent(device);
    }
    Ok(())
}

pub(super) fn created_response(context: &DistributedContext) -> CreateContextResponse {
    CreateContextResponse {
        ready_chain: Some(context.own_ready_chain().into()),
    }
}

/// Answers with the outcome of work that is done at once.
fn answer<T: Into<Response>>(reply: Reply<Response>, outcome: Answer<T>) {
    reply.send(outcome.map(Into::into));
}

impl RequestHandler for Server {
    fn identity(&self) -> TaskIdentity {
        TaskIdentity {
            name: self.config.task.clone(),
            incarnation: self.incarnation,
        }
    }

    fn handle_from(self: Arc<Self>, caller: &TaskName, request: Request, reply: Reply<Response>) {
        match (self.check_caller(caller, &request), request) {
            (Ok(()), Request::CreateContext(request)) => {
                self.create(Some(caller.clone()), request, reply.map(Into::into));
            }
            (Ok(()), request) => self.answer_to(Some(caller), request, reply),
            (Err(error), _) => reply.send(Err(error.into())),
        }
    }

    fn answer_heartbeat(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        request: &HeartbeatRequest,
    ) -> Answer<HeartbeatResponse> {
        let checked = caller.map_or(Ok(()), |caller| {
            self.check_caller(caller, &Request::Heartbeat(request.clone()))
        });
        let answer = checked.and_then(|()| self.heartbeat(request));
        let queue = Arc::clone(self.host.queue());
        drop_on_queue(&queue, self);
        Ok(answer?)
    }

    fn expect_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        context_id: u64,
        instance_key: &str,
        num_bytes: u64,
    ) -> Answer<PayloadRoom> {
        let room = self.expect(caller, context_id, instance_key, num_bytes);
        let queue = Arc::clone(self.host.queue());
        drop_on_queue(&queue, self);
        room
    }

    fn take_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
        reply: Reply<SendDataResponse>,
    ) {
        reply.send(self.take_arrived(caller, arrived));
    }

    fn take_at_once(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
    ) -> Result<Answer<SendDataResponse>, ArrivedPayload> {
        let taken = self.take_light(caller, arrived);
        let queue = Arc::clone(self.host.queue());
        drop_on_queue(&queue, self);
        taken
    }

    fn give_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        wanted: WantedPayload,
        reply: Reply<Payload>,
    ) {
        self.give_wanted(caller, wanted, reply);
    }

    fn take_back_payload(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        returned: ArrivedPayload,
        reply: Reply<()>,
    ) {
        reply.send(self.put_back(caller, returned));
    }

    fn waiting_payload(
        &self,
        caller: Option<&TaskName>,
        context_id: u64,
        key: &str,
    ) -> Answer<Option<Payload>> {
        self.find_waiting(caller, context_id, key)
    }

    fn waiting_payloads(
        &self,
        caller: Option<&TaskName>,
        context_id: Option<u64>,
    ) -> Answer<Vec<ArrivedPayload>> {
        self.all_waiting(caller, context_id)
    }

    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        self.answer_to(None, request, reply);
    }
}

impl Server {
    /// Answers a request, of a task that has proved its name if there is a `caller`.
    fn answer_to(
        self: Arc<Self>,
        caller: Option<&TaskName>,
        request: Request,
        reply: Reply<Response>,
    ) {
        match request {
            Request::GetDevices(_) => {
                let (devices, load) = (self.devices(), Some(self.load()));
                answer(reply, Ok(GetDevicesResponse { devices, load }));
            }
            Request::CreateContext(request) => self.create(None, request, reply.map(Into::into)),
            Request::CloseContext(request) => {
                let closed = self.close_context(request.context_id);
                let closed = closed.map(|()| CloseContextResponse {});
                answer(reply, closed.map_err(Into::into));
            }
            Request::SendReadyChains(request) => answer(reply, self.finish_multi_client(&request)),
            Request::KeepAlive(request) => {
                let context = self.context(request.context_id);
                let alive = context.map(|_| KeepAliveResponse {});
                answer(reply, alive.map_err(Into::into));
            }
            Request::Heartbeat(request) => {
                let alive = self.heartbeat(&request);
                answer(reply, alive.map_err(Into::into));
            }
            Request::SendData(request) => answer(reply, self.send_data(caller, request)),
            Request::RegisterFunction(request) => {
                let context = self.context(request.context_id).map_err(Into::into);
                let registered = context.and_then(|context| {
                    let own_task = || context.cluster().own_name();
                    let allowed = self.config.programs.check(&request);
                    allowed.map_err(|error| error.from_task(own_task()))?;
                    function::register(&context, &request)
                });
                answer(reply, registered);
            }
            Request::RemoteExecute(request) => {
                self.execute(caller, request, reply.map(Into::into));
            }
            Request::RemoteExecuteOp(request) => match self.context(request.context_id) {
                Ok(context) => op_handler::execute(&context, &request, reply.map(Into::into)),
                Err(error) => reply.send(Err(error.into())),
            },
            Request::CancelExecution(request) => {
                let canceller = caller.cloned();
                let context = self.context(request.context_id);
                let cancelled = context.map(|context| {
                    let executions = context.executions();
                    executions.cancel_for(request.execution_id, canceller);
                    CancelExecutionResponse {}
                });
                answer(reply, cancelled.map_err(Into::into));
            }
            Request::FetchObject(request) => match self.context(request.context_id) {
                Ok(context) => transfer::send(&context, &request, reply.map(Into::into)),
                Err(error) => reply.send(Err(error.into())),
            },
            Request::PutObject(request) => match self.context(request.context_id) {
                Ok(context) => transfer::receive(&context, &request, reply.map(Into::into)),
                Err(error) => reply.send(Err(error.into())),
            },
            Request::DeleteRemoteObjects(request) => answer(reply, self.delete(&request)),
        }
    }
}

//! Ops of the Core Runtime on another task.
//!
//! ```text
//!  corert.executeop.seq ──► RemoteOpHandler ── RemoteExecuteOp ──► handler of that name in the Core Runtime of the task
//!      handles, at once ◄──┘                       ids ──► objects
//! ```
//!
//! Ops that are sent to one task run there in the order of their calls, without waiting for
//! answers: each is ordered after the chain object of the previous one. An op that is not sent,
//! because an argument failed, passes that chain on, so that later ops do not wait forever.

mod attributes;

use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, Value, run_when_ready};
use tfrt_core::{
    CoreRuntime, CoreRuntimeOp, OpAttrs, OpHandler, OpInvocation, RunOp, TensorHandle,
};
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, RequestContextBuilder, ResourceContext};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use crate::chain::RemoteChains;
use crate::context::{DistContext, DistributedContext};
use crate::device::RemoteDevice;
use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::execute::{PendingHandle, pending_handle, publish};
use crate::execution;
use crate::fabric::{CallOptions, Reply};
use crate::function::when_metadata_is_known;
use crate::message::{RemoteExecuteOpRequest, RemoteExecuteOpResponse, RemoteOutput};
use crate::object::RemoteObjectId;
use crate::random;
use crate::tensor::RemoteTensor;

/// Runs ops on a device of another task. It accepts every op: the task reports unknown ones.
#[derive(Clone, Debug)]
pub struct RemoteOpHandler {
    context: Arc<DistributedContext>,
    /// Keeps the servers of the context, if those who made it do.
    _kept: DistContext,
    chains: RemoteChains,
    device: Arc<RemoteDevice>,
}

impl RemoteOpHandler {
    /// Creates a handler of the ops of a device of the cluster.
    ///
    /// # Errors
    /// `Can't find device: D`
    pub fn new(
        context: &DistContext,
        chains: RemoteChains,
        device: &DeviceRef,
    ) -> Result<Self, RemoteError> {
        let kept = context.clone();
        let context = Arc::clone(context.context());
        let device = context.devices().find(device.0.name())?;
        Ok(Self {
            context,
            _kept: kept,
            chains,
            device,
        })
    }
}

impl OpHandler for RemoteOpHandler {
    fn name(&self) -> &str {
        "remote"
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        Ok(CoreRuntimeOp::new(RemoteOp {
            handler: self.clone(),
            op_name: op_name.to_owned(),
        }))
    }
}

#[derive(Debug)]
struct RemoteOp {
    handler: RemoteOpHandler,
    op_name: String,
}

impl RunOp for RemoteOp {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        if let Err(error) = self.start(invocation) {
            invocation.fail(&error);
        }
    }
}

impl RemoteOp {
    fn start(&self, invocation: &mut OpInvocation<'_>) -> Result<(), Error> {
        use tfrt_host::device::Device;

        let RemoteOpHandler {
            context,
            chains,
            device,
            ..
        } = &self.handler;
        if invocation.chain.is_none() {
            let message = format!("`{}` runs on another task and needs a chain", self.op_name);
            return Err(Error::new(message).with_code(ErrorCode::FailedPrecondition));
        }
        let mut tensors = Vec::with_capacity(invocation.arguments.len());
        for argument in &mut *invocation.arguments {
            let tensor = std::mem::take(argument).release_tensor();
            tensors.push(tensor.ok_or_else(|| Error::new("an argument is an invalid handle"))?);
        }
        // Everything that can fail here does so before the op has a place in the order.
        let (attributes, attribute_set) = attributes::encode(invocation.attrs)?;
        let out_chain = context.new_object(device.name());
        let in_chain = chains
            .replace(device.task(), out_chain.clone())
            .map_err(|error| RemoteErrors::from(error).to_value(context.host()))?;
        let mut output = Vec::with_capacity(invocation.results.len());
        let mut pending = Vec::with_capacity(invocation.results.len());
        for result in &mut *invocation.results {
            let id = context.new_object(device.name());
            let (handle, promises) = pending_handle(context, &id);
            *result = handle;
            pending.push(promises);
            output.push(RemoteOutput {
                id: Some((&id).into()),
                need_metadata: true,
            });
        }
        let (promise, chain) = AsyncValueRef::unconstructed();
        if let Some(place) = &mut invocation.chain {
            **place = chain.into_any();
        }
        let call = Call {
            handler: self.handler.clone(),
            promise,
            pending,
            used: [in_chain.clone(), out_chain.clone()],
            request: RemoteExecuteOpRequest {
                context_id: context.id(),
                op_handler_name: device.name().to_owned(),
                op_name: self.op_name.clone(),
                in_chain: Some((&in_chain).into()),
                out_chain: Some((&out_chain).into()),
                output,
                attributes,
                attribute_set: Some(attribute_set),
                ..RemoteExecuteOpRequest::default()
            },
        };
        let awaited = tensors.clone();
        run_when_ready(&awaited, move || call.send(tensors));
        Ok(())
    }
}

/// A call whose arguments may be pending.
struct Call {
    handler: RemoteOpHandler,
    promise: Promise<Chain>,
    pending: Vec<PendingHandle>,
    /// The chains before and after the op: no object that the request uses is deleted before the
    /// answer.
    used: [RemoteObjectId; 2],
    request: RemoteExecuteOpRequest,
}

impl Call {
    fn send(mut self, tensors: Vec<AnyRef>) {
        let context = Arc::clone(&self.handler.context);
        let task = self.handler.device.task();
        let mut input = Vec::with_capacity(tensors.len());
        for tensor in &tensors {
            let error = match (tensor.error_if_present(), tensor.get::<RemoteTensor>()) {
                (None, Some(tensor)) => {
                    input.push(tensor.id().into());
                    continue;
                }
                (Some(error), _) => error.clone(),
                (None, None) => Error::new("an argument is not a remote tensor")
                    .with_code(ErrorCode::InvalidArgument),
            };
            // The op is left out; its place in the order is not.
            let request = RemoteExecuteOpRequest {
                context_id: self.request.context_id,
                in_chain: self.request.in_chain.clone(),
                out_chain: self.request.out_chain.clone(),
                ..RemoteExecuteOpRequest::default()
            };
            let used = self.used.clone();
            context.call(task, CallOptions::until_lost(), request, |_| drop(used));
            return self.fail(&error);
        }
        self.request.input = input;
        let request = std::mem::take(&mut self.request);
        context.call(task, CallOptions::until_lost(), request, move |answer| {
            self.finish(answer);
            // The ids of the arguments, likewise.
            drop(tensors);
        });
    }

    fn fail(self, error: &Error) {
        for handle in self.pending {
            handle.fail(error.clone());
        }
        self.promise.set_error(error.clone());
    }

    fn finish(self, answer: Answer<RemoteExecuteOpResponse>) {
        match answer {
            Ok(response) if response.metadata.len() == self.pending.len() => {
                publish(self.pending, response.metadata, response.metadata_errors);
                self.promise.emplace(Chain);
            }
            Ok(_) => self.fail(&Error::new("unexpected number of remote results")),
            Err(errors) => {
                let error = errors.to_value(self.handler.context.host());
                self.fail(&error);
            }
        }
    }
}

/// Executes an op that another task sends.
pub(crate) fn execute(
    context: &Arc<DistributedContext>,
    request: &RemoteExecuteOpRequest,
    reply: Reply<RemoteExecuteOpResponse>,
) {
    let outputs = Outputs::of(request);
    match Execution::new(context, request) {
        Ok(execution) => execution.start(outputs, reply),
        Err(error) => {
            // Whoever waits for the results or for the chain learns why there are none.
            let value = AnyRef::error(error.clone().into_plain());
            let results = vec![value.clone(); outputs.ids.len()];
            // What went wrong first is answered.
            let _ = outputs.set(context, value, &results);
            reply.send(Err(error.into()));
        }
    }
}

/// The objects that an op makes.
struct Outputs {
    chain: RemoteObjectId,
    ids: Vec<RemoteObjectId>,
}

impl Outputs {
    fn of(request: &RemoteExecuteOpRequest) -> Self {
        let id = |id: &Option<_>| id.as_ref().map_or_else(RemoteObjectId::none, Into::into);
        Self {
            chain: id(&request.out_chain),
            ids: request.output.iter().map(|output| id(&output.id)).collect(),
        }
    }

    fn set(
        &self,
        context: &DistributedContext,
        chain: AnyRef,
        results: &[AnyRef],
    ) -> Result<(), RemoteError> {
        let set_chain = context.objects().set(&self.chain, chain);
        let results = self.ids.iter().zip(results);
        // Every one that can be set is, whatever becomes of the others.
        results.fold(set_chain, |so_far, (id, result)| {
            so_far.and(context.objects().set(id, result.clone()))
        })
    }
}

/// An op whose chain and arguments may be pending.
struct Execution {
    context: Arc<DistributedContext>,
    /// None if only the chain is passed on.
    op: Option<CoreRuntimeOp>,
    device: DeviceRef,
    in_chain: AnyRef,
    inputs: Vec<AnyRef>,
    attrs: OpAttrs,
}

impl Execution {
    fn new(
        context: &Arc<DistributedContext>,
        request: &RemoteExecuteOpRequest,
    ) -> Result<Self, RemoteError> {
        let runtime = CoreRuntime::of(context.host());
        let op = match request.op_name.as_str() {
            "" => None,
            op_name => {
                let name = &request.op_handler_name;
                let handler = runtime.handler(name).ok_or_else(|| {
                    let message = format!("Cannot find op handler: {name}");
                    RemoteError::new(ErrorCode::NotFound, message)
                })?;
                let op = handler.make_op(op_name);
                Some(op.map_err(|error| RemoteError::from(&error))?)
            }
        };
        let object = |id: RemoteObjectId| {
            if context.devices().get(id.device()).is_none() {
                let message = format!("Cannot find device: {}", id.device());
                return Err(RemoteError::new(ErrorCode::DeviceNotFound, message));
            }
            Ok(context.object(&id))
        };
        let in_chain = request.in_chain.clone().unwrap_or_default();
        let inputs = request.input.iter().map(|id| object(id.into()));
        let attrs = attributes::decode(request).map_err(|error| RemoteError::from(&error))?;
        Ok(Self {
            op,
            device: local_device(context, &in_chain.device)
                .unwrap_or_else(|| runtime.host_device().clone()),
            inputs: inputs.collect::<Result<_, _>>()?,
            in_chain: object((&in_chain).into())?,
            attrs,
            context: Arc::clone(context),
        })
    }

    fn start(self, outputs: Outputs, reply: Reply<RemoteExecuteOpResponse>) {
        let mut awaited = self.inputs.clone();
        awaited.push(self.in_chain.clone());
        run_when_ready(&awaited, move || self.run(&outputs, reply));
    }

    fn run(self, outputs: &Outputs, reply: Reply<RemoteExecuteOpResponse>) {
        let Some(op) = &self.op else {
            let passed = outputs.set(&self.context, self.in_chain, &[]);
            let closed = self.context.executions().closed();
            let closed = closed.map_or(Ok(()), |error| Err(RemoteError::from(&error)));
            let passed = passed.and(closed);
            let passed = passed.map(|()| RemoteExecuteOpResponse::default());
            return reply.send(passed.map_err(Into::into));
        };
        let request = RequestContextBuilder::new(Arc::clone(self.context.host()))
            .resources(Arc::new(ResourceContext::new()))
            .context_data(DistContext::new(Arc::clone(&self.context)))
            .context_data(self.context.under_way())
            .build();
        // Nobody cancels it by a number: it ends with the context.
        let executions = self.context.executions();
        let running = executions.begin(random::non_zero(), &request);
        let ctx = ExecutionContext::new(request);
        let mut chain = self.in_chain.clone();
        let mut results = vec![TensorHandle::INVALID; outputs.ids.len()];
        let failed = self.inputs.iter().chain([&self.in_chain]);
        let failed = failed.clone().find_map(AnyRef::error_if_present).cloned();
        let mut arguments: Vec<TensorHandle> = self
            .inputs
            .iter()
            .map(|input| handle_of(input, &self.device))
            .collect();
        let mut invocation = OpInvocation {
            ctx: &ctx,
            arguments: &mut arguments,
            attrs: &self.attrs,
            results: &mut results,
            chain: Some(&mut chain),
        };
        match failed {
            Some(error) => invocation.fail(&error),
            None => op.run(&mut invocation),
        }
        let tensors: Vec<AnyRef> = results
            .iter()
            .map(|result| {
                let empty = || AnyRef::error(Error::new("an op did not set one of its results"));
                result.tensor().cloned().unwrap_or_else(empty)
            })
            .collect();
        let all = tensors.into_iter().chain([chain]).collect();
        let (mut tensors, hook) = execution::ending_with(ctx.request(), all);
        let awaited = tensors.clone();
        let Some(chain) = tensors.pop() else {
            unreachable!("the chain is the last of them");
        };
        if let Err(error) = outputs.set(&self.context, chain.clone(), &tensors) {
            // Nobody is told of the results.
            ctx.request().cancel_with(error.clone().into_plain());
            return reply.send(Err(error.into()));
        }
        run_when_ready(&awaited, move || {
            drop(hook);
            if let Some(error) = running.end() {
                return reply.send(Err(RemoteError::from(&error).into()));
            }
            if let Some(error) = chain.error_if_present() {
                let error = RemoteError::new(ErrorCode::Unknown, error.message());
                return reply.send(Err(error.into()));
            }
            let typed = tensors
                .into_iter()
                .map(|tensor| (DenseHostTensor::MLIR_TYPE.to_owned(), tensor));
            let typed: Vec<_> = typed.collect();
            when_metadata_is_known(&typed, move |metadata| {
                drop(ctx);
                reply.send(metadata.map(|metadata| RemoteExecuteOpResponse {
                    metadata: metadata.bytes,
                    metadata_errors: metadata.errors,
                }));
            });
        });
    }
}

/// Returns the device of this host that the cluster knows by a name.
fn local_device(context: &DistributedContext, name: &str) -> Option<DeviceRef> {
    let (_, local_name) = name.split_once("/device:")?;
    context.host().devices().get(local_name)
}

/// Returns a handle of an object that is a tensor, or a handle already.
pub(crate) fn handle_of(object: &AnyRef, device: &DeviceRef) -> TensorHandle {
    if let Ok(handle) = object.try_read::<TensorHandle>() {
        return handle.clone();
    }
    TensorHandle::of_value(device.clone(), object.clone())
}

#[cfg(test)]
mod tests;

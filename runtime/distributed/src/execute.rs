//! The client's side of registering and executing a remote function.
//!
//! Ids of the results, and handles of tensors among them, are available immediately. A task of the
//! work queue or the transport sends the request, and its answer makes the metadata of the handles
//! and the chain available.

use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain, Immutable, Promise, Value};
use tfrt_core::{MetadataValue, TensorHandle};
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_support::{Error, ErrorCode};

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{Answer, RemoteError};
use crate::fabric::CallOptions;
use crate::function;
use crate::message::{
    CancelExecutionRequest, OutputError, RegisterFunctionRequest, RegisterFunctionResponse,
    RemoteExecuteRequest, RemoteExecuteResponse, RemoteOutput,
};
use crate::object::RemoteObjectId;
use crate::random;
use crate::tensor::RemoteTensor;
use crate::transfer;

/// The devices of the results of a remote function. Cloning shares the list.
///
/// ```
/// use tfrt_distributed::RemoteExecuteSpec;
///
/// let spec = RemoteExecuteSpec::unchecked(vec!["d1".to_owned(), "d2".to_owned()]);
/// assert_eq!(spec.to_string(), "RemoteExecuteSpec:[ d1 d2 ]");
/// ```
#[derive(Clone, Debug)]
pub struct RemoteExecuteSpec(Arc<[Arc<str>]>);

impl RemoteExecuteSpec {
    /// Devices of a cluster.
    ///
    /// # Errors
    /// `Can't find device: D`
    pub fn new(
        context: &DistributedContext,
        devices: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, RemoteError> {
        let devices: Vec<String> = devices.into_iter().map(Into::into).collect();
        for device in &devices {
            context.devices().find(device)?;
        }
        Ok(Self::unchecked(devices))
    }

    /// Devices that may not exist.
    #[must_use]
    pub fn unchecked(devices: Vec<String>) -> Self {
        Self(devices.into_iter().map(Arc::from).collect())
    }

    /// Returns the names of the devices.
    #[must_use]
    pub fn devices(&self) -> &[Arc<str>] {
        &self.0
    }
}

impl std::fmt::Display for RemoteExecuteSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RemoteExecuteSpec:[ ")?;
        for device in self.devices() {
            write!(f, "{device} ")?;
        }
        f.write_str("]")
    }
}

impl Value for RemoteExecuteSpec {
    const MLIR_TYPE: &'static str = "!tfrt_dist.remote_execute_spec";
}

impl Immutable for RemoteExecuteSpec {}

/// Sends a program to a task, as a task of the work queue.
pub fn register_function(
    ctx: &ExecutionContext,
    context: &Arc<DistributedContext>,
    task: TaskHandle,
    (program_name, program, need_compilation): (&str, &str, bool),
    done: impl FnOnce(Answer<RegisterFunctionResponse>) + Send + 'static,
) {
    let request = RegisterFunctionRequest {
        context_id: context.id(),
        program_name: program_name.to_owned(),
        program: Bytes::copy_from_slice(program.as_bytes()),
        need_compilation,
        ..RegisterFunctionRequest::default()
    };
    let context = Arc::clone(context);
    let kept = context.keep_cluster();
    ctx.enqueue(move || {
        context.call(task, CallOptions::default(), request, done);
        drop(kept);
    });
}

/// The results of a remote function.
#[derive(Clone, Debug)]
pub enum Outputs {
    /// New objects on these devices.
    New(RemoteExecuteSpec),
    /// Objects whose ids were created before.
    Preallocated(Vec<RemoteObjectId>),
}

/// One execution of a remote function.
#[derive(Clone, Debug)]
pub struct RemoteExecution {
    /// The context.
    pub context: Arc<DistributedContext>,
    /// The task that has the function.
    pub task: TaskHandle,
    /// The invocation of a function over several tasks that it is a part of; 0 if it is none.
    pub invocation: u64,
    /// The name of the program.
    pub program_name: String,
    /// The arguments.
    pub inputs: Vec<RemoteObjectId>,
    /// The results.
    pub outputs: Outputs,
    /// The number of trailing results with tensor handles.
    pub num_handles: usize,
}

/// The ids and handles that a client has before an execution has run.
#[derive(Debug)]
pub struct RemoteResults {
    /// Available once the request was answered.
    pub chain: AsyncValueRef<Chain>,
    /// The ids of the results.
    pub ids: Vec<RemoteObjectId>,
    /// Handles of the last results.
    pub handles: Vec<TensorHandle>,
}

impl RemoteExecution {
    /// Executes the function.
    ///
    /// # Errors
    /// If there are more handles than results.
    pub fn start(self, ctx: &ExecutionContext) -> Result<RemoteResults, RemoteError> {
        let ids: Vec<RemoteObjectId> = match &self.outputs {
            Outputs::New(spec) => {
                let devices = spec.devices().iter();
                devices
                    .map(|device| self.context.new_object(Arc::clone(device)))
                    .collect()
            }
            Outputs::Preallocated(ids) => ids.clone(),
        };
        let first_handle = ids.len().checked_sub(self.num_handles).ok_or_else(|| {
            let (found, wanted) = (ids.len(), self.num_handles);
            let message =
                format!("expected a remote function with at least {wanted} results, found {found}");
            RemoteError::new(ErrorCode::InvalidArgument, message)
        })?;
        let mut handles = Vec::with_capacity(self.num_handles);
        let mut pending = Vec::with_capacity(self.num_handles);
        for id in &ids[first_handle..] {
            let (handle, promises) = pending_handle(&self.context, id);
            handles.push(handle);
            pending.push(promises);
        }
        let outputs = ids.iter().enumerate();
        let outputs = outputs.map(|(index, id)| RemoteOutput {
            id: Some(id.into()),
            need_metadata: index >= first_handle,
        });
        let request = RemoteExecuteRequest {
            context_id: self.context.id(),
            program_name: self.program_name,
            input: self.inputs.iter().map(Into::into).collect(),
            output: outputs.collect(),
            execution_id: random::non_zero(),
            invocation: self.invocation,
        };
        let (promise, chain) = AsyncValueRef::unconstructed();
        let (context, task) = (self.context, self.task);
        let elsewhere = living_elsewhere(&context, task, &ids);
        let cancel = CancelExecutionRequest {
            context_id: context.id(),
            execution_id: request.execution_id,
        };
        let cancelled_in = Arc::downgrade(&context);
        let cancelled = cancel.clone();
        let hook = ctx.request().on_cancel(move || {
            if let Some(context) = cancelled_in.upgrade() {
                let options = CallOptions::until_lost();
                // The answer of the execution says what became of it.
                context.call(task, options, cancelled, |_| ());
            }
        });
        // No object that the request uses is deleted before the answer.
        let used = (self.inputs, ids.clone(), hook);
        let kept = context.keep_cluster();
        let sending = Arc::clone(&context);
        sending.send_from(ctx, task, move || {
            let host = Arc::clone(context.host());
            let _scope = Scope::enter(TracingLevel::Debug, || {
                let to = context.cluster().task_name(task).unwrap_or_default();
                let (program, id) = (&request.program_name, request.execution_id);
                format!("send {program} {id:016x} to {to}")
            });
            let failing = Arc::clone(&context);
            let done = move |answer: Answer<RemoteExecuteResponse>| {
                match answer {
                    Ok(response) => {
                        publish(pending, response.metadata, response.metadata_errors);
                        promise.emplace(Chain);
                    }
                    Err(errors) => {
                        let error = errors.to_value(&host);
                        // Whoever waits for them where they live learns that they will not come.
                        for id in &elsewhere {
                            transfer::fail_object(&failing, id, &error, id.clone());
                        }
                        for handle in pending {
                            handle.fail(error.clone());
                        }
                        promise.set_error(error);
                    }
                }
                drop(used);
            };
            let request = (request, Some(cancel));
            context.call_with(task, CallOptions::until_lost(), request, done);
            drop(kept);
        });
        Ok(RemoteResults {
            chain,
            ids,
            handles,
        })
    }
}

/// Returns the outputs of an execution on a task that live on other tasks, and says who produces
/// them.
fn living_elsewhere(
    context: &DistributedContext,
    task: TaskHandle,
    ids: &[RemoteObjectId],
) -> Vec<RemoteObjectId> {
    let lives_elsewhere = |id: &&RemoteObjectId| {
        let device = context.devices().get(id.device());
        device.is_some_and(|device| device.task() != task)
    };
    let elsewhere: Vec<RemoteObjectId> = ids.iter().filter(lives_elsewhere).cloned().collect();
    if !elsewhere.is_empty()
        && let Ok(name) = context.cluster().task_name(task)
    {
        for id in &elsewhere {
            id.set_producer(&name);
        }
    }
    elsewhere
}

/// The right to set the tensor of a remote handle.
#[derive(Debug)]
pub(crate) struct PendingHandle {
    id: RemoteObjectId,
    metadata: Promise<MetadataValue>,
    tensor: Promise<RemoteTensor>,
}

/// Returns a handle of the tensor that an object becomes.
pub(crate) fn pending_handle(
    context: &DistributedContext,
    id: &RemoteObjectId,
) -> (TensorHandle, PendingHandle) {
    let (metadata, pending_metadata) = AsyncValueRef::unconstructed();
    let (tensor, pending_tensor) = AsyncValueRef::unconstructed();
    let device = context.devices().get_ref(id.device());
    let device = device.map_or_else(
        || AsyncValueRef::error(crate::device::not_found(id.device()).into_plain()),
        AsyncValueRef::available,
    );
    let handle = match device.get() {
        Some(device) => {
            TensorHandle::new(device.clone(), pending_metadata, pending_tensor.into_any())
        }
        None => TensorHandle::new(device, pending_metadata, pending_tensor.into_any()),
    };
    let promises = PendingHandle {
        id: id.clone(),
        metadata,
        tensor,
    };
    (handle, promises)
}

impl PendingHandle {
    pub(crate) fn fail(self, error: Error) {
        self.metadata.set_error(error.clone());
        self.tensor.set_error(error);
    }

    fn publish(self, bytes: &[u8]) {
        match function::decode(bytes, &self.id) {
            Ok((metadata, tensor)) => {
                self.metadata.emplace(metadata);
                self.tensor.emplace(tensor);
            }
            Err(_) => self.fail(Error::new("could not deserialize metadata in response")),
        }
    }
}

/// Says what handles are, by an answer that has metadata for each of them in order.
pub(crate) fn publish(
    pending: Vec<PendingHandle>,
    metadata: Vec<Bytes>,
    mut errors: Vec<OutputError>,
) {
    let mut metadata = metadata.into_iter();
    for (index, handle) in (0_u32..).zip(pending) {
        let bytes = metadata.next();
        let failed = errors.iter().position(|error| error.index == index);
        match (failed, bytes) {
            (Some(position), _) => handle.fail(Error::new(errors.swap_remove(position).message)),
            (None, Some(bytes)) => handle.publish(&bytes),
            (None, None) => handle.fail(Error::new("Metadata not returned")),
        }
    }
}

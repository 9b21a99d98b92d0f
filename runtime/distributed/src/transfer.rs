//! Tensors that move between tasks, as conversions of tensors between devices.
//!
//! ```text
//!  fetch   this task ── FetchObject ──► task ─────── payload ──────► this task
//!  put     this task ──────────── payload, PutObject ──────────────► task
//!  move    this task ── FetchObject ──► task ── payload ──► other task ◄── PutObject ── this task
//! ```
//!
//! A tensor that moves to a device of another context is fetched and then put: the tasks of one
//! context cannot reach those of another.
//!
//! A payload goes from the task that has the tensor to the one that needs it, as any other payload
//! does: large ones in chunks, and only as fast as they are taken. If there is no tensor, the
//! payload says why, so nobody waits for it forever.

use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, Promise};
use tfrt_core::CoreRuntime;
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, RequestContextBuilder, ResourceContext};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::convert::{Conversion, ConversionContext, ConversionRegistration};
use tfrt_tensor::{DenseHostTensor, ScalarHostTensor, Tensor, TensorRef, TensorType};

use crate::cluster::TaskHandle;
use crate::context::{DistContext, DistributedContext};
use crate::device::RemoteDevice;
use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::fabric::{CallOptions, Reply};
use crate::message::{
    FetchObjectRequest, FetchObjectResponse, PutObjectRequest, PutObjectResponse,
};
use crate::object::RemoteObjectId;
use crate::op_handler::handle_of;
use crate::payload::Payload;
use crate::random;
use crate::tensor::RemoteTensor;

/// The start of the keys of such payloads. No other keys of the runtime start like this.
const KEY: &str = "~object:";

const fn registration(
    from: TensorType,
    to: TensorType,
    conversion: Conversion,
) -> ConversionRegistration {
    ConversionRegistration {
        from,
        to,
        conversion,
    }
}

const DENSE: TensorType = TensorType::DENSE_HOST;
const SCALAR: TensorType = TensorType::SCALAR_HOST;
const REMOTE: TensorType = TensorType::REMOTE;

inventory::submit! { registration(REMOTE, DENSE, |tensor, context| or_error(remote_to_dense(tensor, context))) }
inventory::submit! { registration(DENSE, REMOTE, |tensor, context| or_error(dense_to_remote(tensor, context))) }
inventory::submit! { registration(SCALAR, REMOTE, |tensor, context| or_error(scalar_to_remote(tensor, context))) }
inventory::submit! { registration(REMOTE, REMOTE, |tensor, context| or_error(remote_to_remote(tensor, context))) }

fn or_error(converted: Result<AnyRef, Error>) -> AnyRef {
    converted.unwrap_or_else(AnyRef::error)
}

fn remote_to_dense(
    tensor: &dyn Tensor,
    conversion: ConversionContext<'_>,
) -> Result<AnyRef, Error> {
    let tensor: &RemoteTensor = tensor.expect(REMOTE)?;
    let context = context_of(tensor, conversion.exec_ctx)?;
    let fetched = fetch(&context, tensor.id()).map_err(RemoteError::into_plain)?;
    Ok(fetched.into_any())
}

fn dense_to_remote(
    tensor: &dyn Tensor,
    conversion: ConversionContext<'_>,
) -> Result<AnyRef, Error> {
    let tensor: &DenseHostTensor = tensor.expect(DENSE)?;
    let (context, device) = remote_device(&conversion)?;
    Ok(put(&context, device, tensor)?.into_any())
}

fn scalar_to_remote(
    tensor: &dyn Tensor,
    conversion: ConversionContext<'_>,
) -> Result<AnyRef, Error> {
    let tensor: &ScalarHostTensor = tensor.expect(SCALAR)?;
    let (context, device) = remote_device(&conversion)?;
    let dense = tensor.to_dense(conversion.exec_ctx.allocator())?;
    Ok(put(&context, device, &dense)?.into_any())
}

fn remote_to_remote(
    tensor: &dyn Tensor,
    conversion: ConversionContext<'_>,
) -> Result<AnyRef, Error> {
    let tensor: &RemoteTensor = tensor.expect(REMOTE)?;
    let (context, device) = remote_device(&conversion)?;
    // An id that another task created is one of the context in which it is used.
    let source = match tensor.id().is_own() {
        true => context_of(tensor, conversion.exec_ctx)?,
        false => Arc::clone(&context),
    };
    if !Arc::ptr_eq(&source, &context) {
        let fetched = fetch(&source, tensor.id()).map_err(RemoteError::into_plain)?;
        return Ok(put_later(fetched, &context, conversion.destination));
    }
    let moved = move_to(&context, device, tensor).map_err(RemoteError::into_plain)?;
    Ok(moved.into_any())
}

/// Returns the context whose object a tensor is: that which created the id, or else that of the
/// request.
fn context_of(
    tensor: &RemoteTensor,
    ctx: &ExecutionContext,
) -> Result<Arc<DistributedContext>, Error> {
    let of_request = || {
        let context = ctx.request().context_data::<DistContext>()?;
        Some(Arc::clone(context.context()))
    };
    let context = match tensor.id().is_own() {
        true => tensor.id().context(),
        false => of_request(),
    };
    context.ok_or_else(|| unknown_context(&tensor.id().to_string()))
}

/// Returns the device that a tensor moves to, with its context.
fn remote_device<'a>(
    conversion: &ConversionContext<'a>,
) -> Result<(Arc<DistributedContext>, &'a RemoteDevice), Error> {
    let device = &conversion.destination.0;
    let remote: &RemoteDevice = device.downcast_ref().ok_or_else(|| {
        let message = format!("{} is not a device of a cluster", device.name());
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    })?;
    let context = remote
        .context()
        .ok_or_else(|| unknown_context(device.name()))?;
    Ok((context, remote))
}

#[cold]
fn unknown_context(of: &str) -> Error {
    let message = format!("the distributed context of {of} does not exist any more");
    Error::new(message).with_code(ErrorCode::FailedPrecondition)
}

/// Returns a key that no other payload has.
fn new_key(context: &DistributedContext) -> String {
    let task = context.cluster().own_task().value();
    format!("{KEY}{task:x}:{:x}", random::non_zero())
}

fn to_tensor(
    context: &DistributedContext,
    payload: Result<Payload, Error>,
) -> Result<DenseHostTensor, Error> {
    let payload = payload?;
    match payload.error() {
        Some(error) => Err(error),
        None => payload.to_tensor(context.host().allocator()),
    }
}

/// Gets the tensor of an object.
fn fetch(
    context: &Arc<DistributedContext>,
    id: &RemoteObjectId,
) -> Result<AsyncValueRef<DenseHostTensor>, RemoteError> {
    let task = context.devices().find(id.device())?.task();
    let key = new_key(context);
    let (promise, tensor) = AsyncValueRef::unconstructed();
    // The object is not deleted before it has been sent.
    let (own_context, own_id) = (Arc::clone(context), id.clone());
    let receiver = move |payload| {
        // Waiters run on the work queue.
        let queue = Arc::clone(own_context.host().queue());
        queue.add_task(Task::new(move || {
            match to_tensor(&own_context, payload) {
                Ok(tensor) => promise.emplace(tensor),
                Err(error) => promise.set_error(error),
            }
            drop(own_id);
        }));
    };
    context.receive(task, &key, Box::new(receiver));
    let request = FetchObjectRequest {
        context_id: context.id(),
        object: Some(id.into()),
        receiver: context.cluster().own_name(),
        instance_key: key.clone(),
    };
    let asking = Arc::clone(context);
    context.call(task, CallOptions::until_lost(), request, move |answer| {
        if let Err(errors) = answer {
            let error = errors.to_value(asking.host());
            asking.rendezvous().give_up(&key, &error);
        }
    });
    Ok(tensor)
}

/// Makes a tensor an object of another task.
fn put(
    context: &Arc<DistributedContext>,
    device: &RemoteDevice,
    tensor: &DenseHostTensor,
) -> Result<AsyncValueRef<RemoteTensor>, Error> {
    let payload = Payload::of_tensor(tensor).to_bytes()?;
    let key = new_key(context);
    let sender = context.cluster().own_name();
    let moved = (tensor.dtype(), tensor.shape().clone());
    let tensor = announce(context, device, (sender, &key), moved);
    let task = device.task();
    let sending = Arc::clone(context);
    context.send_data(task, key.clone(), payload, move |answer| {
        let own_task = sending.cluster().own_task();
        tell_failure(&sending, own_task, (task, key), answer);
    });
    Ok(tensor)
}

/// Makes a tensor an object of another task, once it is available.
fn put_later(
    tensor: AsyncValueRef<DenseHostTensor>,
    context: &Arc<DistributedContext>,
    device: &DeviceRef,
) -> AnyRef {
    let (promise, moved) = AnyRef::indirect();
    let (context, device) = (Arc::clone(context), device.clone());
    let fetched = tensor.into_any();
    fetched.clone().watch(move |_| {
        let put = dense(&fetched).and_then(|tensor| {
            let device = device
                .0
                .downcast_ref()
                .ok_or_else(|| unknown_context(device.0.name()))?;
            Ok(put(&context, device, &tensor)?.into_any())
        });
        promise.forward_to(or_error(put));
    });
    moved
}

/// Makes the tensor of an object one of a third task, without moving it through this one.
fn move_to(
    context: &Arc<DistributedContext>,
    device: &RemoteDevice,
    tensor: &RemoteTensor,
) -> Result<AsyncValueRef<RemoteTensor>, RemoteError> {
    let source = context.devices().find(tensor.id().device())?.task();
    let sender = context.cluster().task_name(source)?;
    let receiver = context.cluster().task_name(device.task())?;
    let key = new_key(context);
    let moved = (tensor.dtype(), tensor.shape().clone());
    let moved = announce(context, device, (sender, &key), moved);
    let request = FetchObjectRequest {
        context_id: context.id(),
        object: Some(tensor.id().into()),
        receiver,
        instance_key: key.clone(),
    };
    let task = device.task();
    // The object is not deleted before it has been sent.
    let (asking, id) = (Arc::clone(context), tensor.id().clone());
    context.call(source, CallOptions::until_lost(), request, move |answer| {
        tell_failure(&asking, source, (task, key), answer);
        drop(id);
    });
    Ok(moved)
}

/// Tells a task that expects a payload from `source` that there is none, if it could not be sent.
fn tell_failure<T>(
    context: &Arc<DistributedContext>,
    source: TaskHandle,
    (task, key): (TaskHandle, String),
    answer: Answer<T>,
) {
    // The receiver watches the source, too. What it no longer waits for, it would keep.
    if context.health().lost(source).is_some() {
        return;
    }
    if let Err(errors) = answer
        && let Ok(payload) = Payload::of_error(&errors.to_value(context.host())).to_bytes()
    {
        // A task that cannot be reached expects nothing.
        context.send_data(task, key, payload, |_| ());
    }
}

/// Makes an object an error, unless it is set already: the request that was to produce it has
/// failed. `done` is dropped once that is known where the object lives, or cannot be known there.
pub(crate) fn fail_object(
    context: &Arc<DistributedContext>,
    id: &RemoteObjectId,
    error: &Error,
    done: impl Clone + Send + 'static,
) {
    let Some(home) = context.devices().get(id.device()) else {
        return;
    };
    let home = home.task();
    if home == context.cluster().own_task() {
        // The outcome does not matter if it is set.
        let _ = context.objects().set(id, AnyRef::error(error.clone()));
        return;
    }
    let Ok(payload) = Payload::of_error(error).to_bytes() else {
        return;
    };
    let key = new_key(context);
    let request = PutObjectRequest {
        context_id: context.id(),
        object: Some(id.into()),
        sender: context.cluster().own_name(),
        instance_key: key.clone(),
    };
    let told = done.clone();
    context.call(home, CallOptions::until_lost(), request, |_| drop(told));
    context.deliver(home, key, payload, done);
}

/// Announces a payload from `sender` to the task of a device, where it becomes an object. Returns
/// the tensor, which is available once the object is.
fn announce(
    context: &Arc<DistributedContext>,
    device: &RemoteDevice,
    (sender, key): (String, &str),
    (dtype, shape): (tfrt_support::DType, tfrt_tensor::Shape),
) -> AsyncValueRef<RemoteTensor> {
    use tfrt_host::device::Device;

    let id = context.new_object(device.name());
    let request = PutObjectRequest {
        context_id: context.id(),
        object: Some((&id).into()),
        sender,
        instance_key: key.to_owned(),
    };
    let (promise, tensor): (Promise<RemoteTensor>, _) = AsyncValueRef::unconstructed();
    let host = Arc::clone(context.host());
    context.call(
        device.task(),
        CallOptions::until_lost(),
        request,
        move |answer| match answer {
            Ok(_) => promise.emplace(RemoteTensor::new(dtype, shape, id)),
            Err(errors) => promise.set_error(errors.to_value(&host)),
        },
    );
    tensor
}

/// Sends the tensor of an object of this task to another one.
pub(crate) fn send(
    context: &Arc<DistributedContext>,
    request: &FetchObjectRequest,
    reply: Reply<FetchObjectResponse>,
) {
    let id = request.object.clone().unwrap_or_default();
    let found = context.cluster().find(&request.receiver);
    let found = found.and_then(|receiver| {
        context.devices().find(&id.device)?;
        Ok((receiver, context.object(&(&id).into())))
    });
    let (receiver, object) = match found {
        Ok(found) => found,
        Err(error) => return reply.send(Err(error.into())),
    };
    let (sending, key) = (Arc::clone(context), request.instance_key.clone());
    object.clone().watch(move |_| {
        let request = RequestContextBuilder::new(Arc::clone(sending.host()))
            .resources(Arc::new(ResourceContext::new()))
            .context_data(DistContext::new(Arc::clone(&sending)))
            .context_data(sending.under_way())
            .build();
        let running = sending.executions().begin(random::non_zero(), &request);
        let ctx = ExecutionContext::new(request);
        let runtime = CoreRuntime::of(sending.host());
        let on_host = runtime.host_device();
        let handle = match object.error_if_present() {
            Some(error) => tfrt_core::TensorHandle::error(error.clone()),
            None => handle_of(&object, on_host).transfer_to(&ctx, on_host, DENSE),
        };
        let missing = || AnyRef::error(Error::new("the object is an invalid handle"));
        let tensor = handle.tensor().cloned().unwrap_or_else(missing);
        tensor.clone().watch(move |_| {
            let payload =
                dense(&tensor).and_then(|tensor| Ok(Payload::of_tensor(&tensor).to_bytes()?));
            let payload = payload.or_else(|error| Payload::of_error(&error).to_bytes());
            drop((ctx, running));
            match payload {
                Ok(payload) => sending.send_data(receiver, key, payload, move |answer| {
                    reply.send(answer.map(|()| FetchObjectResponse {}));
                }),
                Err(error) => reply.send(Err(RemoteErrors::from(Error::from(error)))),
            }
        });
    });
}

fn dense(tensor: &AnyRef) -> Result<DenseHostTensor, Error> {
    if let Some(error) = tensor.error_if_present() {
        return Err(error.clone());
    }
    let guard = TensorRef::read(tensor).map_err(|error| Error::new(error.to_string()))?;
    let dense: &DenseHostTensor = guard.expect(DENSE)?;
    Ok(dense.clone())
}

/// Makes a payload from another task an object of this one.
pub(crate) fn receive(
    context: &Arc<DistributedContext>,
    request: &PutObjectRequest,
    reply: Reply<PutObjectResponse>,
) {
    let id = request.object.clone().unwrap_or_default();
    let found = context.cluster().find(&request.sender);
    let found = found.and_then(|sender| {
        context.devices().find(&id.device)?;
        Ok(sender)
    });
    let sender = match found {
        Ok(sender) => sender,
        Err(error) => return reply.send(Err(error.into())),
    };
    let own_context = Arc::clone(context);
    let receiver = move |payload| {
        let queue = Arc::clone(own_context.host().queue());
        queue.add_task(Task::new(move || {
            let tensor = to_tensor(&own_context, payload);
            let failure = tensor.as_ref().err().map(RemoteError::from);
            let value = tensor.map_or_else(AnyRef::error, AnyRef::available);
            let set = own_context.objects().set(&(&id).into(), value);
            let outcome = failure.map_or(set, Err);
            reply.send(outcome.map(|()| PutObjectResponse {}).map_err(Into::into));
        }));
    };
    context.receive(sender, &request.instance_key, Box::new(receiver));
}

#[cfg(test)]
mod tests;

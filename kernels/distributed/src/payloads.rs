//! Sends and receives.

use std::sync::{Arc, OnceLock};

use tfrt::distributed::{DistContext, Payload, TaskHandle};
use tfrt::prelude::*;

use crate::failed;

/// Sends a payload to the receiver of a key on a task. The chain is ready once the payload has
/// arrived.
///
/// # Errors
/// Failures between tasks; another payload that waits under the key.
#[tfrt_kernel(
    "tfrt_dist.send_bytes",
    effect = "io",
    chain = none,
    results(out_chain),
    format = "operands attr-dict"
)]
fn send_bytes(
    dist_context: &DistContext,
    task_handle: TaskHandle,
    instance_key: &str,
    payload: &Payload,
    host: &HostContext,
) -> AsyncValueRef<Chain> {
    let context = dist_context.context();
    let payload = match payload.to_bytes() {
        Ok(payload) => payload,
        Err(error) => return failed(Error::from(error), host),
    };
    let (promise, chain) = AsyncValueRef::unconstructed();
    let own_host = context.host().clone();
    context.send_data(
        task_handle,
        instance_key,
        payload,
        move |answer| match answer {
            Ok(()) => promise.emplace(Chain),
            Err(errors) => promise.set_error(errors.to_value(&own_host)),
        },
    );
    chain
}

/// Receives the payload that is sent to this task under a key.
///
/// # Errors
/// `Two receivers for key K.`; a closed context; a lost task.
#[tfrt_kernel(
    "tfrt_dist.recv_bytes",
    effect = "io",
    chain = none,
    results(payload),
    format = "operands attr-dict"
)]
fn recv_bytes(
    dist_context: &DistContext,
    task_handle: TaskHandle,
    instance_key: &str,
    ctx: &ExecutionContext,
) -> AsyncValueRef<Payload> {
    let (promise, payload) = AsyncValueRef::unconstructed();
    // The thread that brings a payload is the transport's: what waits for it runs on the work
    // queue.
    let ctx = ctx.clone();
    // Kept by the receiver, so that the hook ends with the wait.
    let hook = Arc::new(OnceLock::new());
    let (request, kept) = (Arc::clone(ctx.request()), Arc::clone(&hook));
    let receiver = move |outcome: Result<Payload>| {
        drop(kept);
        ctx.clone().enqueue(move || match outcome {
            Ok(payload) => promise.emplace(payload),
            Err(error) => promise.set_error(error),
        });
    };
    let context = dist_context.context();
    let Some(number) = context.receive(task_handle, instance_key, Box::new(receiver)) else {
        return payload;
    };
    // A cancelled request no longer waits, and others may use the key.
    let (weak, key) = (Arc::downgrade(context), instance_key.to_owned());
    let cancelled = Arc::downgrade(&request);
    let give_up = move || {
        if let (Some(context), Some(request)) = (weak.upgrade(), cancelled.upgrade()) {
            let rendezvous = context.rendezvous();
            rendezvous.give_up_numbered(&key, number, &why_cancelled(&request));
        }
    };
    match request.on_cancel(give_up.clone()) {
        // Set once, here.
        Some(on_cancel) => drop(hook.set(on_cancel)),
        None => give_up(),
    }
    payload
}

/// Returns the error with which a request was cancelled.
fn why_cancelled(request: &RequestContext) -> Error {
    let error = request.cancel_value().and_then(AnyRef::error_if_present);
    error.cloned().unwrap_or_else(Error::cancelled)
}

/// Converts a tensor to a payload: its metadata, and its elements, which are shared.
#[tfrt_kernel("tfrt_dist.serialize", results(payload))]
fn serialize(tensor: &DenseHostTensor, in_chain: Chain) -> Payload {
    let _ = in_chain;
    Payload::of_tensor(tensor)
}

/// Returns the tensor of a payload.
///
/// # Errors
/// `malformed tensor payload: …`
#[tfrt_kernel("tfrt_dist.deserialize", results(tensor))]
fn deserialize(payload: &Payload, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    payload.to_tensor(ctx.allocator())
}

//! Invocations of functions over several tasks: their numbers, and the values that their parts send
//! each other. The pass `insert-send-recv` makes programs of these kernels.
//!
//! A part that waits for a value always gets one: an error is sent like a value, and if a value
//! cannot be sent, all parts are cancelled.

use std::sync::Arc;

use tfrt::core::{CoreRuntime, TensorHandle};
use tfrt::distributed::{DistContext, Payload};
use tfrt::prelude::*;

/// Returns a context for one invocation of a function over several tasks, with a new number. The
/// remote functions that it executes have the number, too.
#[tfrt_kernel(
    "tfrt_dist.begin_invocation",
    chain = none,
    results(out_context),
    format = "operands attr-dict"
)]
fn begin_invocation(dist_context: &DistContext) -> DistContext {
    dist_context.clone().in_new_invocation()
}

/// Returns the key of a value in one invocation: its name, and the number of the invocation.
#[tfrt_kernel(
    "tfrt_dist.invocation_key",
    chain = none,
    results(key),
    format = "operands attr-dict"
)]
fn invocation_key(dist_context: &DistContext, #[attr] name: &str) -> ByteString {
    let number = dist_context.invocation();
    format!("{name}/#{number:016x}").into_bytes().into()
}

/// Converts the tensor of a handle to a payload. An error becomes a payload that says so.
#[tfrt_kernel(
    "tfrt_dist.serialize_th",
    non_strict,
    chain = none,
    results(payload),
    format = "operands attr-dict"
)]
fn serialize_th(handle: AsyncValueRef<TensorHandle>) -> AsyncValueRef<Payload> {
    let (promise, payload) = AsyncValueRef::unconstructed();
    handle
        .into_any()
        .and_then(move |handle| match tensor_of(handle) {
            Ok(tensor) => tensor.and_then(move |tensor| {
                let read = payload_of(tensor);
                promise.emplace(read.unwrap_or_else(|error| Payload::of_error(&error)));
            }),
            Err(error) => promise.emplace(Payload::of_error(&error)),
        });
    payload
}

/// Returns the tensor of a handle that is available.
fn tensor_of(handle: &AnyRef) -> Result<AnyRef> {
    if let Some(error) = handle.error_if_present() {
        return Err(error.clone());
    }
    let tensor = handle.try_read::<TensorHandle>()?.tensor().cloned();
    tensor.ok_or_else(|| Error::new("the tensor handle is invalid"))
}

/// Returns the payload of a tensor that is available.
fn payload_of(tensor: &AnyRef) -> Result<Payload> {
    if let Some(error) = tensor.error_if_present() {
        return Err(error.clone());
    }
    Ok(Payload::of_tensor(&*tensor.try_read::<DenseHostTensor>()?))
}

/// Returns a handle of the tensor of a payload, or the error that it says.
///
/// # Errors
/// `malformed tensor payload: …`
#[tfrt_kernel(
    "tfrt_dist.deserialize_th",
    chain = none,
    results(handle),
    format = "operands attr-dict"
)]
fn deserialize_th(
    payload: &Payload,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<TensorHandle>> {
    if let Some(error) = payload.error() {
        return Ok(AsyncValueRef::error(error));
    }
    let tensor = payload.to_tensor(ctx.allocator())?;
    let device = CoreRuntime::of(ctx.host()).host_device().clone();
    let handle = TensorHandle::of_value(device, AnyRef::available(tensor));
    Ok(AsyncValueRef::available(handle))
}

/// Returns a payload once a chain is ready. An error becomes a payload that says so.
#[tfrt_kernel(
    "tfrt_dist.serialize_chain",
    non_strict,
    chain = none,
    results(payload)
)]
fn serialize_chain(chain: AnyRef) -> AsyncValueRef<Payload> {
    let (promise, payload) = AsyncValueRef::unconstructed();
    chain.and_then(move |chain| {
        promise.emplace(match chain.error_if_present() {
            Some(error) => Payload::of_error(error),
            None => Payload::new(Vec::new()),
        });
    });
    payload
}

/// Returns a chain that is ready, or the error that the payload says.
#[tfrt_kernel(
    "tfrt_dist.deserialize_chain",
    chain = none,
    results(out_chain),
    format = "operands attr-dict"
)]
fn deserialize_chain(payload: &Payload) -> AsyncValueRef<Chain> {
    match payload.error() {
        Some(error) => AsyncValueRef::error(error),
        None => AsyncValueRef::available(Chain),
    }
}

/// Cancels the request with the error of a chain, if it becomes one: what other tasks do for the
/// request is cancelled, too. The result follows the chain, and becomes an error only after the
/// request is cancelled: an answer that waits for it says so.
#[tfrt_kernel(
    "tfrt_dist.cancel_if_error",
    non_strict,
    chain = none,
    results(out_chain)
)]
fn cancel_if_error(chain: AnyRef, ctx: &ExecutionContext) -> AsyncValueRef<Chain> {
    let (promise, out_chain) = AsyncValueRef::unconstructed();
    // Lives until the chain is known, so that it can be cancelled even if nobody waits for it.
    let request = Arc::clone(ctx.request());
    chain.and_then(move |chain| match chain.error_if_present() {
        Some(error) => {
            request.cancel_with(error.clone());
            promise.set_error(error.clone());
        }
        None => promise.emplace(Chain),
    });
    out_chain
}

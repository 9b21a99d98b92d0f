//! Streams and events.

use tfrt::prelude::*;
use tfrt::queue::enqueue_blocking_value;

use crate::values::{Event, GpuContext, Stream};

/// Creates a stream, without an implicit order with the default stream.
#[tfrt_kernel(
    "tfrt_gpu.stream.create",
    chain = none,
    results(stream),
    format = "operands attr-dict",
)]
fn stream_create(context: &GpuContext) -> Result<Stream> {
    let current = context.set_current()?;
    let handle = context.gpu().driver.stream_create(&current)?;
    Ok(Stream::new(context, handle))
}

/// Returns the context of a stream.
#[tfrt_kernel(
    "tfrt_gpu.stream.get_context",
    pure,
    chain = none,
    results(context),
    format = "operands attr-dict",
)]
fn stream_get_context(stream: &Stream) -> GpuContext {
    stream.context().clone()
}

/// Lets later work of the stream wait for the last record of the event. An event that was never
/// recorded counts as done.
#[tfrt_kernel(
    "tfrt_gpu.stream.wait",
    results(out_chain),
    format = "operands attr-dict"
)]
fn stream_wait(stream: &Stream, event: &Event, in_chain: Chain) -> Result<Chain> {
    let driver = &stream.context().gpu().driver;
    driver.stream_wait_event(stream.handle(), event.handle())?;
    Ok(in_chain)
}

/// Returns a chain that is ready once all work is done that is now in the stream. Failures of that
/// work appear here.
#[tfrt_kernel(
    "tfrt_gpu.stream.synchronize",
    blocking,
    results(out_chain),
    format = "operands attr-dict"
)]
fn stream_synchronize(stream: &Stream, in_chain: Chain) -> Result<Chain> {
    stream.synchronize()?;
    Ok(in_chain)
}

/// Creates an event.
#[tfrt_kernel("tfrt_gpu.event.create", chain = none, results(event), format = "operands attr-dict")]
fn event_create(context: &GpuContext) -> Result<Event> {
    let current = context.set_current()?;
    let handle = context.gpu().driver.event_create(&current, false)?;
    Ok(Event::new(context, handle))
}

/// Records an event at the current end of a stream.
#[tfrt_kernel(
    "tfrt_gpu.event.record",
    results(out_chain),
    format = "operands attr-dict"
)]
fn event_record(event: &Event, stream: &Stream, in_chain: Chain) -> Result<Chain> {
    let driver = &stream.context().gpu().driver;
    driver.event_record(event.handle(), stream.handle())?;
    Ok(in_chain)
}

/// Returns a chain that is ready once the work before an event is done. It is ready immediately if
/// the work is already done.
///
/// # Errors
/// `Failed to enqueue blocking work.`
#[tfrt_kernel(
    "tfrt_gpu.event.synchronize",
    results(out_chain),
    format = "operands attr-dict"
)]
fn event_synchronize(
    event: &Event,
    in_chain: AsyncValueRef<Chain>,
    ctx: ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    if event.context().gpu().driver.event_query(event.handle())? {
        return Ok(in_chain);
    }
    let event = event.clone();
    let queue = std::sync::Arc::clone(ctx.queue());
    Ok(enqueue_blocking_value(&*queue, move || {
        let driver = &event.context().gpu().driver;
        let waited = driver.event_synchronize(event.handle());
        waited.map_err(|error| ctx.emit_error(error.into()))?;
        Ok(Chain)
    }))
}

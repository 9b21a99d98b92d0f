//! Streams and events, and what is kept until a stream has passed a place.
#![expect(unsafe_code, reason = "calls the driver")]

use std::any::Any;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUevent, CUstream};

use super::super::keep::{Held, Keeper, Mark};
use super::super::object::{Kind, Object};
use super::{CudaDriver, same_context};
use crate::api::driver::StreamCalls;
use crate::api::handle::{EventHandle, StreamHandle};
use crate::api::known::KnownStream;
use crate::api::{Current, GpuError, GpuResult, Status};
use crate::cuda::{call, real_call};

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

impl CudaDriver {
    fn event(&self, call: &'static str, event: EventHandle) -> GpuResult<Arc<Object>> {
        self.object(call, Kind::Event, event.0)
    }

    /// Returns an event in the context of a stream, recorded there.
    fn mark(&self, stream: &Object) -> GpuResult<Mark> {
        self.enter(&stream.context)?;
        let mut event: CUevent = ptr::null_mut();
        call!(
            self.functions,
            "cuEventCreate(&event, flags)",
            cuEventCreate(&mut event, DISABLE_TIMING)
        )?;
        let mark = Mark {
            number: event as u64,
            context: Arc::clone(&stream.context),
        };
        call!(
            self.functions,
            "cuEventRecord(event, stream)",
            cuEventRecord(mark.number as CUevent, stream.number as CUstream)
        )?;
        Ok(mark)
    }

    /// Returns the keeper, and starts it if it is the first time.
    fn keeper(&self) -> GpuResult<&Keeper> {
        if let Some(keeper) = self.keeper.get() {
            return Ok(keeper);
        }
        let keeper = Keeper::start().map_err(|error| {
            GpuError::new("cuEventRecord(event, stream)", Status::Driver(304))
                .with_details(error.to_string())
        })?;
        Ok(self.keeper.get_or_init(|| keeper))
    }

    /// Keeps an object until the work that a stream has now is done. In a capture, keeps it as long
    /// as the graph.
    pub(super) fn keep(&self, stream: &Object, held: Held) {
        let mut held = Some(held);
        stream.in_capture(|capture| capture.held.extend(held.take()));
        let Some(held) = held else {
            return;
        };
        let marked = self
            .keeper()
            .and_then(|keeper| Ok((keeper, self.mark(stream)?)));
        match marked {
            Ok((keeper, mark)) => keeper.keep(mark, held),
            Err(_) => {
                // Then here and now. An error of the wait means that the device does nothing any
                // more.
                let waited = real_call!(
                    self.functions,
                    "cuStreamSynchronize(stream)",
                    cuStreamSynchronize(stream.number as CUstream)
                );
                drop((waited, held));
            }
        }
    }

    /// Drops the borrows for work that is done, if some work is done.
    pub(super) fn drop_passed_if_ready(&self, is_ready: GpuResult<bool>) -> GpuResult<bool> {
        if let (Ok(true), Some(keeper)) = (&is_ready, self.keeper.get()) {
            keeper.drop_passed();
        }
        is_ready
    }
}

impl StreamCalls for CudaDriver {
    fn stream_create(&self, current: &Current) -> GpuResult<StreamHandle> {
        let context = self.of("cuStreamCreate(&stream, flags)", current)?;
        let mut stream: CUstream = ptr::null_mut();
        call!(
            self.functions,
            "cuStreamCreate(&stream, flags)",
            cuStreamCreate(&mut stream, NON_BLOCKING)
        )?;
        self.add_object(stream as u64, Kind::Stream, context);
        Ok(StreamHandle(stream as u64))
    }

    fn stream_destroy(&self, stream: StreamHandle) -> GpuResult<()> {
        self.end("cuStreamDestroy(stream)", Kind::Stream, stream.0)
    }

    fn stream_synchronize(&self, stream: StreamHandle) -> GpuResult<()> {
        let stream = self.stream("cuStreamSynchronize(stream)", stream)?;
        let waited = call!(
            self.functions,
            "cuStreamSynchronize(stream)",
            cuStreamSynchronize(stream.number as CUstream)
        );
        self.drop_passed_if_ready(waited.map(|()| true)).map(drop)
    }

    fn stream_query(&self, stream: StreamHandle) -> GpuResult<bool> {
        let stream = self.stream("cuStreamQuery(stream)", stream)?;
        self.drop_passed_if_ready(is_ready(call!(
            self.functions,
            "cuStreamQuery(stream)",
            cuStreamQuery(stream.number as CUstream)
        )))
    }

    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamWaitEvent(stream, event, flags)";
        let (stream, event) = (self.stream(CALL, stream)?, self.event(CALL, event)?);
        call!(
            self.functions,
            "cuStreamWaitEvent(stream, event, flags)",
            cuStreamWaitEvent(stream.number as CUstream, event.number as CUevent, 0)
        )
    }

    fn known_stream(&self, stream: StreamHandle) -> Option<Box<dyn KnownStream>> {
        Some(Box::new(self.stream_of(stream)?))
    }

    fn keep_until_passed(
        &self,
        stream: StreamHandle,
        object: Box<dyn Any + Send>,
    ) -> GpuResult<()> {
        let stream = self.stream("cuEventRecord(event, stream)", stream)?;
        self.keep(&stream, Held::object(object));
        Ok(())
    }

    fn event_create(&self, current: &Current, has_timing: bool) -> GpuResult<EventHandle> {
        let context = self.of("cuEventCreate(&event, flags)", current)?;
        let mut event: CUevent = ptr::null_mut();
        let flags = if has_timing { 0 } else { DISABLE_TIMING };
        call!(
            self.functions,
            "cuEventCreate(&event, flags)",
            cuEventCreate(&mut event, flags)
        )?;
        self.add_object(event as u64, Kind::Event, context);
        Ok(EventHandle(event as u64))
    }

    fn event_destroy(&self, event: EventHandle) -> GpuResult<()> {
        self.end("cuEventDestroy(event)", Kind::Event, event.0)
    }

    fn event_record(&self, event: EventHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventRecord(event, stream)";
        let (event, stream) = (self.event(CALL, event)?, self.stream(CALL, stream)?);
        same_context(
            CALL,
            &event.context,
            &stream.context,
            Status::INVALID_HANDLE,
        )?;
        call!(
            self.functions,
            "cuEventRecord(event, stream)",
            cuEventRecord(event.number as CUevent, stream.number as CUstream)
        )
    }

    fn event_query(&self, event: EventHandle) -> GpuResult<bool> {
        let event = self.event("cuEventQuery(event)", event)?;
        self.drop_passed_if_ready(is_ready(call!(
            self.functions,
            "cuEventQuery(event)",
            cuEventQuery(event.number as CUevent)
        )))
    }

    fn event_synchronize(&self, event: EventHandle) -> GpuResult<()> {
        let event = self.event("cuEventSynchronize(event)", event)?;
        let waited = call!(
            self.functions,
            "cuEventSynchronize(event)",
            cuEventSynchronize(event.number as CUevent)
        );
        self.drop_passed_if_ready(waited.map(|()| true)).map(drop)
    }

    fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> GpuResult<f32> {
        const CALL: &str = "cuEventElapsedTime(&milliseconds, start, end)";
        let (start, end) = (self.event(CALL, start)?, self.event(CALL, end)?);
        let mut milliseconds = 0.0;
        call!(
            self.functions,
            "cuEventElapsedTime(&milliseconds, start, end)",
            cuEventElapsedTime(
                &mut milliseconds,
                start.number as CUevent,
                end.number as CUevent
            )
        )?;
        Ok(milliseconds)
    }
}

fn is_ready(result: GpuResult<()>) -> GpuResult<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.status == Status::NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

//! Streams and events, and what is kept until a stream has passed a place.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;

use tfrt::host::log;

use super::super::order::Clock;
use super::super::stream::{HostEvent, Queue};
use super::{Shared, error, two_contexts};
use crate::api::driver::StreamCalls;
use crate::api::handle::{EventHandle, StreamHandle};
use crate::api::{Current, GpuResult, Status};
use crate::values::lock;

/// An object that streams have passed.
pub(super) type Passed = Box<dyn Any + Send>;

/// The way to the thread that drops such objects.
pub(super) type Reaper = mpsc::Sender<Passed>;

impl StreamCalls for Shared {
    fn stream_create(&self, current: &Current) -> GpuResult<StreamHandle> {
        const CALL: &str = "cuStreamCreate(&stream, flags)";
        self.0.enter_context("cuStreamCreate", CALL, current)?;
        let handle = self.0.new_handle();
        let queue = Arc::new(Queue::new(handle, current.context()));
        lock(&self.0.objects).streams.insert(handle, queue);
        Ok(StreamHandle(handle))
    }

    fn stream_destroy(&self, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamDestroy(stream)";
        self.0.enter("cuStreamDestroy", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some(queue) = objects.streams.remove(&stream.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        queue.close();
        if !queue.is_past(queue.end()) {
            objects.closed.push(queue);
        }
        drop(objects);
        // If the host has waited for all work of the stream, the stream is settled now.
        self.0.has_seen(&Clock::default());
        Ok(())
    }

    fn stream_synchronize(&self, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamSynchronize(stream)";
        self.0.enter("cuStreamSynchronize", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (place, clock) = queue.now();
        queue.wait_for(place);
        self.0.has_seen(&clock);
        self.0.check_context(CALL, queue.context)
    }

    fn stream_query(&self, stream: StreamHandle) -> GpuResult<bool> {
        const CALL: &str = "cuStreamQuery(stream)";
        self.0.enter("cuStreamQuery", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (place, clock) = queue.now();
        let is_past = queue.is_past(place);
        if is_past {
            self.0.has_seen(&clock);
        }
        Ok(is_past)
    }

    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamWaitEvent(stream, event, 0)";
        self.0.enter("cuStreamWaitEvent", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let objects = lock(&self.0.objects);
        let Some(event) = objects.events.get(&event.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let Some((recorded, place)) = event.place.clone() else {
            return Ok(());
        };
        let clock = event.clock.clone();
        drop(objects);
        if Arc::ptr_eq(&recorded, &queue) {
            return Ok(());
        }
        queue.join(&clock);
        self.push_once(CALL, &queue, move |_| {
            recorded.wait_for(place);
            Ok(())
        })
    }

    fn keep_until_passed(
        &self,
        stream: StreamHandle,
        object: Box<dyn Any + Send>,
    ) -> GpuResult<()> {
        const CALL: &str = "cuLaunchHostFunc(stream, function, data)";
        self.0.enter("cuLaunchHostFunc", CALL)?;
        let reaper = self.reaper(CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        // Work of an unusable context is dropped without running, and with it the object: to the
        // reaper, too.
        let mut kept = Some(Kept(Some((object, reaper))));
        if queue.record(|recording| {
            let kept = kept.take().map(|kept| Box::new(kept) as _);
            recording.kept.extend(kept);
        }) {
            return Ok(());
        }
        self.push_once(CALL, &queue, move |_| {
            drop(kept);
            Ok(())
        })
    }

    fn event_create(&self, current: &Current, has_timing: bool) -> GpuResult<EventHandle> {
        const CALL: &str = "cuEventCreate(&event, flags)";
        self.0.enter_context("cuEventCreate", CALL, current)?;
        let handle = self.0.new_handle();
        let event = HostEvent {
            context: current.context(),
            has_timing,
            clock: Clock::default(),
            place: None,
            time: Arc::default(),
        };
        lock(&self.0.objects).events.insert(handle, event);
        Ok(EventHandle(handle))
    }

    fn event_destroy(&self, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventDestroy(event)";
        self.0.enter("cuEventDestroy", CALL)?;
        match lock(&self.0.objects).events.remove(&event.0) {
            Some(_) => Ok(()),
            None => Err(error(CALL, Status::INVALID_HANDLE)),
        }
    }

    fn event_record(&self, event: EventHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventRecord(event, stream)";
        self.0.enter("cuEventRecord", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (context, has_timing) = {
            let objects = lock(&self.0.objects);
            let event = objects.events.get(&event.0);
            let event = event.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
            (event.context, event.has_timing)
        };
        if context != queue.context {
            return Err(two_contexts(CALL, Status::INVALID_HANDLE));
        }
        let time = Arc::new(Mutex::new(None));
        if has_timing {
            let time = Arc::clone(&time);
            self.push_once(CALL, &queue, move |_| {
                *lock(&time) = Some(Instant::now());
                Ok(())
            })?;
        }
        if let Some(event) = lock(&self.0.objects).events.get_mut(&event.0) {
            let (place, clock) = queue.now();
            event.clock = clock;
            event.place = Some((Arc::clone(&queue), place));
            event.time = time;
        }
        Ok(())
    }

    fn event_query(&self, event: EventHandle) -> GpuResult<bool> {
        const CALL: &str = "cuEventQuery(event)";
        self.0.enter("cuEventQuery", CALL)?;
        match self.event_place(CALL, event)? {
            Some((queue, place, _)) if !queue.is_past(place) => Ok(false),
            Some((_, _, clock)) => {
                self.0.has_seen(&clock);
                Ok(true)
            }
            None => Ok(true),
        }
    }

    fn event_synchronize(&self, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventSynchronize(event)";
        self.0.enter("cuEventSynchronize", CALL)?;
        match self.event_place(CALL, event)? {
            None => Ok(()),
            Some((queue, place, clock)) => {
                queue.wait_for(place);
                self.0.has_seen(&clock);
                self.0.check_context(CALL, queue.context)
            }
        }
    }

    fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> GpuResult<f32> {
        const CALL: &str = "cuEventElapsedTime(&milliseconds, start, end)";
        self.0.enter("cuEventElapsedTime", CALL)?;
        let objects = lock(&self.0.objects);
        let time = |event: EventHandle| {
            let event = objects.events.get(&event.0);
            let event = event.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
            if !event.has_timing || event.place.is_none() {
                return Err(error(CALL, Status::INVALID_HANDLE));
            }
            lock(&event.time).ok_or_else(|| error(CALL, Status::NOT_READY))
        };
        let (start, end) = (time(start)?, time(end)?);
        Ok(end.saturating_duration_since(start).as_secs_f32() * 1000.0)
    }
}

impl Shared {
    fn reaper(&self, call: &'static str) -> GpuResult<Reaper> {
        let mut objects = lock(&self.0.objects);
        if let Some(reaper) = &objects.reaper {
            return Ok(reaper.clone());
        }
        let (sender, receiver) = mpsc::channel::<Passed>();
        let thread = std::thread::Builder::new().name("gpu reaper".into());
        let spawned = thread.spawn(move || {
            for object in receiver {
                if catch_unwind(AssertUnwindSafe(|| drop(object))).is_err() {
                    log::error!("dropping an object after GPU work panicked");
                }
            }
        });
        if spawned.is_err() {
            return Err(error(call, Status::OPERATING_SYSTEM).with_details("cannot start a thread"));
        }
        objects.reaper = Some(sender.clone());
        Ok(sender)
    }

    /// Returns the last record of an event, if there is one: its stream, its place there, and what
    /// comes before it.
    fn event_place(
        &self,
        call: &'static str,
        event: EventHandle,
    ) -> GpuResult<Option<(Arc<Queue>, u64, Clock)>> {
        let objects = lock(&self.0.objects);
        match objects.events.get(&event.0) {
            Some(event) => {
                let place = event.place.clone();
                Ok(place.map(|(queue, place)| (queue, place, event.clock.clone())))
            }
            None => Err(error(call, Status::INVALID_HANDLE)),
        }
    }
}

/// An object that goes to the reaper when the work that holds it is done or dropped.
struct Kept(Option<(Passed, Reaper)>);

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some((object, reaper)) = self.0.take() {
            // Without a reaper the object is dropped here.
            drop(reaper.send(object));
        }
    }
}

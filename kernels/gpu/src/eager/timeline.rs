//! The times of ops on the device, for traces.
//!
//! While kernels are traced, each op is between two events that have the time. Once the second one
//! is done, a task reports the op on the row of its device. The times of a device are aligned to
//! those of the host once, by an event that the host waits for.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tfrt::host::tracing::{self, TracingLevel};
use tfrt::prelude::*;
use tfrt::queue::enqueue_blocking_work;

use crate::api::GpuResult;
use crate::values::{Event, Stream};

/// Ops are traced at the level of kernels.
const LEVEL: TracingLevel = TracingLevel::Debug;

/// What aligns the times of a device.
#[derive(Debug)]
pub(super) struct Timeline {
    track: Arc<str>,
    /// An event, and the time of the host when it was done.
    base: OnceLock<Option<(Event, Instant)>>,
}

/// An op whose start is recorded.
#[derive(Debug)]
pub(super) struct Started {
    start: Event,
    base: (Event, Instant),
    track: Arc<str>,
}

impl Timeline {
    pub(super) fn new(device: &str) -> Self {
        Self {
            track: device.into(),
            base: OnceLock::new(),
        }
    }

    /// Records the start of an op, if kernels are traced. A failed call only means that there is no
    /// record.
    #[inline]
    pub(super) fn start(&self, stream: &Stream) -> Option<Started> {
        if !tracing::is_active(LEVEL) {
            return None;
        }
        self.start_traced(stream)
    }

    #[cold]
    fn start_traced(&self, stream: &Stream) -> Option<Started> {
        let base = self.base.get_or_init(|| {
            let event = recorded(stream).ok()?;
            let driver = &stream.context().gpu().driver;
            driver.event_synchronize(event.handle()).ok()?;
            Some((event, Instant::now()))
        });
        Some(Started {
            base: base.clone()?,
            start: recorded(stream).ok()?,
            track: Arc::clone(&self.track),
        })
    }
}

/// Records an event that has the time.
fn recorded(stream: &Stream) -> GpuResult<Event> {
    let current = stream.context().set_current()?;
    let driver = &stream.context().gpu().driver;
    let event = Event::new(stream.context(), driver.event_create(&current, true)?);
    driver.event_record(event.handle(), stream.handle())?;
    Ok(event)
}

impl Started {
    /// Records the end of the op, and reports it once it is done.
    #[cold]
    pub(super) fn finish(self, op: &str, ctx: &ExecutionContext, stream: &Stream) {
        let Ok(end) = recorded(stream) else {
            return;
        };
        let op = op.to_owned();
        // A queue that takes no such task leaves the op out.
        let _ = enqueue_blocking_work(&**ctx.queue(), move || {
            let Self { start, base, track } = self;
            let driver = &end.context().gpu().driver;
            let elapsed = |from: &Event, to: &Event| -> GpuResult<Duration> {
                let millis = driver.event_elapsed(from.handle(), to.handle())?;
                Ok(Duration::from_secs_f64(f64::from(millis.max(0.0)) / 1000.0))
            };
            let times = driver
                .event_synchronize(end.handle())
                .and_then(|()| Ok((elapsed(&base.0, &start)?, elapsed(&start, &end)?)));
            if let Ok((before, length)) = times {
                // The host may have looked at its clock late when it aligned the times.
                let start = base.1 + before;
                let end = (start + length).min(Instant::now());
                tracing::device_work(LEVEL, &track, &op, start.min(end), end);
            }
        });
    }
}

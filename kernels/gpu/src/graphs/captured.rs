//! A graph with what it needs.

use std::sync::{Arc, Mutex};

use crate::api::handle::GraphHandle;
use crate::api::{GpuError, GpuResult};
use crate::values::{GpuContext, Stream, WeakStream, lock, log_failure};

/// A graph. It is destroyed once the device has passed all of its launches.
pub(super) struct CapturedGraph {
    owned: Arc<OwnedGraph>,
    launched: Mutex<Launched>,
}

/// The streams that a graph was launched on. They may end before it.
#[derive(Default)]
struct Launched {
    streams: Vec<WeakStream>,
    /// Whether there were others, which have ended.
    has_ended: bool,
}

struct OwnedGraph {
    handle: GraphHandle,
    /// The stream of the capture, which handles of libraries may still refer to.
    private: Stream,
}

impl CapturedGraph {
    /// Calls `enqueue` with a stream that nobody else knows, and captures what it puts there.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn capture(
        context: &GpuContext,
        enqueue: impl FnOnce(&Stream),
    ) -> Result<Self, GpuError> {
        let driver = &context.gpu().driver;
        let private = {
            let current = context.set_current()?;
            let private = Stream::new(context, driver.stream_create(&current)?);
            driver.capture_begin(&current, private.handle())?;
            private
        };
        enqueue(&private);
        let current = context.set_current()?;
        let handle = driver.capture_end(&current, private.handle())?;
        Ok(Self {
            owned: Arc::new(OwnedGraph { handle, private }),
            launched: Mutex::default(),
        })
    }

    /// Returns `true` if the graph can be launched on a stream.
    pub(super) fn is_for(&self, stream: &Stream) -> bool {
        let context = self.owned.private.context();
        context.expect_same(stream.context()).is_ok()
    }

    /// Puts the work on a stream.
    ///
    /// # Errors
    /// Those of the driver.
    pub(super) fn launch(&self, stream: &Stream) -> GpuResult<()> {
        let current = stream.context().set_current()?;
        let driver = &stream.context().gpu().driver;
        // Launches of one graph take turns, because a driver does not allow two at a time.
        let mut launched = lock(&self.launched);
        if !launched.streams.iter().any(|known| known.is(stream)) {
            let num_known = launched.streams.len();
            launched.streams.retain(|known| known.upgrade().is_some());
            launched.has_ended |= launched.streams.len() < num_known;
            launched.streams.push(stream.downgrade());
        }
        driver.graph_launch(&current, self.owned.handle, stream.handle())
    }
}

impl Drop for CapturedGraph {
    fn drop(&mut self) {
        let context = self.owned.private.context();
        let driver = &context.gpu().driver;
        let Launched { streams, has_ended } = std::mem::take(&mut *lock(&self.launched));
        let streams: Vec<_> = streams.iter().map(WeakStream::upgrade).collect();
        for stream in streams.iter().flatten() {
            let owned = Box::new(Arc::clone(&self.owned));
            log_failure(driver.keep_until_passed(stream.handle(), owned));
        }
        if has_ended || streams.iter().any(Option::is_none) {
            // The work of a stream that has ended may not be done. There is no other way to wait.
            let current = context.set_current();
            log_failure(current.and_then(|current| driver.context_synchronize(&current)));
        }
    }
}

impl Drop for OwnedGraph {
    fn drop(&mut self) {
        let driver = &self.private.context().gpu().driver;
        log_failure(driver.graph_destroy(self.handle));
    }
}

//! Graphs: work that was recorded on a stream, to be run any number of times.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use super::HostDevice;
use super::driver::{Shared, error, two_contexts};
use super::stream::{Queue, RecordedWork};
use crate::api::handle::{ContextHandle, GraphHandle, StreamHandle};
use crate::api::{Current, GpuResult, Status};
use crate::values::lock;

/// Recorded work. In a stream, a launch of it is one piece of work.
pub(super) struct HostGraph {
    pub(super) context: ContextHandle,
    work: Arc<[RecordedWork]>,
    /// Objects that the work needs.
    _kept: Vec<Box<dyn Any + Send>>,
}

impl fmt::Debug for HostGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostGraph")
            .field("context", &self.context)
            .field("num_pieces", &self.work.len())
            .finish_non_exhaustive()
    }
}

thread_local! {
    /// The streams that this thread captures, by device.
    static CAPTURED: RefCell<Vec<(usize, StreamHandle)>> = const { RefCell::new(Vec::new()) };
}

impl HostDevice {
    /// Refuses a call that a thread must not make during a capture, and makes the capture fail.
    pub(super) fn refuse_in_capture(&self, call: &'static str) -> GpuResult<()> {
        let mut is_capturing = false;
        CAPTURED.with_borrow_mut(|captured| {
            // A stream may have been destroyed, or its capture ended by another thread.
            captured.retain(|(device, stream)| {
                if *device != self.identity {
                    return true;
                }
                let queue = self.find_queue(*stream);
                let is_refused = queue.is_some_and(|queue| queue.refuse_recording(call));
                is_capturing |= is_refused;
                is_refused
            });
        });
        match is_capturing {
            true => Err(error(call, Status::STREAM_CAPTURE_UNSUPPORTED)),
            false => Ok(()),
        }
    }
}

impl Shared {
    /// Refuses a call on a stream that is being captured, and makes the capture fail.
    pub(super) fn refuse_capture(call: &'static str, queue: &Queue) -> GpuResult<()> {
        match queue.refuse_recording(call) {
            true => Err(error(call, Status::STREAM_CAPTURE_UNSUPPORTED)),
            false => Ok(()),
        }
    }

    pub(super) fn begin_capture(&self, current: &Current, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamBeginCapture(stream, mode)";
        self.0
            .enter_context("cuStreamBeginCapture", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        if !queue.begin_recording() {
            return Err(error(CALL, Status::ILLEGAL_STATE));
        }
        CAPTURED.with_borrow_mut(|captured| captured.push((self.0.identity, stream)));
        Ok(())
    }

    pub(super) fn end_capture(
        &self,
        current: &Current,
        stream: StreamHandle,
    ) -> GpuResult<GraphHandle> {
        const CALL: &str = "cuStreamEndCapture(stream, &graph)";
        let queue = self.0.find_queue(stream);
        // The capture ends, even if the call fails.
        let recording = queue.as_ref().and_then(|queue| queue.end_recording());
        let this = (self.0.identity, stream);
        CAPTURED.with_borrow_mut(|captured| captured.retain(|entry| *entry != this));
        self.0.enter_context("cuStreamEndCapture", CALL, current)?;
        let queue = queue.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
        self.0.check_context(CALL, queue.context)?;
        let recording = recording.ok_or_else(|| error(CALL, Status::STREAM_CAPTURE_UNMATCHED))?;
        if let Some(reason) = recording.refusal {
            return Err(error(CALL, Status::STREAM_CAPTURE_UNSUPPORTED).with_details(reason));
        }
        let handle = self.0.new_handle();
        let graph = HostGraph {
            context: queue.context,
            work: recording.work.into(),
            _kept: recording.kept,
        };
        lock(&self.0.objects).graphs.insert(handle, graph);
        Ok(GraphHandle(handle))
    }

    pub(super) fn launch_graph(
        &self,
        current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuGraphLaunch(graph, stream)";
        self.0.enter_context("cuGraphLaunch", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        let work = {
            let objects = lock(&self.0.objects);
            let graph = objects.graphs.get(&graph.0);
            let graph = graph.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
            if graph.context != queue.context {
                return Err(two_contexts(CALL, Status::INVALID_HANDLE));
            }
            Arc::clone(&graph.work)
        };
        self.push(CALL, &queue, move |device| {
            work.iter().try_for_each(|work| work(device))
        })
    }

    pub(super) fn destroy_graph(&self, graph: GraphHandle) -> GpuResult<()> {
        const CALL: &str = "cuGraphExecDestroy(graph)";
        self.0.enter("cuGraphExecDestroy", CALL)?;
        let removed = lock(&self.0.objects).graphs.remove(&graph.0);
        // Dropped without the lock: kept objects may come back here.
        match removed {
            Some(_) => Ok(()),
            None => Err(error(CALL, Status::INVALID_HANDLE)),
        }
    }
}

//! Graphs: work that the driver has recorded on a stream.
//!
//! The driver records addresses and functions, but keeps nothing alive. A [`Graph`] keeps the
//! modules of its kernels, and what the calls during the capture asked to keep.
#![expect(unsafe_code, reason = "calls the driver")]

use std::ptr;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUstream, CUstreamCaptureMode};

use super::driver::{CudaDriver, same_context};
use super::keep::Held;
use super::object::{Context, report};
use super::{call, real_call, unknown};
use crate::api::handle::{GraphHandle, StreamHandle};
use crate::api::{GpuError, GpuResult, Status};

/// A graph that can be launched.
pub(super) struct Graph {
    /// The driver's pointer.
    number: u64,
    context: Arc<Context>,
    is_ended: bool,
    /// Dropped after the graph was destroyed. Never locked: the objects can be sent to another
    /// thread, but not shared.
    _held: Mutex<Vec<Held>>,
}

impl Graph {
    fn destroy(&mut self) -> GpuResult<()> {
        self.is_ended = true;
        call!(
            self.context.functions,
            "cuGraphExecDestroy(graph)",
            cuGraphExecDestroy(self.number as CUgraphExec)
        )
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if !self.is_ended {
            report(self.destroy());
        }
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl CudaDriver {
    pub(super) fn begin_capture(&self, stream: StreamHandle) -> GpuResult<()> {
        let stream = self.stream("cuStreamBeginCapture(stream, mode)", stream)?;
        // Calls of this thread that a graph cannot contain fail; those of other threads do not.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        call!(
            self.functions,
            "cuStreamBeginCapture(stream, mode)",
            cuStreamBeginCapture_v2(stream.number as CUstream, mode)
        )?;
        stream.begin_capture();
        Ok(())
    }

    pub(super) fn end_capture(&self, stream: StreamHandle) -> GpuResult<GraphHandle> {
        const CALL: &str = "cuStreamEndCapture(stream, &graph)";
        let stream = self.stream(CALL, stream)?;
        let capture = stream
            .end_capture()
            .ok_or_else(|| GpuError::new(CALL, Status::STREAM_CAPTURE_UNMATCHED))?;
        let mut graph: CUgraph = ptr::null_mut();
        // The stream must not stay in the capture, so this call does not fail on request.
        let ended = real_call!(
            self.functions,
            "cuStreamEndCapture(stream, &graph)",
            cuStreamEndCapture(stream.number as CUstream, &mut graph)
        );
        if let Some(reason) = capture.refusal {
            self.destroy_template(graph);
            return Err(
                GpuError::new(CALL, Status::STREAM_CAPTURE_UNSUPPORTED).with_details(reason)
            );
        }
        ended?;
        let mut executable: CUgraphExec = ptr::null_mut();
        let instantiated = call!(
            self.functions,
            "cuGraphInstantiate(&executable, graph, flags)",
            cuGraphInstantiateWithFlags(&mut executable, graph, 0)
        );
        self.destroy_template(graph);
        instantiated?;
        self.graphs.add(
            executable as u64,
            Graph {
                number: executable as u64,
                context: Arc::clone(&stream.context),
                is_ended: false,
                _held: Mutex::new(capture.held),
            },
        );
        Ok(GraphHandle(executable as u64))
    }

    /// Destroys the graph that a capture has returned, if there is one. Executable graphs do not
    /// need it.
    fn destroy_template(&self, graph: CUgraph) {
        if !graph.is_null() {
            report(real_call!(
                self.functions,
                "cuGraphDestroy(graph)",
                cuGraphDestroy(graph)
            ));
        }
    }

    pub(super) fn launch_graph(&self, graph: GraphHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuGraphLaunch(graph, stream)";
        let graph = self.graphs.get(graph.0).ok_or_else(|| unknown(CALL))?;
        let stream = self.stream(CALL, stream)?;
        same_context(
            CALL,
            &graph.context,
            &stream.context,
            Status::INVALID_HANDLE,
        )?;
        call!(
            self.functions,
            "cuGraphLaunch(graph, stream)",
            cuGraphLaunch(graph.number as CUgraphExec, stream.number as CUstream)
        )
    }

    pub(super) fn destroy_graph(&self, graph: GraphHandle) -> GpuResult<()> {
        let removed = self.graphs.remove(graph.0);
        let graph = removed.ok_or_else(|| unknown("cuGraphExecDestroy(graph)"))?;
        Arc::into_inner(graph).map_or(Ok(()), |mut graph| graph.destroy())
    }
}

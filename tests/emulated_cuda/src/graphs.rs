//! `libcuda`: captures and graphs.

use std::ffi::{c_uint, c_ulonglong};

use tfrt_gpu::api::{GpuError, GpuResult, GraphHandle, Status, StreamHandle};

use crate::abi::{Out, exports};
use crate::emulator::{Emulator, lock};

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`.
const THREAD_LOCAL: c_uint = 1;

/// Returns the number of the graph that a capture returns, made of that of the executable one.
fn template(handle: GraphHandle) -> u64 {
    handle.0 | 1
}

/// Returns the executable graph of a template, which can be made only once here.
fn instantiate(emulator: &Emulator, call: &'static str, graph: u64) -> GpuResult<GraphHandle> {
    let mut templates = lock(&emulator.templates);
    let is_instantiated = templates.get_mut(&graph);
    let is_instantiated =
        is_instantiated.ok_or_else(|| GpuError::new(call, Status::INVALID_HANDLE))?;
    if std::mem::replace(is_instantiated, true) {
        return Err(GpuError::new(call, Status::NOT_SUPPORTED));
    }
    Ok(GraphHandle(graph & !1))
}

exports! { Driver:
    fn cuStreamBeginCapture_v2(stream: u64, mode: c_uint) |emulator, CALL| {
        if mode != THREAD_LOCAL {
            return Err(GpuError::new(CALL, Status::NOT_SUPPORTED));
        }
        let current = emulator.current(CALL)?;
        emulator.gpu.driver.capture_begin(&current, StreamHandle(stream))
    }

    fn cuStreamEndCapture(stream: u64, graph: Out<u64>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let handle = emulator.gpu.driver.capture_end(&current, StreamHandle(stream))?;
        lock(&emulator.templates).insert(template(handle), false);
        graph.set(CALL, template(handle))
    }

    fn cuGraphInstantiateWithFlags(
        executable: Out<u64>,
        graph: u64,
        flags: c_ulonglong,
    ) |emulator, CALL| {
        if flags != 0 {
            return Err(GpuError::new(CALL, Status::NOT_SUPPORTED));
        }
        executable.set(CALL, instantiate(emulator, CALL, graph)?.0)
    }

    fn cuGraphDestroy(graph: u64) |emulator, CALL| {
        let removed = lock(&emulator.templates).remove(&graph);
        match removed {
            Some(true) => Ok(()),
            Some(false) => emulator.gpu.driver.graph_destroy(GraphHandle(graph & !1)),
            None => Err(GpuError::new(CALL, Status::INVALID_HANDLE)),
        }
    }

    fn cuGraphLaunch(executable: u64, stream: u64) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let (graph, stream) = (GraphHandle(executable), StreamHandle(stream));
        emulator.gpu.driver.graph_launch(&current, graph, stream)
    }

    fn cuGraphExecDestroy(executable: u64) |emulator, CALL| {
        emulator.gpu.driver.graph_destroy(GraphHandle(executable))
    }
}

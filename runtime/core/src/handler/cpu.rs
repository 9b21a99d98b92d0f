//! The ops of the processor.

use std::sync::Arc;

use tfrt_host::device::DeviceRef;
use tfrt_support::Error;

use super::{OpHandler, OpHandlerRef};
use crate::core_op::CoreRuntimeOp;
use crate::device_op::DeviceOp;
use crate::registry::OpRegistry;
use crate::runtime::CoreRuntime;

/// Runs the ops that are registered for devices of the type of its device, such as `cpu`.
///
/// ```
/// use tfrt_core::{CoreRuntime, CpuOpHandler, NullOpHandler, OpHandler, OpHandlerRef};
/// use tfrt_host::HostContext;
///
/// let runtime = CoreRuntime::of(&HostContext::builder().build());
/// let fallback = OpHandlerRef::new(NullOpHandler);
/// let cpu = CpuOpHandler::new(&runtime, runtime.host_device().clone(), fallback);
/// assert_eq!(cpu.name(), "cpu");
/// ```
#[derive(Debug)]
pub struct CpuOpHandler {
    ops: Arc<OpRegistry>,
    device: DeviceRef,
    host_device: DeviceRef,
    fallback: OpHandlerRef,
}

impl CpuOpHandler {
    /// Creates a handler for the ops of `runtime` on a device. Unknown ops come from `fallback`.
    #[must_use]
    pub fn new(runtime: &CoreRuntime, device: DeviceRef, fallback: OpHandlerRef) -> Self {
        Self {
            ops: Arc::clone(runtime.ops()),
            device,
            host_device: runtime.host_device().clone(),
            fallback,
        }
    }
}

impl OpHandler for CpuOpHandler {
    fn name(&self) -> &str {
        self.device.0.device_type()
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        match self.ops.get(self.device.0.device_type(), op_name)? {
            Some(op) if op.can_run() => {
                let op = DeviceOp::new(Arc::clone(op), self.device.clone(), &self.host_device);
                Ok(CoreRuntimeOp::of_device_op(op))
            }
            _ => self.fallback.make_op(op_name),
        }
    }
}

//! The runtime: the handlers of a host, its ops and its conversions.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tfrt_host::HostContext;
use tfrt_host::device::{CpuDevice, DeviceRef};
use tfrt_support::Error;
use tfrt_tensor::convert::ConversionRegistry;

use crate::core_op::OpInvocation;
use crate::handler::OpHandlerRef;
use crate::order::Order;
use crate::registry::OpRegistry;

/// The name of the device that the host itself is.
const HOST_DEVICE: &str = "CPU:0";

/// The state of the Core Runtime for a host: op handlers by name, registered ops, and conversions
/// of tensors.
///
/// ```
/// use tfrt_core::{CoreRuntime, NullOpHandler, OpHandlerRef};
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let runtime = CoreRuntime::of(&host);
/// runtime.register_handler("null", OpHandlerRef::new(NullOpHandler));
/// assert!(CoreRuntime::of(&host).handler("null").is_some());
/// ```
pub struct CoreRuntime {
    handlers: RwLock<HashMap<String, OpHandlerRef>>,
    ops: Arc<OpRegistry>,
    conversions: ConversionRegistry,
    host_device: DeviceRef,
    order: Arc<Order>,
    /// Whether calls are ordered: from the beginning if an op declares to write to its operands.
    orders_calls: AtomicBool,
}

impl CoreRuntime {
    /// Returns the runtime of a host. Each host has one, which is made at the first call, with the
    /// linked ops and those of the host's kernel libraries.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| Self::new(host))
    }

    fn new(host: &HostContext) -> Self {
        let cpu = Arc::new(CpuDevice::new(HOST_DEVICE));
        let ops = OpRegistry::of_kernels(host.registry());
        Self {
            handlers: RwLock::default(),
            order: Arc::default(),
            orders_calls: AtomicBool::new(ops.has_writers()),
            ops: Arc::new(ops),
            conversions: ConversionRegistry::linked(),
            host_device: host.devices().add_if_absent(cpu),
        }
    }

    /// Registers a handler under a name. If the name exists, it keeps its handler.
    pub fn register_handler(&self, name: &str, handler: OpHandlerRef) {
        let mut handlers = self
            .handlers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        handlers.entry(name.to_owned()).or_insert(handler);
    }

    /// Returns the handler of this name.
    #[must_use]
    pub fn handler(&self, name: &str) -> Option<OpHandlerRef> {
        let handlers = self.handlers.read().unwrap_or_else(PoisonError::into_inner);
        handlers.get(name).cloned()
    }

    /// Runs the op that a handler has under a name. If the handler has none, every result and the
    /// chain become an error.
    ///
    /// ```
    /// use tfrt_core::{CoreRuntime, NullOpHandler, OpAttrs, OpHandlerRef, OpInvocation, TensorHandle};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let host = HostContext::builder().build();
    /// let runtime = CoreRuntime::of(&host);
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    /// let mut results = [TensorHandle::INVALID];
    /// let mut invocation = OpInvocation {
    ///     ctx: &ctx,
    ///     arguments: &mut [],
    ///     attrs: &OpAttrs::new(),
    ///     results: &mut results,
    ///     chain: None,
    /// };
    /// runtime.execute(&OpHandlerRef::new(NullOpHandler), "my.op", &mut invocation);
    /// let error = results[0].error_if_present().map(|error| error.message());
    /// assert_eq!(error, Some("op 'my.op' is not supported"));
    /// ```
    pub fn execute(&self, handler: &OpHandlerRef, name: &str, invocation: &mut OpInvocation<'_>) {
        if let Ok(op) = handler.make_op(name) {
            return op.run(invocation);
        }
        let error = Error::new(format!("op '{name}' is not supported"));
        invocation.fail(&invocation.ctx.emit_error(error));
    }

    /// Returns the registered ops.
    #[must_use]
    pub fn ops(&self) -> &Arc<OpRegistry> {
        &self.ops
    }

    /// Returns the conversions between kinds of tensors and devices.
    #[must_use]
    pub fn conversions(&self) -> &ConversionRegistry {
        &self.conversions
    }

    /// Returns the order of calls on tensors that ops write to, if there are such ops.
    pub(crate) fn order(&self) -> Option<&Arc<Order>> {
        // Relaxed: calls that were made before are not ordered in any case.
        let orders_calls = self.orders_calls.load(Ordering::Relaxed);
        orders_calls.then_some(&self.order)
    }

    /// Orders calls from now on.
    pub(crate) fn order_calls(&self) {
        self.orders_calls.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if a call that writes to a tensor is not done.
    #[inline]
    pub(crate) fn has_writers(&self) -> bool {
        self.order.has_writers()
    }

    /// Returns the device that the host itself is: `CPU:0`.
    #[must_use]
    pub fn host_device(&self) -> &DeviceRef {
        &self.host_device
    }
}

impl fmt::Debug for CoreRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handlers = self.handlers.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("CoreRuntime")
            .field("handlers", &handlers.keys())
            .field("host_device", &self.host_device)
            .finish_non_exhaustive()
    }
}

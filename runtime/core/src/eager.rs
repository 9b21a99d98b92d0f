//! Calls of ops from Rust: the context of a program that runs one op after another.
//!
//! ```text
//!  EagerContext ─┬─ devices, each with its handler
//!                ├─ made ops, by device and name
//!                └─ for each thread: device scopes, mode, request, chain of effects
//!       │ op("tf.AddV2")
//!       ▼
//!      Op ── attr(…) ──► ready ──► ReadyOp ── call(&[&a, &b]) ──► TensorHandle …
//! ```
//!
//! A call returns at once, with handles of available or pending tensors. The call returns the
//! errors that it detects itself, located at the caller; a later failure becomes the error of the
//! handle. Effects of one thread and one class happen in the order of its calls; ops without
//! effects wait only for their operands.

mod devices;

mod cache;

mod known;

mod in_flight;

mod op;

mod ready;

mod call;

mod caller;

mod scope;

mod tensors;

#[cfg(feature = "ndarray")]
mod arrays;

mod typed;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;
use smol_str::SmolStr;
use tfrt_async::AnyRef;
use tfrt_host::device::{Device, DeviceRef};
use tfrt_host::{ExecutionContext, HostContext, RequestContext};
use tfrt_support::{Error, ErrorCode, Place};

use crate::handle::{CopyBudget, CopyStats, TensorHandle};
use crate::handler::{CpuOpHandler, NullOpHandler, OpHandlerRef};
use crate::op::OperandSet;
use crate::runtime::CoreRuntime;

use cache::{CacheLimits, OpCache};
use in_flight::InFlight;
use known::{Facts, KnownOp};

pub use cache::CacheStats;
pub use devices::{Placement, PlacementRow, PlacementRule, cheapest_device, placement_table};
pub use op::Op;
pub use ready::ReadyOp;
pub use scope::Scope;
pub use tensors::ToTensor;
pub use typed::TypedCall;

/// The default limit for the elements of integer tensors that keep an op on the host.
const DEFAULT_MAX_SMALL_ELEMENTS: usize = 64;

/// The default limit for the bytes of kept copies of operands.
const DEFAULT_MAX_COPIED_BYTES: usize = 256 << 20;

/// Runs ops one by one. The context is shared and can be used from any thread.
///
/// ```
/// # mod linked {
/// #     use tfrt_core::{Implementation, OpCall, OpFlags, OpRegistration};
/// #     use tfrt_async::AnyRef;
/// #     use tfrt_support::Error;
/// #     use tfrt_tensor::DenseHostTensor;
/// #     fn double(call: &mut OpCall<'_>) -> Result<(), Error> {
/// #         let doubled = {
/// #             let x = call.argument(0)?.try_read::<DenseHostTensor>()?;
/// #             DenseHostTensor::vector(&x.elements::<f32>()?.iter().map(|x| 2.0 * x).collect::<Vec<_>>())?
/// #         };
/// #         call.set_result(0, AnyRef::available(doubled));
/// #         Ok(())
/// #     }
/// #     tfrt_host::__private::submit! { OpRegistration {
/// #         flags: OpFlags::NO_SIDE_EFFECTS,
/// #         implementation: Implementation::Function(double),
/// #         ..OpRegistration::new("my.Double")
/// #     } }
/// # }
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// let x = eager.tensor([1.0_f32, 2.5])?;
/// let double = eager.op("my.Double")?.ready()?;
/// let y = double.call(&[&x])?;
/// assert_eq!(eager.to_vec::<f32>(&y)?, [2.0, 5.0]);
///
/// let error = eager.op("my.Duble").unwrap_err();
/// assert_eq!(
///     error.message(),
///     "op `my.Duble` is not available for CPU:0; did you mean `my.Double`?"
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
///
/// Dropping the context waits until the work that its calls started is done, and for no other work
/// of the host.
pub struct EagerContext {
    /// Distinguishes the contexts of a thread.
    id: u64,
    /// Lets threads detect that the context is dropped, so that they drop their state for it.
    exists: Arc<()>,
    host: Arc<HostContext>,
    runtime: Arc<CoreRuntime>,
    /// The devices in order of preference.
    devices: Vec<EagerDevice>,
    /// The context of calls outside of any scope with a request.
    ctx: ExecutionContext,
    ops: OpCache,
    copies: Arc<CopyBudget>,
    settings: Settings,
    in_flight: InFlight,
}

/// A device, and the handler that makes its ops.
struct EagerDevice {
    device: DeviceRef,
    handler: OpHandlerRef,
}

/// The settings of a context.
#[derive(Clone, Copy, Debug)]
struct Settings {
    soft_placement: bool,
    max_small_elements: usize,
    cache: CacheLimits,
    max_copied_bytes: usize,
}

/// Makes an [`EagerContext`].
///
/// ```
/// use std::sync::Arc;
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
/// use tfrt_host::device::CpuDevice;
///
/// let host = HostContext::builder().build();
/// let eager = EagerContext::builder(host).device(Arc::new(CpuDevice::new("CPU:1"))).build()?;
/// let names: Vec<&str> = eager.devices().map(|device| device.0.name()).collect();
/// assert_eq!(names, ["CPU:0", "CPU:1"]);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub struct EagerContextBuilder {
    host: Arc<HostContext>,
    devices: Vec<(Arc<dyn Device>, Option<OpHandlerRef>)>,
    request: Option<Arc<RequestContext>>,
    settings: Settings,
}

impl EagerContextBuilder {
    /// Adds a device after the existing ones, with a handler for the ops that are
    /// registered for its type.
    #[must_use]
    pub fn device(mut self, device: Arc<dyn Device>) -> Self {
        self.devices.push((device, None));
        self
    }

    /// Adds a device with its own handler.
    #[must_use]
    pub fn device_with_handler(mut self, device: Arc<dyn Device>, handler: OpHandlerRef) -> Self {
        self.devices.push((device, Some(handler)));
        self
    }

    /// Sets the request that calls belong to outside of any
    /// [`with_request`](EagerContext::with_request).
    #[must_use]
    pub fn request(mut self, request: Arc<RequestContext>) -> Self {
        self.request = Some(request);
        self
    }

    /// Sets whether an op runs on another device if the requested device cannot run it. By default,
    /// that is an error.
    #[must_use]
    pub fn soft_placement(mut self, soft_placement: bool) -> Self {
        self.settings.soft_placement = soft_placement;
        self
    }

    /// Sets the limit for the elements of integer tensors, such as shapes, that keep an op in host
    /// memory with its operands. The default is 64.
    #[must_use]
    pub fn max_small_elements(mut self, max_elements: usize) -> Self {
        self.settings.max_small_elements = max_elements;
        self
    }

    /// Sets the number of made ops that are kept; the least recently used are dropped first. The
    /// default is 4,096.
    #[must_use]
    pub fn max_cached_ops(mut self, max_ops: usize) -> Self {
        self.settings.cache.max_ops = max_ops;
        self
    }

    /// Sets the number of bytes that made ops may take, with the sets of attributes that they keep;
    /// one op is always kept. The default is 64 MiB.
    #[must_use]
    pub fn max_cached_bytes(mut self, max_bytes: usize) -> Self {
        self.settings.cache.max_bytes = max_bytes;
        self
    }

    /// Sets the number of bytes that copies of operands on other devices may take. A copy is kept
    /// with its handle and reused until newer copies need its bytes. The default is 256 MiB; with
    /// 0, every call copies again.
    #[must_use]
    pub fn max_copied_bytes(mut self, max_bytes: usize) -> Self {
        self.settings.max_copied_bytes = max_bytes;
        self
    }

    /// Builds the context.
    ///
    /// # Errors
    /// If two devices have the same name, or the request belongs to another host.
    #[track_caller]
    pub fn build(self) -> Result<Arc<EagerContext>, Error> {
        self.build_anywhere().map_err(at_caller())
    }

    fn build_anywhere(self) -> Result<Arc<EagerContext>, Error> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let runtime = CoreRuntime::of(&self.host);
        let host_device = runtime.host_device().clone();
        let mut devices = vec![EagerDevice {
            handler: handler_of(&runtime, &host_device),
            device: host_device,
        }];
        for (device, handler) in self.devices {
            let name = device.name().to_owned();
            let is_host = devices[0].device.0.name() == name;
            if devices[1..]
                .iter()
                .any(|known| known.device.0.name() == name)
            {
                let message = format!("device `{name}` is given twice");
                return Err(Error::new(message).with_code(ErrorCode::AlreadyExists));
            }
            let device = self.host.devices().add_if_absent(device);
            let handler = handler.unwrap_or_else(|| handler_of(&runtime, &device));
            let added = EagerDevice { device, handler };
            if is_host {
                devices[0] = added;
            } else {
                devices.push(added);
            }
        }
        // Functions of programs look up the handler of the host by name.
        runtime.register_handler(devices[0].handler.name(), devices[0].handler.clone());
        let request = match self.request {
            Some(request) if !Arc::ptr_eq(request.host(), &self.host) => {
                let message = "the request belongs to another host";
                return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
            }
            Some(request) => request,
            None => tfrt_host::RequestContextBuilder::new(Arc::clone(&self.host)).build(),
        };
        Ok(Arc::new(EagerContext {
            // Relaxed: the number only needs to be unique.
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            exists: Arc::new(()),
            host: self.host,
            runtime,
            ops: OpCache::new(devices.len(), self.settings.cache),
            copies: CopyBudget::new(self.settings.max_copied_bytes),
            devices,
            ctx: scope::context_of(request, None),
            settings: self.settings,
            in_flight: InFlight::new(),
        }))
    }
}

impl fmt::Debug for EagerContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices: Vec<&str> = self
            .devices
            .iter()
            .map(|(device, _)| device.name())
            .collect();
        f.debug_struct("EagerContextBuilder")
            .field("devices", &devices)
            .finish_non_exhaustive()
    }
}

/// Returns a function that locates errors without a location at the caller.
#[track_caller]
fn at_caller() -> impl Fn(Error) -> Error {
    let caller = Location::caller();
    move |error| {
        error.set_place_if_unset(Place::from(caller));
        error
    }
}

/// Returns a handler for the ops that are registered for the type of a device.
fn handler_of(runtime: &CoreRuntime, device: &DeviceRef) -> OpHandlerRef {
    let fallback = OpHandlerRef::new(NullOpHandler);
    OpHandlerRef::new(CpuOpHandler::new(runtime, device.clone(), fallback))
}

impl EagerContext {
    /// Begins to build a context.
    #[must_use]
    pub fn builder(host: Arc<HostContext>) -> EagerContextBuilder {
        EagerContextBuilder {
            host,
            devices: Vec::new(),
            request: None,
            settings: Settings {
                soft_placement: false,
                max_small_elements: DEFAULT_MAX_SMALL_ELEMENTS,
                cache: CacheLimits::default(),
                max_copied_bytes: DEFAULT_MAX_COPIED_BYTES,
            },
        }
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns the devices in order of preference.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceRef> + Clone {
        self.devices.iter().map(|known| &known.device)
    }

    /// Returns the sorted names of the ops that are registered for the devices.
    #[must_use]
    pub fn op_names(&self) -> Vec<String> {
        let devices = self.devices();
        let names = devices.flat_map(|device| self.runtime.ops().names(device.0.device_type()));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns `true` if an op runs on another device when the requested device cannot run it.
    #[must_use]
    pub fn has_soft_placement(&self) -> bool {
        self.settings.soft_placement
    }

    /// Returns the limit for the elements of integer tensors that keep an op on the host.
    #[must_use]
    pub fn max_small_elements(&self) -> usize {
        self.settings.max_small_elements
    }

    /// Returns the contents and the hit counts of the cache of made ops.
    #[must_use]
    pub fn cache_stats(&self) -> CacheStats {
        self.ops.stats()
    }

    /// Returns the number of copies of operands that are kept with their handles, and their bytes.
    #[must_use]
    pub fn kept_copies(&self) -> CopyStats {
        self.copies.used()
    }

    /// Drops all copies of operands that are kept with their handles, as a call does when it runs
    /// out of memory. Later calls copy again.
    ///
    /// Writes of ops invalidate copies. After any other write to the tensor of a handle, call this
    /// method.
    pub fn give_up_copies(&self) {
        self.copies.give_up();
    }

    /// Drops every made op. This does not change results, because ops have no state.
    pub fn clear_cache(&self) {
        self.ops.clear();
    }

    /// Returns the op of this name on a device, from the cache or newly made.
    #[inline]
    fn made_op(&self, device: usize, name: &str) -> Result<Arc<KnownOp>, Error> {
        match self.ops.get(device, name) {
            Some(op) => Ok(op),
            None => self.make_op(device, name),
        }
    }

    #[cold]
    fn make_op(&self, device: usize, name: &str) -> Result<Arc<KnownOp>, Error> {
        let op = self.devices[device].handler.make_op(name)?;
        let registered = match op.registered() {
            Some(registered) => Ok(Some(Arc::clone(registered))),
            // A handler that wraps an op hides its registration.
            None => {
                let device_type = self.devices[device].device.0.device_type();
                self.runtime
                    .ops()
                    .get(device_type, name)
                    .map(|op| op.cloned())
            }
        };
        let is_refused = registered.is_err();
        let registered = registered.ok().flatten();
        let name = match &registered {
            Some(registered) if registered.name() == name => SmolStr::new_static(registered.name()),
            _ => SmolStr::new(name),
        };
        let mut known = KnownOp::new(name, op, Facts::of(registered.as_deref()));
        known.is_refused = is_refused;
        let known = Arc::new(known);
        self.ops.insert(device, &known);
        Ok(known)
    }

    /// Waits until the effects of all calls that this thread has made have happened.
    ///
    /// The future concerns the thread that calls this method, whichever threads poll it.
    ///
    /// # Errors
    /// The first error among them that has not been reported; if several classes failed, the error
    /// of the class that came first. Effects then continue as if it had not happened.
    pub fn synchronize(&self) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let effects = scope::effects_of_thread(self);
        async move {
            let chain = effects.last(None);
            let outcome = chain.clone().await;
            match outcome.err().or_else(|| chain.error_if_present().cloned()) {
                None => Ok(()),
                Some(error) => {
                    effects.forget_failure(&error);
                    Err(error)
                }
            }
        }
    }

    /// Waits until a tensor is available, and until the calls made so far that may write to its
    /// memory are done.
    ///
    /// # Errors
    /// The error of the handle; an error if this is a thread of the work queue, which would wait
    /// for itself.
    #[track_caller]
    pub fn wait<'a>(&self, handle: &'a TensorHandle) -> Result<&'a AnyRef, Error> {
        let at_caller = at_caller();
        let Some(tensor) = handle.tensor() else {
            let error = Error::new("the tensor handle is invalid");
            return Err(at_caller(error.with_code(ErrorCode::InvalidArgument)));
        };
        let writers = match self.runtime.order() {
            Some(order) => order.writers_of(handle),
            None => SmallVec::new(),
        };
        let awaited = std::slice::from_ref(tensor);
        let outcome = match &writers[..] {
            [] => self.host.await_values(awaited),
            _ => self.host.await_values(&[&writers, awaited].concat()),
        };
        outcome.map_err(at_caller)?;
        Ok(tensor)
    }

    /// Returns a handle of the same tensor on a device; see [`TensorHandle::transfer_to_inferred`].
    ///
    /// # Errors
    /// If there is no such device.
    #[track_caller]
    pub fn copy_to(&self, handle: &TensorHandle, device: &str) -> Result<TensorHandle, Error> {
        let index = self.find_device(device).map_err(at_caller())?;
        let ctx = scope::execution_context(self);
        let device = &self.devices[index].device;
        let Some(order) = self.runtime.order() else {
            return Ok(handle.transfer_to_inferred(&ctx, device));
        };
        let mut uses = order.uses([handle], OperandSet::NONE);
        let followed = order.follow(&mut uses, [handle]);
        let followed = followed.as_ref().and_then(|handles| handles.first());
        let copy = followed
            .unwrap_or(handle)
            .transfer_to_inferred(&ctx, device);
        order.enter(&uses, std::slice::from_ref(&copy), None);
        Ok(copy)
    }
}

impl Drop for EagerContext {
    fn drop(&mut self) {
        scope::forget(self.id);
        let done = std::mem::replace(&mut self.in_flight, InFlight::new()).finish();
        if done.is_available() {
            return;
        }
        // A thread of the queue cannot wait; calls in flight keep what they need.
        let _ = self.host.await_available(&[done]);
    }
}

impl fmt::Debug for EagerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices: Vec<&str> = self.devices().map(|device| device.0.name()).collect();
        f.debug_struct("EagerContext")
            .field("devices", &devices)
            .finish_non_exhaustive()
    }
}

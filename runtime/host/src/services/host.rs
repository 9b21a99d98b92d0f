//! The host: the state shared by all requests of a process.
//!
//! On drop, the work queue is drained first, so that no task outlives what it uses; then timers,
//! shared contexts, queue and allocator are dropped in this order.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tfrt_async::AnyRef;
use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, WouldDeadlock};
use tfrt_support::Error;

use crate::allocator::{HostAllocator, Malloc};
use crate::device::{CpuDevice, DeviceManager};
use crate::services::limits::Limits;
use crate::services::shared_context::SharedContexts;
use crate::services::timer::TimerQueue;

/// Called once for every error that a kernel emits, on the thread that emits it.
pub type DiagnosticHandler = Arc<dyn Fn(&Error) + Send + Sync>;

/// Owns what the requests of a process share: kernels, devices, memory, threads, timers.
///
/// ```
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// assert_eq!(host.queue().name(), "single-threaded");
/// assert!(host.devices().get("CPU:0").is_some());
/// ```
pub struct HostContext {
    // Fields are dropped in this order.
    timers: TimerQueue,
    requests: Mutex<LiveRequests>,
    shared_contexts: SharedContexts,
    queue: Arc<dyn ConcurrentWorkQueue>,
    allocator: Arc<dyn HostAllocator>,
    diagnostic_handler: DiagnosticHandler,
    devices: DeviceManager,
    kernels: Option<Kernels>,
    limits: Limits,
    num_live_invocations: AtomicUsize,
}

/// The kernels of a host, as an object.
type Kernels = Box<dyn Any + Send + Sync>;

/// Something that a host can cancel: a request.
pub(crate) trait Cancel: Send + Sync {
    /// Cancels the request with an error, unless it is already cancelled.
    fn cancel_with(&self, error: Error);
}

/// The requests that [`HostContext::cancel_all`] reaches.
struct LiveRequests {
    /// By number.
    places: Vec<RequestPlace>,
    /// The number of the first free place, or [`NO_PLACE`].
    free: usize,
    /// The error with which new requests are cancelled, between `cancel_all` and `restart`.
    cancelled_with: Option<Error>,
}

/// The place of a request.
enum RequestPlace {
    Taken(Weak<dyn Cancel>),
    /// The request has left. The number of the next free place, or [`NO_PLACE`].
    Free(usize),
}

/// The number of no place.
const NO_PLACE: usize = usize::MAX;

impl Default for LiveRequests {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: NO_PLACE,
            cancelled_with: None,
        }
    }
}

/// Configures a [`HostContext`]; every part has a default.
#[derive(Default)]
pub struct HostContextBuilder {
    kernels: Option<Kernels>,
    queue: Option<Arc<dyn ConcurrentWorkQueue>>,
    allocator: Option<Arc<dyn HostAllocator>>,
    diagnostic_handler: Option<DiagnosticHandler>,
    limits: Limits,
}

impl HostContextBuilder {
    /// Sets the kernels that [`HostContext::kernels`] returns.
    #[must_use]
    pub(crate) fn kernels(mut self, kernels: Kernels) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// Sets the work queue; the default is the single-threaded one.
    #[must_use]
    pub fn queue(mut self, queue: Arc<dyn ConcurrentWorkQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Sets the allocator; the default is the system heap.
    #[must_use]
    pub fn allocator(mut self, allocator: Arc<dyn HostAllocator>) -> Self {
        self.allocator = Some(allocator);
        self
    }

    /// Sets the handler of errors that kernels emit; the default does nothing.
    #[must_use]
    pub fn diagnostic_handler(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        // A failing kernel must be able to report its error even if the handler panics; the panic
        // hook has already run. The panic is caught here rather than at the call, which a kernel
        // library may make.
        self.diagnostic_handler = Some(Arc::new(move |error| {
            drop(catch_unwind(AssertUnwindSafe(|| handler(error))));
        }));
        self
    }

    /// Sets the limits of programs.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Creates the host.
    #[must_use]
    pub fn build(self) -> Arc<HostContext> {
        let devices = DeviceManager::default();
        devices.add_if_absent(Arc::new(CpuDevice::new("CPU:0")));
        Arc::new(HostContext {
            timers: TimerQueue::new(),
            requests: Mutex::default(),
            shared_contexts: SharedContexts::default(),
            queue: self
                .queue
                .unwrap_or_else(|| Arc::new(SingleThreadedQueue::new())),
            allocator: self.allocator.unwrap_or_else(|| Arc::new(Malloc)),
            diagnostic_handler: self.diagnostic_handler.unwrap_or_else(|| Arc::new(|_| {})),
            devices,
            kernels: self.kernels,
            limits: self.limits,
            num_live_invocations: AtomicUsize::new(0),
        })
    }
}

impl HostContext {
    /// Returns a builder with default parts.
    #[must_use]
    pub fn builder() -> HostContextBuilder {
        HostContextBuilder::default()
    }

    /// Returns the kernels, if there are any: the module of the registry knows their type.
    pub(crate) fn kernels(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.kernels.as_deref()
    }

    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> &DeviceManager {
        &self.devices
    }

    /// Returns the allocator.
    #[must_use]
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        &self.allocator
    }

    /// Returns the work queue.
    #[must_use]
    pub fn queue(&self) -> &Arc<dyn ConcurrentWorkQueue> {
        &self.queue
    }

    /// Returns the timers.
    #[must_use]
    pub fn timers(&self) -> &TimerQueue {
        &self.timers
    }

    /// Returns the limits of programs.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the host's single object of type `T`, creating it on first use.
    pub fn shared_context<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.shared_contexts.get_or_create(make)
    }

    /// Reports `error` to the diagnostic handler. A panic of the handler is ignored.
    #[doc(hidden)]
    #[cold]
    pub fn report(&self, error: &Error) {
        (self.diagnostic_handler)(error);
    }

    /// Waits until all of `values` are available, and checks them for errors.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_host::HostContext;
    /// use tfrt_support::Error;
    ///
    /// let host = HostContext::builder().build();
    /// assert!(host.await_values(&[AnyRef::available(1)]).is_ok());
    /// let failed = host.await_values(&[AnyRef::available(1), AnyRef::error(Error::new("no row 7"))]);
    /// assert_eq!(failed.unwrap_err().message(), "no row 7");
    /// ```
    ///
    /// # Errors
    /// The first error among the values; or an error if this is a thread of the work queue, which
    /// would wait for itself.
    pub fn await_values(&self, values: &[AnyRef]) -> Result<(), Error> {
        self.await_available(values)?;
        match values.iter().find_map(AnyRef::error_if_present) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Waits until all of `values` are available, including errors.
    ///
    /// # Errors
    /// If called from a thread of the work queue, which would wait for itself.
    pub fn await_available(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        // Shortcut: to wait, the queue would have to set up a wakeup.
        if values.iter().all(AnyRef::is_available) && !self.queue.is_in_worker_thread() {
            return Ok(());
        }
        self.queue.await_values(values)
    }

    /// Waits until all of `values` are available, including errors. On a thread of the work queue,
    /// runs other tasks meanwhile, if the queue can: see [`ConcurrentWorkQueue::await_helping`].
    ///
    /// # Errors
    /// If the queue cannot run other tasks on this thread, or has none that would make the values
    /// available.
    pub fn await_helping(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        if values.iter().all(AnyRef::is_available) {
            return Ok(());
        }
        self.queue.await_helping(values)
    }

    /// Waits until no task is pending or running.
    ///
    /// # Errors
    /// If called from a thread of the work queue, which would wait for itself.
    pub fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.queue.quiesce()
    }

    /// Cancels every live request with `error`, and every new one until [`restart`](Self::restart).
    pub fn cancel_all(&self, error: &Error) {
        let live: Vec<_> = {
            let mut requests = self.lock_requests();
            requests.cancelled_with = Some(error.clone());
            let places = requests.places.iter();
            let live = places.filter_map(|place| match place {
                RequestPlace::Taken(request) => request.upgrade(),
                RequestPlace::Free(_) => None,
            });
            live.collect()
        };
        for request in live {
            request.cancel_with(error.clone());
        }
    }

    /// Lets new requests run again after [`cancel_all`](Self::cancel_all). Cancelled requests stay
    /// cancelled.
    pub fn restart(&self) {
        self.lock_requests().cancelled_with = None;
    }

    /// Adds a request to the live ones under a unique number, which is passed to `set_number`.
    /// Returns the error to cancel it with immediately, if any.
    ///
    /// The request already exists, so [`cancel_all`](Self::cancel_all) either finds it or has left
    /// its error.
    // Inlined, as the next one, in its only caller: each request is created once and ends once.
    #[inline]
    pub(crate) fn enter_request(
        &self,
        request: Weak<dyn Cancel>,
        set_number: impl FnOnce(u64),
    ) -> Option<Error> {
        let mut requests = self.lock_requests();
        let LiveRequests { places, free, .. } = &mut *requests;
        let taken = RequestPlace::Taken(request);
        match places.get_mut(*free) {
            Some(place) => {
                set_number(*free as u64);
                if let RequestPlace::Free(next) = std::mem::replace(place, taken) {
                    *free = next;
                }
            }
            None => {
                set_number(places.len() as u64);
                places.push(taken);
            }
        }
        requests.cancelled_with.clone()
    }

    /// Removes a request from the live ones. Its number may be reused.
    #[inline]
    pub(crate) fn leave_request(&self, number: u64) {
        let mut requests = self.lock_requests();
        let LiveRequests { places, free, .. } = &mut *requests;
        let number = number as usize;
        let left = std::mem::replace(&mut places[number], RequestPlace::Free(*free));
        *free = number;
        drop(requests);
        // This may be the last reference to the memory of the request.
        drop(left);
    }

    /// Counts an unfinished invocation, in addition to `num_others` not counted here. Returns
    /// `false` without counting it if there are too many.
    ///
    /// The count bounds memory and orders nothing: relaxed.
    #[doc(hidden)]
    pub fn enter_invocation(&self, num_others: usize) -> bool {
        let num_live = self.num_live_invocations.fetch_add(1, Ordering::Relaxed);
        if num_live.saturating_add(num_others) < self.limits.max_live_invocations {
            return true;
        }
        self.leave_invocation();
        false
    }

    /// Returns `true` if another invocation may begin in addition to the unfinished ones and
    /// `num_others` not counted here.
    #[doc(hidden)]
    #[inline]
    pub fn has_room_for_invocation(&self, num_others: usize) -> bool {
        // Relaxed: as above.
        let num_live = self.num_live_invocations.load(Ordering::Relaxed);
        num_live.saturating_add(num_others) < self.limits.max_live_invocations
    }

    /// Counts one unfinished invocation less.
    #[doc(hidden)]
    pub fn leave_invocation(&self) {
        self.num_live_invocations.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock_requests(&self) -> std::sync::MutexGuard<'_, LiveRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HostContext {
    fn drop(&mut self) {
        // This fails only on a thread of the queue itself, in which case the queue's own drop
        // drains it.
        let _ = self.queue.quiesce();
    }
}

impl fmt::Debug for HostContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostContext")
            .field("queue", &self.queue)
            .field("allocator", &self.allocator)
            .field("devices", &self.devices)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HostContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostContextBuilder")
            .field("queue", &self.queue)
            .field("allocator", &self.allocator)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

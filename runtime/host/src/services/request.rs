//! Requests: one piece of work for one client, with cancellation and a deadline.
//!
//! The module `cancel` implements cancellation and documents its protocol.
#![expect(unsafe_code, reason = "writes a request where it stays")]

pub(crate) mod cancel;

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use tfrt_async::AnyRef;
use tfrt_queue::{RequestTag, Task};
use tfrt_support::{Error, ErrorCode, Place};

use crate::allocator::{HostAllocator, RequestMemory};
use crate::services::host::{Cancel, HostContext};
use crate::services::resource::ResourceContext;
use crate::services::running::RunningKernels;
use crate::services::shared_context::SharedContexts;
use crate::services::timer::Timer;

use cancel::CancelSwitch;

/// A request, shared by everything that runs on its behalf.
///
/// ```
/// use tfrt_host::{HostContext, RequestContextBuilder};
///
/// let host = HostContext::builder().build();
/// let request = RequestContextBuilder::new(host).id(7).context_data(32_i32).build();
/// assert_eq!((request.id(), request.context_data::<i32>()), (7, Some(&32)));
///
/// request.cancel();
/// assert_eq!(request.cancel_value().unwrap().error_if_present().unwrap().message(), "Cancelled");
/// ```
pub struct RequestContext {
    tag: RequestTag,
    host: Arc<HostContext>,
    resources: Option<Arc<ResourceContext>>,
    data: ContextData,
    shared: SharedContexts,
    cancel: CancelSwitch,
    running: Option<Arc<RunningKernels>>,
    max_bytes: usize,
    /// Replaces the host's allocator.
    allocator: Option<Arc<dyn HostAllocator>>,
    /// Created on first use; most small requests never use it.
    memory: OnceLock<Memory>,
    /// The limits that were reported, one bit for each [`Limit`].
    limits_told: AtomicU8,
    /// Identifies the request in the host; set once, when the host adds it.
    number: AtomicU64,
    /// Cancels the request at its deadline, if it has one.
    deadline: OnceLock<Timer>,
}

/// A limit that many kernels of a request may exceed, but that is reported once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    CallDepth = 1,
    LiveInvocations = 2,
    Memory = 4,
}

/// The memory of a request.
struct Memory {
    account: Arc<RequestMemory>,
    /// The same, as an allocator.
    allocator: Arc<dyn HostAllocator>,
}

/// An action to run when a request is cancelled. Dropping the hook removes the action.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_host::{HostContext, RequestContextBuilder};
///
/// let request = RequestContextBuilder::new(HostContext::builder().build()).build();
/// let (sender, cancelled) = channel();
/// let other = sender.clone();
/// let kept = request.on_cancel(move || sender.send("kept").unwrap());
/// drop(request.on_cancel(move || other.send("dropped").unwrap()));
/// request.cancel();
/// assert_eq!(cancelled.try_iter().collect::<Vec<_>>(), ["kept"]);
/// # drop(kept);
/// ```
pub struct CancelHook {
    request: Arc<RequestContext>,
    place: usize,
}

impl fmt::Debug for CancelHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelHook")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Drop for CancelHook {
    fn drop(&mut self) {
        self.request.cancel.forget(self.place);
    }
}

/// Data by type: a list, the newest first, as there are so few. Most requests have none, which then
/// costs next to nothing.
#[derive(Default)]
struct ContextData(Option<Box<AnyDatum>>);

type AnyDatum = Datum<dyn Any + Send + Sync>;

/// One datum. Older ones are dropped before it.
struct Datum<T: ?Sized> {
    older: Option<Box<AnyDatum>>,
    value: T,
}

impl ContextData {
    /// Adds a datum and drops the one of the same type, if there is one.
    fn put<T: Any + Send + Sync>(&mut self, value: T) {
        let mut place = &mut self.0;
        while place.as_deref().is_some_and(|datum| !datum.value.is::<T>()) {
            let Some(datum) = place else { break };
            place = &mut datum.older;
        }
        if let Some(mut replaced) = place.take() {
            *place = replaced.older.take();
        }
        let older = self.0.take();
        self.0 = Some(Box::new(Datum { older, value }));
    }

    /// Returns the data, the newest first.
    fn iter(&self) -> impl Iterator<Item = &(dyn Any + Send + Sync)> {
        let data = std::iter::successors(self.0.as_deref(), |datum| datum.older.as_deref());
        data.map(|datum| &datum.value)
    }
}

/// Configures a request.
#[derive(Debug)]
pub struct RequestContextBuilder {
    host: Arc<HostContext>,
    resources: Option<Arc<ResourceContext>>,
    tag: RequestTag,
    data: ContextData,
    deadline: Option<SystemTime>,
    watches_kernels: bool,
    max_bytes: Option<usize>,
    allocator: Option<Arc<dyn HostAllocator>>,
}

impl RequestContextBuilder {
    /// Creates a builder for a request of `host`, with id 0, priority 0, and without resources,
    /// data or deadline.
    #[inline]
    #[must_use]
    pub fn new(host: Arc<HostContext>) -> Self {
        Self {
            host,
            resources: None,
            tag: RequestTag { id: 0, priority: 0 },
            data: ContextData::default(),
            deadline: None,
            watches_kernels: false,
            max_bytes: None,
            allocator: None,
        }
    }

    /// Sets the number by which the client identifies the request.
    #[must_use]
    pub fn id(mut self, id: i64) -> Self {
        self.tag.id = id;
        self
    }

    /// Sets the priority of the request; higher is more urgent. Its waiting tasks run before those
    /// of less urgent requests, which still make progress; see [`RequestTag`].
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.tag.priority = priority;
        self
    }

    /// Sets the resources that the request may use.
    #[must_use]
    pub fn resources(mut self, resources: Arc<ResourceContext>) -> Self {
        self.resources = Some(resources);
        self
    }

    /// Adds a datum that kernels find by its type; the last one of a type wins.
    #[must_use]
    pub fn context_data<T: Any + Send + Sync>(mut self, datum: T) -> Self {
        self.data.put(datum);
        self
    }

    /// Sets the time at which the request is cancelled automatically.
    #[must_use]
    pub fn deadline(mut self, deadline: SystemTime) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Keeps a list of the kernels that run, of which [`RequestContext::running_place`] tells. That
    /// costs each kernel a fraction of a microsecond.
    #[must_use]
    pub fn watch_kernels(mut self) -> Self {
        self.watches_kernels = true;
        self
    }

    /// Sets the number of bytes that the request may hold, overriding the [limits](crate::Limits)
    /// of the host.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// Sets the source of the request's memory, in place of the host's allocator.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{ArenaAllocator, HostAllocator};
    /// use tfrt_host::{HostContext, RequestContextBuilder};
    ///
    /// let host = HostContext::builder().build();
    /// let arena = Arc::new(ArenaAllocator::new(Arc::clone(host.allocator())));
    /// let request = RequestContextBuilder::new(host).allocator(arena).build();
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn allocator(mut self, allocator: Arc<dyn HostAllocator>) -> Self {
        self.allocator = Some(allocator);
        self
    }

    /// Creates the request.
    #[must_use]
    pub fn build(self) -> Arc<RequestContext> {
        let limits = self.host.limits();
        let max_bytes = self.max_bytes.unwrap_or(limits.max_request_bytes);
        // Written where it stays: there are so many fields that a move would cost as much as the
        // writes.
        let mut request = Arc::<RequestContext>::new_uninit();
        let place = Arc::get_mut(&mut request).expect("nobody else has the new request");
        place.write(RequestContext {
            max_bytes,
            tag: self.tag,
            host: self.host,
            resources: self.resources,
            data: self.data,
            shared: SharedContexts::default(),
            cancel: CancelSwitch::new(),
            running: self.watches_kernels.then(Arc::default),
            allocator: self.allocator,
            memory: OnceLock::new(),
            limits_told: AtomicU8::new(0),
            number: AtomicU64::new(0),
            deadline: OnceLock::new(),
        });
        // SAFETY: it was just written.
        let request = unsafe { request.assume_init() };
        let host = &request.host;
        let entry = Arc::downgrade(&request);
        let cancelled_with = host.enter_request(entry, |number| {
            // Relaxed: any other thread finds the request under the lock under which it is added.
            request.number.store(number, Ordering::Relaxed);
        });
        if let Some(error) = cancelled_with {
            request.cancel_with(error);
        }
        if let Some(deadline) = self.deadline {
            let cancelled = Arc::downgrade(&request);
            let timer = host.timers().schedule_at(deadline, move || {
                if let Some(request) = cancelled.upgrade() {
                    request.cancel();
                }
            });
            request.deadline.get_or_init(|| timer);
        }
        request
    }
}

impl Cancel for RequestContext {
    fn cancel_with(&self, error: Error) {
        self.cancel_with(error);
    }
}

impl RequestContext {
    /// Returns the number that identifies the request in the host.
    pub(crate) fn number(&self) -> u64 {
        // Relaxed: every thread obtained its reference to the request after the number was set.
        self.number.load(Ordering::Relaxed)
    }

    /// Returns the number by which the client identifies the request.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.tag.id
    }

    /// Returns the properties of the request that work queues use.
    #[doc(hidden)]
    #[must_use]
    pub fn tag(&self) -> &RequestTag {
        &self.tag
    }

    /// Returns the host that the request runs on.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns the resources that the request may use, if any.
    #[must_use]
    pub fn resources(&self) -> Option<&Arc<ResourceContext>> {
        self.resources.as_ref()
    }

    /// Returns the memory account of the request.
    #[must_use]
    pub fn memory(&self) -> &Arc<RequestMemory> {
        &self.own_memory().account
    }

    /// Returns the allocator of kernels, which charges the request's [`memory`](Self::memory).
    /// Owners of such memory keep a reference to the allocator and may outlive the request.
    #[inline]
    #[must_use]
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        &self.own_memory().allocator
    }

    #[inline]
    fn own_memory(&self) -> &Memory {
        self.memory.get_or_init(|| {
            let source = self.allocator.as_ref();
            let source = source.unwrap_or_else(|| self.host.allocator());
            let account = Arc::new(RequestMemory::new(Arc::clone(source), self.max_bytes));
            let allocator = Arc::clone(&account) as _;
            Memory { account, allocator }
        })
    }

    /// Returns `true` if exceeding `limit` must be reported, since it has not been reported before.
    pub(crate) fn tells(&self, limit: Limit) -> bool {
        // Relaxed: only the first caller matters; it orders no other memory.
        let told = self.limits_told.fetch_or(limit as u8, Ordering::Relaxed);
        told & limit as u8 == 0
    }

    /// Returns the error for a kernel that got no memory because of the request's limit, which
    /// states the limit and the kernel. Returns `None` for any other error.
    pub(crate) fn explain_refusal(&self, error: &Error) -> Option<Error> {
        if error.code() != ErrorCode::ResourceExhausted {
            return None;
        }
        let account = &self.memory.get()?.account;
        account.take_refusal().then(|| {
            let kernel = error.kernel().unwrap_or("a kernel");
            let (held, max_bytes) = (account.num_bytes(), account.max_bytes());
            error.clone().with_note(format_args!(
                "; `{kernel}` requested it, and the request already holds {held} of at most \
                 {max_bytes} bytes"
            ))
        })
    }

    /// Returns the object of type `T` that the kernels of the request share, creating it on first
    /// use.
    pub fn shared_context<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.shared.get_or_create(make)
    }

    /// Returns the datum of type `T` that the request was built with.
    #[must_use]
    pub fn context_data<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.data.iter().find_map(|datum| datum.downcast_ref())
    }

    /// Cancels the request with the error `Cancelled`: kernels that have not started are skipped.
    /// Later calls have no effect.
    pub fn cancel(&self) {
        self.cancel_with(Error::cancelled());
    }

    /// Cancels the request with the caller's error, which is not reported. Later calls have no
    /// effect.
    pub fn cancel_with(&self, error: Error) {
        self.cancel.cancel(AnyRef::error(error));
    }

    /// Registers `hook` to run when the request is cancelled, on the cancelling thread. Returns
    /// `None` if the request is already cancelled.
    #[must_use = "the hook is removed when it is dropped"]
    pub fn on_cancel(self: &Arc<Self>, hook: impl FnOnce() + Send + 'static) -> Option<CancelHook> {
        let place = self.cancel.watch(Task::new(hook))?;
        Some(CancelHook {
            request: Arc::clone(self),
            place,
        })
    }

    /// Returns `true` if the request is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel_value().is_some()
    }

    /// Returns the error value of a cancelled request.
    #[inline]
    #[must_use]
    pub fn cancel_value(&self) -> Option<&AnyRef> {
        self.cancel.value()
    }

    /// Returns the list of the kernels that run, if one is kept.
    #[inline]
    pub(crate) fn running_kernels(&self) -> Option<&Arc<RunningKernels>> {
        self.running.as_ref()
    }

    /// Returns the place of the running kernel in its program. If several kernels run, it is the
    /// place of the one that began last; if none runs, of the one that ended last. The place is
    /// unknown unless the request [watches its kernels](RequestContextBuilder::watch_kernels).
    #[must_use]
    pub fn running_place(&self) -> Place {
        let running = self.running_kernels();
        running.map_or(Place::Unknown, |running| running.place())
    }

    /// Returns the error for a request without a datum of type `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn missing_context_data<T>() -> Error {
        Error::new(format!(
            "the request has no context data of type `{}`",
            std::any::type_name::<T>()
        ))
        .with_code(ErrorCode::FailedPrecondition)
    }
}

impl Drop for RequestContext {
    fn drop(&mut self) {
        if let Some(timer) = self.deadline.get() {
            timer.cancel();
        }
        let number = self.number();
        self.host.leave_request(number);
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("tag", &self.tag)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ContextData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} data", self.iter().count())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_cancel_stays() {
        let request = RequestContextBuilder::new(HostContext::builder().build()).build();
        assert!(!request.is_cancelled());
        request.cancel_with(Error::new("first"));
        request.cancel();
        assert_eq!(
            request
                .cancel_value()
                .unwrap()
                .error_if_present()
                .unwrap()
                .message(),
            "first"
        );
    }

    #[test]
    fn the_last_datum_of_a_type_wins() {
        let request = RequestContextBuilder::new(HostContext::builder().build())
            .context_data(1_i32)
            .context_data("text")
            .context_data(2_i32)
            .build();
        assert_eq!(request.context_data::<i32>(), Some(&2));
        assert_eq!(request.context_data::<&str>(), Some(&"text"));
        assert_eq!(request.context_data::<u8>(), None);
    }

    #[test]
    fn data_are_dropped_with_the_request_in_the_order_in_which_they_were_added() {
        use std::sync::Mutex;

        struct Noted<const TYPE: usize>(u32, Arc<Mutex<Vec<u32>>>);

        impl<const TYPE: usize> Drop for Noted<TYPE> {
            fn drop(&mut self) {
                let mut dropped = self.1.lock().expect("nobody panics under the lock");
                dropped.push(self.0);
            }
        }

        let dropped: Arc<Mutex<Vec<u32>>> = Arc::default();
        let noted = || Arc::clone(&dropped);
        let numbers = || {
            dropped
                .lock()
                .expect("nobody panics under the lock")
                .clone()
        };
        let builder = RequestContextBuilder::new(HostContext::builder().build())
            .context_data(Noted::<0>(1, noted()))
            .context_data(Noted::<1>(2, noted()))
            .context_data(Noted::<2>(3, noted()))
            .context_data(Noted::<1>(4, noted()));
        assert_eq!(numbers(), [2], "the one that was replaced is gone at once");
        let request = builder.context_data(Noted::<3>(5, noted())).build();
        let found = |number: Option<u32>| number.unwrap_or_default();
        assert_eq!(found(request.context_data::<Noted<0>>().map(|it| it.0)), 1);
        assert_eq!(found(request.context_data::<Noted<1>>().map(|it| it.0)), 4);
        drop(request);
        assert_eq!(numbers(), [2, 1, 3, 4, 5]);
    }

    #[test]
    fn cancelling_the_host_reaches_requests_that_took_over_the_number_of_another_one() {
        let host = HostContext::builder().build();
        let new_request = || RequestContextBuilder::new(Arc::clone(&host)).build();
        let first = new_request();
        drop(new_request());
        let third = new_request();
        drop(first);
        let fourth = new_request();
        host.cancel_all(&Error::new("shutting down"));
        assert!(third.is_cancelled() && fourth.is_cancelled());
    }

    #[test]
    fn the_numbers_of_requests_that_have_left_are_used_again() {
        let host = HostContext::builder().build();
        let new_request = || RequestContextBuilder::new(Arc::clone(&host)).build();
        let [first, second, third] = std::array::from_fn(|_| new_request());
        drop(first);
        drop(third);
        let others = [new_request(), new_request(), new_request()];
        assert_eq!(second.number(), 1);
        assert_eq!(others.each_ref().map(|other| other.number()), [2, 0, 3]);
        host.cancel_all(&Error::new("shutting down"));
        assert!(
            others
                .iter()
                .chain([&second])
                .all(|request| request.is_cancelled())
        );
    }

    #[test]
    fn memory_that_is_asked_for_twice_is_one_account() {
        let request = RequestContextBuilder::new(HostContext::builder().build())
            .max_bytes(100)
            .build();
        request.memory().charge(60).expect("within the limit");
        let layout = std::alloc::Layout::new::<[u8; 60]>();
        assert!(request.allocator().allocate(layout).is_none());
        request.memory().release(60);
    }

    #[test]
    fn a_deadline_cancels() {
        let request = RequestContextBuilder::new(HostContext::builder().build())
            .deadline(SystemTime::now() + Duration::from_millis(5))
            .build();
        while !request.is_cancelled() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_request_that_ends_before_its_deadline_leaves_no_timer() {
        let host = HostContext::builder().build();
        let in_an_hour = SystemTime::now() + Duration::from_secs(3600);
        let request = || {
            RequestContextBuilder::new(Arc::clone(&host))
                .deadline(in_an_hour)
                .build()
        };
        let requests: Vec<_> = std::iter::repeat_with(request).take(100).collect();
        requests
            .iter()
            .take(50)
            .for_each(|request| request.cancel());
        assert_eq!(host.timers().num_pending(), 100);
        drop(requests);
        assert_eq!(host.timers().num_pending(), 0);
    }

    #[test]
    fn cancelling_the_host_reaches_live_and_new_requests_until_restart() {
        let host = HostContext::builder().build();
        let live = RequestContextBuilder::new(Arc::clone(&host)).build();
        host.cancel_all(&Error::new("shutting down"));
        let new = RequestContextBuilder::new(Arc::clone(&host)).build();
        host.restart();
        let later = RequestContextBuilder::new(host).build();
        assert_eq!(
            [
                live.is_cancelled(),
                new.is_cancelled(),
                later.is_cancelled()
            ],
            [true, true, false]
        );
    }
}

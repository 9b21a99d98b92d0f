//! The context that a kernel runs in.
#![expect(
    unsafe_code,
    reason = "copies a context without counting what it refers to"
)]

mod nested_tasks;

use std::alloc::Layout;
use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tfrt_async::dropping::DropObserver;
use tfrt_queue::{ConcurrentWorkQueue, Task};
use tfrt_support::{Error, ErrorCode, Place};

use crate::allocator::HostAllocator;
use crate::kernel::location::LocationSource;
use crate::services::host::HostContext;
use crate::services::request::{Limit, RequestContext};
use crate::services::resource::ResourceContext;
use crate::services::running::{Location, RunningKernel};

/// The context of a kernel: its request, its work queue, and its location in the program. Cheap to
/// clone.
///
/// ```
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let request = RequestContextBuilder::new(HostContext::builder().build()).build();
/// let ctx = ExecutionContext::new(request);
/// assert_eq!(ctx.place().to_string(), "UnknownLocation");
/// assert_eq!(ctx.queue().parallelism_level(), 1);
/// ```
#[derive(Debug)]
pub struct ExecutionContext {
    request: Arc<RequestContext>,
    /// Replaces the host's work queue.
    queue: Option<Arc<dyn ConcurrentWorkQueue>>,
    location_source: Option<Arc<dyn LocationSource>>,
    /// Changes as execution moves from op to op; clone a context to keep it.
    location_token: AtomicU32,
    call_depth: u32,
    mark: Option<Arc<dyn Any + Send + Sync>>,
}

impl ExecutionContext {
    /// Creates the context at the start of a request.
    #[inline]
    #[must_use]
    pub fn new(request: Arc<RequestContext>) -> Self {
        Self {
            request,
            queue: None,
            location_source: None,
            location_token: AtomicU32::new(0),
            call_depth: 0,
            mark: None,
        }
    }

    /// Replaces the host's work queue.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<dyn ConcurrentWorkQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Creates the context inside a function called from this one; `source` decodes its locations.
    #[doc(hidden)]
    #[must_use]
    pub fn for_callee(&self, source: Arc<dyn LocationSource>) -> Self {
        Self {
            request: Arc::clone(&self.request),
            queue: self.queue.clone(),
            location_source: Some(source),
            location_token: AtomicU32::new(0),
            call_depth: self.call_depth + 1,
            mark: self.mark.clone(),
        }
    }

    /// Adds a mark that the kernels of called functions find at any depth. A later mark replaces
    /// it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_mark<T: Any + Send + Sync>(mut self, mark: T) -> Self {
        self.mark = Some(Arc::new(mark));
        self
    }

    /// Returns the innermost mark, if it is a `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn mark<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.mark.as_deref()?.downcast_ref()
    }

    /// Returns the request.
    #[must_use]
    pub fn request(&self) -> &Arc<RequestContext> {
        &self.request
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        self.request.host()
    }

    /// Returns the resources that the request may use, if any.
    #[must_use]
    pub fn resources(&self) -> Option<&Arc<ResourceContext>> {
        self.request.resources()
    }

    /// Returns the queue that runs the tasks of this context.
    #[must_use]
    pub fn queue(&self) -> &Arc<dyn ConcurrentWorkQueue> {
        self.queue.as_ref().unwrap_or_else(|| self.host().queue())
    }

    /// Enqueues `work` as a task that must not block. The stack stays bounded even if the queue
    /// runs nested tasks immediately.
    pub fn enqueue(&self, work: impl FnOnce() + Send + 'static) {
        nested_tasks::add(self.queue(), self.request.tag(), Task::new(work));
    }

    /// Returns the allocator of the request; see [`RequestContext::memory`].
    #[inline]
    #[must_use]
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        self.request.allocator()
    }

    /// Allocates memory of the request, from [`allocator`](Self::allocator).
    ///
    /// # Errors
    /// If the request exceeds its limit, which is reported once per request, or the host has no
    /// memory left. The error is located here.
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        let memory = self.request.memory();
        memory.try_allocate(layout).map_err(|error| {
            if memory.take_refusal() {
                self.emit_limit(Limit::Memory, error)
            } else {
                self.emit_error(error)
            }
        })
    }

    /// Counts an unfinished invocation of a function called from here, in addition to `num_others`
    /// that the host does not count. For executors, which must call the host's
    /// [`leave_invocation`](HostContext::leave_invocation) when it has finished.
    ///
    /// ```
    /// use tfrt_host::{ExecutionContext, HostContext, Limits, RequestContextBuilder};
    ///
    /// let limits = Limits { max_call_depth: 0, ..Limits::default() };
    /// let host = HostContext::builder().limits(limits).build();
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    /// let refused = ctx.enter_invocation(0).unwrap_err();
    /// assert_eq!(refused.message(), "function calls are nested more than 0 levels deep");
    /// ```
    ///
    /// # Errors
    /// If calls are nested too deeply, or too many are unfinished. The error is located here and
    /// reported once per request.
    #[doc(hidden)]
    #[inline]
    pub fn enter_invocation(&self, num_others: usize) -> Result<(), Error> {
        if self.call_depth >= self.host().limits().max_call_depth {
            return Err(self.emit_limit(Limit::CallDepth, self.too_deep()));
        }
        if !self.host().enter_invocation(num_others) {
            return Err(self.emit_limit(Limit::LiveInvocations, self.too_many()));
        }
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let max_depth = self.host().limits().max_call_depth;
        Error::new(format!(
            "function calls are nested more than {max_depth} levels deep"
        ))
        .with_code(ErrorCode::ResourceExhausted)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let max_live = self.host().limits().max_live_invocations;
        Error::new(format!(
            "more than {max_live} function calls are unfinished"
        ))
        .with_code(ErrorCode::ResourceExhausted)
    }

    /// Returns the depth of function calls around this context.
    #[doc(hidden)]
    #[must_use]
    pub fn call_depth(&self) -> u32 {
        self.call_depth
    }

    /// Returns the token that identifies the op within its file.
    #[doc(hidden)]
    #[must_use]
    pub fn location_token(&self) -> u32 {
        // Relaxed: a token orders nothing.
        self.location_token.load(Ordering::Relaxed)
    }

    /// Returns the decoder of the token, if any.
    #[doc(hidden)]
    #[must_use]
    pub fn location_source(&self) -> Option<&Arc<dyn LocationSource>> {
        self.location_source.as_ref()
    }

    /// Moves the context to another op of the same file.
    #[doc(hidden)]
    #[inline]
    pub fn set_location_token(&self, token: u32) {
        // Relaxed: as above.
        self.location_token.store(token, Ordering::Relaxed);
    }

    /// Moves the context to a kernel that begins. Returns the entry of the kernel in the list of
    /// its request, if that keeps one: it is to be dropped when the kernel has returned.
    #[doc(hidden)]
    #[inline]
    #[must_use = "the kernel ends when the entry is dropped"]
    pub fn enter_kernel(&self, token: u32) -> Option<RunningKernel> {
        self.set_location_token(token);
        self.running_kernel()
    }

    /// Returns an entry for the kernel that the context is at, whose work goes on after it has
    /// returned.
    #[inline]
    pub(crate) fn running_kernel(&self) -> Option<RunningKernel> {
        let list = self.request.running_kernels()?;
        let location = Location {
            source: self.location_source.clone(),
            token: self.location_token(),
        };
        Some(RunningKernel::begin(list, location))
    }

    /// Returns the location of the kernel in its program.
    #[must_use]
    pub fn place(&self) -> Place {
        self.location_source
            .as_ref()
            .map_or(Place::Unknown, |source| source.place(self.location_token()))
    }

    /// Returns the name that the program assigned to the op, if any.
    #[must_use]
    pub fn debug_name(&self) -> Option<String> {
        self.location_source
            .as_ref()?
            .debug_name(self.location_token())
    }

    /// Sets the location of `error` unless it has one, reports it to the diagnostic handler, and
    /// returns it.
    ///
    /// An error caused by the memory limit of the request states the limit, and is reported once
    /// per request.
    #[cold]
    pub fn emit_error(&self, error: Error) -> Error {
        if let Some(error) = self.request.explain_refusal(&error) {
            return self.emit_limit(Limit::Memory, error);
        }
        error.set_place_if_unset(self.place());
        error.mark_reported_in(self.request.number());
        self.host().report(&error);
        error
    }

    /// Like [`emit_error`](Self::emit_error), for the error that a kernel or a call ends with. It
    /// may be that of a kernel that has reported it before, passed on.
    #[doc(hidden)]
    #[cold]
    pub fn emit_failure(&self, error: Error) -> Error {
        match error.is_reported_in(self.request.number()) {
            true => error,
            false => self.emit_error(error),
        }
    }

    /// Adds the limit that caused it to an error of a kernel that has not been reported yet.
    #[cold]
    pub(crate) fn explain_error(&self, error: Error) -> Error {
        self.request.explain_refusal(&error).unwrap_or(error)
    }

    #[cold]
    fn emit_limit(&self, limit: Limit, error: Error) -> Error {
        error.set_place_if_unset(self.place());
        error.mark_reported_in(self.request.number());
        if self.request.tells(limit) {
            self.host().report(&error);
        }
        error
    }
}

/// Notifies the diagnostic handler. The place where the payload was dropped says little, so the
/// error has no location.
impl DropObserver for ExecutionContext {
    fn payload_panicked(&self, error: Error) {
        self.host().report(&error);
    }
}

/// The context inside a function while its caller waits, borrowed from the caller's context. It
/// holds no references of its own, so creating one takes no atomic operation. A kernel that keeps
/// it clones it, which creates an ordinary context.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::ExecutionContext;
/// use tfrt_host::__runtime::{BorrowedContext, LocationSource};
///
/// fn depth_inside<P: LocationSource + 'static>(caller: &ExecutionContext, program: &Arc<P>) -> u32 {
///     BorrowedContext::inside(caller, program).call_depth()
/// }
/// ```
pub struct BorrowedContext<'a> {
    /// Invariant: a bitwise copy of values that live for `'a`. It is never dropped, moved out of,
    /// or borrowed mutably.
    context: ManuallyDrop<ExecutionContext>,
    owners: PhantomData<&'a ExecutionContext>,
}

impl<'a> BorrowedContext<'a> {
    /// Creates the context inside a function that `caller` calls; `source` decodes its locations.
    #[inline]
    #[must_use]
    pub fn inside<S: LocationSource + 'static>(
        caller: &'a ExecutionContext,
        source: &'a Arc<S>,
    ) -> Self {
        let mut context = Self::copy_of(caller);
        context.call_depth = caller.call_depth + 1;
        context.location_token = AtomicU32::new(0);
        // SAFETY: the copy is never dropped, and the source lives for `'a`.
        let source = unsafe { ptr::read(source) } as Arc<dyn LocationSource>;
        // The previous source is also a copy, so it must not be dropped.
        std::mem::forget(context.location_source.replace(source));
        Self {
            context,
            owners: PhantomData,
        }
    }

    /// Creates the context inside a synchronous function that `caller` calls. Errors are located at
    /// the caller, or in `source` if the caller has no location.
    #[inline]
    #[must_use]
    pub fn inside_sync<S: LocationSource + 'static>(
        caller: &'a ExecutionContext,
        source: &'a Arc<S>,
    ) -> Self {
        if caller.location_source.is_none() {
            return Self::inside(caller, source);
        }
        let mut context = Self::copy_of(caller);
        context.call_depth = caller.call_depth + 1;
        Self {
            context,
            owners: PhantomData,
        }
    }

    /// Creates the same context with its own location.
    #[inline]
    #[must_use]
    pub fn of(original: &'a ExecutionContext) -> Self {
        Self {
            context: Self::copy_of(original),
            owners: PhantomData,
        }
    }

    #[inline]
    fn copy_of(original: &'a ExecutionContext) -> ManuallyDrop<ExecutionContext> {
        // SAFETY: `original` is a valid context. The copy is never dropped, and everything it
        // refers to lives as long as the original, which outlives `'a`. The copy has its own token,
        // the only part that changes.
        ManuallyDrop::new(unsafe { ptr::read(original) })
    }
}

impl Deref for BorrowedContext<'_> {
    type Target = ExecutionContext;

    #[inline]
    fn deref(&self) -> &ExecutionContext {
        &self.context
    }
}

impl std::fmt::Debug for BorrowedContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl Clone for ExecutionContext {
    fn clone(&self) -> Self {
        Self {
            request: Arc::clone(&self.request),
            queue: self.queue.clone(),
            location_source: self.location_source.clone(),
            location_token: AtomicU32::new(self.location_token()),
            call_depth: self.call_depth,
            mark: self.mark.clone(),
        }
    }
}

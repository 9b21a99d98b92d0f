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
use crate::host::HostContext;
use crate::location::LocationSource;
use crate::request::{Limit, RequestContext};
use crate::resource::ResourceContext;

/// What a kernel runs in: its request, its work queue, and where it stands in its program. Cloning is cheap.
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
    /// Stands in for the host's work queue.
    queue: Option<Arc<dyn ConcurrentWorkQueue>>,
    location_source: Option<Arc<dyn LocationSource>>,
    /// Changes as a path of execution moves from op to op; clone a context to keep it.
    location_token: AtomicU32,
    call_depth: u32,
    mark: Option<Arc<dyn Any + Send + Sync>>,
}

impl ExecutionContext {
    /// The context at the start of a request.
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

    /// The same context with another work queue than the host's.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<dyn ConcurrentWorkQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// The context inside a function that this one calls; locations are those of `source`.
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

    /// The same context with a mark that the kernels of called functions find, however deep. A later mark replaces it.
    #[must_use]
    pub fn with_mark<T: Any + Send + Sync>(mut self, mark: T) -> Self {
        self.mark = Some(Arc::new(mark));
        self
    }

    /// The innermost mark, if it is a `T`.
    #[must_use]
    pub fn mark<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.mark.as_deref()?.downcast_ref()
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> &Arc<RequestContext> {
        &self.request
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Arc<HostContext> {
        self.request.host()
    }

    /// The resources that the request may use, if any.
    #[must_use]
    pub fn resources(&self) -> Option<&Arc<ResourceContext>> {
        self.request.resources()
    }

    /// Where tasks of this context run.
    #[must_use]
    pub fn queue(&self) -> &Arc<dyn ConcurrentWorkQueue> {
        self.queue.as_ref().unwrap_or_else(|| self.host().queue())
    }

    /// Runs `work` as a task that must not block. However deep a queue nests tasks that it runs at once, the stack stays bounded.
    pub fn enqueue(&self, work: impl FnOnce() + Send + 'static) {
        nested_tasks::add(self.queue(), self.request.tag(), Task::new(work));
    }

    /// Where memory of the request comes from; see [`RequestContext::memory`].
    #[must_use]
    pub fn allocator(&self) -> &Arc<dyn HostAllocator> {
        self.request.allocator()
    }

    /// Memory of the request, as [`allocator`](Self::allocator) gives it.
    ///
    /// # Errors
    /// If the request may not hold so much, which is reported once for each request, or the host does not have it. The error is
    /// placed here.
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

    /// Counts one more unfinished invocation of a function, which is called from here, beside `num_others` that the host does not
    /// count. For executors, which owe a [`leave_invocation`](HostContext::leave_invocation) of the host when it has finished.
    ///
    /// ```
    /// use tfrt_host::{ExecutionContext, HostContext, Limits, RequestContextBuilder};
    ///
    /// let limits = Limits { max_call_depth: 0, ..Limits::default() };
    /// let host = HostContext::builder().limits(limits).build();
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    /// let refused = ctx.enter_invocation(0).unwrap_err();
    /// assert_eq!(refused.message(), "calls of functions are nested deeper than 0");
    /// ```
    ///
    /// # Errors
    /// If calls are nested too deep, or too many are unfinished. The error is placed here and reported, once for each request.
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
            "calls of functions are nested deeper than {max_depth}"
        ))
        .with_code(ErrorCode::ResourceExhausted)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let max_live = self.host().limits().max_live_invocations;
        Error::new(format!(
            "more than {max_live} invocations of functions are unfinished"
        ))
        .with_code(ErrorCode::ResourceExhausted)
    }

    /// How many calls of functions this context is inside of.
    #[must_use]
    pub fn call_depth(&self) -> u32 {
        self.call_depth
    }

    /// The token that tells the ops of one file apart.
    #[must_use]
    pub fn location_token(&self) -> u32 {
        // Relaxed: a token orders nothing.
        self.location_token.load(Ordering::Relaxed)
    }

    /// What decodes the token, if anything does.
    #[must_use]
    pub fn location_source(&self) -> Option<&Arc<dyn LocationSource>> {
        self.location_source.as_ref()
    }

    /// Moves the context to another op of the same file.
    #[inline]
    pub fn set_location_token(&self, token: u32) {
        // Relaxed: as above.
        self.location_token.store(token, Ordering::Relaxed);
    }

    /// Where the kernel stands in its program.
    #[must_use]
    pub fn place(&self) -> Place {
        self.location_source
            .as_ref()
            .map_or(Place::Unknown, |source| source.place(self.location_token()))
    }

    /// The name that the program gave to the op, if it gave one.
    #[must_use]
    pub fn debug_name(&self) -> Option<String> {
        self.location_source
            .as_ref()?
            .debug_name(self.location_token())
    }

    /// Places `error` here unless it has a place, tells the diagnostic handler, and returns the error.
    ///
    /// An error that comes of the limit of the request's memory says what the limit is, and is told once for each request.
    #[cold]
    pub fn emit_error(&self, error: Error) -> Error {
        if let Some(error) = self.request.explain_refusal(&error) {
            return self.emit_limit(Limit::Memory, error);
        }
        error.set_place_if_unset(self.place());
        self.host().report(&error);
        error
    }

    /// The error of a kernel that has not been reported yet, with the limit that caused it.
    #[cold]
    pub(crate) fn explain_error(&self, error: Error) -> Error {
        self.request.explain_refusal(&error).unwrap_or(error)
    }

    #[cold]
    fn emit_limit(&self, limit: Limit, error: Error) -> Error {
        error.set_place_if_unset(self.place());
        if self.request.tells(limit) {
            self.host().report(&error);
        }
        error
    }
}

/// Tells the diagnostic handler. Where the payload was dropped says little, so that such an error has no place.
impl DropObserver for ExecutionContext {
    fn payload_panicked(&self, error: Error) {
        self.host().report(&error);
    }
}

/// The context inside a function while its caller waits, borrowed from the caller's: it holds no reference of its own, so that
/// making one costs no atomic operation. A kernel that keeps it clones it, which makes an ordinary context.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::{BorrowedContext, ExecutionContext, LocationSource};
///
/// fn depth_inside<P: LocationSource + 'static>(caller: &ExecutionContext, program: &Arc<P>) -> u32 {
///     BorrowedContext::inside(caller, program).call_depth()
/// }
/// ```
pub struct BorrowedContext<'a> {
    /// Invariant: a bitwise copy of values that live for `'a`. It is never dropped, moved out of, or lent mutably.
    context: ManuallyDrop<ExecutionContext>,
    owners: PhantomData<&'a ExecutionContext>,
}

impl<'a> BorrowedContext<'a> {
    /// The context inside a function that `caller` calls; locations are those of `source`.
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
        // What was there is a copy, too, and is not to be dropped.
        std::mem::forget(context.location_source.replace(source));
        Self {
            context,
            owners: PhantomData,
        }
    }

    /// The context inside a synchronous function that `caller` calls: errors are where the caller is, or, if the caller is nowhere,
    /// in `source`.
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

    /// The same context, with a location of its own.
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
        // SAFETY: a context is read where there is one. The copy is never dropped, and what it refers to lives as long as the
        // original, which outlives `'a`. The token, the only part that changes, is a number of its own.
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

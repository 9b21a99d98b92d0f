//! The context that a kernel runs in.

use std::any::Any;
use std::sync::Arc;

use tfrt_queue::{ConcurrentWorkQueue, Task};
use tfrt_support::{Error, Place};

use crate::host::HostContext;
use crate::location::LocationSource;
use crate::request::RequestContext;
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
#[derive(Clone, Debug)]
pub struct ExecutionContext {
    request: Arc<RequestContext>,
    /// Stands in for the host's work queue.
    queue: Option<Arc<dyn ConcurrentWorkQueue>>,
    location_source: Option<Arc<dyn LocationSource>>,
    location_token: u32,
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
            location_token: 0,
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
            location_source: Some(source),
            call_depth: self.call_depth + 1,
            ..self.clone()
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

    /// Runs `work` as a task that must not block.
    pub fn enqueue(&self, work: impl FnOnce() + Send + 'static) {
        self.queue()
            .add_task_for(self.request.tag(), Task::new(work));
    }

    /// How many calls of functions this context is inside of.
    #[must_use]
    pub fn call_depth(&self) -> u32 {
        self.call_depth
    }

    /// The token that tells the ops of one file apart.
    #[must_use]
    pub fn location_token(&self) -> u32 {
        self.location_token
    }

    /// What decodes the token, if anything does.
    #[must_use]
    pub fn location_source(&self) -> Option<&Arc<dyn LocationSource>> {
        self.location_source.as_ref()
    }

    /// Moves the context to another op of the same file.
    #[inline]
    pub fn set_location_token(&mut self, token: u32) {
        self.location_token = token;
    }

    /// Where the kernel stands in its program.
    #[must_use]
    pub fn place(&self) -> Place {
        self.location_source
            .as_ref()
            .map_or(Place::Unknown, |source| source.place(self.location_token))
    }

    /// The name that the program gave to the op, if it gave one.
    #[must_use]
    pub fn debug_name(&self) -> Option<String> {
        self.location_source
            .as_ref()?
            .debug_name(self.location_token)
    }

    /// Places `error` here unless it has a place, tells the diagnostic handler, and gives the error back.
    #[cold]
    pub fn emit_error(&self, error: Error) -> Error {
        error.set_place_if_unset(self.place());
        self.host().report(&error);
        error
    }
}

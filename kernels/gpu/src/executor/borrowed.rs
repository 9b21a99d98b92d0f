//! Contexts and streams of an embedder, lent to programs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use tfrt::host::ResourceContext;
use tfrt::prelude::*;

use crate::api::handle::{ContextHandle, DeviceId, StreamHandle};
use crate::platform::Gpu;
use crate::values::{GpuContext, GpuDevice, Stream, lock};

/// The contexts of an embedder, each with the resources that programs keep for it. Safe to use from
/// any thread.
///
/// `tfrt.once` identifies its results by the name of the function alone, so programs that run in
/// two contexts need two resource contexts. This cache provides them. It does not destroy the
/// contexts.
///
/// ```
/// use tfrt_gpu::executor::ContextCache;
/// use tfrt_gpu::api::DeviceId;
/// use tfrt_gpu::platform::{Gpu, GpuChoice};
///
/// let gpu = Gpu::open(GpuChoice::Host)?;
/// gpu.driver.init()?;
/// let device = gpu.driver.device(0)?;
/// let handle = gpu.driver.primary_context_retain(device)?;
///
/// let cache = ContextCache::new(&gpu);
/// let first = cache.get(DeviceId(0), handle);
/// let again = cache.get(DeviceId(0), handle);
/// assert!(std::sync::Arc::ptr_eq(&first.resources, &again.resources));
/// drop((first, again, cache));
/// gpu.driver.primary_context_release(device)?;
/// # Ok::<(), tfrt::Error>(())
/// ```
pub struct ContextCache {
    gpu: Arc<Gpu>,
    contexts: Mutex<HashMap<ContextHandle, CachedContext>>,
}

/// A context of an embedder, with the resources that programs keep for it.
#[derive(Clone)]
pub struct CachedContext {
    /// The resources of requests that run in the context. They hold values of the context, so they
    /// are dropped before it.
    pub resources: Arc<ResourceContext>,
    /// The context.
    pub context: GpuContext,
}

impl ContextCache {
    /// Creates a cache without contexts.
    #[must_use]
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self {
            gpu: Arc::clone(gpu),
            contexts: Mutex::default(),
        }
    }

    /// Returns the context around a native one of this device, which is the embedder's. It outlives
    /// this cache and all values of programs.
    #[must_use]
    pub fn get(&self, device: DeviceId, handle: ContextHandle) -> CachedContext {
        let mut contexts = lock(&self.contexts);
        let cached = contexts.entry(handle).or_insert_with(|| {
            let gpu = Arc::clone(&self.gpu);
            CachedContext {
                resources: Arc::new(ResourceContext::new()),
                context: GpuContext::borrowed(&GpuDevice { gpu, id: device }, handle),
            }
        });
        cached.clone()
    }

    /// Lends a stream of a native context to programs.
    #[must_use]
    pub fn lend_stream(
        &self,
        device: DeviceId,
        context: ContextHandle,
        stream: StreamHandle,
    ) -> BorrowedStream {
        let context = self.get(device, context);
        let stream = Stream::borrowed(&context.context, stream);
        BorrowedStream {
            stream: AsyncValueRef::available(stream),
            context,
        }
    }
}

impl fmt::Debug for ContextCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_contexts = lock(&self.contexts).len();
        f.debug_struct("ContextCache")
            .field("num_contexts", &num_contexts)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CachedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedContext")
            .field("context", &self.context.handle())
            .finish_non_exhaustive()
    }
}

/// A stream of an embedder, lent to programs.
///
/// The embedder reclaims it with [`take_back`](Self::take_back), which is an error while a program
/// still refers to it.
#[derive(Debug)]
pub struct BorrowedStream {
    stream: AsyncValueRef<Stream>,
    context: CachedContext,
}

impl BorrowedStream {
    /// Returns the stream, as an argument of programs.
    #[must_use]
    pub fn stream(&self) -> &AsyncValueRef<Stream> {
        &self.stream
    }

    /// Returns the context of the stream.
    #[must_use]
    pub fn context(&self) -> &CachedContext {
        &self.context
    }

    /// Takes the stream back.
    ///
    /// # Errors
    /// If a value of a program still refers to the stream; such a value must not be used any more.
    pub fn take_back(self) -> Result<()> {
        let stream = self.stream.get().cloned();
        drop(self.stream);
        // This clone is the one reference that is left.
        match stream {
            Some(stream) if stream.num_references() > 1 => {
                Err(Error::new(format!("stream {stream} is still in use"))
                    .with_code(ErrorCode::FailedPrecondition))
            }
            _ => Ok(()),
        }
    }
}

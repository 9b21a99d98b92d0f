//! The values of GPU programs, and the objects that they keep alive.
//!
//! ```text
//!  GpuContext ◄── Stream, Event, BlasHandle, DnnHandle, SolverHandle, FftHandle, CclHandle ──► buffers of queued collectives
//!    ▲  ▲
//!    │  └── GpuModule ◄── GpuFunction
//!    │        ▲
//!    └────────┴── Memory ◄── Buffer ◄── DenseGpuTensor
//! ```
//!
//! An arrow is a counted reference, so a buffer that is needed keeps everything above it. Dropping
//! a value never waits, except for memory, which a driver frees once no work uses it. Failures of a
//! drop are logged.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tfrt::host::log;
use tfrt::prelude::*;

use crate::api::driver::{Argument, LaunchConfig};
use crate::api::handle::{
    ContextHandle, DeviceId, EventHandle, FunctionHandle, ModuleHandle, StreamHandle,
};
use crate::api::known::{KnownFunction, KnownStream};
use crate::api::{Current, GpuResult};
use crate::device_functions::LoadedFunctions;
use crate::platform::Gpu;

pub(crate) mod allocator_kind;

pub(crate) mod memory;

pub(crate) mod stream_ordered;

pub(crate) mod tensor;

pub use allocator_kind::GpuAllocatorKind;
pub use memory::{Allocator, Buffer};
pub use stream_ordered::{Lifetime, StreamAllocator, StreamAllocatorStats};
pub use tensor::DenseGpuTensor;

use memory::Part;

/// Logs a call that failed while a value was dropped.
pub(crate) fn log_failure(result: GpuResult<()>) {
    if let Err(error) = result {
        log::error!("{error}");
    }
}

/// Locks, also after a panic of another thread: the locked data is consistent at any time.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device.
#[derive(Clone, Debug, Value)]
#[value("!tfrt_gpu.device")]
pub struct GpuDevice {
    /// Its implementation.
    pub(crate) gpu: Arc<Gpu>,
    /// Its number.
    pub(crate) id: DeviceId,
}

impl fmt::Display for GpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// A context of a device, with its pool of pinned memory.
#[derive(Clone, Debug, Value)]
#[value("!tfrt_gpu.context")]
pub struct GpuContext(Arc<OwnedContext>);

#[derive(Debug)]
struct OwnedContext {
    device: GpuDevice,
    /// The identity of the driver.
    identity: usize,
    handle: ContextHandle,
    ownership: Ownership,
    pool: memory::Pool,
    device_functions: LoadedFunctions,
    /// Held by the kernel that calls a library.
    library_calls: Mutex<()>,
}

/// A call of a library by one of its handles, with the handle's context current.
///
/// A handle has a state, such as the stream that it works on, and the libraries do not allow two
/// threads to use one handle at the same time. So the calls of all handles that one context object
/// made take turns.
#[derive(Debug)]
pub(crate) struct LibraryCall<'c> {
    current: Current,
    _turn: MutexGuard<'c, ()>,
}

impl Deref for LibraryCall<'_> {
    type Target = Current;

    fn deref(&self) -> &Current {
        &self.current
    }
}

/// The ownership of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// The primary context of its device, which is released.
    Primary,
    /// It is destroyed.
    Created,
    /// It has another owner.
    Borrowed,
}

impl GpuContext {
    /// Returns the primary context of a device.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn primary(device: &GpuDevice) -> GpuResult<Self> {
        let handle = device.gpu.driver.primary_context_retain(device.id)?;
        Ok(Self::new(device, handle, Ownership::Primary))
    }

    /// Creates a new context on a device.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn create(device: &GpuDevice) -> GpuResult<Self> {
        let handle = device.gpu.driver.context_create(device.id)?;
        Ok(Self::new(device, handle, Ownership::Created))
    }

    /// Creates a context that its owner destroys, after this object.
    #[must_use]
    pub fn borrowed(device: &GpuDevice, handle: ContextHandle) -> Self {
        Self::new(device, handle, Ownership::Borrowed)
    }

    fn new(device: &GpuDevice, handle: ContextHandle, ownership: Ownership) -> Self {
        Self(Arc::new(OwnedContext {
            device: device.clone(),
            identity: device.gpu.driver.identity(),
            handle,
            ownership,
            pool: memory::Pool::default(),
            device_functions: LoadedFunctions::default(),
            library_calls: Mutex::default(),
        }))
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &GpuDevice {
        &self.0.device
    }

    /// Returns the implementation.
    #[must_use]
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.0.device.gpu
    }

    /// Returns the handle.
    #[must_use]
    pub fn handle(&self) -> ContextHandle {
        self.0.handle
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    /// Those of the driver.
    #[inline]
    pub fn set_current(&self) -> GpuResult<Current> {
        let driver = || &*self.gpu().driver;
        Current::set_for(self.0.identity, driver, self.handle())
    }

    fn pool(&self) -> &memory::Pool {
        &self.0.pool
    }

    /// Returns the device functions that are loaded.
    pub(crate) fn device_functions(&self) -> &LoadedFunctions {
        &self.0.device_functions
    }

    /// Refuses something of another context.
    ///
    /// # Errors
    /// `Expected context to be X, but got Y`.
    #[inline]
    pub(crate) fn expect_same(&self, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ok(());
        }
        // Handles are numbers, which mean something to one implementation only.
        if self.handle() == other.handle() && Arc::ptr_eq(self.gpu(), other.gpu()) {
            return Ok(());
        }
        Err(self.another(other))
    }

    #[cold]
    fn another(&self, other: &Self) -> Error {
        let (expected, found) = (self.handle(), other.handle());
        let text = format!("Expected context to be {expected}, but got {found}");
        Error::new(text).with_code(ErrorCode::InvalidArgument)
    }
}

impl fmt::Display for GpuContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle().fmt(f)
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        let driver = &self.device.gpu.driver;
        let freed = Current::set(&**driver, self.handle).and_then(|_current| {
            let unloaded = self.device_functions.unload_all(&**driver);
            self.pool.free_all(&**driver).and(unloaded)
        });
        log_failure(freed);
        log_failure(match self.ownership {
            Ownership::Primary => driver.primary_context_release(self.device.id),
            Ownership::Created => driver.context_destroy(self.handle),
            Ownership::Borrowed => Ok(()),
        });
    }
}

/// Declares a value that owns a native handle in a context.
macro_rules! owned_handles {
    ($(
        $(#[$doc:meta])*
        $name:ident(
            $owned:ident $(, $field:ident: $field_type:ty)?
            $(; $known:ident: $known_type:ty = |$of:ident, $by:ident| $found:expr)?
        ): $spelling:literal, $handle:ident,
            |$gpu:ident, $dropped:ident| $destroy:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Value)]
        #[value($spelling)]
        pub struct $name(Arc<$owned>);

        #[derive(Debug)]
        struct $owned {
            handle: $handle,
            $($field: $field_type,)?
            $($known: $known_type,)?
            is_borrowed: bool,
            context: GpuContext,
        }

        impl $name {
            /// Takes the ownership of a handle.
            pub(crate) fn new(context: &GpuContext, handle: $handle $(, $field: $field_type)?) -> Self {
                Self(Arc::new($owned {
                    handle,
                    $($field,)?
                    $($known: {
                        let ($of, $by) = (context, handle);
                        $found
                    },)?
                    is_borrowed: false,
                    context: context.clone(),
                }))
            }

            /// Creates an object around a handle that its owner destroys, after this object.
            #[must_use]
            pub fn borrowed(context: &GpuContext, handle: $handle $(, $field: $field_type)?) -> Self {
                Self(Arc::new($owned {
                    handle,
                    $($field,)?
                    $($known: {
                        let ($of, $by) = (context, handle);
                        $found
                    },)?
                    is_borrowed: true,
                    context: context.clone(),
                }))
            }

            /// Returns the handle.
            #[must_use]
            pub fn handle(&self) -> $handle {
                self.0.handle
            }

            /// Returns the context.
            #[must_use]
            pub fn context(&self) -> &GpuContext {
                &self.0.context
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.handle().fmt(f)
            }
        }

        impl Drop for $owned {
            fn drop(&mut self) {
                // The object ends with its handle if nothing else keeps it.
                $(self.$known = None;)?
                if !self.is_borrowed {
                    let ($gpu, $dropped) = (self.context.gpu(), self.handle);
                    log_failure(self.context.set_current().and_then(|_current| $destroy));
                }
            }
        }
    )*};
}

type RawBlas = crate::api::handle::BlasHandle;
type RawDnn = crate::api::handle::DnnHandle;
type RawSolver = crate::api::handle::SolverHandle;
type RawFft = crate::api::handle::FftHandle;

owned_handles! {
    /// A stream: work that a device does in order.
    Stream(
        OwnedStream;
        known: Option<Box<dyn KnownStream>> = |context, handle| context.gpu().driver.known_stream(handle)
    ): "!tfrt_gpu.stream", StreamHandle, |gpu, handle| gpu.driver.stream_destroy(handle);
    /// An event: a place in a stream.
    Event(OwnedEvent): "!tfrt_gpu.event", EventHandle, |gpu, handle| gpu.driver.event_destroy(handle);
    /// A module of device code.
    GpuModule(OwnedModule): "!tfrt_gpu.module", ModuleHandle, |gpu, handle| gpu.driver.module_unload(handle);
    /// A handle of the BLAS library.
    BlasHandle(OwnedBlas): "!tfrt_gpu.blas.handle", RawBlas, |gpu, handle| gpu.blas.destroy(handle);
    /// A handle of the library for networks.
    DnnHandle(OwnedDnn): "!tfrt_gpu.dnn.handle", RawDnn, |gpu, handle| gpu.dnn.destroy(handle);
    /// A handle of the solver library.
    SolverHandle(OwnedSolver): "!tfrt_gpu.solver.handle", RawSolver, |gpu, handle| gpu.solver.destroy(handle);
    /// A plan of the FFT library.
    FftHandle(OwnedFft, spans: FftSpans): "!tfrt_gpu.fft.handle", RawFft, |gpu, handle| gpu.fft.destroy(handle);
}

/// The bytes that a transform reads and writes, from the start of a buffer to the last element;
/// none if they are too many to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FftSpans {
    /// Of the input.
    pub input: Option<usize>,
    /// Of the output.
    pub output: Option<usize>,
}

impl FftHandle {
    /// Returns the spans that its transforms read and write.
    #[must_use]
    pub fn spans(&self) -> FftSpans {
        self.0.spans
    }
}

/// A kernel on the device.
#[derive(Clone, Debug, Value)]
#[value("!tfrt_gpu.function")]
pub struct GpuFunction {
    pub(crate) handle: FunctionHandle,
    /// Dropped before the module, which ends with its last user.
    known: Option<KnownFunction>,
    pub(crate) module: GpuModule,
}

impl GpuFunction {
    /// Creates an object for a kernel of a module.
    pub(crate) fn new(module: &GpuModule, handle: FunctionHandle) -> Self {
        let driver = &module.context().gpu().driver;
        Self {
            handle,
            module: module.clone(),
            known: driver.known_function(handle),
        }
    }
}

impl fmt::Display for GpuFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

/// A reference to a stream that does not keep it.
#[derive(Debug)]
pub(crate) struct WeakStream(Weak<OwnedStream>);

impl WeakStream {
    /// Returns the stream, if it still exists.
    pub(crate) fn upgrade(&self) -> Option<Stream> {
        self.0.upgrade().map(Stream)
    }

    /// Returns `true` if this is a reference to `stream`.
    pub(crate) fn is(&self, stream: &Stream) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&stream.0))
    }
}

impl Stream {
    /// Waits until all work is done that is now in the stream.
    ///
    /// # Errors
    /// Those of the driver, and failures of the work.
    pub fn synchronize(&self) -> GpuResult<()> {
        let driver = &self.context().gpu().driver;
        driver.stream_synchronize(self.handle())
    }

    /// Copies between buffers, in the stream's context.
    ///
    /// # Errors
    /// Those of the driver.
    #[inline]
    pub(crate) fn copy(
        &self,
        current: &Current,
        target: &Part,
        source: &Part,
        num_bytes: usize,
    ) -> GpuResult<()> {
        let gpu = self.context().gpu();
        if let Some(known) = &self.0.known
            && let (Some(to), Some(from)) = (target.known(gpu), source.known(gpu))
            && let Some(result) = known.copy(current, to, from, num_bytes)
        {
            return result;
        }
        self.copy_by_handle(current, target, source, num_bytes)
    }

    #[cold]
    fn copy_by_handle(
        &self,
        current: &Current,
        target: &Part,
        source: &Part,
        num_bytes: usize,
    ) -> GpuResult<()> {
        let driver = &self.context().gpu().driver;
        let (target, source) = (target.endpoint(), source.endpoint());
        driver.copy_async(current, &target, &source, num_bytes, self.handle())
    }

    /// Sets words of a buffer, in the stream's context.
    ///
    /// # Errors
    /// Those of the driver.
    #[inline]
    pub(crate) fn set_u32(
        &self,
        current: &Current,
        target: &Part,
        value: u32,
        count: usize,
    ) -> GpuResult<()> {
        let gpu = self.context().gpu();
        if let Some(known) = &self.0.known
            && let Some(to) = target.known(gpu)
            && let Some(result) = known.set_u32(current, to, value, count)
        {
            return result;
        }
        let driver = &gpu.driver;
        driver.set_u32_async(current, target.pointer, value, count, self.handle())
    }

    /// Launches a kernel, in the stream's context.
    ///
    /// # Errors
    /// Those of the driver.
    #[inline]
    pub(crate) fn launch(
        &self,
        current: &Current,
        function: &GpuFunction,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        if let Some(stream) = &self.0.known
            && let Some(kernel) = &function.known
            && let Some(result) = stream.launch(current, kernel, config, arguments)
        {
            return result;
        }
        self.launch_by_handle(current, function, config, arguments)
    }

    #[cold]
    fn launch_by_handle(
        &self,
        current: &Current,
        function: &GpuFunction,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        let driver = &self.context().gpu().driver;
        driver.launch(current, function.handle, *config, self.handle(), arguments)
    }

    /// Returns a reference that does not keep the stream.
    pub(crate) fn downgrade(&self) -> WeakStream {
        WeakStream(Arc::downgrade(&self.0))
    }

    /// Returns the number of clones of this object.
    pub(crate) fn num_references(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Makes the stream's context current, and refuses a handle of another context.
    ///
    /// # Errors
    /// `Expected context to be X, but got Y`, and those of the driver.
    #[inline]
    pub(crate) fn enter(&self, context: &GpuContext) -> Result<Current> {
        context.expect_same(self.context())?;
        Ok(context.set_current()?)
    }

    /// Begins a call of a library, by a handle of this context. Waits until no other kernel calls a
    /// library in the context.
    ///
    /// # Errors
    /// Those of [`enter`](Self::enter).
    pub(crate) fn enter_library<'c>(&self, context: &'c GpuContext) -> Result<LibraryCall<'c>> {
        let turn = lock(&context.0.library_calls);
        Ok(LibraryCall {
            current: self.enter(context)?,
            _turn: turn,
        })
    }
}

//! Contexts, streams, events and modules, which end when no one uses them any more.
#![expect(unsafe_code, reason = "calls the driver")]

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::LocalKey;

use cudarc::driver::sys::{CUcontext, CUevent, CUmodule, CUstream};

use super::call;
use super::driver::CudaDriver;
use super::keep::Held;
use super::library::driver::Functions;
use super::live::{Recent, RecentObject, Remembered};
use crate::api::handle::ContextHandle;
use crate::api::{Current, GpuResult};

/// A context.
#[derive(Debug)]
pub(super) struct Context {
    /// Differs from that of every other context.
    pub(super) id: usize,
    /// The driver's pointer.
    pub(super) number: u64,
    pub(super) device: i32,
    /// Whether it is released rather than destroyed.
    pub(super) is_primary: bool,
    pub(super) functions: Arc<Functions>,
    pub(super) is_ended: bool,
}

impl Context {
    pub(super) fn raw(&self) -> CUcontext {
        self.number as CUcontext
    }

    pub(super) fn handle(&self) -> ContextHandle {
        ContextHandle(self.number)
    }

    /// Ends it now.
    pub(super) fn end(mut self) -> GpuResult<()> {
        self.destroy()
    }

    fn destroy(&mut self) -> GpuResult<()> {
        self.is_ended = true;
        let functions = &self.functions;
        match self.is_primary {
            true => call!(
                functions,
                "cuDevicePrimaryCtxRelease(device)",
                cuDevicePrimaryCtxRelease_v2(self.device)
            ),
            false => call!(
                functions,
                "cuCtxDestroy(context)",
                cuCtxDestroy_v2(self.raw())
            ),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.is_ended {
            report(self.destroy());
        }
    }
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stream,
    Event,
    Module,
}

/// A stream, an event or a module.
#[derive(Debug)]
pub(super) struct Object {
    /// The driver's pointer.
    pub(super) number: u64,
    pub(super) kind: Kind,
    pub(super) context: Arc<Context>,
    /// The capture of a stream, if there is one.
    capture: Mutex<Option<Capture>>,
    /// Whether there is a capture. Calls outside of captures do not take the lock.
    is_captured: AtomicBool,
    pub(super) is_ended: bool,
}

impl Remembered for Object {
    fn recent() -> &'static LocalKey<Recent<RecentObject<Self>>> {
        thread_local! {
            static RECENT: Recent<RecentObject<Object>> = const { Recent::new() };
        }
        &RECENT
    }
}

/// What a stream has been asked for since a capture began, beyond what the driver records.
#[derive(Default)]
pub(super) struct Capture {
    /// Objects that the recorded work needs.
    pub(super) held: Vec<Held>,
    /// The reason why the work cannot become a graph.
    pub(super) refusal: Option<&'static str>,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("num_held", &self.held.len())
            .field("refusal", &self.refusal)
            .finish()
    }
}

impl Object {
    pub(super) fn new(number: u64, kind: Kind, context: Arc<Context>) -> Self {
        Self {
            number,
            kind,
            context,
            capture: Mutex::default(),
            is_captured: AtomicBool::new(false),
            is_ended: false,
        }
    }

    /// Ends it now.
    pub(super) fn end(mut self) -> GpuResult<()> {
        self.destroy()
    }

    /// Returns `true` during a capture.
    #[inline]
    pub(super) fn is_captured(&self) -> bool {
        // ordering: no thread but that of the capture uses the stream meanwhile.
        self.is_captured.load(Ordering::Relaxed)
    }

    /// Calls `change` with the capture. Without a capture, returns `None`.
    #[inline]
    pub(super) fn in_capture<R>(&self, change: impl FnOnce(&mut Capture) -> R) -> Option<R> {
        match self.is_captured() {
            true => self.change_capture(change),
            false => None,
        }
    }

    #[cold]
    fn change_capture<R>(&self, change: impl FnOnce(&mut Capture) -> R) -> Option<R> {
        self.lock_capture().as_mut().map(change)
    }

    /// Begins a capture, in place of an earlier one.
    pub(super) fn begin_capture(&self) {
        let mut capture = self.lock_capture();
        *capture = Some(Capture::default());
        // ordering: as in `is_captured`.
        self.is_captured.store(true, Ordering::Relaxed);
    }

    /// Ends the capture, if there is one, and returns it.
    pub(super) fn end_capture(&self) -> Option<Capture> {
        let mut capture = self.lock_capture();
        // ordering: as in `is_captured`.
        self.is_captured.store(false, Ordering::Relaxed);
        capture.take()
    }

    fn lock_capture(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn destroy(&mut self) -> GpuResult<()> {
        self.is_ended = true;
        let functions = &self.context.functions;
        match self.kind {
            Kind::Stream => call!(
                functions,
                "cuStreamDestroy(stream)",
                cuStreamDestroy_v2(self.number as CUstream)
            ),
            Kind::Event => call!(
                functions,
                "cuEventDestroy(event)",
                cuEventDestroy_v2(self.number as CUevent)
            ),
            Kind::Module => call!(
                functions,
                "cuModuleUnload(module)",
                cuModuleUnload(self.number as CUmodule)
            ),
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if !self.is_ended {
            report(self.destroy());
        }
    }
}

/// A kernel of a module, which stays loaded.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) number: u64,
    pub(super) module: Arc<Object>,
    /// The sizes of its parameters in bytes, if the driver can tell.
    pub(super) parameters: Option<Arc<[usize]>>,
}

impl Remembered for Function {
    fn recent() -> &'static LocalKey<Recent<RecentObject<Self>>> {
        thread_local! {
            static RECENT: Recent<RecentObject<Function>> = const { Recent::new() };
        }
        &RECENT
    }
}

/// An object of another library, which ends in its context.
pub(super) struct Owned {
    pub(super) number: u64,
    pub(super) context: Arc<Context>,
    driver: Arc<CudaDriver>,
    destroy: fn(u64) -> GpuResult<()>,
    is_ended: bool,
}

impl Owned {
    pub(super) fn new(
        number: u64,
        context: Arc<Context>,
        driver: &Arc<CudaDriver>,
        destroy: fn(u64) -> GpuResult<()>,
    ) -> Self {
        Self {
            number,
            context,
            driver: Arc::clone(driver),
            destroy,
            is_ended: false,
        }
    }

    /// Ends it now.
    pub(super) fn end(self) -> GpuResult<()> {
        let destroy = self.destroy;
        self.end_by(destroy)
    }

    /// Ends it now, in another way than by its destruction.
    pub(super) fn end_by(mut self, end: fn(u64) -> GpuResult<()>) -> GpuResult<()> {
        self.destroy = end;
        self.destroy()
    }

    fn destroy(&mut self) -> GpuResult<()> {
        self.is_ended = true;
        self.driver.enter(&self.context)?;
        let result = (self.destroy)(self.number);
        // The library may have set another context.
        Current::forget();
        result
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.is_ended {
            report(self.destroy());
        }
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Nobody is there to be told but the user.
pub(super) fn report(result: GpuResult<()>) {
    if let Err(error) = result {
        eprintln!("error: {error}");
    }
}

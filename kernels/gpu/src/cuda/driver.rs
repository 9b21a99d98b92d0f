//! The driver of CUDA: its state, and what its families of calls share.
#![expect(unsafe_code, reason = "calls the driver")]

mod devices;

mod streams;

mod memory;

mod modules;

mod known;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::graphs::Graph;
use super::keep::Keeper;
use super::library::driver::Functions;
use super::live::{Blocks, Live};
use super::object::{Context, Function, Kind, Object};
use super::{real_call, unknown};
use crate::api::driver::Driver;
use crate::api::handle::{ContextHandle, StreamHandle};
use crate::api::{Current, GpuError, GpuResult, Status};
use memory::Memory;

/// The CUDA driver of the system.
///
/// Handles are checked: one that was not created here, or was destroyed, is an error. An object
/// that is destroyed while another thread uses it ends after that use, and a context with the last
/// of its objects. So does an object that is destroyed by its handle while a [`Stream`] or a
/// [`GpuFunction`] of that handle exists: it ends with them, and a failure of that is printed.
///
/// [`Stream`]: crate::values::Stream
/// [`GpuFunction`]: crate::values::GpuFunction
#[derive(Debug)]
pub struct CudaDriver {
    identity: usize,
    pub(super) functions: Arc<Functions>,
    contexts: Live<Context>,
    /// By device: the primary context, and how often it was retained here.
    primary: Mutex<HashMap<i32, (u64, usize)>>,
    objects: [Live<Object>; 3],
    kernels: Live<Function>,
    pub(super) graphs: Live<Graph>,
    blocks: Blocks<Memory>,
    keeper: OnceLock<Keeper>,
}

impl CudaDriver {
    /// Opens `libcuda`. Only the system's loader runs code of the library.
    ///
    /// # Errors
    /// If the library is missing.
    pub fn open() -> GpuResult<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let functions = Functions::open().ok_or_else(|| {
            GpuError::new("cuInit(flags)", Status::SHARED_OBJECT_SYMBOL_NOT_FOUND)
                .with_details("the library `libcuda.so.1` of the CUDA driver is not installed")
        })?;
        Ok(Self {
            // Unique, and nothing else is ordered by it.
            identity: NEXT.fetch_add(1, Ordering::Relaxed),
            functions: Arc::new(functions),
            contexts: Live::default(),
            primary: Mutex::default(),
            objects: Default::default(),
            kernels: Live::default(),
            graphs: Live::default(),
            blocks: Blocks::default(),
            keeper: OnceLock::new(),
        })
    }

    fn context(&self, call: &'static str, handle: ContextHandle) -> GpuResult<Arc<Context>> {
        self.contexts
            .get(handle.0)
            .ok_or_else(|| GpuError::new(call, Status::INVALID_CONTEXT))
    }

    /// Returns the context of a token.
    pub(super) fn of(&self, call: &'static str, current: &Current) -> GpuResult<Arc<Context>> {
        self.context(call, current.context())
    }

    fn live(&self, kind: Kind) -> &Live<Object> {
        &self.objects[kind as usize]
    }

    fn object(&self, call: &'static str, kind: Kind, number: u64) -> GpuResult<Arc<Object>> {
        let object = self.live(kind).get_again(number);
        object.ok_or_else(|| unknown(call))
    }

    pub(super) fn stream(
        &self,
        call: &'static str,
        stream: StreamHandle,
    ) -> GpuResult<Arc<Object>> {
        self.object(call, Kind::Stream, stream.0)
    }

    /// Removes an object, which ends now, or with the last call that uses it.
    fn end(&self, call: &'static str, kind: Kind, number: u64) -> GpuResult<()> {
        let object = self
            .live(kind)
            .remove(number)
            .ok_or_else(|| unknown(call))?;
        Arc::into_inner(object).map_or(Ok(()), Object::end)
    }

    fn add_object(&self, number: u64, kind: Kind, context: Arc<Context>) {
        self.live(kind)
            .add(number, Object::new(number, kind, context));
    }

    /// Makes a context current, which may have been destroyed in name. It is not an error that a
    /// call failed on request: the safety of host memory may depend on the context.
    pub(super) fn enter(&self, context: &Context) -> GpuResult<()> {
        if Current::set(self, context.handle()).is_err() {
            real_call!(
                self.functions,
                "cuCtxSetCurrent(context)",
                cuCtxSetCurrent(context.raw())
            )?;
            Current::forget();
        }
        Ok(())
    }
}

impl Driver for CudaDriver {
    fn identity(&self) -> usize {
        self.identity
    }
}

/// Refuses objects of different contexts, which the driver may not find.
#[inline]
pub(super) fn same_context(
    call: &'static str,
    one: &Arc<Context>,
    other: &Arc<Context>,
    mixed: Status,
) -> GpuResult<()> {
    if Arc::ptr_eq(one, other) || one.number == other.number {
        return Ok(());
    }
    Err(mixed_contexts(call, mixed))
}

#[cold]
fn mixed_contexts(call: &'static str, status: Status) -> GpuError {
    GpuError::new(call, status).with_details("the objects belong to different contexts")
}

/// Returns the text before the first NUL.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

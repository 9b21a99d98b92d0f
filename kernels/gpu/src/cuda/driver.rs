//! The driver of CUDA.
#![expect(unsafe_code, reason = "calls the driver")]

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{
    CUcontext, CUdevice_attribute, CUevent, CUfunction, CUjit_option, CUmodule,
    CUpointer_attribute, CUstream,
};
use tfrt_tensor::HostBuffer;

use super::graphs::Graph;
use super::keep::{Held, Keeper, Mark};
use super::library::driver::Functions;
use super::live::{Block, BlockKind, Blocks, Live, Place};
use super::object::{Context, Function, Kind, Object};
use super::{call, real_call, unknown};
use crate::api::driver::{
    Argument, CopyEndpoint, Driver, HOST_COPY, LaunchConfig, check_arguments,
};
use crate::api::handle::{
    ContextHandle, DeviceId, EventHandle, FunctionHandle, GraphHandle, ModuleHandle, StreamHandle,
};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

/// The kind of a block of memory.
#[derive(Debug)]
enum Memory {
    Device {
        _context: Arc<Context>,
    },
    Pinned(Arc<Context>),
    /// Host memory of a buffer, which starts at a host address.
    Registered {
        context: Arc<Context>,
        buffer: HostBuffer,
        host: usize,
    },
    /// A variable of a module.
    Global {
        module: u64,
    },
}

impl BlockKind for Memory {
    /// A copy borrows the host memory of a registered block.
    fn is_plain(&self) -> bool {
        !matches!(self, Self::Registered { .. })
    }
}

/// The CUDA driver of the system.
///
/// Handles are checked: one that was not created here, or was destroyed, is an error. An object
/// that is destroyed while another thread uses it ends after that use, and a context with the last
/// of its objects.
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

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;
/// `CU_MEMHOSTALLOC_DEVICEMAP` and `CU_MEMHOSTREGISTER_DEVICEMAP`.
const DEVICE_MAP: u32 = 2;
/// The arguments of a launch that take no memory of the heap.
const NUM_INLINE: usize = 16;
/// The call of copies, in errors.
const COPY: &str = "cuMemcpyAsync(dst, src, size, stream)";
/// Bytes of each log of the compiler.
const LOG_BYTES: usize = 4096;

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

    fn event(&self, call: &'static str, event: EventHandle) -> GpuResult<Arc<Object>> {
        self.object(call, Kind::Event, event.0)
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

    fn add_context(&self, number: u64, device: DeviceId, is_primary: bool) -> ContextHandle {
        let functions = Arc::clone(&self.functions);
        self.contexts.add(
            number,
            Context {
                number,
                device: device.0,
                is_primary,
                functions,
                is_ended: false,
            },
        );
        ContextHandle(number)
    }

    /// Returns an event in the context of a stream, recorded there.
    fn mark(&self, stream: &Object) -> GpuResult<Mark> {
        self.enter(&stream.context)?;
        let mut event: CUevent = ptr::null_mut();
        call!(
            self.functions,
            "cuEventCreate(&event, flags)",
            cuEventCreate(&mut event, DISABLE_TIMING)
        )?;
        let mark = Mark {
            number: event as u64,
            context: Arc::clone(&stream.context),
        };
        call!(
            self.functions,
            "cuEventRecord(event, stream)",
            cuEventRecord(mark.number as CUevent, stream.number as CUstream)
        )?;
        Ok(mark)
    }

    /// Returns the keeper, and starts it if it is the first time.
    fn keeper(&self) -> GpuResult<&Keeper> {
        if let Some(keeper) = self.keeper.get() {
            return Ok(keeper);
        }
        let keeper = Keeper::start().map_err(|error| {
            GpuError::new("cuEventRecord(event, stream)", Status::Driver(304))
                .with_details(error.to_string())
        })?;
        Ok(self.keeper.get_or_init(|| keeper))
    }

    /// Keeps an object until the work that a stream has now is done. In a capture, keeps it as long
    /// as the graph.
    fn keep(&self, stream: &Object, held: Held) {
        let mut held = Some(held);
        stream.in_capture(|capture| capture.held.extend(held.take()));
        let Some(held) = held else {
            return;
        };
        let marked = self
            .keeper()
            .and_then(|keeper| Ok((keeper, self.mark(stream)?)));
        match marked {
            Ok((keeper, mark)) => keeper.keep(mark, held),
            Err(_) => {
                // Then here and now. An error of the wait means that the device does nothing any
                // more.
                let waited = real_call!(
                    self.functions,
                    "cuStreamSynchronize(stream)",
                    cuStreamSynchronize(stream.number as CUstream)
                );
                drop((waited, held));
            }
        }
    }

    /// Refuses memory that the caller has no right to.
    fn check_memory(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
    ) -> GpuResult<()> {
        let place = self.blocks.place(pointer, num_bytes);
        self.check_place(call, pointer, num_bytes, place)
    }

    /// Refuses memory at a place that the caller has no right to.
    fn check_place(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
        place: Place,
    ) -> GpuResult<()> {
        let refused = |why: &str| {
            Err(GpuError::new(call, Status::INVALID_VALUE)
                .with_details(format!("{num_bytes} bytes at {pointer} {why}")))
        };
        match place {
            Place::Inside => Ok(()),
            Place::Across => refused("exceed their memory block"),
            Place::Unknown => {
                // Memory of the embedder's own: the driver must know it, as an address of the host
                // would be read by the host.
                let mut kind = 0u32;
                let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
                let known = call!(
                    self.functions,
                    "cuPointerGetAttribute(&kind, attribute, ptr)",
                    cuPointerGetAttribute((&raw mut kind).cast(), attribute, pointer.address())
                );
                if known.is_ok() {
                    Ok(())
                } else {
                    refused("are not accessible to the device")
                }
            }
        }
    }

    /// Returns the host buffer that one side of a copy lies in, if there is one, and the address if
    /// it is not the buffer's own.
    fn host_side(
        &self,
        location: &CopyEndpoint,
        num_bytes: usize,
    ) -> GpuResult<(Option<HostBuffer>, Option<u64>)> {
        let pointer = match location {
            CopyEndpoint::Host(buffer) => {
                if num_bytes > buffer.len_bytes() {
                    return Err(
                        GpuError::new(COPY, Status::INVALID_VALUE).with_details(format!(
                            "expected a host buffer of {num_bytes} bytes, found {}",
                            buffer.len_bytes()
                        )),
                    );
                }
                return Ok((Some(buffer.clone()), None));
            }
            CopyEndpoint::Device(pointer) => *pointer,
        };
        let registered = self
            .blocks
            .with(pointer, num_bytes, |_, block| match &block.kind {
                Memory::Registered { buffer, .. } => Some(buffer.clone()),
                _ => None,
            });
        let registered = match registered {
            Ok(registered) => registered,
            Err(place) => {
                self.check_place(COPY, pointer, num_bytes, place)?;
                None
            }
        };
        Ok((registered, Some(pointer.address())))
    }

    /// Returns the address of one side of a copy, and the object to keep until the copy is done,
    /// which is the borrow of host memory.
    fn side(
        &self,
        stream: &Object,
        location: &CopyEndpoint,
        num_bytes: usize,
        is_target: bool,
    ) -> GpuResult<(u64, Option<Box<dyn Any + Send>>)> {
        let (buffer, address) = self.host_side(location, num_bytes)?;
        let Some(buffer) = buffer else {
            return Ok((address.unwrap_or(0), None));
        };
        let borrow = || borrow(buffer.clone(), is_target);
        let borrowed = borrow().or_else(|conflict| {
            // An earlier copy of the program may still have the memory. The order of the stream
            // makes this copy a valid one, so the borrow waits for the other.
            let Some(keeper) = self.keeper.get() else {
                return Err(conflict);
            };
            keeper.drop_passed();
            borrow().or_else(|_| {
                call!(
                    self.functions,
                    "cuStreamSynchronize(stream)",
                    cuStreamSynchronize(stream.number as CUstream)
                )?;
                // The earlier copy may be one of another stream that this one has waited for.
                keeper.drop_passed();
                borrow()
            })
        });
        let (start, kept) = borrowed?;
        Ok((address.unwrap_or(start), Some(kept)))
    }

    /// Takes a block out of the list.
    fn take(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        is_meant: impl FnOnce(&Memory) -> bool,
    ) -> GpuResult<Block<Memory>> {
        self.blocks
            .remove(pointer, is_meant)
            .ok_or_else(|| GpuError::new(call, Status::INVALID_VALUE))
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

    /// Waits for all work of a context, which may use memory that is about to be freed.
    fn drain(&self, context: &Context) -> GpuResult<()> {
        self.enter(context)?;
        real_call!(self.functions, "cuCtxSynchronize()", cuCtxSynchronize())
    }

    /// Calls `action` with the address on the host of pinned or registered memory, which is kept
    /// meanwhile.
    fn on_host(
        &self,
        access: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
        action: impl FnOnce(usize),
    ) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        let done = self
            .blocks
            .with(pointer, num_bytes, |start, block| match &block.kind {
                Memory::Pinned(_) => {
                    action(pointer.address() as usize);
                    true
                }
                // The device may know the memory under another address.
                Memory::Registered { host, .. } => {
                    action(host + (pointer.address() - start) as usize);
                    true
                }
                _ => false,
            });
        match done {
            Ok(true) => Ok(()),
            _ => Err(GpuError::new(CALL, Status::INVALID_VALUE)
                .with_details(format!("the memory cannot be {access} by the host"))),
        }
    }

    /// Drops the borrows for work that is done, if some work is done.
    fn drop_passed_if_ready(&self, is_ready: GpuResult<bool>) -> GpuResult<bool> {
        if let (Ok(true), Some(keeper)) = (&is_ready, self.keeper.get()) {
            keeper.drop_passed();
        }
        is_ready
    }

    /// Returns the sizes of a kernel's parameters.
    fn parameters(&self, function: CUfunction) -> Option<Vec<usize>> {
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            let result = call!(
                self.functions,
                "cuFuncGetParamInfo(function, index, &offset, &size)",
                cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size)
            );
            match result {
                Ok(()) => sizes.push(size),
                // Behind the last one.
                Err(error) if error.status == Status::INVALID_VALUE => return Some(sizes),
                Err(_) => return None,
            }
        }
    }
}

impl Driver for CudaDriver {
    fn identity(&self) -> usize {
        self.identity
    }

    fn init(&self) -> GpuResult<()> {
        call!(self.functions, "cuInit(flags)", cuInit(0))
    }

    fn version(&self) -> GpuResult<i32> {
        let mut version = 0;
        call!(
            self.functions,
            "cuDriverGetVersion(&version)",
            cuDriverGetVersion(&mut version)
        )?;
        Ok(version)
    }

    fn device_count(&self) -> GpuResult<i32> {
        let mut count = 0;
        call!(
            self.functions,
            "cuDeviceGetCount(&count)",
            cuDeviceGetCount(&mut count)
        )?;
        Ok(count)
    }

    fn device(&self, ordinal: i32) -> GpuResult<DeviceId> {
        let mut device = 0;
        call!(
            self.functions,
            "cuDeviceGet(&device, ordinal)",
            cuDeviceGet(&mut device, ordinal)
        )?;
        Ok(DeviceId(device))
    }

    fn device_name(&self, device: DeviceId) -> GpuResult<String> {
        let mut name = [0u8; 256];
        call!(
            self.functions,
            "cuDeviceGetName(name, len, device)",
            cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, device.0)
        )?;
        Ok(text_of(&name))
    }

    fn device_total_memory(&self, device: DeviceId) -> GpuResult<usize> {
        let mut num_bytes = 0;
        call!(
            self.functions,
            "cuDeviceTotalMem(&size, device)",
            cuDeviceTotalMem_v2(&mut num_bytes, device.0)
        )?;
        Ok(num_bytes)
    }

    fn device_capability(&self, device: DeviceId) -> GpuResult<(i32, i32)> {
        let read = |attribute| {
            let mut value = 0;
            call!(
                self.functions,
                "cuDeviceGetAttribute(&value, attribute, device)",
                cuDeviceGetAttribute(&mut value, attribute, device.0)
            )?;
            Ok(value)
        };
        Ok((
            read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ))
    }

    fn device_can_access_peer(&self, device: DeviceId, peer: DeviceId) -> GpuResult<bool> {
        let mut can = 0;
        call!(
            self.functions,
            "cuDeviceCanAccessPeer(&result, device, peer)",
            cuDeviceCanAccessPeer(&mut can, device.0, peer.0)
        )?;
        Ok(can != 0)
    }

    fn primary_context_retain(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        let mut primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, count)) = primary.get_mut(&device.0) {
            *count += 1;
            return Ok(ContextHandle(*number));
        }
        let mut context: CUcontext = ptr::null_mut();
        call!(
            self.functions,
            "cuDevicePrimaryCtxRetain(&context, device)",
            cuDevicePrimaryCtxRetain(&mut context, device.0)
        )?;
        primary.insert(device.0, (context as u64, 1));
        Ok(self.add_context(context as u64, device, true))
    }

    fn primary_context_release(&self, device: DeviceId) -> GpuResult<()> {
        const CALL: &str = "cuDevicePrimaryCtxRelease(device)";
        let mut primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((number, count)) = primary.get_mut(&device.0) else {
            return Err(GpuError::new(CALL, Status::INVALID_CONTEXT));
        };
        *count -= 1;
        if *count > 0 {
            return Ok(());
        }
        let number = *number;
        primary.remove(&device.0);
        Current::forget();
        let context = self.contexts.remove(number);
        context
            .and_then(Arc::into_inner)
            .map_or(Ok(()), Context::end)
    }

    fn context_create(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        let mut context: CUcontext = ptr::null_mut();
        Current::forget();
        call!(
            self.functions,
            "cuCtxCreate(&context, flags, device)",
            cuCtxCreate_v2(&mut context, 0, device.0)
        )?;
        Ok(self.add_context(context as u64, device, false))
    }

    fn context_destroy(&self, context: ContextHandle) -> GpuResult<()> {
        const CALL: &str = "cuCtxDestroy(context)";
        // A primary context is released instead; that its handle says so is known here.
        let found = self.context(CALL, context)?;
        if found.is_primary {
            let device = DeviceId(found.device);
            drop(found);
            return self.primary_context_release(device);
        }
        drop(found);
        Current::forget();
        let context = self.contexts.remove(context.0);
        context
            .and_then(Arc::into_inner)
            .map_or(Ok(()), Context::end)
    }

    fn context_set_current(&self, context: Option<ContextHandle>) -> GpuResult<()> {
        const CALL: &str = "cuCtxSetCurrent(context)";
        let context = context
            .map(|context| self.context(CALL, context))
            .transpose()?;
        let raw = context
            .as_ref()
            .map_or(ptr::null_mut(), |context| context.raw());
        call!(
            self.functions,
            "cuCtxSetCurrent(context)",
            cuCtxSetCurrent(raw)
        )
    }

    fn context_device(&self, _current: &Current) -> GpuResult<DeviceId> {
        let mut device = 0;
        call!(
            self.functions,
            "cuCtxGetDevice(&device)",
            cuCtxGetDevice(&mut device)
        )?;
        Ok(DeviceId(device))
    }

    fn context_synchronize(&self, _current: &Current) -> GpuResult<()> {
        let waited = call!(self.functions, "cuCtxSynchronize()", cuCtxSynchronize());
        self.drop_passed_if_ready(waited.map(|()| true)).map(drop)
    }

    fn stream_create(&self, current: &Current) -> GpuResult<StreamHandle> {
        let context = self.of("cuStreamCreate(&stream, flags)", current)?;
        let mut stream: CUstream = ptr::null_mut();
        call!(
            self.functions,
            "cuStreamCreate(&stream, flags)",
            cuStreamCreate(&mut stream, NON_BLOCKING)
        )?;
        self.add_object(stream as u64, Kind::Stream, context);
        Ok(StreamHandle(stream as u64))
    }

    fn stream_destroy(&self, stream: StreamHandle) -> GpuResult<()> {
        self.end("cuStreamDestroy(stream)", Kind::Stream, stream.0)
    }

    fn stream_synchronize(&self, stream: StreamHandle) -> GpuResult<()> {
        let stream = self.stream("cuStreamSynchronize(stream)", stream)?;
        let waited = call!(
            self.functions,
            "cuStreamSynchronize(stream)",
            cuStreamSynchronize(stream.number as CUstream)
        );
        self.drop_passed_if_ready(waited.map(|()| true)).map(drop)
    }

    fn stream_query(&self, stream: StreamHandle) -> GpuResult<bool> {
        let stream = self.stream("cuStreamQuery(stream)", stream)?;
        self.drop_passed_if_ready(is_ready(call!(
            self.functions,
            "cuStreamQuery(stream)",
            cuStreamQuery(stream.number as CUstream)
        )))
    }

    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamWaitEvent(stream, event, flags)";
        let (stream, event) = (self.stream(CALL, stream)?, self.event(CALL, event)?);
        call!(
            self.functions,
            "cuStreamWaitEvent(stream, event, flags)",
            cuStreamWaitEvent(stream.number as CUstream, event.number as CUevent, 0)
        )
    }

    fn keep_until_passed(
        &self,
        stream: StreamHandle,
        object: Box<dyn Any + Send>,
    ) -> GpuResult<()> {
        let stream = self.stream("cuEventRecord(event, stream)", stream)?;
        self.keep(&stream, Held::object(object));
        Ok(())
    }

    fn event_create(&self, current: &Current, has_timing: bool) -> GpuResult<EventHandle> {
        let context = self.of("cuEventCreate(&event, flags)", current)?;
        let mut event: CUevent = ptr::null_mut();
        let flags = if has_timing { 0 } else { DISABLE_TIMING };
        call!(
            self.functions,
            "cuEventCreate(&event, flags)",
            cuEventCreate(&mut event, flags)
        )?;
        self.add_object(event as u64, Kind::Event, context);
        Ok(EventHandle(event as u64))
    }

    fn event_destroy(&self, event: EventHandle) -> GpuResult<()> {
        self.end("cuEventDestroy(event)", Kind::Event, event.0)
    }

    fn event_record(&self, event: EventHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventRecord(event, stream)";
        let (event, stream) = (self.event(CALL, event)?, self.stream(CALL, stream)?);
        same_context(
            CALL,
            &event.context,
            &stream.context,
            Status::INVALID_HANDLE,
        )?;
        call!(
            self.functions,
            "cuEventRecord(event, stream)",
            cuEventRecord(event.number as CUevent, stream.number as CUstream)
        )
    }

    fn event_query(&self, event: EventHandle) -> GpuResult<bool> {
        let event = self.event("cuEventQuery(event)", event)?;
        self.drop_passed_if_ready(is_ready(call!(
            self.functions,
            "cuEventQuery(event)",
            cuEventQuery(event.number as CUevent)
        )))
    }

    fn event_synchronize(&self, event: EventHandle) -> GpuResult<()> {
        let event = self.event("cuEventSynchronize(event)", event)?;
        let waited = call!(
            self.functions,
            "cuEventSynchronize(event)",
            cuEventSynchronize(event.number as CUevent)
        );
        self.drop_passed_if_ready(waited.map(|()| true)).map(drop)
    }

    fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> GpuResult<f32> {
        const CALL: &str = "cuEventElapsedTime(&milliseconds, start, end)";
        let (start, end) = (self.event(CALL, start)?, self.event(CALL, end)?);
        let mut milliseconds = 0.0;
        call!(
            self.functions,
            "cuEventElapsedTime(&milliseconds, start, end)",
            cuEventElapsedTime(
                &mut milliseconds,
                start.number as CUevent,
                end.number as CUevent
            )
        )?;
        Ok(milliseconds)
    }

    fn memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemAlloc(&ptr, size)", current)?;
        let mut pointer = 0;
        let result = call!(
            self.functions,
            "cuMemAlloc(&ptr, size)",
            cuMemAlloc_v2(&mut pointer, num_bytes)
        );
        match result {
            Err(error) if error.status == Status::OUT_OF_MEMORY => {
                return Err(GpuError::out_of_memory(
                    num_bytes,
                    self.memory_info(current).ok(),
                    context.device,
                ));
            }
            other => other?,
        }
        let pointer = DevicePtr::new(pointer);
        self.blocks
            .add(pointer, num_bytes, Memory::Device { _context: context });
        Ok(pointer)
    }

    fn memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        // The block keeps its context until the call has returned.
        let _block = self.take("cuMemFree(ptr)", pointer, |kind| {
            matches!(kind, Memory::Device { .. })
        })?;
        call!(
            self.functions,
            "cuMemFree(ptr)",
            cuMemFree_v2(pointer.address())
        )
    }

    fn memory_info(&self, _current: &Current) -> GpuResult<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        call!(
            self.functions,
            "cuMemGetInfo(&free, &total)",
            cuMemGetInfo_v2(&mut free, &mut total)
        )?;
        Ok((free, total))
    }

    fn host_memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemHostAlloc(&ptr, size, flags)", current)?;
        let mut memory: *mut c_void = ptr::null_mut();
        call!(
            self.functions,
            "cuMemHostAlloc(&ptr, size, flags)",
            cuMemHostAlloc(&mut memory, num_bytes, DEVICE_MAP)
        )?;
        // Reads of the host begin with what is written here.
        // SAFETY: the driver has just allocated so many bytes, which nobody else knows.
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, num_bytes) };
        let pointer = DevicePtr::new(memory as u64);
        self.blocks.add(pointer, num_bytes, Memory::Pinned(context));
        Ok(pointer)
    }

    fn host_memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        let block = self.take("cuMemFreeHost(ptr)", pointer, |kind| {
            matches!(kind, Memory::Pinned(_))
        })?;
        // A copy that is enqueued may still use the memory. A context that has failed does nothing
        // any more.
        if let Memory::Pinned(context) = &block.kind {
            let _ = self.drain(context);
        }
        call!(
            self.functions,
            "cuMemFreeHost(ptr)",
            cuMemFreeHost(pointer.address() as *mut c_void)
        )
    }

    fn host_memory_register(&self, current: &Current, buffer: &HostBuffer) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemHostRegister(ptr, size, flags)", current)?;
        let memory = buffer.address() as *mut c_void;
        call!(
            self.functions,
            "cuMemHostRegister(ptr, size, flags)",
            cuMemHostRegister_v2(memory, buffer.len_bytes(), DEVICE_MAP)
        )?;
        let mut address = 0;
        let found = call!(
            self.functions,
            "cuMemHostGetDevicePointer(&address, ptr, flags)",
            cuMemHostGetDevicePointer_v2(&mut address, memory, 0)
        );
        if let Err(error) = found {
            // What was begun is taken back; its error would hide the first one.
            let _ = call!(
                self.functions,
                "cuMemHostUnregister(ptr)",
                cuMemHostUnregister(memory)
            );
            return Err(error);
        }
        let pointer = DevicePtr::new(address);
        let kind = Memory::Registered {
            context,
            buffer: buffer.clone(),
            host: buffer.address(),
        };
        self.blocks.add(pointer, buffer.len_bytes(), kind);
        Ok(pointer)
    }

    fn host_memory_unregister(&self, pointer: DevicePtr) -> GpuResult<()> {
        let block = self.take("cuMemHostUnregister(ptr)", pointer, |kind| {
            matches!(kind, Memory::Registered { .. })
        })?;
        let Memory::Registered {
            context,
            host,
            buffer,
        } = &block.kind
        else {
            return Ok(());
        };
        let _ = self.drain(context);
        let result = call!(
            self.functions,
            "cuMemHostUnregister(ptr)",
            cuMemHostUnregister(*host as *mut c_void)
        );
        if result.is_err() {
            // The driver may still know the pages, so that nobody else may have them.
            std::mem::forget(buffer.clone());
        }
        result
    }

    fn host_memory_read(&self, pointer: DevicePtr, bytes: &mut [u8]) -> GpuResult<()> {
        self.on_host("read", pointer, bytes.len(), |address| {
            // SAFETY: so many bytes of a block lie there, which stays while this runs. The device
            // may write them meanwhile: as with all memory that is shared with a device, the bytes
            // are then old or new.
            unsafe {
                ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), bytes.len())
            }
        })
    }

    fn host_memory_write(&self, pointer: DevicePtr, bytes: &[u8]) -> GpuResult<()> {
        self.on_host("written", pointer, bytes.len(), |address| {
            // SAFETY: as for reads.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) }
        })
    }

    fn copy_async(
        &self,
        _current: &Current,
        target: &CopyEndpoint,
        source: &CopyEndpoint,
        num_bytes: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        let stream = self.stream(COPY, stream)?;
        if let (CopyEndpoint::Device(target), CopyEndpoint::Device(source)) = (target, source)
            && self.blocks.is_in_plain_block(*target, num_bytes)
            && self.blocks.is_in_plain_block(*source, num_bytes)
        {
            // Neither side borrows host memory, so nothing has to be kept.
            return call!(
                self.functions,
                "cuMemcpyAsync(dst, src, size, stream)",
                cuMemcpyAsync(
                    target.address(),
                    source.address(),
                    num_bytes,
                    stream.number as CUstream
                )
            );
        }
        if stream.in_capture(|_| ()).is_some() {
            let sides = [
                self.host_side(target, num_bytes)?,
                self.host_side(source, num_bytes)?,
            ];
            if sides.iter().any(|(buffer, _)| buffer.is_some()) {
                stream.in_capture(|capture| capture.refusal = Some(HOST_COPY));
                return Ok(());
            }
        }
        let (from, source) = self.side(&stream, source, num_bytes, false)?;
        let (to, target) = self.side(&stream, target, num_bytes, true)?;
        let result = call!(
            self.functions,
            "cuMemcpyAsync(dst, src, size, stream)",
            cuMemcpyAsync(to, from, num_bytes, stream.number as CUstream)
        );
        // Kept whatever the driver says: an error may be that of earlier work.
        if source.is_some() || target.is_some() {
            self.keep(&stream, Held::borrow(Box::new((source, target))));
        }
        result
    }

    fn set_u32_async(
        &self,
        _current: &Current,
        pointer: DevicePtr,
        value: u32,
        count: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemsetD32Async(ptr, value, count, stream)";
        let stream = self.stream(CALL, stream)?;
        let num_bytes = count
            .checked_mul(4)
            .ok_or_else(|| GpuError::new(CALL, Status::INVALID_VALUE))?;
        self.check_memory(CALL, pointer, num_bytes)?;
        call!(
            self.functions,
            "cuMemsetD32Async(ptr, value, count, stream)",
            cuMemsetD32Async(pointer.address(), value, count, stream.number as CUstream)
        )
    }

    fn module_load(&self, current: &Current, image: &[u8]) -> GpuResult<ModuleHandle> {
        const CALL: &str = "cuModuleLoadDataEx(&module, image, options)";
        let context = self.of(CALL, current)?;
        // The driver reads up to a NUL.
        let mut image = image.to_vec();
        image.push(0);
        let (mut info, mut errors) = ([0u8; LOG_BYTES], [0u8; LOG_BYTES]);
        let mut options = [
            CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_LOG_VERBOSE,
        ];
        // Numbers are passed as pointers.
        let mut values: [*mut c_void; 5] = [
            info.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            errors.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            ptr::without_provenance_mut(1),
        ];
        let mut module: CUmodule = ptr::null_mut();
        let loaded = call!(
            self.functions,
            "cuModuleLoadDataEx(&module, image, options)",
            cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        );
        if let Err(error) = loaded {
            let logs = [text_of(&errors), text_of(&info)].join("\n");
            return Err(match logs.trim() {
                "" => error,
                logs => error.with_details(format!("GPU JIT error log: {logs}")),
            });
        }
        self.add_object(module as u64, Kind::Module, context);
        Ok(ModuleHandle(module as u64))
    }

    fn module_unload(&self, module: ModuleHandle) -> GpuResult<()> {
        self.blocks
            .retain(|kind| !matches!(kind, Memory::Global { module: owner } if *owner == module.0));
        self.kernels
            .retain(|function| function.module.number != module.0);
        self.end("cuModuleUnload(module)", Kind::Module, module.0)
    }

    fn module_function(&self, module: ModuleHandle, name: &str) -> GpuResult<FunctionHandle> {
        const CALL: &str = "cuModuleGetFunction(&function, module, name)";
        let module = self.object(CALL, Kind::Module, module.0)?;
        let name = c_name(name);
        let mut function: CUfunction = ptr::null_mut();
        call!(
            self.functions,
            "cuModuleGetFunction(&function, module, name)",
            cuModuleGetFunction(&mut function, module.number as CUmodule, name.as_ptr())
        )?;
        let parameters = self.parameters(function);
        self.kernels.add(
            function as u64,
            Function {
                number: function as u64,
                module,
                parameters,
            },
        );
        Ok(FunctionHandle(function as u64))
    }

    fn module_global(&self, module: ModuleHandle, name: &str) -> GpuResult<(DevicePtr, usize)> {
        const CALL: &str = "cuModuleGetGlobal(&ptr, &size, module, name)";
        let object = self.object(CALL, Kind::Module, module.0)?;
        let name = c_name(name);
        let (mut pointer, mut num_bytes) = (0, 0);
        call!(
            self.functions,
            "cuModuleGetGlobal(&ptr, &size, module, name)",
            cuModuleGetGlobal_v2(
                &mut pointer,
                &mut num_bytes,
                object.number as CUmodule,
                name.as_ptr()
            )
        )?;
        let pointer = DevicePtr::new(pointer);
        self.blocks
            .add(pointer, num_bytes, Memory::Global { module: module.0 });
        Ok((pointer, num_bytes))
    }

    fn launch(
        &self,
        _current: &Current,
        function: FunctionHandle,
        config: LaunchConfig,
        stream: StreamHandle,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        const CALL: &str = "cuLaunchKernel(function, grid, block, shared, stream, arguments)";
        let function = self
            .kernels
            .get_again(function.0)
            .ok_or_else(|| unknown(CALL))?;
        let stream = self.stream(CALL, stream)?;
        let module = &function.module;
        same_context(
            CALL,
            &module.context,
            &stream.context,
            Status::INVALID_HANDLE,
        )?;
        config.check(CALL)?;
        let launch = |pointers, extra| {
            // A graph keeps the module of each of its kernels.
            stream.in_capture(|capture| {
                let module = Held::object(Box::new(Arc::clone(module)));
                capture.held.push(module);
            });
            let LaunchConfig {
                grid: [gx, gy, gz],
                block: [bx, by, bz],
                shared_bytes,
            } = config;
            call!(
                self.functions,
                "cuLaunchKernel(function, grid, block, shared, stream, arguments)",
                cuLaunchKernel(
                    function.number as CUfunction,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    shared_bytes,
                    stream.number as CUstream,
                    pointers,
                    extra
                )
            )
        };
        if let Some(parameters) = &function.parameters {
            check_arguments(CALL, parameters.iter().copied(), arguments)?;
            // The driver reads as much behind each pointer as the parameter has.
            return with_pointers(arguments, |pointers| launch(pointers, ptr::null_mut()));
        }
        // A driver that does not tell the parameters gets one block of bytes, and its length.
        let mut block = pack(arguments);
        let mut len = block.len();
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(1),
            block.as_mut_ptr().cast(),
            ptr::without_provenance_mut(2),
            ptr::from_mut(&mut len).cast(),
            ptr::null_mut(),
        ];
        launch(ptr::null_mut(), extra.as_mut_ptr())
    }

    fn capture_begin(&self, _current: &Current, stream: StreamHandle) -> GpuResult<()> {
        self.begin_capture(stream)
    }

    fn capture_end(&self, _current: &Current, stream: StreamHandle) -> GpuResult<GraphHandle> {
        self.end_capture(stream)
    }

    fn graph_launch(
        &self,
        _current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        self.launch_graph(graph, stream)
    }

    fn graph_destroy(&self, graph: GraphHandle) -> GpuResult<()> {
        self.destroy_graph(graph)
    }
}

/// Refuses objects of different contexts, which the driver may not find.
pub(super) fn same_context(
    call: &'static str,
    one: &Context,
    other: &Context,
    mixed: Status,
) -> GpuResult<()> {
    if one.number == other.number {
        return Ok(());
    }
    Err(GpuError::new(call, mixed).with_details("the objects belong to different contexts"))
}

/// Borrows host memory for a copy. Returns its address, and the borrow.
fn borrow(mut buffer: HostBuffer, is_target: bool) -> GpuResult<(u64, Box<dyn Any + Send>)> {
    let conflict = |error: tfrt_tensor::TensorError| {
        GpuError::new(COPY, Status::INVALID_VALUE).with_details(error.to_string())
    };
    Ok(if is_target {
        let mut bytes = buffer.elements_mut_owned::<u8>().map_err(conflict)?;
        (bytes.as_mut_ptr() as u64, Box::new(bytes))
    } else {
        let bytes = buffer.elements_owned::<u8>().map_err(conflict)?;
        (bytes.as_ptr() as u64, Box::new(bytes))
    })
}

fn is_ready(result: GpuResult<()>) -> GpuResult<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.status == Status::NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

/// Calls `action` with a list of pointers to the bytes of arguments.
fn with_pointers<R>(arguments: &[Argument], action: impl FnOnce(*mut *mut c_void) -> R) -> R {
    if arguments.len() > NUM_INLINE {
        let mut values: Vec<u64> = arguments.iter().copied().map(bits).collect();
        let values = values.iter_mut().map(|value| ptr::from_mut(value).cast());
        let mut pointers: Vec<*mut c_void> = values.collect();
        return action(pointers.as_mut_ptr());
    }
    let mut values = [0_u64; NUM_INLINE];
    let mut pointers: [*mut c_void; NUM_INLINE] = [ptr::null_mut(); NUM_INLINE];
    let places = values.iter_mut().zip(&mut pointers);
    for ((value, pointer), argument) in places.zip(arguments) {
        *value = bits(*argument);
        *pointer = ptr::from_mut(value).cast();
    }
    action(pointers.as_mut_ptr())
}

/// Returns the bytes of an argument, lowest first.
fn bits(argument: Argument) -> u64 {
    match argument {
        Argument::Pointer(pointer) => pointer.address(),
        Argument::Bits32(bits) => bits.into(),
        Argument::Bits64(bits) => bits,
    }
}

/// Arguments in sequence, each at a multiple of its size.
fn pack(arguments: &[Argument]) -> Vec<u8> {
    let mut block = Vec::new();
    for argument in arguments {
        let bytes = argument.to_bytes();
        block.resize(block.len().next_multiple_of(bytes.len()), 0);
        block.extend(bytes);
    }
    block
}

/// Names end at the first NUL.
fn c_name(name: &str) -> CString {
    let name = name.split('\0').next().unwrap_or_default();
    CString::new(name).unwrap_or_default()
}

/// Returns the text before the first NUL.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_packed_at_multiples_of_their_size() {
        let arguments = [
            Argument::Bits32(1),
            Argument::Bits64(2),
            Argument::Bits32(3),
        ];
        let mut expected = vec![1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([3, 0, 0, 0]);
        assert_eq!(pack(&arguments), expected);
    }

    #[test]
    fn names_and_texts_end_at_the_first_nul() {
        assert_eq!(c_name("kernel\0rest").as_bytes(), b"kernel");
        assert_eq!(text_of(b"log\0rest"), "log");
    }
}

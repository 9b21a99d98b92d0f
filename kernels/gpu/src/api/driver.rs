//! The driver: devices, contexts, streams, events, memory, modules, launches.

use std::any::Any;
use std::fmt::Debug;

use tfrt_tensor::HostBuffer;

use super::current::Current;
use super::error::{GpuError, GpuResult, Status};
use super::handle::{
    ContextHandle, DeviceId, DevicePtr, EventHandle, FunctionHandle, GraphHandle, ModuleHandle,
    StreamHandle,
};
use super::known::{KnownBlock, KnownFunction, KnownStream};

/// The driver of GPUs.
pub trait Driver: DeviceCalls + StreamCalls + MemoryCalls + ModuleCalls {
    /// Returns a number that identifies this driver among all drivers of the process, other than
    /// `usize::MAX`; or 0 if it has none: its contexts are then made current for every call.
    fn identity(&self) -> usize;
}

/// What the memory of a device can do.
///
/// ```
/// use tfrt_gpu::api::driver::DeviceMemory;
///
/// let memory = DeviceMemory { clock_khz: 3_201_000, bus_bits: 6144, is_integrated: false };
/// assert_eq!(memory.bytes_per_microsecond(), Some(4_916_736.0));
/// assert_eq!(DeviceMemory { clock_khz: 0, ..memory }.bytes_per_microsecond(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// The clock of the memory in kHz, at which each line of the bus carries two bits.
    pub clock_khz: i32,
    /// The width of the bus.
    pub bus_bits: i32,
    /// Whether it is the memory of the host.
    pub is_integrated: bool,
}

impl DeviceMemory {
    /// Returns the number of bytes that the memory reads or writes in a microsecond, if the driver
    /// knows it.
    #[must_use]
    pub fn bytes_per_microsecond(&self) -> Option<f64> {
        let bits_per_millisecond = 2.0 * f64::from(self.clock_khz) * f64::from(self.bus_bits);
        (self.clock_khz > 0 && self.bus_bits > 0).then_some(bits_per_millisecond / 8.0 / 1_000.0)
    }
}

/// The calls of a driver on devices and contexts. Each method is one call, whose name its
/// documentation states first.
pub trait DeviceCalls: Debug + Send + Sync {
    /// Implements `cuInit`: initializes the driver; may be called again.
    fn init(&self) -> GpuResult<()>;

    /// Implements `cuDriverGetVersion`: 1000 · major + 10 · minor.
    fn version(&self) -> GpuResult<i32>;

    /// Implements `cuDeviceGetCount`.
    fn device_count(&self) -> GpuResult<i32>;

    /// Implements `cuDeviceGet`: the device of a number.
    fn device(&self, ordinal: i32) -> GpuResult<DeviceId>;

    /// Implements `cuDeviceGetName`.
    fn device_name(&self, device: DeviceId) -> GpuResult<String>;

    /// Implements `cuDeviceTotalMem`, in bytes.
    fn device_total_memory(&self, device: DeviceId) -> GpuResult<usize>;

    /// Implements `cuDeviceGetAttribute`, twice: the compute capability, major and minor.
    fn device_capability(&self, device: DeviceId) -> GpuResult<(i32, i32)>;

    /// Implements `cuDeviceGetAttribute`, three times: what the memory of the device can do.
    fn device_memory(&self, device: DeviceId) -> GpuResult<DeviceMemory>;

    /// Implements `cuDeviceCanAccessPeer`.
    fn device_can_access_peer(&self, device: DeviceId, peer: DeviceId) -> GpuResult<bool>;

    /// Implements `cuDevicePrimaryCtxRetain`.
    fn primary_context_retain(&self, device: DeviceId) -> GpuResult<ContextHandle>;

    /// Implements `cuDevicePrimaryCtxRelease`.
    fn primary_context_release(&self, device: DeviceId) -> GpuResult<()>;

    /// Implements `cuCtxCreate`, with flags 0. It changes the current context of the thread, so the
    /// implementation calls [`Current::forget`].
    fn context_create(&self, device: DeviceId) -> GpuResult<ContextHandle>;

    /// Implements `cuCtxDestroy`. It may change the current context, likewise.
    fn context_destroy(&self, context: ContextHandle) -> GpuResult<()>;

    /// Implements `cuCtxSetCurrent`. Callers use [`Current::set`].
    fn context_set_current(&self, context: Option<ContextHandle>) -> GpuResult<()>;

    /// Implements `cuCtxGetDevice`.
    fn context_device(&self, current: &Current) -> GpuResult<DeviceId>;

    /// Implements `cuCtxSynchronize`: waits for all work of the context.
    fn context_synchronize(&self, current: &Current) -> GpuResult<()>;
}

/// The calls of a driver on streams and events, one method each.
pub trait StreamCalls: Debug + Send + Sync {
    /// Implements `cuStreamCreate`, non-blocking: without an implicit order with the default
    /// stream.
    fn stream_create(&self, current: &Current) -> GpuResult<StreamHandle>;

    /// Implements `cuStreamDestroy`: does not wait; work that is enqueued still runs.
    fn stream_destroy(&self, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cuStreamSynchronize`: waits. Errors of earlier asynchronous work appear here.
    fn stream_synchronize(&self, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cuStreamQuery`: whether all work is done.
    fn stream_query(&self, stream: StreamHandle) -> GpuResult<bool>;

    /// Implements `cuStreamWaitEvent`: later work of the stream waits for the last record of the
    /// event, if there is one.
    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> GpuResult<()>;

    /// Returns the stream for calls that look nothing up, if the driver has such calls and knows
    /// the handle.
    fn known_stream(&self, stream: StreamHandle) -> Option<Box<dyn KnownStream>> {
        let _ = stream;
        None
    }

    /// Drops `object` once all work that is now in the stream is done, on any thread that may call
    /// the driver. If the stream fails, the object is dropped as well.
    fn keep_until_passed(&self, stream: StreamHandle, object: Box<dyn Any + Send>)
    -> GpuResult<()>;

    /// Implements `cuEventCreate`, with timing disabled unless `has_timing`.
    fn event_create(&self, current: &Current, has_timing: bool) -> GpuResult<EventHandle>;

    /// Implements `cuEventDestroy`.
    fn event_destroy(&self, event: EventHandle) -> GpuResult<()>;

    /// Implements `cuEventRecord`.
    fn event_record(&self, event: EventHandle, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cuEventQuery`: whether the work before the last record is done.
    fn event_query(&self, event: EventHandle) -> GpuResult<bool>;

    /// Implements `cuEventSynchronize`: waits.
    fn event_synchronize(&self, event: EventHandle) -> GpuResult<()>;

    /// Implements `cuEventElapsedTime`, in milliseconds.
    fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> GpuResult<f32>;
}

/// The calls of a driver on memory, one method each.
pub trait MemoryCalls: Debug + Send + Sync {
    /// Implements `cuMemAlloc`: uninitialized device memory, aligned to 256 bytes. Size 0 is an
    /// error.
    fn memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr>;

    /// Implements `cuMemFree`: waits for work that uses the memory.
    fn memory_free(&self, pointer: DevicePtr) -> GpuResult<()>;

    /// Returns the block that an address is in, for calls on a [known stream](KnownStream), if the
    /// driver has such calls and they need to know only that the block contains their bytes.
    fn known_block(&self, pointer: DevicePtr) -> Option<KnownBlock> {
        let _ = pointer;
        None
    }

    /// Implements `cuMemGetInfo`: free and total bytes.
    fn memory_info(&self, current: &Current) -> GpuResult<(usize, usize)>;

    /// Implements `cuMemHostAlloc`: pinned host memory that the device reaches at the same address.
    fn host_memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr>;

    /// Implements `cuMemFreeHost`.
    fn host_memory_free(&self, pointer: DevicePtr) -> GpuResult<()>;

    /// Implements `cuMemHostRegister`: page-locks a buffer, and returns the address by which the
    /// device accesses it. The implementation keeps the buffer until
    /// [`host_memory_unregister`](Self::host_memory_unregister).
    fn host_memory_register(&self, current: &Current, buffer: &HostBuffer) -> GpuResult<DevicePtr>;

    /// Implements `cuMemHostUnregister`.
    fn host_memory_unregister(&self, pointer: DevicePtr) -> GpuResult<()>;

    /// Reads pinned or registered memory from the host, without waiting for the device. Device
    /// memory is an error.
    fn host_memory_read(&self, pointer: DevicePtr, bytes: &mut [u8]) -> GpuResult<()>;

    /// Writes pinned memory from the host.
    fn host_memory_write(&self, pointer: DevicePtr, bytes: &[u8]) -> GpuResult<()>;

    /// Implements `cuMemcpyAsync`: copies `num_bytes`. Host memory is borrowed, and kept, until the
    /// copy is done.
    fn copy_async(
        &self,
        current: &Current,
        target: &CopyEndpoint,
        source: &CopyEndpoint,
        num_bytes: usize,
        stream: StreamHandle,
    ) -> GpuResult<()>;

    /// Implements `cuMemsetD32Async`: sets `count` words of 4 bytes.
    fn set_u32_async(
        &self,
        current: &Current,
        pointer: DevicePtr,
        value: u32,
        count: usize,
        stream: StreamHandle,
    ) -> GpuResult<()>;
}

/// The calls of a driver on modules, their kernels, and graphs of work, one method each.
pub trait ModuleCalls: Debug + Send + Sync {
    /// Implements `cuModuleLoadDataEx`: PTX text or a binary image, which ends in a NUL. Logs of
    /// the compiler are in the error.
    fn module_load(&self, current: &Current, image: &[u8]) -> GpuResult<ModuleHandle>;

    /// Implements `cuModuleUnload`: waits for kernels of the module that run.
    fn module_unload(&self, module: ModuleHandle) -> GpuResult<()>;

    /// Implements `cuModuleGetFunction`.
    fn module_function(&self, module: ModuleHandle, name: &str) -> GpuResult<FunctionHandle>;

    /// Returns a kernel for launches on a [known stream](KnownStream), if the driver has such calls
    /// and knows the handle.
    fn known_function(&self, function: FunctionHandle) -> Option<KnownFunction> {
        let _ = function;
        None
    }

    /// Implements `cuModuleGetGlobal`: address and size in bytes.
    fn module_global(&self, module: ModuleHandle, name: &str) -> GpuResult<(DevicePtr, usize)>;

    /// Implements `cuLaunchKernel`.
    fn launch(
        &self,
        current: &Current,
        function: FunctionHandle,
        config: LaunchConfig,
        stream: StreamHandle,
        arguments: &[Argument],
    ) -> GpuResult<()>;

    /// Implements `cuStreamBeginCapture`: from now on, work that is put on the stream is recorded
    /// instead of run, until [`capture_end`](Self::capture_end).
    ///
    /// The stream must be one that no other thread uses. Meanwhile this thread must not wait for
    /// the stream, and must not allocate or free memory. Work that cannot be recorded, such as a
    /// copy from pageable host memory, is neither recorded nor run, and `capture_end` reports it.
    fn capture_begin(&self, current: &Current, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cuStreamEndCapture` and `cuGraphInstantiate`: returns the recorded work. Objects
    /// that were to be [kept](StreamCalls::keep_until_passed) meanwhile live as long as the graph.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED`, with the reason, if something could not be recorded.
    fn capture_end(&self, current: &Current, stream: StreamHandle) -> GpuResult<GraphHandle>;

    /// Implements `cuGraphLaunch`: puts the recorded work on a stream of the same context.
    fn graph_launch(
        &self,
        current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()>;

    /// Implements `cuGraphExecDestroy`. The device must have passed all launches of the graph.
    fn graph_destroy(&self, graph: GraphHandle) -> GpuResult<()>;
}

/// The reason why a graph cannot contain a copy: the host may use its memory between two launches.
pub(crate) const HOST_COPY: &str = "a copy from or to host memory";

/// One side of a copy.
#[derive(Clone, Debug)]
pub enum CopyEndpoint {
    /// The target of a device address.
    Device(DevicePtr),
    /// A host buffer, from its start.
    Host(HostBuffer),
}

/// The size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// The number of blocks, by dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block, by dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// Refuses sizes that no device accepts.
    #[inline]
    pub(crate) fn check(&self, call: &'static str) -> GpuResult<()> {
        let Self {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            ..
        } = *self;
        // One by one: a search takes twice as many instructions.
        if grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0
        {
            return Err(empty_launch(call));
        }
        Ok(())
    }
}

#[cold]
fn empty_launch(call: &'static str) -> GpuError {
    let text = "expected positive launch sizes, found 0";
    invalid(call, text.to_owned())
}

/// Refuses arguments that do not have the sizes of the parameters, in bytes.
pub(crate) fn check_arguments(
    call: &'static str,
    parameters: impl ExactSizeIterator<Item = usize>,
    arguments: &[Argument],
) -> GpuResult<()> {
    check_count(call, parameters.len(), arguments)?;
    for (index, (expected, argument)) in parameters.zip(arguments).enumerate() {
        check_argument(call, index, expected, argument)?;
    }
    Ok(())
}

/// Refuses another number of arguments.
#[inline]
pub(crate) fn check_count(
    call: &'static str,
    expected: usize,
    arguments: &[Argument],
) -> GpuResult<()> {
    if expected != arguments.len() {
        return Err(miscounted_arguments(call, expected, arguments.len()));
    }
    Ok(())
}

/// Refuses an argument that does not have this size, in bytes.
#[inline]
pub(crate) fn check_argument(
    call: &'static str,
    index: usize,
    expected: usize,
    argument: &Argument,
) -> GpuResult<()> {
    let found = argument.num_bytes();
    if found != expected {
        return Err(mismatched_argument(call, index, expected, found));
    }
    Ok(())
}

#[cold]
fn miscounted_arguments(call: &'static str, expected: usize, found: usize) -> GpuError {
    invalid(
        call,
        format!("expected {expected} arguments, found {found}"),
    )
}

#[cold]
fn mismatched_argument(
    call: &'static str,
    index: usize,
    expected: usize,
    found: usize,
) -> GpuError {
    invalid(
        call,
        format!("argument {index}: expected {expected} bytes, found {found}"),
    )
}

fn invalid(call: &'static str, details: String) -> GpuError {
    GpuError::new(call, Status::INVALID_VALUE).with_details(details)
}

/// An argument of a kernel on the device.
// The payloads of all variants are at the same offset, so that a pointer to one is found without a
// comparison.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// An address, of 8 bytes.
    Pointer(DevicePtr),
    /// A word of 32 bits.
    Bits32(u32),
    /// A word of 64 bits.
    Bits64(u64),
}

impl Argument {
    /// Returns the number of its bytes.
    ///
    /// ```
    /// use tfrt_gpu::api::driver::Argument;
    ///
    /// assert_eq!(Argument::Bits32(7).num_bytes(), 4);
    /// ```
    #[must_use]
    #[inline]
    pub fn num_bytes(self) -> usize {
        match self {
            Self::Pointer(_) | Self::Bits64(_) => 8,
            Self::Bits32(_) => 4,
        }
    }

    /// Returns its bytes as the device reads them.
    ///
    /// ```
    /// use tfrt_gpu::api::driver::Argument;
    ///
    /// assert_eq!(Argument::Bits32(1.5_f32.to_bits()).to_bytes(), 1.5_f32.to_le_bytes());
    /// ```
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Pointer(pointer) => pointer.address().to_le_bytes().to_vec(),
            Self::Bits32(bits) => bits.to_le_bytes().to_vec(),
            Self::Bits64(bits) => bits.to_le_bytes().to_vec(),
        }
    }
}

//! The device `GPU:N`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tfrt::core::{CoreRuntime, CpuOpHandler, OpHandlerRef};
use tfrt::host::DeviceFactory;
use tfrt::host::device::{Device, DeviceRef, LinkCost};
use tfrt::prelude::*;

use super::staging::Staging;
use super::timeline::Timeline;
use crate::api::DeviceId;
use crate::api::driver::DeviceMemory;
use crate::platform::Gpu;
use crate::values::{
    BlasHandle, DnnHandle, GpuContext, GpuDevice, GpuFunction, GpuModule, Stream, StreamAllocator,
    lock,
};

/// The type of GPUs, by which ops are registered.
const DEVICE_TYPE: &str = "gpu";

/// A GPU as a device of ops: `GPU:0`, `GPU:1` and so on.
///
/// All ops on a device use its one stream. The handles of libraries are created when an op first
/// needs them, so that a missing library is the error of the ops that need it, and of no other.
///
/// ```
/// use tfrt::host::HostContext;
/// use tfrt_gpu::eager::EagerGpu;
/// use tfrt_gpu::host_device::{HostDevice, Options};
/// use tfrt_gpu::platform::Gpu;
///
/// let host = HostContext::builder().build();
/// Gpu::install(&host, HostDevice::open(Options::default()));
/// let device = host.device("GPU:1")?;
/// let gpu = EagerGpu::of(&device)?;
/// gpu.stream().synchronize()?;
/// assert_eq!(gpu.context().device().to_string(), "1 (CUDA)");
/// # Ok::<(), tfrt::Error>(())
/// ```
#[derive(Debug)]
pub struct EagerGpu {
    name: String,
    // Fields are dropped in this order: kernels and handles before the stream and the context.
    kernels: Mutex<HashMap<(&'static str, u64), GpuFunction>>,
    blas: OnceLock<Result<BlasHandle>>,
    dnn: OnceLock<Result<DnnHandle>>,
    staging: Staging,
    timeline: Timeline,
    allocator: StreamAllocator,
    /// What the driver says of the memory, once the placement of an op depends on it.
    memory: OnceLock<Option<DeviceMemory>>,
    /// The links from other GPUs, by their drivers and numbers, likewise.
    links: Mutex<HashMap<(usize, DeviceId), LinkCost>>,
    stream: Stream,
    context: GpuContext,
}

/// The rate of copies between GPUs that reach each other's memory, in bytes per microsecond: that
/// of a bus, because the driver does not tell whether there is a faster link.
const PEER_BYTES_PER_MICROSECOND: f64 = 20_000.0;

/// A kernel of device code, as an op names it.
///
/// The image is made and loaded when a device first runs the kernel.
#[derive(Clone, Copy)]
pub struct DeviceKernel {
    /// The name of the kernel in its module.
    pub name: &'static str,
    /// Returns the text of the module, for a device.
    pub image: fn(&EagerGpu) -> Result<String>,
}

impl fmt::Debug for DeviceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceKernel").field(&self.name).finish()
    }
}

impl EagerGpu {
    /// Opens the device of a number, with its primary context and a stream of its own.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn open(gpu: &Arc<Gpu>, ordinal: i32) -> Result<Self> {
        gpu.driver.init()?;
        let id = gpu.driver.device(ordinal)?;
        let gpu = Arc::clone(gpu);
        let context = GpuContext::primary(&GpuDevice { gpu, id })?;
        let current = context.set_current()?;
        let handle = context.gpu().driver.stream_create(&current)?;
        let stream = Stream::new(&context, handle);
        let allocator = StreamAllocator::new(&context);
        Ok(Self::with_resources(&stream, allocator))
    }

    /// Creates a device that uses a stream and an allocator of the embedder. To be the `GPU:N` of a
    /// host, it is added to the devices of the host before a program names it.
    #[must_use]
    pub fn with_resources(stream: &Stream, allocator: StreamAllocator) -> Self {
        let context = stream.context().clone();
        let name = format!("GPU:{}", context.device().id.0);
        Self {
            timeline: Timeline::new(&name),
            name,
            kernels: Mutex::default(),
            blas: OnceLock::new(),
            dnn: OnceLock::new(),
            staging: Staging::new(&context),
            allocator,
            memory: OnceLock::new(),
            links: Mutex::default(),
            stream: stream.clone(),
            context,
        }
    }

    /// Returns the GPU that a device is.
    ///
    /// # Errors
    /// If it is another device.
    pub fn of(device: &DeviceRef) -> Result<&Self> {
        device.0.downcast_ref().ok_or_else(|| {
            let name = device.0.name();
            Error::new(format!("expected a GPU, found the device {name}"))
                .with_code(ErrorCode::InvalidArgument)
        })
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> &GpuContext {
        &self.context
    }

    /// Returns the stream of all ops on the device.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the allocator of the tensors on the device.
    #[must_use]
    pub fn allocator(&self) -> &StreamAllocator {
        &self.allocator
    }

    pub(super) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    pub(super) fn staging(&self) -> &Staging {
        &self.staging
    }

    /// Returns what the driver says of the memory. A driver that fails says nothing, which makes a
    /// placement worse, but not wrong.
    fn memory(&self) -> Option<DeviceMemory> {
        let ask = || {
            let device = self.context.device();
            device.gpu.driver.device_memory(device.id).ok()
        };
        *self.memory.get_or_init(ask)
    }

    fn link_from_host(&self) -> LinkCost {
        link_from_host(self.memory())
    }

    /// Returns the cost of copies from another GPU to this one.
    fn link_from_peer(&self, source: &Self) -> LinkCost {
        let (from, to) = (source.context.device(), self.context.device());
        let key = (from.gpu.driver.identity(), from.id);
        if let Some(known) = lock(&self.links).get(&key) {
            return *known;
        }
        let driver = &to.gpu.driver;
        let is_peer =
            driver.identity() == key.0 && driver.device_can_access_peer(to.id, from.id) == Ok(true);
        let link = match is_peer {
            true => LinkCost {
                bytes_per_microsecond: PEER_BYTES_PER_MICROSECOND,
                ..LinkCost::default()
            },
            // Such a copy goes through host memory.
            false => source.link_from_host().followed_by(self.link_from_host()),
        };
        lock(&self.links).insert(key, link);
        link
    }

    /// Returns the handle of the BLAS library, which works on the stream.
    ///
    /// # Errors
    /// Those of the library; they are the same each time.
    pub fn blas(&self) -> Result<&BlasHandle> {
        let created = self.blas.get_or_init(|| {
            let (current, blas) = (self.context.set_current()?, &self.context.gpu().blas);
            let handle = BlasHandle::new(&self.context, blas.create(&current)?);
            blas.set_stream(handle.handle(), self.stream.handle())?;
            Ok(handle)
        });
        created.as_ref().map_err(Clone::clone)
    }

    /// Returns the handle of the library for networks, which works on the stream.
    ///
    /// # Errors
    /// Those of the library; they are the same each time.
    pub fn dnn(&self) -> Result<&DnnHandle> {
        let created = self.dnn.get_or_init(|| {
            let (current, dnn) = (self.context.set_current()?, &self.context.gpu().dnn);
            let handle = DnnHandle::new(&self.context, dnn.create(&current)?);
            dnn.set_stream(handle.handle(), self.stream.handle())?;
            Ok(handle)
        });
        created.as_ref().map_err(Clone::clone)
    }

    /// Returns a kernel, which is loaded when it is first asked for.
    ///
    /// # Errors
    /// Those of the image and of the driver, with the log of its compiler.
    pub fn kernel(&self, kernel: DeviceKernel) -> Result<GpuFunction> {
        // The address tells kernels of one name apart. Whether two closures share an address does
        // not matter: then their images are the same.
        let key = (kernel.name, kernel.image as usize as u64);
        self.kernel_of_key(key, kernel.name, || (kernel.image)(self))
    }

    /// Returns a kernel of a family whose members `variant` tells apart.
    pub(super) fn kernel_of_key(
        &self,
        key: (&'static str, u64),
        name: &str,
        image: impl FnOnce() -> Result<String>,
    ) -> Result<GpuFunction> {
        if let Some(known) = lock(&self.kernels).get(&key) {
            return Ok(known.clone());
        }
        // Two threads may load the same image, and one of them drops its own.
        let mut image = image()?.into_bytes();
        image.push(0);
        let current = self.context.set_current()?;
        let driver = &self.context.gpu().driver;
        let module = GpuModule::new(&self.context, driver.module_load(&current, &image)?);
        let handle = driver.module_function(module.handle(), name)?;
        let loaded = GpuFunction::new(&module, handle);
        Ok(lock(&self.kernels).entry(key).or_insert(loaded).clone())
    }
}

impl Device for EagerGpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn device_type(&self) -> &str {
        DEVICE_TYPE
    }

    fn link_from(&self, source: &dyn Device) -> LinkCost {
        match source.downcast_ref::<Self>() {
            Some(peer) => self.link_from_peer(peer),
            None => self.link_from_host(),
        }
    }

    fn bytes_per_microsecond(&self) -> Option<f64> {
        self.memory()?.bytes_per_microsecond()
    }
}

/// Returns the cost of copies from host memory to a device with this memory.
fn link_from_host(memory: Option<DeviceMemory>) -> LinkCost {
    let bus = LinkCost::default();
    let shared = memory.filter(|memory| memory.is_integrated);
    match shared.and_then(|memory| memory.bytes_per_microsecond()) {
        // A copy reads the memory and writes it.
        Some(rate) => LinkCost {
            bytes_per_microsecond: rate / 2.0,
            ..bus
        },
        None => bus,
    }
}

/// Returns the device `GPU:N` of a host, which is opened at the first call.
pub(super) fn device_of_host(host: &HostContext, name: &str) -> Result<DeviceRef> {
    let number = name.strip_prefix("GPU:");
    let Some(ordinal) = number.and_then(|number| number.parse::<i32>().ok()) else {
        return Err(
            Error::new(format!("unknown device `{name}`")).with_code(ErrorCode::DeviceNotFound)
        );
    };
    let name = format!("GPU:{ordinal}");
    if let Some(device) = host.devices().get(&name) {
        return Ok(device);
    }
    let opened = EagerGpu::open(&Gpu::of_host(host)?, ordinal)?;
    Ok(host.devices().add_if_absent(Arc::new(opened)))
}

inventory::submit! {
    DeviceFactory {
        kind: "GPU",
        open: device_of_host,
    }
}

/// Creates a handler of the ops of GPUs, which run on the device `GPU:N`. The device is opened at
/// the first use. Unknown ops come from the fallback.
///
/// # Errors
/// Those of opening the device.
#[tfrt_kernel("corert.create_gpu_op_handler", results(op_handler))]
fn create_gpu_op_handler(
    ordinal: i32,
    fallback: OpHandlerRef,
    host: &HostContext,
) -> Result<OpHandlerRef> {
    let device = device_of_host(host, &format!("GPU:{ordinal}"))?;
    let handler = CpuOpHandler::new(&CoreRuntime::of(host), device, fallback);
    Ok(OpHandlerRef::new(handler))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_within_the_memory_of_the_host_take_what_the_memory_takes() {
        let memory = DeviceMemory {
            clock_khz: 1_000_000,
            bus_bits: 256,
            is_integrated: true,
        };
        let rate = |memory| link_from_host(memory).bytes_per_microsecond;
        assert_eq!(memory.bytes_per_microsecond(), Some(64_000.0));
        assert_eq!(rate(Some(memory)), 32_000.0);
        let bus = LinkCost::default().bytes_per_microsecond;
        let beyond_a_bus = DeviceMemory {
            is_integrated: false,
            ..memory
        };
        let unknown = DeviceMemory {
            clock_khz: 0,
            ..memory
        };
        for other in [None, Some(beyond_a_bus), Some(unknown)] {
            assert_eq!(rate(other), bus);
        }
    }
}

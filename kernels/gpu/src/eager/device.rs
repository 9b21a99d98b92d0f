//! The device `GPU:N`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tfrt::core::{CoreRuntime, CpuOpHandler, OpHandlerRef};
use tfrt::host::DeviceFactory;
use tfrt::host::device::{Device, DeviceRef};
use tfrt::prelude::*;

use super::staging::Staging;
use super::timeline::Timeline;
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
    stream: Stream,
    context: GpuContext,
}

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
        let loaded = GpuFunction { handle, module };
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

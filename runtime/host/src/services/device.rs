//! Devices: where values and ops may be placed.
#![expect(unsafe_code, reason = "vouches for the type of devices")]

use std::any::Any;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};

/// A device: a name such as `CPU:0` and a type such as `cpu`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device",
    label = "does not implement `Device`"
)]
pub trait Device: Any + Send + Sync + fmt::Debug {
    /// Returns the unique, non-empty name.
    fn name(&self) -> &str;

    /// Returns the type of the device.
    fn device_type(&self) -> &str;

    /// Returns the assumed cost of copies from `source` to this device. The placement of ops
    /// compares these costs.
    fn link_from(&self, source: &dyn Device) -> LinkCost {
        let _ = source;
        LinkCost::default()
    }

    /// Returns the number of bytes of operands and results that an op of the device is assumed to
    /// process in a microsecond, or `None` if such work is not to affect the placement of ops. Ops
    /// may have estimates of their own.
    fn bytes_per_microsecond(&self) -> Option<f64> {
        None
    }
}

/// The assumed cost of copies from one device to another.
///
/// ```
/// use tfrt_host::device::{Device, LinkCost};
///
/// /// A processor of another kind in the same memory.
/// #[derive(Debug)]
/// struct Neighbour;
///
/// impl Device for Neighbour {
///     fn name(&self) -> &str {
///         "NPU:0"
///     }
///
///     fn device_type(&self) -> &str {
///         "npu"
///     }
///
///     fn link_from(&self, _source: &dyn Device) -> LinkCost {
///         LinkCost { latency_microseconds: 1.0, bytes_per_microsecond: 50_000.0 }
///     }
/// }
///
/// assert_eq!(Neighbour.link_from(&Neighbour).microseconds(100_000), 3.0);
/// assert_eq!(LinkCost::default().microseconds(100_000), 20.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCost {
    /// The time that a copy takes, whatever its size.
    pub latency_microseconds: f64,
    /// The rate of a copy.
    pub bytes_per_microsecond: f64,
}

impl LinkCost {
    /// Returns the assumed time of a copy, in microseconds.
    #[must_use]
    pub fn microseconds(&self, num_bytes: usize) -> f64 {
        // The estimate is rough, so the conversion may lose precision.
        #[expect(clippy::cast_precision_loss)]
        let num_bytes = num_bytes as f64;
        self.latency_microseconds + num_bytes / self.bytes_per_microsecond
    }

    /// Returns the cost of a copy over this link and, once that is done, over another one.
    ///
    /// ```
    /// use tfrt_host::device::LinkCost;
    ///
    /// let link = LinkCost { latency_microseconds: 1.0, bytes_per_microsecond: 100.0 };
    /// assert_eq!(link.followed_by(link).microseconds(100), 4.0);
    /// ```
    #[must_use]
    pub fn followed_by(self, other: Self) -> Self {
        let [first, second] = [self, other].map(|link| 1.0 / link.bytes_per_microsecond);
        Self {
            latency_microseconds: self.latency_microseconds + other.latency_microseconds,
            bytes_per_microsecond: 1.0 / (first + second),
        }
    }
}

impl Default for LinkCost {
    /// Returns the cost of a link of which nothing is known: 10 microseconds, and 10 GB per second.
    fn default() -> Self {
        Self {
            latency_microseconds: 10.0,
            bytes_per_microsecond: 10_000.0,
        }
    }
}

impl dyn Device {
    /// Returns the device as a `T`, if it is one.
    ///
    /// ```
    /// use tfrt_host::device::{CpuDevice, Device};
    ///
    /// let device: &dyn Device = &CpuDevice::new("CPU:0");
    /// assert!(device.downcast_ref::<CpuDevice>().is_some());
    /// ```
    #[must_use]
    pub fn downcast_ref<T: Device>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// The processor that the runtime runs on.
///
/// ```
/// use tfrt_host::device::{CpuDevice, CpuSpeed, Device};
///
/// let device = CpuDevice::new("CPU:0");
/// let speed = CpuSpeed::of_this_machine().bytes_per_microsecond();
/// assert_eq!(device.bytes_per_microsecond(), Some(speed));
/// ```
#[derive(Debug)]
pub struct CpuDevice {
    name: String,
}

impl CpuDevice {
    /// Creates a CPU device with this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

impl Device for CpuDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn device_type(&self) -> &str {
        "cpu"
    }

    fn bytes_per_microsecond(&self) -> Option<f64> {
        Some(CpuSpeed::of_this_machine().bytes_per_microsecond())
    }
}

/// What the speed of a CPU device is estimated from.
///
/// The estimate is a vector for each processor and cycle, at [`CpuSpeed::CYCLES_PER_MICROSECOND`],
/// but not more than [`CpuSpeed::MAX_BYTES_PER_MICROSECOND`]. This is cautious, because an op
/// should leave the processor only if another device is certainly faster: it assumes that the op
/// uses all processors, and that its data is in their caches.
///
/// ```
/// use tfrt_host::device::CpuSpeed;
///
/// let laptop = CpuSpeed { num_processors: 8, vector_bytes: 32 };
/// assert_eq!(laptop.bytes_per_microsecond(), 256_000.0);
/// let server = CpuSpeed { num_processors: 256, vector_bytes: 64 };
/// assert_eq!(server.bytes_per_microsecond(), CpuSpeed::MAX_BYTES_PER_MICROSECOND);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpeed {
    /// The number of processors that the process may use.
    pub num_processors: u32,
    /// The size of the widest vector register.
    pub vector_bytes: u32,
}

impl CpuSpeed {
    /// The assumed clock. Nearly every processor has two to five times as many cycles, but reads,
    /// computes and writes in different ones.
    pub const CYCLES_PER_MICROSECOND: f64 = 1_000.0;

    /// The memory of a large server is not faster, however many processors share it.
    pub const MAX_BYTES_PER_MICROSECOND: f64 = 1_000_000.0;

    /// Asks the system and the processor, once per process.
    #[must_use]
    pub fn of_this_machine() -> Self {
        static FOUND: OnceLock<CpuSpeed> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let num_processors = thread::available_parallelism().map_or(1, NonZero::get);
            Self {
                num_processors: u32::try_from(num_processors).unwrap_or(u32::MAX),
                vector_bytes: vector_bytes(),
            }
        })
    }

    /// Returns the number of bytes of operands and results that an op is assumed to process in a
    /// microsecond.
    #[must_use]
    pub fn bytes_per_microsecond(self) -> f64 {
        let bytes_per_cycle = f64::from(self.num_processors) * f64::from(self.vector_bytes);
        (bytes_per_cycle * Self::CYCLES_PER_MICROSECOND).min(Self::MAX_BYTES_PER_MICROSECOND)
    }
}

impl fmt::Display for CpuSpeed {
    /// Writes the facts and the estimate:
    /// `8 processors, vectors of 32 bytes, 256 GB/s assumed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            num_processors,
            vector_bytes,
        } = self;
        let s = if *num_processors == 1 { "" } else { "s" };
        let rate = self.bytes_per_microsecond() / 1_000.0;
        write!(
            f,
            "{num_processors} processor{s}, vectors of {vector_bytes} bytes, {rate:.0} GB/s assumed"
        )
    }
}

/// Returns the size of the widest vector register of this processor.
fn vector_bytes() -> u32 {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return 64;
        }
        if std::arch::is_x86_feature_detected!("avx") {
            return 32;
        }
    }
    // SSE and NEON. Wider vectors of ARM processors mostly come with fewer units.
    16
}

/// A shared reference to a device: the value of type `!tfrt.device`.
#[derive(Clone, Debug)]
pub struct DeviceRef(pub Arc<dyn Device>);

impl Value for DeviceRef {
    const MLIR_TYPE: &'static str = "!tfrt.device";
    const IDENTITY: TypeIdentity<Self> = {
        // SAFETY: 1: the source of this crate is part of the fingerprint, and the name has its
        // version.
        unsafe { TypeIdentity::by_path_in(concat!("tfrt-host ", env!("CARGO_PKG_VERSION"))) }
    };
}

impl Immutable for DeviceRef {}

/// The devices of a host, by name.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::device::{CpuDevice, DeviceManager};
///
/// let devices = DeviceManager::default();
/// let first = devices.add_if_absent(Arc::new(CpuDevice::new("CPU:0")));
/// assert_eq!(devices.get("CPU:0").unwrap().0.name(), first.0.name());
/// assert!(devices.get("GPU:0").is_none());
/// ```
#[derive(Debug, Default)]
pub struct DeviceManager {
    devices: Mutex<Vec<DeviceRef>>,
}

impl DeviceManager {
    /// Adds `device` unless one of that name exists. Returns the device that now has the name.
    pub fn add_if_absent(&self, device: Arc<dyn Device>) -> DeviceRef {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(existing) = devices
            .iter()
            .find(|existing| existing.0.name() == device.name())
        {
            return existing.clone();
        }
        let device = DeviceRef(device);
        devices.push(device.clone());
        device
    }

    /// Returns the device with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<DeviceRef> {
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices
            .iter()
            .find(|device| device.0.name() == name)
            .cloned()
    }

    /// Returns all devices, in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> Vec<DeviceRef> {
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices.clone()
    }

    /// Returns the first device of this type.
    #[must_use]
    pub fn first_of_type(&self, device_type: &str) -> Option<DeviceRef> {
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices
            .iter()
            .find(|device| device.0.device_type() == device_type)
            .cloned()
    }
}

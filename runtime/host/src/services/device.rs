//! Devices: where values and ops may be placed.
#![expect(unsafe_code, reason = "vouches for the type of devices")]

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_support::{Error, ErrorCode};

use crate::HostContext;

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

/// Opens devices when they are first named. Registered with `inventory::submit!`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::HostContext;
/// use tfrt_host::device::{CpuDevice, DeviceFactory};
///
/// inventory::submit! {
///     DeviceFactory {
///         kind: "NPU",
///         open: |host, name| Ok(host.devices().add_if_absent(Arc::new(CpuDevice::new(name)))),
///     }
/// }
///
/// let host = HostContext::builder().build();
/// assert_eq!(host.device("NPU:0").unwrap().0.name(), "NPU:0");
/// assert_eq!(host.device("TPU:0").unwrap_err().message(), "unknown device `TPU:0`");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeviceFactory {
    /// The part of the names before the colon.
    pub kind: &'static str,
    /// Creates the device of a name, and adds it to the devices of the host.
    pub open: fn(&HostContext, &str) -> Result<DeviceRef, Error>,
}

inventory::collect!(DeviceFactory);

impl DeviceFactory {
    /// Returns the device of this name. If the host does not have it, opens it.
    pub(crate) fn find_or_open(host: &HostContext, name: &str) -> Result<DeviceRef, Error> {
        if let Some(device) = host.devices().get(name) {
            return Ok(device);
        }
        let kind = name.split_once(':').map(|(kind, _)| kind);
        let mut factories = inventory::iter::<Self>.into_iter();
        match factories.find(|factory| Some(factory.kind) == kind) {
            Some(factory) => (factory.open)(host, name),
            None => {
                let error = Error::new(format!("unknown device `{name}`"));
                Err(error.with_code(ErrorCode::DeviceNotFound))
            }
        }
    }
}

/// The processor that the runtime runs on.
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

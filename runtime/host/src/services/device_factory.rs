//! Devices that are opened when a program first names them.

use tfrt_support::{Error, ErrorCode};

use crate::device::DeviceRef;
use crate::services::host::HostContext;

/// Opens devices when they are first named. Registered with `inventory::submit!`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::device::CpuDevice;
/// use tfrt_host::{DeviceFactory, HostContext};
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

impl HostContext {
    /// Returns the device of this name. If the host does not have it, opens it with a linked
    /// [`DeviceFactory`].
    ///
    /// # Errors
    /// If no factory opens devices of this kind; the error of the factory.
    pub fn device(&self, name: &str) -> Result<DeviceRef, Error> {
        if let Some(device) = self.devices().get(name) {
            return Ok(device);
        }
        let kind = name.split_once(':').map(|(kind, _)| kind);
        let mut factories = inventory::iter::<DeviceFactory>.into_iter();
        match factories.find(|factory| Some(factory.kind) == kind) {
            Some(factory) => (factory.open)(self, name),
            None => {
                let error = Error::new(format!("unknown device `{name}`"));
                Err(error.with_code(ErrorCode::DeviceNotFound))
            }
        }
    }
}

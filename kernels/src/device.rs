//! Devices, by name.

use tfrt::host::device::DeviceRef;
use tfrt::prelude::*;

/// Returns the device of this name, such as `CPU:0`.
///
/// # Errors
/// `cannot find device NAME`.
#[tfrt_kernel("tfrt.get_device", format = "operands attr-dict")]
fn get_device(_chain: Chain, #[attr] device_name: &str, host: &HostContext) -> Result<DeviceRef> {
    host.devices()
        .get(device_name)
        .ok_or_else(|| Error::new(format!("cannot find device {device_name}")))
}

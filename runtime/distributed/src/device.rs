//! The devices of a cluster.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tfrt_host::device::{Device, DeviceRef};
use tfrt_support::ErrorCode;

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::RemoteError;
use crate::message::DeviceInfo;

/// In front of the type of a device that another task has.
const REMOTE: &str = "remote_";

/// The types of devices that a task may have, without the prefix.
const TYPES: [&str; 4] = ["cpu", "gpu", "tpu", "tpu_system"];

/// A device of a task of the cluster.
///
/// ```
/// use tfrt_distributed::TaskHandle;
/// use tfrt_distributed::device::RemoteDevice;
/// use tfrt_host::device::Device;
///
/// let device = RemoteDevice::new("/job:worker/task:0/device:CPU:0", "cpu", TaskHandle::NONE)?;
/// assert_eq!(device.device_type(), "remote_cpu");
/// let error = RemoteDevice::new("x", "abacus", TaskHandle::NONE).unwrap_err();
/// assert_eq!(error.message, "Remote device x of type abacus is not supported in distributed runtime.");
/// # Ok::<(), tfrt_distributed::RemoteError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RemoteDevice {
    name: String,
    device_type: String,
    task: TaskHandle,
    /// The context whose cluster has the device. Empty until it is one of a cluster.
    context: Arc<OnceLock<Weak<DistributedContext>>>,
}

impl RemoteDevice {
    /// Creates a device of a task, by its name in the cluster. The type may have its prefix
    /// already.
    ///
    /// # Errors
    /// `Remote device NAME of type TYPE is not supported in distributed runtime.`
    pub fn new(name: &str, device_type: &str, task: TaskHandle) -> Result<Self, RemoteError> {
        let local_type = device_type.strip_prefix(REMOTE).unwrap_or(device_type);
        if !TYPES.contains(&local_type) {
            let message = format!(
                "Remote device {name} of type {device_type} is not supported in distributed \
                 runtime."
            );
            return Err(RemoteError::new(ErrorCode::Unimplemented, message));
        }
        Ok(Self {
            name: name.to_owned(),
            device_type: format!("{REMOTE}{local_type}"),
            task,
            context: Arc::default(),
        })
    }

    /// Returns the task of the device.
    #[must_use]
    pub fn task(&self) -> TaskHandle {
        self.task
    }

    /// Returns the context whose cluster has the device.
    pub(crate) fn context(&self) -> Option<Arc<DistributedContext>> {
        self.context.get()?.upgrade()
    }
}

impl Device for RemoteDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn device_type(&self) -> &str {
        &self.device_type
    }
}

/// The devices of all tasks that one task knows.
#[derive(Debug, Default)]
pub struct ClusterDevices {
    devices: Mutex<Devices>,
    context: Arc<OnceLock<Weak<DistributedContext>>>,
}

#[derive(Debug, Default)]
struct Devices {
    by_name: HashMap<String, Arc<RemoteDevice>>,
    /// In the order in which they were added.
    names: Vec<String>,
}

impl ClusterDevices {
    fn lock(&self) -> MutexGuard<'_, Devices> {
        let devices = self.devices.lock();
        devices.unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which context the devices belong to.
    pub(crate) fn belong_to(&self, context: &Arc<DistributedContext>) {
        // Said once, by who made the context.
        let _ = self.context.set(Arc::downgrade(context));
    }

    /// Adds a device; one of the same name stays.
    pub fn add_if_absent(&self, mut device: RemoteDevice) {
        device.context = Arc::clone(&self.context);
        let mut devices = self.lock();
        if !devices.by_name.contains_key(&device.name) {
            devices.names.push(device.name.clone());
            devices
                .by_name
                .insert(device.name.clone(), Arc::new(device));
        }
    }

    /// Returns the device of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<RemoteDevice>> {
        self.lock().by_name.get(name).cloned()
    }

    /// Returns the device of this name, as the runtime refers to devices.
    #[must_use]
    pub fn get_ref(&self, name: &str) -> Option<DeviceRef> {
        self.get(name).map(|device| DeviceRef(device))
    }

    /// Returns the device of this name.
    ///
    /// # Errors
    /// `Can't find device: NAME`
    pub fn find(&self, name: &str) -> Result<Arc<RemoteDevice>, RemoteError> {
        self.get(name).ok_or_else(|| not_found(name))
    }

    /// Returns all devices, in the order in which they were added, for sending to another task.
    #[must_use]
    pub fn to_messages(&self) -> Vec<DeviceInfo> {
        let devices = self.lock();
        let names = devices.names.iter();
        names
            .map(|name| DeviceInfo {
                name: name.clone(),
                r#type: devices.by_name[name].device_type.clone(),
            })
            .collect()
    }
}

/// That a device is not among those of the cluster.
#[cold]
pub(crate) fn not_found(name: &str) -> RemoteError {
    RemoteError::new(
        ErrorCode::DeviceNotFound,
        format!("Can't find device: {name}"),
    )
}

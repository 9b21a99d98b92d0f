//! Devices and contexts.

use super::{CAPABILITY, CURRENT, HostContext, MEMORY, Shared, error};
use crate::api::driver::{DeviceCalls, DeviceMemory};
use crate::api::handle::{ContextHandle, DeviceId};
use crate::api::{Current, GpuResult, Status};
use crate::values::lock;

impl DeviceCalls for Shared {
    fn init(&self) -> GpuResult<()> {
        const CALL: &str = "cuInit(0)";
        if let Some(code) = self.0.count("cuInit") {
            return Err(error(CALL, Status::Driver(code)));
        }
        lock(&self.0.objects).is_initialized = true;
        Ok(())
    }

    fn version(&self) -> GpuResult<i32> {
        self.0
            .enter("cuDriverGetVersion", "cuDriverGetVersion(&version)")?;
        Ok(12080)
    }

    fn device_count(&self) -> GpuResult<i32> {
        self.0
            .enter("cuDeviceGetCount", "cuDeviceGetCount(&count)")?;
        Ok(self.0.options.num_devices)
    }

    fn device(&self, ordinal: i32) -> GpuResult<DeviceId> {
        const CALL: &str = "cuDeviceGet(&device, ordinal)";
        self.0.enter("cuDeviceGet", CALL)?;
        self.0.check_device(CALL, DeviceId(ordinal))?;
        Ok(DeviceId(ordinal))
    }

    fn device_name(&self, device: DeviceId) -> GpuResult<String> {
        const CALL: &str = "cuDeviceGetName(name, len, device)";
        self.0.enter("cuDeviceGetName", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok("host device".into())
    }

    fn device_total_memory(&self, device: DeviceId) -> GpuResult<usize> {
        const CALL: &str = "cuDeviceTotalMem(&bytes, device)";
        self.0.enter("cuDeviceTotalMem", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok(self.0.options.memory_bytes)
    }

    fn device_capability(&self, device: DeviceId) -> GpuResult<(i32, i32)> {
        const CALL: &str = "cuDeviceGetAttribute(&value, attribute, device)";
        self.0.enter("cuDeviceGetAttribute", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok(CAPABILITY)
    }

    fn device_memory(&self, device: DeviceId) -> GpuResult<DeviceMemory> {
        const CALL: &str = "cuDeviceGetAttribute(&value, attribute, device)";
        self.0.enter("cuDeviceGetAttribute", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok(MEMORY)
    }

    fn device_can_access_peer(&self, device: DeviceId, peer: DeviceId) -> GpuResult<bool> {
        const CALL: &str = "cuDeviceCanAccessPeer(&can_access, device, peer)";
        self.0.enter("cuDeviceCanAccessPeer", CALL)?;
        self.0.check_device(CALL, device)?;
        self.0.check_device(CALL, peer)?;
        Ok(device != peer)
    }

    fn primary_context_retain(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        const CALL: &str = "cuDevicePrimaryCtxRetain(&context, device)";
        self.0.enter("cuDevicePrimaryCtxRetain", CALL)?;
        self.0.check_device(CALL, device)?;
        let new = ContextHandle(self.0.new_handle());
        let mut objects = lock(&self.0.objects);
        let (handle, count) = objects.primary.entry(device.0).or_insert((new, 0));
        *count += 1;
        let handle = *handle;
        objects.contexts.entry(handle.0).or_insert(HostContext {
            device,
            failure: None,
        });
        Ok(handle)
    }

    fn primary_context_release(&self, device: DeviceId) -> GpuResult<()> {
        const CALL: &str = "cuDevicePrimaryCtxRelease(device)";
        self.0.enter("cuDevicePrimaryCtxRelease", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some((handle, count)) = objects.primary.get_mut(&device.0) else {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        };
        *count -= 1;
        if *count > 0 {
            return Ok(());
        }
        let handle = *handle;
        // Who retains it from now on gets another one.
        objects.primary.remove(&device.0);
        drop(objects);
        self.0.wait_for_context(handle);
        let left = self.0.resources(handle);
        lock(&self.0.objects).contexts.remove(&handle.0);
        Current::forget();
        dangling(CALL, handle, &left)
    }

    fn context_create(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        const CALL: &str = "cuCtxCreate(&context, flags, device)";
        self.0.enter("cuCtxCreate", CALL)?;
        self.0.check_device(CALL, device)?;
        let handle = ContextHandle(self.0.new_handle());
        let context = HostContext {
            device,
            failure: None,
        };
        lock(&self.0.objects).contexts.insert(handle.0, context);
        self.context_set_current(Some(handle))?;
        Current::forget();
        Ok(handle)
    }

    fn context_destroy(&self, context: ContextHandle) -> GpuResult<()> {
        const CALL: &str = "cuCtxDestroy(context)";
        self.0.enter("cuCtxDestroy", CALL)?;
        self.0.wait_for_context(context);
        let left = self.0.resources(context);
        let mut objects = lock(&self.0.objects);
        if objects
            .primary
            .values()
            .any(|(primary, _)| *primary == context)
        {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        if objects.contexts.remove(&context.0).is_none() {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        drop(objects);
        Current::forget();
        dangling(CALL, context, &left)
    }

    fn context_set_current(&self, context: Option<ContextHandle>) -> GpuResult<()> {
        const CALL: &str = "cuCtxSetCurrent(context)";
        self.0.enter("cuCtxSetCurrent", CALL)?;
        if let Some(context) = context
            && !lock(&self.0.objects).contexts.contains_key(&context.0)
        {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        CURRENT.with_borrow_mut(|contexts| {
            contexts.retain(|(device, _)| *device != self.0.identity);
            contexts.extend(context.map(|context| (self.0.identity, context)));
        });
        Ok(())
    }

    fn context_device(&self, current: &Current) -> GpuResult<DeviceId> {
        const CALL: &str = "cuCtxGetDevice(&device)";
        self.0.enter_context("cuCtxGetDevice", CALL, current)?;
        let objects = lock(&self.0.objects);
        let context = objects.contexts.get(&current.context().0);
        context
            .map(|context| context.device)
            .ok_or_else(|| error(CALL, Status::INVALID_CONTEXT))
    }

    fn context_synchronize(&self, current: &Current) -> GpuResult<()> {
        const CALL: &str = "cuCtxSynchronize()";
        self.0.enter_context("cuCtxSynchronize", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        self.0.wait_for_context(current.context());
        self.0.check_context(CALL, current.context())
    }
}

/// Returns an error if a context that is gone has left objects behind.
fn dangling(call: &'static str, context: ContextHandle, left: &[String]) -> GpuResult<()> {
    if left.is_empty() {
        return Ok(());
    }
    Err(error(call, Status::INVALID_CONTEXT).with_details(format!(
        "Context {context} has dangling resources: {}",
        left.join(", ")
    )))
}

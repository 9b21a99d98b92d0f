//! Devices and contexts.
#![expect(unsafe_code, reason = "calls the driver")]

use std::ptr;
use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::{CUcontext, CUdevice_attribute};

use super::super::live::new_id;
use super::super::object::Context;
use super::{CudaDriver, text_of};
use crate::api::driver::{DeviceCalls, DeviceMemory};
use crate::api::handle::{ContextHandle, DeviceId};
use crate::api::{Current, GpuError, GpuResult, Status};
use crate::cuda::call;

impl CudaDriver {
    fn add_context(&self, number: u64, device: DeviceId, is_primary: bool) -> ContextHandle {
        let functions = Arc::clone(&self.functions);
        self.contexts.add(
            number,
            Context {
                id: new_id(),
                number,
                device: device.0,
                is_primary,
                functions,
                is_ended: false,
            },
        );
        ContextHandle(number)
    }

    fn device_attribute(&self, device: DeviceId, attribute: CUdevice_attribute) -> GpuResult<i32> {
        let mut value = 0;
        call!(
            self.functions,
            "cuDeviceGetAttribute(&value, attribute, device)",
            cuDeviceGetAttribute(&mut value, attribute, device.0)
        )?;
        Ok(value)
    }
}

impl DeviceCalls for CudaDriver {
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
        let read = |attribute| self.device_attribute(device, attribute);
        Ok((
            read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ))
    }

    fn device_memory(&self, device: DeviceId) -> GpuResult<DeviceMemory> {
        let read = |attribute| self.device_attribute(device, attribute);
        Ok(DeviceMemory {
            clock_khz: read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            bus_bits: read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
            is_integrated: read(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        })
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
}

//! `libcuda`: devices, contexts, streams and events.

use std::ffi::{c_int, c_uint};

use tfrt_gpu::api::DeviceId;
use tfrt_gpu::api::{ContextHandle, EventHandle, GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{Out, exports, write_host};
use crate::emulator::{Emulator, report_breach};

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`.
const CAPABILITY_MAJOR: c_uint = 75;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`.
const CAPABILITY_MINOR: c_uint = 76;
/// `CU_DEVICE_ATTRIBUTE_INTEGRATED`.
const INTEGRATED: c_uint = 18;
/// `CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE`.
const MEMORY_CLOCK_RATE: c_uint = 36;
/// `CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH`.
const MEMORY_BUS_WIDTH: c_uint = 37;

fn unsupported(call: &'static str, what: &str) -> GpuError {
    GpuError::new(call, Status::NOT_SUPPORTED)
        .with_details(format!("the emulator does not support {what}"))
}

fn ready(call: &'static str, is_ready: bool) -> GpuResult<()> {
    match is_ready {
        true => Ok(()),
        false => Err(GpuError::new(call, Status::NOT_READY)),
    }
}

/// Reports objects that a context leaves behind. The driver destroys them with it.
fn report_leaks(call: &'static str, result: GpuResult<()>) -> GpuResult<()> {
    match result {
        Err(error) if error.details.contains("dangling resources") => {
            report_breach(call, &error.details);
            Ok(())
        }
        other => other,
    }
}

exports! { Driver:
    fn cuInit(flags: c_uint) |emulator, CALL| {
        match flags {
            0 => emulator.gpu.driver.init(),
            _ => Err(GpuError::new(CALL, Status::INVALID_VALUE)),
        }
    }

    fn cuDriverGetVersion(version: Out<c_int>) |emulator, CALL| {
        // Unlike the others, it works before `cuInit`.
        emulator.gpu.driver.init()?;
        version.set(CALL, emulator.gpu.driver.version()?)
    }

    fn cuDeviceGetCount(count: Out<c_int>) |emulator, CALL| {
        count.set(CALL, emulator.gpu.driver.device_count()?)
    }

    fn cuDeviceGet(device: Out<c_int>, ordinal: c_int) |emulator, CALL| {
        device.set(CALL, emulator.gpu.driver.device(ordinal)?.0)
    }

    fn cuDeviceGetName(name: u64, len: c_int, device: c_int) |emulator, CALL| {
        let mut text = emulator.gpu.driver.device_name(DeviceId(device))?.into_bytes();
        text.extend(b" behind an emulated driver");
        let len = usize::try_from(len).unwrap_or(0);
        if name == 0 || len == 0 {
            return Err(GpuError::new(CALL, Status::INVALID_VALUE));
        }
        text.truncate(len - 1);
        text.push(0);
        write_host(name, &text);
        Ok(())
    }

    fn cuDeviceTotalMem_v2(num_bytes: Out<usize>, device: c_int) |emulator, CALL| {
        num_bytes.set(CALL, emulator.gpu.driver.device_total_memory(DeviceId(device))?)
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, device: c_int) |emulator, CALL| {
        let (driver, device) = (&emulator.gpu.driver, DeviceId(device));
        let found = match attribute {
            CAPABILITY_MAJOR => driver.device_capability(device)?.0,
            CAPABILITY_MINOR => driver.device_capability(device)?.1,
            INTEGRATED => driver.device_memory(device)?.is_integrated.into(),
            MEMORY_CLOCK_RATE => driver.device_memory(device)?.clock_khz,
            MEMORY_BUS_WIDTH => driver.device_memory(device)?.bus_bits,
            _ => return Err(unsupported(CALL, "this attribute")),
        };
        value.set(CALL, found)
    }

    fn cuDeviceCanAccessPeer(result: Out<c_int>, device: c_int, peer: c_int) |emulator, CALL| {
        let driver = &emulator.gpu.driver;
        let can = driver.device_can_access_peer(DeviceId(device), DeviceId(peer))?;
        result.set(CALL, can.into())
    }

    fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: c_int) |emulator, CALL| {
        context.set(CALL, emulator.gpu.driver.primary_context_retain(DeviceId(device))?.0)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: c_int) |emulator, CALL| {
        report_leaks(CALL, emulator.gpu.driver.primary_context_release(DeviceId(device)))
    }

    fn cuCtxCreate_v2(context: Out<u64>, flags: c_uint, device: c_int) |emulator, CALL| {
        if flags != 0 {
            return Err(unsupported(CALL, "these flags"));
        }
        let handle = emulator.gpu.driver.context_create(DeviceId(device))?;
        Emulator::set_current(Some(handle));
        context.set(CALL, handle.0)
    }

    fn cuCtxDestroy_v2(context: u64) |emulator, CALL| {
        let context = ContextHandle(context);
        let result = report_leaks(CALL, emulator.gpu.driver.context_destroy(context));
        Emulator::forget_context(context);
        result
    }

    fn cuCtxSetCurrent(context: u64) |emulator, CALL| {
        let context = Some(ContextHandle(context)).filter(|context| context.0 != 0);
        emulator.gpu.driver.context_set_current(context)?;
        Emulator::set_current(context);
        Ok(())
    }

    fn cuCtxGetDevice(device: Out<c_int>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        device.set(CALL, emulator.gpu.driver.context_device(&current)?.0)
    }

    fn cuCtxSynchronize() |emulator, CALL| {
        let current = emulator.current(CALL)?;
        emulator.gpu.driver.context_synchronize(&current)
    }

    fn cuStreamCreate(stream: Out<u64>, flags: c_uint) |emulator, CALL| {
        if flags != NON_BLOCKING {
            return Err(unsupported(CALL, "streams that wait for the default stream"));
        }
        let current = emulator.current(CALL)?;
        stream.set(CALL, emulator.gpu.driver.stream_create(&current)?.0)
    }

    fn cuStreamDestroy_v2(stream: u64) |emulator, CALL| {
        emulator.gpu.driver.stream_destroy(StreamHandle(stream))
    }

    fn cuStreamSynchronize(stream: u64) |emulator, CALL| {
        emulator.gpu.driver.stream_synchronize(StreamHandle(stream))
    }

    fn cuStreamQuery(stream: u64) |emulator, CALL| {
        ready(CALL, emulator.gpu.driver.stream_query(StreamHandle(stream))?)
    }

    fn cuStreamWaitEvent(stream: u64, event: u64, flags: c_uint) |emulator, CALL| {
        if flags != 0 {
            return Err(unsupported(CALL, "these flags"));
        }
        emulator.gpu.driver.stream_wait_event(StreamHandle(stream), EventHandle(event))
    }

    fn cuEventCreate(event: Out<u64>, flags: c_uint) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let has_timing = match flags {
            0 => true,
            DISABLE_TIMING => false,
            _ => return Err(unsupported(CALL, "these flags")),
        };
        event.set(CALL, emulator.gpu.driver.event_create(&current, has_timing)?.0)
    }

    fn cuEventDestroy_v2(event: u64) |emulator, CALL| {
        emulator.gpu.driver.event_destroy(EventHandle(event))
    }

    fn cuEventRecord(event: u64, stream: u64) |emulator, CALL| {
        emulator.gpu.driver.event_record(EventHandle(event), StreamHandle(stream))
    }

    fn cuEventQuery(event: u64) |emulator, CALL| {
        ready(CALL, emulator.gpu.driver.event_query(EventHandle(event))?)
    }

    fn cuEventSynchronize(event: u64) |emulator, CALL| {
        emulator.gpu.driver.event_synchronize(EventHandle(event))
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) |emulator, CALL| {
        let (start, end) = (EventHandle(start), EventHandle(end));
        milliseconds.set(CALL, emulator.gpu.driver.event_elapsed(start, end)?)
    }
}

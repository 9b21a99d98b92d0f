//! `libcuda`: memory, copies and fills.
//!
//! An address is a device address if a block contains it, and an address of the caller otherwise. A
//! copy from pageable memory of the caller takes the bytes at once, and one to it waits, as the
//! driver does.

use std::ffi::c_uint;
use std::sync::Arc;

use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::api::{DevicePtr, GpuError, GpuResult, Status, StreamHandle};
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_tensor::HostBuffer;

use crate::abi::{Out, device, exports, read_host, write_host};
use crate::emulator::{BlockKind, lock};
use crate::host_memory::{Pinned, Registered};

/// `CU_MEMHOSTALLOC_DEVICEMAP` and `CU_MEMHOSTREGISTER_DEVICEMAP`.
const DEVICE_MAP: c_uint = 2;
/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: c_uint = 2;
/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

fn invalid(call: &'static str) -> GpuError {
    GpuError::new(call, Status::INVALID_VALUE)
}

/// Returns a buffer of this library, for a copy from or to pageable memory.
fn staging(call: &'static str, bytes: &[u8]) -> GpuResult<HostBuffer> {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    HostBuffer::copied(&allocator, bytes).map_err(|_| GpuError::new(call, Status::OUT_OF_MEMORY))
}

exports! { Driver:
    fn cuMemAlloc_v2(pointer: Out<u64>, num_bytes: usize) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let found = emulator.gpu.driver.memory_allocate(&current, num_bytes)?;
        let block = (num_bytes, BlockKind::Device);
        lock(&emulator.blocks).insert(found.address(), block);
        pointer.set(CALL, found.address())
    }

    fn cuMemFree_v2(pointer: u64) |emulator, CALL| {
        emulator.take_block(CALL, pointer, BlockKind::Device)?;
        emulator.gpu.driver.memory_free(device(pointer))
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let (free_bytes, total_bytes) = emulator.gpu.driver.memory_info(&current)?;
        free.set(CALL, free_bytes)?;
        total.set(CALL, total_bytes)
    }

    fn cuMemHostAlloc(pointer: Out<u64>, num_bytes: usize, flags: c_uint) |emulator, CALL| {
        if flags != DEVICE_MAP {
            return Err(invalid(CALL));
        }
        let current = emulator.current(CALL)?;
        let full = || GpuError::new(CALL, Status::OUT_OF_MEMORY);
        let pinned = Pinned::allocate(num_bytes).ok_or_else(full)?;
        let address = pinned.address();
        emulator.device.register_memory(&current, address, Box::new(pinned))?;
        lock(&emulator.blocks).insert(address, (num_bytes, BlockKind::Pinned));
        pointer.set(CALL, address)
    }

    fn cuMemFreeHost(pointer: u64) |emulator, CALL| {
        emulator.take_block(CALL, pointer, BlockKind::Pinned)?;
        emulator.gpu.driver.host_memory_unregister(device(pointer))
    }

    fn cuMemHostRegister_v2(pointer: u64, num_bytes: usize, flags: c_uint) |emulator, CALL| {
        if flags != DEVICE_MAP || pointer == 0 {
            return Err(invalid(CALL));
        }
        let current = emulator.current(CALL)?;
        let memory = Box::new(Registered::new(pointer, num_bytes));
        emulator.device.register_memory(&current, pointer, memory)?;
        lock(&emulator.blocks).insert(pointer, (num_bytes, BlockKind::Registered));
        Ok(())
    }

    fn cuMemHostUnregister(pointer: u64) |emulator, CALL| {
        emulator.take_block(CALL, pointer, BlockKind::Registered)?;
        emulator.gpu.driver.host_memory_unregister(device(pointer))
    }

    fn cuMemHostGetDevicePointer_v2(result: Out<u64>, pointer: u64, flags: c_uint) |emulator, CALL| {
        match emulator.kind_at(pointer) {
            Some(BlockKind::Pinned | BlockKind::Registered) if flags == 0 => {
                result.set(CALL, pointer)
            }
            _ => Err(invalid(CALL)),
        }
    }

    fn cuPointerGetAttribute(data: Out<c_uint>, attribute: c_uint, pointer: u64) |emulator, CALL| {
        match (attribute, emulator.kind_at(pointer)) {
            (MEMORY_TYPE, Some(BlockKind::Device)) => data.set(CALL, DEVICE),
            (MEMORY_TYPE, Some(_)) => data.set(CALL, HOST),
            _ => Err(invalid(CALL)),
        }
    }

    fn cuMemcpyAsync(to: u64, from: u64, num_bytes: usize, stream: u64) |emulator, CALL| {
        let driver = &emulator.gpu.driver;
        let stream = StreamHandle(stream);
        let current = emulator.current(CALL)?;
        let on_device = |pointer: u64| -> Option<CopyEndpoint> {
            let pointer: DevicePtr = emulator.kind_at(pointer).map(|_| device(pointer))?;
            Some(CopyEndpoint::Device(pointer))
        };
        match (on_device(to), on_device(from)) {
            (Some(to), Some(from)) => driver.copy_async(&current, &to, &from, num_bytes, stream),
            (Some(to), None) => {
                let staged = CopyEndpoint::Host(staging(CALL, &read_host(from, num_bytes))?);
                driver.copy_async(&current, &to, &staged, num_bytes, stream)
            }
            (None, Some(from)) => {
                let staged = staging(CALL, &vec![0; num_bytes])?;
                let target = CopyEndpoint::Host(staged.clone());
                driver.copy_async(&current, &target, &from, num_bytes, stream)?;
                driver.stream_synchronize(stream)?;
                let bytes = staged.read().map_err(|_| invalid(CALL))?;
                write_host(to, &bytes);
                Ok(())
            }
            (None, None) => {
                driver.stream_synchronize(stream)?;
                write_host(to, &read_host(from, num_bytes));
                Ok(())
            }
        }
    }

    fn cuMemsetD32Async(pointer: u64, value: c_uint, count: usize, stream: u64) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let stream = StreamHandle(stream);
        emulator.gpu.driver.set_u32_async(&current, device(pointer), value, count, stream)
    }
}

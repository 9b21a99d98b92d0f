//! Memory, and copies and fills of it.

use tfrt_tensor::HostBuffer;

use super::super::fault::Fault;
use super::super::memory::{Kind, in_use};
use super::super::{HostDevice, read_bytes};
use super::{Shared, error};
use crate::api::driver::{CopyEndpoint, HOST_COPY, MemoryCalls};
use crate::api::handle::StreamHandle;
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

impl MemoryCalls for Shared {
    fn memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemAlloc(&ptr, size)";
        let entered = self.0.enter_context("cuMemAlloc", CALL, current);
        let entered = entered.and_then(|()| self.0.refuse_in_capture(CALL));
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        let info = memory.info(owner.device);
        let full = || GpuError::out_of_memory(num_bytes, Some(info), owner.device.0);
        match entered {
            // A failure that was asked for has the text of one that was not.
            Err(error) if error.status == Status::OUT_OF_MEMORY => return Err(full()),
            entered => entered?,
        }
        if num_bytes == 0 {
            return Err(error(CALL, Status::INVALID_VALUE));
        }
        let address = memory.allocate(num_bytes, 1, Kind::Device, owner);
        address.map(DevicePtr::new).ok_or_else(full)
    }

    fn memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        self.free("cuMemFree", "cuMemFree(ptr)", pointer, Kind::Device)
    }

    fn memory_info(&self, current: &Current) -> GpuResult<(usize, usize)> {
        const CALL: &str = "cuMemGetInfo(&free, &total)";
        self.0.enter_context("cuMemGetInfo", CALL, current)?;
        let owner = self.0.owner(CALL, current)?;
        Ok(lock(&self.0.memory).info(owner.device))
    }

    fn host_memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemHostAlloc(&ptr, size, flags)";
        self.0.enter_context("cuMemHostAlloc", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        match memory.allocate(num_bytes, 1, Kind::Pinned, owner) {
            Some(address) => Ok(DevicePtr::new(address)),
            None => Err(error(CALL, Status::OUT_OF_MEMORY)),
        }
    }

    fn host_memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        self.free("cuMemFreeHost", "cuMemFreeHost(ptr)", pointer, Kind::Pinned)
    }

    fn host_memory_register(&self, current: &Current, buffer: &HostBuffer) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemHostRegister(ptr, size, flags)";
        self.0.enter_context("cuMemHostRegister", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let address = buffer.address() as u64;
        let memory = Box::new(buffer.clone());
        self.0.register(CALL, current, address, memory)
    }

    fn host_memory_unregister(&self, pointer: DevicePtr) -> GpuResult<()> {
        const CALL: &str = "cuMemHostUnregister(ptr)";
        self.free("cuMemHostUnregister", CALL, pointer, Kind::Registered)
    }

    fn host_memory_read(&self, pointer: DevicePtr, bytes: &mut [u8]) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        self.0.enter("cuPointerGetAttribute", CALL)?;
        let memory = lock(&self.0.memory);
        if !is_host_memory(memory.kind_at(pointer.address())) {
            let details = "the memory cannot be read by the host";
            return Err(error(CALL, Status::INVALID_VALUE).with_details(details));
        }
        let read = memory.read(pointer.address(), bytes);
        read.map_err(|fault| error(CALL, fault.status).with_details(fault.message))
    }

    fn host_memory_write(&self, pointer: DevicePtr, bytes: &[u8]) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        self.0.enter("cuPointerGetAttribute", CALL)?;
        let mut memory = lock(&self.0.memory);
        if !is_host_memory(memory.kind_at(pointer.address())) {
            let details = "the memory cannot be written by the host";
            return Err(error(CALL, Status::INVALID_VALUE).with_details(details));
        }
        let written = memory.write(pointer.address(), bytes);
        written.map_err(|fault| error(CALL, fault.status).with_details(fault.message))
    }

    fn copy_async(
        &self,
        current: &Current,
        target: &CopyEndpoint,
        source: &CopyEndpoint,
        num_bytes: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemcpyAsync(dst, src, size, stream)";
        self.0.enter_context("cuMemcpyAsync", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        if let (CopyEndpoint::Device(target), CopyEndpoint::Device(source)) = (target, source) {
            let (target, source) = (*target, *source);
            let is_registered = |pointer: DevicePtr| {
                let kind = lock(&self.0.memory).kind_at(pointer.address());
                kind == Some(Kind::Registered)
            };
            if (is_registered(target) || is_registered(source)) && queue.refuse_recording(HOST_COPY)
            {
                return Ok(());
            }
            return self.push(CALL, &queue, move |device| {
                let mut memory = lock(&device.memory);
                let bytes = read_bytes(&memory, source, num_bytes)?;
                memory.write(target.address(), &bytes)
            });
        }
        if queue.refuse_recording(HOST_COPY) {
            return Ok(());
        }
        let (mut target, source) = (target.clone(), source.clone());
        self.push_once(CALL, &queue, move |device| {
            let bytes = read_location(device, &source, num_bytes)?;
            drop(source);
            write_location(device, &mut target, &bytes)
        })
    }

    fn set_u32_async(
        &self,
        current: &Current,
        pointer: DevicePtr,
        value: u32,
        count: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemsetD32Async(ptr, value, count, stream)";
        self.0.enter_context("cuMemsetD32Async", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        if !pointer.address().is_multiple_of(4) {
            return Err(error(CALL, Status::INVALID_VALUE));
        }
        self.push(CALL, &queue, move |device| {
            lock(&device.memory).fill(pointer.address(), value, count)
        })
    }
}

impl Shared {
    /// Frees a block, once no work uses it.
    fn free(
        &self,
        name: &'static str,
        call: &'static str,
        pointer: DevicePtr,
        kind: Kind,
    ) -> GpuResult<()> {
        self.0.enter(name, call)?;
        self.0.refuse_in_capture(call)?;
        let context = lock(&self.0.memory).context_of(pointer.address());
        if let Some(context) = context {
            self.0.wait_for_context(context);
        }
        let mut memory = lock(&self.0.memory);
        if context.is_some() && memory.free(pointer.address(), kind) {
            return Ok(());
        }
        Err(error(call, Status::INVALID_VALUE))
    }
}

/// Returns the memory that a copy reads or writes.
fn read_location(
    device: &HostDevice,
    location: &CopyEndpoint,
    num_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    match location {
        CopyEndpoint::Device(pointer) => read_bytes(&lock(&device.memory), *pointer, num_bytes),
        CopyEndpoint::Host(buffer) => {
            let bytes = buffer.read().map_err(in_use)?;
            let part = bytes.get(..num_bytes);
            Ok(part.ok_or_else(|| too_small(buffer, num_bytes))?.to_vec())
        }
    }
}

fn write_location(
    device: &HostDevice,
    location: &mut CopyEndpoint,
    bytes: &[u8],
) -> Result<(), Fault> {
    match location {
        CopyEndpoint::Device(pointer) => lock(&device.memory).write(pointer.address(), bytes),
        CopyEndpoint::Host(buffer) => {
            if buffer.len_bytes() < bytes.len() {
                return Err(too_small(buffer, bytes.len()));
            }
            let mut target = buffer.write().map_err(in_use)?;
            target[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }
}

fn too_small(buffer: &HostBuffer, wanted: usize) -> Fault {
    let found = buffer.len_bytes();
    Fault::illegal_address(format!(
        "copy of {wanted} bytes: the host buffer has {found}"
    ))
}

fn is_host_memory(kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Pinned | Kind::Registered))
}

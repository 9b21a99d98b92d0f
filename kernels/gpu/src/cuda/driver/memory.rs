//! Memory, and copies and fills of it.
#![expect(unsafe_code, reason = "calls the driver")]

use std::any::Any;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUpointer_attribute, CUstream};
use tfrt_tensor::HostBuffer;

use super::super::keep::Held;
use super::super::live::{Block, BlockKind, Place};
use super::super::object::{Context, Object};
use super::CudaDriver;
use crate::api::driver::{CopyEndpoint, HOST_COPY, MemoryCalls};
use crate::api::handle::StreamHandle;
use crate::api::known::KnownBlock;
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::cuda::{call, real_call};

/// The kind of a block of memory.
#[derive(Debug)]
pub(super) enum Memory {
    Device {
        _context: Arc<Context>,
    },
    Pinned(Arc<Context>),
    /// Host memory of a buffer, which starts at a host address.
    Registered {
        context: Arc<Context>,
        buffer: HostBuffer,
        host: usize,
    },
    /// A variable of a module.
    Global {
        module: u64,
    },
}

impl BlockKind for Memory {
    /// A copy borrows the host memory of a registered block.
    fn is_plain(&self) -> bool {
        !matches!(self, Self::Registered { .. })
    }
}

/// `CU_MEMHOSTALLOC_DEVICEMAP` and `CU_MEMHOSTREGISTER_DEVICEMAP`.
const DEVICE_MAP: u32 = 2;

/// The call of copies, in errors.
const COPY: &str = "cuMemcpyAsync(dst, src, size, stream)";

impl CudaDriver {
    /// Refuses memory that the caller has no right to.
    fn check_memory(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
    ) -> GpuResult<()> {
        let place = self.blocks.place(pointer, num_bytes);
        self.check_place(call, pointer, num_bytes, place)
    }

    /// Refuses memory at a place that the caller has no right to.
    fn check_place(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
        place: Place,
    ) -> GpuResult<()> {
        let refused = |why: &str| {
            Err(GpuError::new(call, Status::INVALID_VALUE)
                .with_details(format!("{num_bytes} bytes at {pointer} {why}")))
        };
        match place {
            Place::Inside => Ok(()),
            Place::Across => refused("exceed their memory block"),
            Place::Unknown => {
                // Memory of the embedder's own: the driver must know it, as an address of the host
                // would be read by the host.
                let mut kind = 0u32;
                let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
                let known = call!(
                    self.functions,
                    "cuPointerGetAttribute(&kind, attribute, ptr)",
                    cuPointerGetAttribute((&raw mut kind).cast(), attribute, pointer.address())
                );
                if known.is_ok() {
                    Ok(())
                } else {
                    refused("are not accessible to the device")
                }
            }
        }
    }

    /// Returns the host buffer that one side of a copy lies in, if there is one, and the address if
    /// it is not the buffer's own.
    fn host_side(
        &self,
        location: &CopyEndpoint,
        num_bytes: usize,
    ) -> GpuResult<(Option<HostBuffer>, Option<u64>)> {
        let pointer = match location {
            CopyEndpoint::Host(buffer) => {
                if num_bytes > buffer.len_bytes() {
                    return Err(
                        GpuError::new(COPY, Status::INVALID_VALUE).with_details(format!(
                            "expected a host buffer of {num_bytes} bytes, found {}",
                            buffer.len_bytes()
                        )),
                    );
                }
                return Ok((Some(buffer.clone()), None));
            }
            CopyEndpoint::Device(pointer) => *pointer,
        };
        let registered = self
            .blocks
            .with(pointer, num_bytes, |_, block| match &block.kind {
                Memory::Registered { buffer, .. } => Some(buffer.clone()),
                _ => None,
            });
        let registered = match registered {
            Ok(registered) => registered,
            Err(place) => {
                self.check_place(COPY, pointer, num_bytes, place)?;
                None
            }
        };
        Ok((registered, Some(pointer.address())))
    }

    /// Returns the address of one side of a copy, and the object to keep until the copy is done,
    /// which is the borrow of host memory.
    fn side(
        &self,
        stream: &Object,
        location: &CopyEndpoint,
        num_bytes: usize,
        is_target: bool,
    ) -> GpuResult<(u64, Option<Box<dyn Any + Send>>)> {
        let (buffer, address) = self.host_side(location, num_bytes)?;
        let Some(buffer) = buffer else {
            return Ok((address.unwrap_or(0), None));
        };
        let borrow = || borrow(buffer.clone(), is_target);
        let borrowed = borrow().or_else(|conflict| {
            // An earlier copy of the program may still have the memory. The order of the stream
            // makes this copy a valid one, so the borrow waits for the other.
            let Some(keeper) = self.keeper.get() else {
                return Err(conflict);
            };
            keeper.drop_passed();
            borrow().or_else(|_| {
                call!(
                    self.functions,
                    "cuStreamSynchronize(stream)",
                    cuStreamSynchronize(stream.number as CUstream)
                )?;
                // The earlier copy may be one of another stream that this one has waited for.
                keeper.drop_passed();
                borrow()
            })
        });
        let (start, kept) = borrowed?;
        Ok((address.unwrap_or(start), Some(kept)))
    }

    /// Takes a block out of the list.
    fn take(
        &self,
        call: &'static str,
        pointer: DevicePtr,
        is_meant: impl FnOnce(&Memory) -> bool,
    ) -> GpuResult<Block<Memory>> {
        self.blocks
            .remove(pointer, is_meant)
            .ok_or_else(|| GpuError::new(call, Status::INVALID_VALUE))
    }

    /// Waits for all work of a context, which may use memory that is about to be freed.
    fn drain(&self, context: &Context) -> GpuResult<()> {
        self.enter(context)?;
        real_call!(self.functions, "cuCtxSynchronize()", cuCtxSynchronize())
    }

    /// Calls `action` with the address on the host of pinned or registered memory, which is kept
    /// meanwhile.
    fn on_host(
        &self,
        access: &'static str,
        pointer: DevicePtr,
        num_bytes: usize,
        action: impl FnOnce(usize),
    ) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        let done = self
            .blocks
            .with(pointer, num_bytes, |start, block| match &block.kind {
                Memory::Pinned(_) => {
                    action(pointer.address() as usize);
                    true
                }
                // The device may know the memory under another address.
                Memory::Registered { host, .. } => {
                    action(host + (pointer.address() - start) as usize);
                    true
                }
                _ => false,
            });
        match done {
            Ok(true) => Ok(()),
            _ => Err(GpuError::new(CALL, Status::INVALID_VALUE)
                .with_details(format!("the memory cannot be {access} by the host"))),
        }
    }
}

impl MemoryCalls for CudaDriver {
    fn memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemAlloc(&ptr, size)", current)?;
        let mut pointer = 0;
        let result = call!(
            self.functions,
            "cuMemAlloc(&ptr, size)",
            cuMemAlloc_v2(&mut pointer, num_bytes)
        );
        match result {
            Err(error) if error.status == Status::OUT_OF_MEMORY => {
                return Err(GpuError::out_of_memory(
                    num_bytes,
                    self.memory_info(current).ok(),
                    context.device,
                ));
            }
            other => other?,
        }
        let pointer = DevicePtr::new(pointer);
        self.blocks
            .add(pointer, num_bytes, Memory::Device { _context: context });
        Ok(pointer)
    }

    fn memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        // The block keeps its context until the call has returned.
        let _block = self.take("cuMemFree(ptr)", pointer, |kind| {
            matches!(kind, Memory::Device { .. })
        })?;
        call!(
            self.functions,
            "cuMemFree(ptr)",
            cuMemFree_v2(pointer.address())
        )
    }

    fn known_block(&self, pointer: DevicePtr) -> Option<KnownBlock> {
        self.blocks.known(pointer)
    }

    fn memory_info(&self, _current: &Current) -> GpuResult<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        call!(
            self.functions,
            "cuMemGetInfo(&free, &total)",
            cuMemGetInfo_v2(&mut free, &mut total)
        )?;
        Ok((free, total))
    }

    fn host_memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemHostAlloc(&ptr, size, flags)", current)?;
        let mut memory: *mut c_void = ptr::null_mut();
        call!(
            self.functions,
            "cuMemHostAlloc(&ptr, size, flags)",
            cuMemHostAlloc(&mut memory, num_bytes, DEVICE_MAP)
        )?;
        // Reads of the host begin with what is written here.
        // SAFETY: the driver has just allocated so many bytes, which nobody else knows.
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, num_bytes) };
        let pointer = DevicePtr::new(memory as u64);
        self.blocks.add(pointer, num_bytes, Memory::Pinned(context));
        Ok(pointer)
    }

    fn host_memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        let block = self.take("cuMemFreeHost(ptr)", pointer, |kind| {
            matches!(kind, Memory::Pinned(_))
        })?;
        // A copy that is enqueued may still use the memory. A context that has failed does nothing
        // any more.
        if let Memory::Pinned(context) = &block.kind {
            let _ = self.drain(context);
        }
        call!(
            self.functions,
            "cuMemFreeHost(ptr)",
            cuMemFreeHost(pointer.address() as *mut c_void)
        )
    }

    fn host_memory_register(&self, current: &Current, buffer: &HostBuffer) -> GpuResult<DevicePtr> {
        let context = self.of("cuMemHostRegister(ptr, size, flags)", current)?;
        let memory = buffer.address() as *mut c_void;
        call!(
            self.functions,
            "cuMemHostRegister(ptr, size, flags)",
            cuMemHostRegister_v2(memory, buffer.len_bytes(), DEVICE_MAP)
        )?;
        let mut address = 0;
        let found = call!(
            self.functions,
            "cuMemHostGetDevicePointer(&address, ptr, flags)",
            cuMemHostGetDevicePointer_v2(&mut address, memory, 0)
        );
        if let Err(error) = found {
            // What was begun is taken back; its error would hide the first one.
            let _ = call!(
                self.functions,
                "cuMemHostUnregister(ptr)",
                cuMemHostUnregister(memory)
            );
            return Err(error);
        }
        let pointer = DevicePtr::new(address);
        let kind = Memory::Registered {
            context,
            buffer: buffer.clone(),
            host: buffer.address(),
        };
        self.blocks.add(pointer, buffer.len_bytes(), kind);
        Ok(pointer)
    }

    fn host_memory_unregister(&self, pointer: DevicePtr) -> GpuResult<()> {
        let block = self.take("cuMemHostUnregister(ptr)", pointer, |kind| {
            matches!(kind, Memory::Registered { .. })
        })?;
        let Memory::Registered {
            context,
            host,
            buffer,
        } = &block.kind
        else {
            return Ok(());
        };
        let _ = self.drain(context);
        let result = call!(
            self.functions,
            "cuMemHostUnregister(ptr)",
            cuMemHostUnregister(*host as *mut c_void)
        );
        if result.is_err() {
            // The driver may still know the pages, so that nobody else may have them.
            std::mem::forget(buffer.clone());
        }
        result
    }

    fn host_memory_read(&self, pointer: DevicePtr, bytes: &mut [u8]) -> GpuResult<()> {
        self.on_host("read", pointer, bytes.len(), |address| {
            // SAFETY: so many bytes of a block lie there, which stays while this runs. The device
            // may write them meanwhile: as with all memory that is shared with a device, the bytes
            // are then old or new.
            unsafe {
                ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), bytes.len())
            }
        })
    }

    fn host_memory_write(&self, pointer: DevicePtr, bytes: &[u8]) -> GpuResult<()> {
        self.on_host("written", pointer, bytes.len(), |address| {
            // SAFETY: as for reads.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) }
        })
    }

    fn copy_async(
        &self,
        _current: &Current,
        target: &CopyEndpoint,
        source: &CopyEndpoint,
        num_bytes: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        let stream = self.stream(COPY, stream)?;
        if let (CopyEndpoint::Device(target), CopyEndpoint::Device(source)) = (target, source)
            && self.blocks.is_in_plain_block(*target, num_bytes)
            && self.blocks.is_in_plain_block(*source, num_bytes)
        {
            return copy_plain(&stream, *target, *source, num_bytes);
        }
        if stream.in_capture(|_| ()).is_some() {
            let sides = [
                self.host_side(target, num_bytes)?,
                self.host_side(source, num_bytes)?,
            ];
            if sides.iter().any(|(buffer, _)| buffer.is_some()) {
                stream.in_capture(|capture| capture.refusal = Some(HOST_COPY));
                return Ok(());
            }
        }
        let (from, source) = self.side(&stream, source, num_bytes, false)?;
        let (to, target) = self.side(&stream, target, num_bytes, true)?;
        let result = call!(
            self.functions,
            "cuMemcpyAsync(dst, src, size, stream)",
            cuMemcpyAsync(to, from, num_bytes, stream.number as CUstream)
        );
        // Kept whatever the driver says: an error may be that of earlier work.
        if source.is_some() || target.is_some() {
            self.keep(&stream, Held::borrow(Box::new((source, target))));
        }
        result
    }

    fn set_u32_async(
        &self,
        _current: &Current,
        pointer: DevicePtr,
        value: u32,
        count: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemsetD32Async(ptr, value, count, stream)";
        let stream = self.stream(CALL, stream)?;
        let num_bytes = count
            .checked_mul(4)
            .ok_or_else(|| GpuError::new(CALL, Status::INVALID_VALUE))?;
        self.check_memory(CALL, pointer, num_bytes)?;
        set_plain(&stream, pointer, value, count)
    }
}

/// Copies between [plain](BlockKind::is_plain) blocks, which contain these bytes. Neither side
/// borrows host memory, so nothing has to be kept.
#[inline]
pub(super) fn copy_plain(
    stream: &Object,
    target: DevicePtr,
    source: DevicePtr,
    num_bytes: usize,
) -> GpuResult<()> {
    call!(
        stream.context.functions,
        "cuMemcpyAsync(dst, src, size, stream)",
        cuMemcpyAsync(
            target.address(),
            source.address(),
            num_bytes,
            stream.number as CUstream
        )
    )
}

/// Sets words of memory that the caller has a right to.
#[inline]
pub(super) fn set_plain(
    stream: &Object,
    pointer: DevicePtr,
    value: u32,
    count: usize,
) -> GpuResult<()> {
    call!(
        stream.context.functions,
        "cuMemsetD32Async(ptr, value, count, stream)",
        cuMemsetD32Async(pointer.address(), value, count, stream.number as CUstream)
    )
}

/// Borrows host memory for a copy. Returns its address, and the borrow.
fn borrow(mut buffer: HostBuffer, is_target: bool) -> GpuResult<(u64, Box<dyn Any + Send>)> {
    let conflict = |error: tfrt_tensor::TensorError| {
        GpuError::new(COPY, Status::INVALID_VALUE).with_details(error.to_string())
    };
    Ok(if is_target {
        let mut bytes = buffer.elements_mut_owned::<u8>().map_err(conflict)?;
        (bytes.as_mut_ptr() as u64, Box::new(bytes))
    } else {
        let bytes = buffer.elements_owned::<u8>().map_err(conflict)?;
        (bytes.as_ptr() as u64, Box::new(bytes))
    })
}

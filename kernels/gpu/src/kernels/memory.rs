//! Allocation, copies and fills.

use std::io::{self, Write};

use tfrt::prelude::*;
use tfrt_tensor::HostBuffer;

use super::op_verifiers;
use crate::api::driver::CopyEndpoint;
use crate::api::{DevicePtr, GpuError, Status};
use crate::values::memory::{Part, allocation_size};
use crate::values::{Allocator, Buffer, GpuAllocatorKind, GpuContext, Stream};

/// Makes an allocator of a context. By default, every buffer is an allocation of the driver; the
/// host may choose an allocator that uses memory again, in the order of streams.
///
/// # Errors
/// If the choice in the environment is malformed.
#[tfrt_kernel(
    "tfrt_gpu.allocator.create",
    pure,
    chain = none,
    results(allocator),
    format = "operands attr-dict",
)]
fn allocator_create(context: &GpuContext, host: &HostContext) -> Result<Allocator> {
    let kind = GpuAllocatorKind::of_host(host)?;
    Ok(Allocator::of_kind(context, kind))
}

/// Allocates a buffer whose bytes are not set.
///
/// # Errors
/// Those of the allocator: the default one refuses size 0, and reports a lack of memory with the
/// memory that is free.
#[tfrt_kernel(
    "tfrt_gpu.mem.allocate",
    results(buffer),
    format = "operands attr-dict"
)]
fn mem_allocate(
    allocator: &Allocator,
    stream: &Stream,
    size: i64,
    _in_chain: Chain,
) -> Result<Buffer> {
    allocator.allocate(allocation_size(size, "cuMemAlloc(&ptr, size)")?, stream)
}

/// Allocates pinned host memory, which host and device access at the same address.
#[tfrt_kernel(
    "tfrt_gpu.mem.allocate_host",
    results(buffer),
    format = "operands attr-dict"
)]
fn mem_allocate_host(context: &GpuContext, size: i64, _in_chain: Chain) -> Result<Buffer> {
    let num_bytes = allocation_size(size, "cuMemHostAlloc(&ptr, size, flags)")?;
    Buffer::pinned(context, num_bytes)
}

/// Frees the memory of a buffer and leaves it empty. Views of it keep the memory.
#[tfrt_kernel(
    "tfrt_gpu.mem.deallocate",
    results(out_chain),
    format = "operands attr-dict"
)]
fn mem_deallocate(buffer: &Buffer, _stream: &Stream, in_chain: Chain) -> Chain {
    buffer.deallocate();
    in_chain
}

/// One side of a copy.
enum Side<'v> {
    /// Memory of a device, which is kept meanwhile; none of an empty buffer.
    Device(Option<Part>),
    Host(&'v HostBuffer),
}

impl<'v> Side<'v> {
    fn of(value: &'v AnyRef) -> Result<Self> {
        if let Some(buffer) = value.get::<Buffer>() {
            return Ok(Self::Device(buffer.part()));
        }
        let host = value.get::<HostBuffer>().map(Self::Host);
        host.ok_or_else(|| {
            Error::new("expected a buffer of a GPU or of the host")
                .with_code(ErrorCode::InvalidArgument)
        })
    }

    fn num_bytes(&self) -> usize {
        match self {
            Self::Device(part) => part.as_ref().map_or(0, |part| part.num_bytes),
            Self::Host(buffer) => buffer.len_bytes(),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Device(part) => part.as_ref().map_or(0, |part| part.pointer.address()),
            Self::Host(buffer) => buffer.address() as u64,
        }
    }

    fn endpoint(&self) -> CopyEndpoint {
        match self {
            Self::Device(_) => CopyEndpoint::Device(DevicePtr::new(self.address())),
            Self::Host(buffer) => CopyEndpoint::Host((*buffer).clone()),
        }
    }
}

/// Copies a buffer. Both sides are kept until the copy is done.
///
/// # Errors
/// `Buffer sizes don't match: D (dst size) vs S (src size)`.
#[tfrt_kernel(
    "tfrt_gpu.mem.copy",
    results(out_chain),
    verify = op_verifiers::verify_copy,
    format = "operands attr-dict `:` type($dst) `,` type($src)"
)]
fn mem_copy(dst: &AnyRef, src: &AnyRef, stream: &Stream, in_chain: Chain) -> Result<Chain> {
    // Most copies are between buffers of the device.
    if let Some(dst) = dst.get::<Buffer>()
        && let Some(src) = src.get::<Buffer>()
    {
        copy_buffer(dst, src, stream)?;
    } else {
        copy_sides(&Side::of(dst)?, &Side::of(src)?, stream)?;
    }
    Ok(in_chain)
}

#[inline]
fn copy_buffer(dst: &Buffer, src: &Buffer, stream: &Stream) -> Result<()> {
    let Some(to) = dst.part() else {
        return copy_sides(&Side::Device(None), &Side::Device(src.part()), stream);
    };
    let Some(from) = src.part() else {
        return copy_sides(&Side::Device(Some(to)), &Side::Device(None), stream);
    };
    let num_bytes = to.num_bytes;
    if num_bytes != from.num_bytes {
        return Err(sizes_differ(num_bytes, from.num_bytes));
    }
    if num_bytes == 0 || to.pointer == from.pointer {
        return Ok(());
    }
    let current = stream.context().set_current()?;
    Ok(stream.copy(&current, &to, &from, num_bytes)?)
}

/// Does the work of [`mem_copy`] for any sides.
#[cold]
fn copy_sides(dst: &Side<'_>, src: &Side<'_>, stream: &Stream) -> Result<()> {
    let num_bytes = dst.num_bytes();
    if num_bytes != src.num_bytes() {
        return Err(sizes_differ(num_bytes, src.num_bytes()));
    }
    if num_bytes == 0 || dst.address() == src.address() {
        return Ok(());
    }
    let context = stream.context();
    let current = context.set_current()?;
    let (dst, src) = (dst.endpoint(), src.endpoint());
    let driver = &context.gpu().driver;
    Ok(driver.copy_async(&current, &dst, &src, num_bytes, stream.handle())?)
}

#[cold]
fn sizes_differ(dst: usize, src: usize) -> Error {
    let text = format!("Buffer sizes don't match: {dst} (dst size) vs {src} (src size)");
    Error::new(text).with_code(ErrorCode::InvalidArgument)
}

/// Fills a buffer with copies of a value of 32 bits. Up to three bytes at the end stay as they are.
///
/// # Errors
/// `Expected 32 bit value.`
#[tfrt_kernel(
    "tfrt_gpu.mem.set",
    results(out_chain),
    format = "operands attr-dict `:` last-type($buffer, $value)"
)]
fn mem_set(buffer: &Buffer, value: &AnyRef, stream: &Stream, in_chain: Chain) -> Result<Chain> {
    let bits = value
        .get::<i32>()
        .map(|value| value.cast_unsigned())
        .or_else(|| value.get::<u32>().copied())
        .or_else(|| value.get::<f32>().map(|value| value.to_bits()))
        .ok_or_else(|| {
            Error::new("Expected 32 bit value.").with_code(ErrorCode::InvalidArgument)
        })?;
    // The memory is kept until the driver has the work.
    if let Some(part) = buffer.part()
        && let count @ 1.. = part.num_bytes / 4
    {
        let current = stream.context().set_current()?;
        stream.set_u32(&current, &part, bits, count)?;
    }
    Ok(in_chain)
}

/// Page-locks a host buffer, and returns it as a buffer of the device.
#[tfrt_kernel(
    "tfrt_gpu.mem.register",
    chain = none,
    results(buffer),
    format = "operands attr-dict",
)]
fn mem_register(context: &GpuContext, host_buffer: &HostBuffer) -> Result<Buffer> {
    Buffer::register(context, host_buffer)
}

/// Returns a part of a buffer, which shares its memory.
///
/// # Errors
/// `buffer size (B) is smaller than offset (O) plus size (S)`.
#[tfrt_kernel(
    "tfrt_gpu.mem.view",
    pure,
    chain = none,
    results(view),
    format = "operands attr-dict",
)]
fn mem_view(buffer: &Buffer, offset: u64, size: u64) -> Result<Buffer> {
    buffer.view(offset, size)
}

/// Reads the first value in pinned or registered memory, on the host.
///
/// # Errors
/// `unsupported type`; that of the driver for device memory.
#[tfrt_kernel(
    "tfrt_gpu.mem.load",
    raw,
    operands(buffer: Buffer, in_chain: Chain),
    attrs(r#type: DType),
    results(value: any),
    verify = op_verifiers::verify_load,
    format = "operands attr-dict `:` shared-type($type, $value)"
)]
fn mem_load(frame: &mut KernelFrame<'_>) -> Result<()> {
    let dtype = frame.attribute::<DType>(0)?;
    let buffer = frame.argument(0);
    let Some(buffer) = buffer.get::<Buffer>() else {
        return Err(Error::new("expected a buffer of a GPU"));
    };
    let value = load(buffer, dtype)?;
    frame.set_result(0, value);
    Ok(())
}

fn load(buffer: &Buffer, dtype: DType) -> Result<AnyRef> {
    let num_bytes = match dtype {
        DType::I1 => 1,
        DType::I32 => 4,
        _ => {
            return Err(Error::new("unsupported type").with_code(ErrorCode::InvalidArgument));
        }
    };
    let Some(context) = buffer.context() else {
        let error = GpuError::new("cuPointerGetAttribute(ptr)", Status::INVALID_VALUE);
        return Err(error.into());
    };
    let pointer = buffer.with_room("buffer", Some(num_bytes))?;
    let mut bytes = [0; 4];
    let driver = &context.gpu().driver;
    driver.host_memory_read(pointer, &mut bytes[..num_bytes])?;
    Ok(match dtype {
        DType::I1 => AnyRef::available(bytes[0] != 0),
        _ => AnyRef::available(i32::from_le_bytes(bytes)),
    })
}

/// Prints address and size of a buffer, without an end of the line.
#[tfrt_kernel(
    "tfrt_gpu.mem.print_metadata",
    results(out_chain),
    format = "operands attr-dict"
)]
fn mem_print_metadata(buffer: &Buffer, in_chain: Chain) -> Result<Chain> {
    print(&buffer.to_string())?;
    Ok(in_chain)
}

/// Writes to standard output, at once.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Error::new(format!("cannot print: {error}")))
}

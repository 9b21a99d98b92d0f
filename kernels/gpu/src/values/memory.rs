//! Memory that a device can access, its buffers, and its allocators.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tfrt::prelude::*;
use tfrt_tensor::HostBuffer;

use super::allocator_kind::GpuAllocatorKind;
use super::stream_ordered::{PooledBlock, StreamAllocator};
use super::{GpuContext, GpuModule, Stream, lock, log_failure};
use crate::api::driver::{CopyEndpoint, Driver};
use crate::api::known::{KnownBlock, KnownBytes};
use crate::api::{DevicePtr, GpuResult, Status};
use crate::platform::Gpu;

/// A block of memory, which is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    pointer: DevicePtr,
    origin: Origin,
    /// The block that it is in, once a call has asked the driver.
    known: OnceLock<Option<KnownBlock>>,
}

/// The origin of a block.
#[derive(Debug)]
enum Origin {
    /// `cuMemAlloc`.
    Device(GpuContext),
    /// The pool of pinned memory; the size of the whole block.
    Pinned(GpuContext, usize),
    /// An allocator in the order of streams, which gets it back.
    Pooled(PooledBlock),
    /// A registered host buffer.
    Registered(GpuContext),
    /// A module, which contains it.
    Global { module: GpuModule },
    /// Another owner, which frees it later.
    Adopted,
}

impl Memory {
    #[cold]
    fn find_known(&self, gpu: &Gpu) -> &Option<KnownBlock> {
        self.known
            .get_or_init(|| gpu.driver.known_block(self.pointer))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Origin::Pooled(block) = &self.origin {
            return block.give_back(self.pointer);
        }
        let (Origin::Device(context) | Origin::Pinned(context, _) | Origin::Registered(context)) =
            &self.origin
        else {
            return;
        };
        let driver = &context.gpu().driver;
        let freed = context
            .set_current()
            .and_then(|_current| match self.origin {
                Origin::Device(_) => driver.memory_free(self.pointer),
                Origin::Registered(_) => driver.host_memory_unregister(self.pointer),
                Origin::Pinned(_, num_bytes) => {
                    context.pool().give_back(self.pointer, num_bytes);
                    Ok(())
                }
                Origin::Pooled(_) | Origin::Global { .. } | Origin::Adopted => Ok(()),
            });
        log_failure(freed);
    }
}

/// The source of buffers.
#[derive(Clone, Debug, Value)]
#[value("!tfrt_gpu.allocator")]
pub struct Allocator {
    context: GpuContext,
    /// Reuses memory, unless every buffer is an allocation of the driver.
    pool: Option<StreamAllocator>,
}

impl Allocator {
    /// Returns the default allocator of a context: each buffer is an allocation of the driver.
    #[must_use]
    pub fn new(context: &GpuContext) -> Self {
        Self {
            context: context.clone(),
            pool: None,
        }
    }

    /// Creates an allocator of a kind.
    #[must_use]
    pub fn of_kind(context: &GpuContext, kind: GpuAllocatorKind) -> Self {
        Self {
            context: context.clone(),
            pool: match kind {
                GpuAllocatorKind::Driver => None,
                GpuAllocatorKind::StreamOrdered => Some(StreamAllocator::new(context)),
            },
        }
    }

    /// Allocates a buffer whose bytes are not set. The stream, on which other allocators order
    /// their memory, does not matter; it may be of another context.
    ///
    /// # Errors
    /// Those of the driver, for instance of size 0.
    pub fn allocate(&self, num_bytes: usize, stream: &Stream) -> Result<Buffer> {
        if let Some(pool) = &self.pool {
            return pool.allocate(num_bytes, stream);
        }
        let current = self.context.set_current()?;
        let driver = &self.context.gpu().driver;
        let pointer = driver.memory_allocate(&current, num_bytes)?;
        Ok(Buffer::new(
            pointer,
            num_bytes,
            Origin::Device(self.context.clone()),
        ))
    }
}

/// Some bytes that a device reaches: device memory, pinned or registered host memory, a global of a
/// module, or a part of these.
#[derive(Debug, Value)]
#[value("!tfrt_gpu.buffer")]
pub struct Buffer {
    pointer: DevicePtr,
    num_bytes: usize,
    /// Whether the buffer is empty. It is set before the memory is given up.
    is_deallocated: AtomicBool,
    /// The memory, for calls, which keep it meanwhile.
    memory: Weak<Memory>,
    /// Keeps the memory until the buffer is deallocated.
    owned: Mutex<Option<Arc<Memory>>>,
}

/// A part of a block of memory.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) pointer: DevicePtr,
    pub(crate) num_bytes: usize,
    memory: Arc<Memory>,
}

impl Part {
    /// Returns the context that the memory belongs to; none for memory of the embedder.
    pub(super) fn context(&self) -> Option<GpuContext> {
        match &self.memory.origin {
            Origin::Device(context) | Origin::Pinned(context, _) | Origin::Registered(context) => {
                Some(context.clone())
            }
            Origin::Global { module } => Some(module.context().clone()),
            Origin::Pooled(block) => Some(block.context().clone()),
            Origin::Adopted => None,
        }
    }

    /// Returns the part as one side of a copy.
    pub(crate) fn endpoint(&self) -> CopyEndpoint {
        CopyEndpoint::Device(self.pointer)
    }

    /// Returns the part as bytes of a block that the driver knows, if it does. The first driver
    /// that is asked decides this; another one will not know the block.
    #[inline]
    pub(crate) fn known(&self, gpu: &Gpu) -> Option<KnownBytes<'_>> {
        let memory = &*self.memory;
        let known = match memory.known.get() {
            Some(known) => known,
            None => memory.find_known(gpu),
        };
        let (block, pointer) = (known.as_ref()?, self.pointer);
        Some(KnownBytes { block, pointer })
    }
}

impl Buffer {
    fn new(pointer: DevicePtr, num_bytes: usize, origin: Origin) -> Self {
        Self::of_part(Part {
            pointer,
            num_bytes,
            memory: Arc::new(Memory {
                pointer,
                origin,
                known: OnceLock::new(),
            }),
        })
    }

    fn of_part(part: Part) -> Self {
        Self {
            pointer: part.pointer,
            num_bytes: part.num_bytes,
            is_deallocated: AtomicBool::new(false),
            memory: Arc::downgrade(&part.memory),
            owned: Mutex::new(Some(part.memory)),
        }
    }

    /// Returns a buffer that is deallocated.
    fn empty() -> Self {
        Self {
            pointer: DevicePtr::NULL,
            num_bytes: 0,
            is_deallocated: AtomicBool::new(true),
            memory: Weak::new(),
            owned: Mutex::default(),
        }
    }

    /// Returns `true` unless the buffer was deallocated.
    #[inline]
    fn has_memory(&self) -> bool {
        // ordering: a call that runs meanwhile may find the buffer empty or not.
        !self.is_deallocated.load(Ordering::Relaxed)
    }

    /// Creates a buffer of memory that an allocator in the order of streams gets back.
    pub(super) fn pooled(pointer: DevicePtr, num_bytes: usize, block: PooledBlock) -> Self {
        Self::new(pointer, num_bytes, Origin::Pooled(block))
    }

    /// Creates a buffer without bytes, at no address.
    pub(super) fn without_bytes() -> Self {
        Self::new(DevicePtr::NULL, 0, Origin::Adopted)
    }

    /// Wraps memory of the embedder, which must outlive the buffer and all work on it.
    #[must_use]
    pub fn adopt(pointer: DevicePtr, num_bytes: usize) -> Self {
        Self::new(pointer, num_bytes, Origin::Adopted)
    }

    /// Creates a block of pinned host memory, which the device accesses at the same address.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn pinned(context: &GpuContext, num_bytes: usize) -> Result<Self> {
        let (pointer, block_bytes) = context.pool().take(context, num_bytes)?;
        Ok(Self::new(
            pointer,
            num_bytes,
            Origin::Pinned(context.clone(), block_bytes),
        ))
    }

    /// Page-locks a host buffer.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn register(context: &GpuContext, buffer: &HostBuffer) -> Result<Self> {
        let current = context.set_current()?;
        let pointer = context
            .gpu()
            .driver
            .host_memory_register(&current, buffer)?;
        Ok(Self::new(
            pointer,
            buffer.len_bytes(),
            Origin::Registered(context.clone()),
        ))
    }

    /// Creates a global of a module.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn global(module: &GpuModule, name: &str) -> Result<Self> {
        let driver = &module.context().gpu().driver;
        let (pointer, num_bytes) = driver.module_global(module.handle(), name)?;
        Ok(Self::new(
            pointer,
            num_bytes,
            Origin::Global {
                module: module.clone(),
            },
        ))
    }

    /// Returns a part of the buffer, which keeps the memory even if the buffer is deallocated.
    ///
    /// # Errors
    /// `buffer size (B) is smaller than offset (O) plus size (S)`.
    pub fn view(&self, offset: u64, size: u64) -> Result<Self> {
        let whole = self.part();
        let num_bytes = whole.as_ref().map_or(0, |part| part.num_bytes);
        let is_inside = offset
            .checked_add(size)
            .is_some_and(|end| usize::try_from(end).is_ok_and(|end| end <= num_bytes));
        if !is_inside {
            return Err(Error::new(format!(
                "buffer size ({num_bytes}) is smaller than offset ({offset}) plus size ({size})"
            ))
            .with_code(ErrorCode::OutOfRange));
        }
        let part = |part: Part| Part {
            pointer: part.pointer.offset(offset),
            num_bytes: size as usize,
            memory: part.memory,
        };
        Ok(whole.map_or_else(Self::empty, |whole| Self::of_part(part(whole))))
    }

    /// Frees the memory before the buffer is dropped, and leaves it empty. Views keep theirs.
    pub fn deallocate(&self) {
        // ordering: as for the load.
        self.is_deallocated.store(true, Ordering::Relaxed);
        let owned = lock(&self.owned).take();
        // Freeing waits for work that may use the memory, and other kernels may look at the buffer
        // meanwhile.
        drop(owned);
    }

    /// Returns the address and the size, and what keeps them; none of an empty buffer.
    #[inline]
    pub(crate) fn part(&self) -> Option<Part> {
        if !self.has_memory() {
            return None;
        }
        Some(Part {
            pointer: self.pointer,
            num_bytes: self.num_bytes,
            // Views may keep the memory of a buffer that is deallocated meanwhile.
            memory: self.memory.upgrade()?,
        })
    }

    /// Returns the context that the memory belongs to; none of an empty buffer and of memory of the
    /// embedder.
    #[must_use]
    pub fn context(&self) -> Option<GpuContext> {
        self.part()?.context()
    }

    /// Returns the address; null of an empty buffer.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        match self.has_memory() {
            true => self.pointer,
            false => DevicePtr::NULL,
        }
    }

    /// Returns the size; 0 of an empty buffer.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        match self.has_memory() {
            true => self.num_bytes,
            false => 0,
        }
    }

    /// Returns the address, if the buffer has at least this many bytes.
    ///
    /// # Errors
    /// The error for an operand of a call that is too small.
    pub(crate) fn with_room(&self, what: &str, wanted: Option<usize>) -> Result<DevicePtr> {
        let part = self.part();
        let found = part.as_ref().map_or(0, |part| part.num_bytes);
        match wanted {
            Some(wanted) if wanted <= found => {
                Ok(part.map_or(DevicePtr::NULL, |part| part.pointer))
            }
            Some(wanted) => Err(Error::new(format!(
                "buffer `{what}` has {found} bytes, but the call uses {wanted}"
            ))
            .with_code(ErrorCode::OutOfRange)),
            None => Err(
                Error::new(format!("the sizes of `{what}` are negative or too large"))
                    .with_code(ErrorCode::InvalidArgument),
            ),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pointer, num_bytes) = (self.pointer(), self.num_bytes());
        write!(f, "GpuBuffer<pointer={pointer}, size={num_bytes}>")
    }
}

/// The pinned host memory of a context that is not in use.
#[derive(Debug, Default)]
pub(super) struct Pool {
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    free: Vec<(usize, DevicePtr)>,
    /// Whether work that was enqueued before may still use one of them.
    may_be_in_use: bool,
}

impl Pool {
    /// Returns the smallest free block of at least `num_bytes`, and at most four times as much, or
    /// a new one; and its size.
    fn take(&self, context: &GpuContext, num_bytes: usize) -> Result<(DevicePtr, usize)> {
        let current = context.set_current()?;
        let driver = &context.gpu().driver;
        if num_bytes == 0 {
            return Ok((DevicePtr::NULL, 0));
        }
        let mut blocks = lock(&self.blocks);
        let fits = |size: usize| size >= num_bytes && size / 4 <= num_bytes;
        let candidates = blocks.free.iter().enumerate();
        let best = candidates
            .filter(|(_, (size, _))| fits(*size))
            .min_by_key(|(_, (size, _))| *size)
            .map(|(index, _)| index);
        let Some(index) = best else {
            drop(blocks);
            let pointer = driver.host_memory_allocate(&current, num_bytes)?;
            return Ok((pointer, num_bytes));
        };
        if blocks.may_be_in_use {
            driver.context_synchronize(&current)?;
            blocks.may_be_in_use = false;
        }
        let (size, pointer) = blocks.free.swap_remove(index);
        Ok((pointer, size))
    }

    fn give_back(&self, pointer: DevicePtr, num_bytes: usize) {
        if num_bytes != 0 {
            let mut blocks = lock(&self.blocks);
            blocks.free.push((num_bytes, pointer));
            blocks.may_be_in_use = true;
        }
    }

    /// Frees all blocks, with the context current.
    pub(super) fn free_all(&self, driver: &dyn Driver) -> GpuResult<()> {
        let blocks = std::mem::take(&mut lock(&self.blocks).free);
        blocks
            .into_iter()
            .map(|(_, pointer)| driver.host_memory_free(pointer))
            .fold(Ok(()), Result::and)
    }
}

/// Returns the size of an allocation of a program by this call.
///
/// # Errors
/// That of the call, if the size is negative.
pub(crate) fn allocation_size(size: i64, call: &'static str) -> Result<usize> {
    usize::try_from(size).map_err(|_| crate::api::GpuError::new(call, Status::INVALID_VALUE).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_device::{HostDevice, Options};
    use crate::values::GpuDevice;

    #[test]
    fn a_buffer_that_was_deallocated_is_empty_while_its_views_are_not() {
        let gpu = HostDevice::open(Options::default());
        gpu.driver.init().unwrap();
        let id = gpu.driver.device(0).unwrap();
        let context = GpuContext::primary(&GpuDevice { gpu, id }).unwrap();
        let current = context.set_current().unwrap();
        let driver = &context.gpu().driver;
        let stream = Stream::new(&context, driver.stream_create(&current).unwrap());
        let buffer = Allocator::new(&context).allocate(64, &stream).unwrap();
        let (pointer, view) = (buffer.pointer(), buffer.view(16, 32).unwrap());
        let extent = |buffer: &Buffer| (buffer.pointer(), buffer.num_bytes());
        assert_eq!(extent(&buffer), (pointer, 64));
        assert_eq!(extent(&view), (pointer.offset(16), 32));
        buffer.deallocate();
        assert_eq!(extent(&buffer), (DevicePtr::NULL, 0));
        assert!(buffer.part().is_none() && buffer.context().is_none());
        assert_eq!(extent(&buffer.view(0, 0).unwrap()), (DevicePtr::NULL, 0));
        assert!(buffer.view(0, 1).is_err());
        // The view keeps the memory, and a call keeps that of the view.
        let part = view.part().unwrap();
        view.deallocate();
        let is_there = || driver.set_u32_async(&current, part.pointer, 7, 8, stream.handle());
        assert_eq!(is_there(), Ok(()));
        assert!(view.part().is_none());
        let pointer = part.pointer;
        drop(part);
        let freed = driver.set_u32_async(&current, pointer, 7, 8, stream.handle());
        assert!(freed.is_err() || stream.synchronize().is_err());
    }
}

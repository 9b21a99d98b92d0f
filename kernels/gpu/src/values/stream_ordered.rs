//! Device memory in the order of streams.
//!
//! ```text
//!  allocate(size, stream) ──► free block of this stream? ─yes─► used again at once
//!                                   │ no
//!                             free block of another stream? ─yes─► used once its stream got here
//!                                   │ no
//!                             cuMemAlloc
//! ```
//!
//! A stream does its work in order. So memory that was given back can be used again on its stream
//! without waiting: new work comes after the old. For another stream, the allocator records an
//! event on the stream of the block and makes the other one wait for it; this is the only
//! synchronization that it inserts, and no thread of the host waits.
//!
//! Memory belongs to the stream that it was allocated on. A program that uses it on another stream
//! orders the two itself, before the first use and before it drops the buffer.
//!
//! The eager device uses this allocator. The kernel `tfrt_gpu.allocator.create` does so if the host
//! has chosen it: see [`GpuAllocatorKind`](super::GpuAllocatorKind).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use tfrt::prelude::*;

use super::memory::Buffer;
use super::{Event, GpuContext, Stream, lock, log_failure};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

/// Sizes of blocks are multiples of this.
const BLOCK_BYTES: usize = 256;

/// A free block is used for requests of at least this part of it.
const MAX_WASTE: usize = 2;

/// Allocates device memory, and keeps what is given back for later requests.
///
/// ```
/// use tfrt_gpu::eager::EagerGpu;
/// use tfrt_gpu::host_device::{HostDevice, Options};
///
/// let gpu = EagerGpu::open(&HostDevice::open(Options::default()), 0)?;
/// let allocator = gpu.allocator();
/// let first = allocator.allocate(1000, gpu.stream())?.pointer();
/// // The buffer is gone, and its memory is used again.
/// let second = allocator.allocate(900, gpu.stream())?;
/// assert_eq!(second.pointer(), first);
/// let stats = allocator.stats();
/// assert_eq!((stats.allocations, stats.reuses, stats.used_bytes), (1, 1, 1024));
/// # Ok::<(), tfrt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamAllocator(Arc<Pool>);

/// A hint about how long a buffer lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// For a step or so. The buffer may take a free block that is larger than needed, which is soon
    /// free again.
    #[default]
    Short,
    /// For many steps, as weights do. The buffer takes a free block only if nothing of it is
    /// wasted.
    Long,
}

/// What a [`StreamAllocator`] has done, and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamAllocatorStats {
    /// The number of allocations of the driver.
    pub allocations: u64,
    /// The number of requests that a block was used again for.
    pub reuses: u64,
    /// The number of those that had to wait for another stream.
    pub waits: u64,
    /// The bytes of blocks in use.
    pub used_bytes: usize,
    /// The bytes of blocks that are kept for later requests.
    pub free_bytes: usize,
}

#[derive(Debug)]
struct Pool {
    context: GpuContext,
    /// The most bytes of all blocks.
    max_bytes: usize,
    state: Mutex<State>,
    /// Held while free blocks are given back to the driver: whoever needs their bytes waits here.
    freeing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Free blocks by their size, those of a size in the order in which they came back.
    free: BTreeMap<usize, Vec<FreeBlock>>,
    stats: StreamAllocatorStats,
}

#[derive(Debug)]
struct FreeBlock {
    pointer: DevicePtr,
    /// All work that may use the block is on this stream.
    stream: Stream,
}

/// A block in use, and the pool that it returns to.
#[derive(Debug)]
pub(super) struct PooledBlock {
    pool: Arc<Pool>,
    num_bytes: usize,
    stream: Stream,
}

impl PooledBlock {
    /// Keeps the block for later requests. Never calls the driver.
    pub(super) fn give_back(&self, pointer: DevicePtr) {
        let stream = self.stream.clone();
        let mut state = lock(&self.pool.state);
        state.stats.used_bytes -= self.num_bytes;
        state.stats.free_bytes += self.num_bytes;
        let blocks = state.free.entry(self.num_bytes).or_default();
        blocks.push(FreeBlock { pointer, stream });
    }

    pub(super) fn context(&self) -> &GpuContext {
        &self.pool.context
    }
}

impl StreamAllocator {
    /// Creates an allocator for streams of a context, without a limit of its own.
    #[must_use]
    pub fn new(context: &GpuContext) -> Self {
        Self::with_limit(context, usize::MAX)
    }

    /// Creates an allocator whose blocks take at most `max_bytes`.
    #[must_use]
    pub fn with_limit(context: &GpuContext, max_bytes: usize) -> Self {
        Self(Arc::new(Pool {
            context: context.clone(),
            max_bytes,
            state: Mutex::default(),
            freeing: Mutex::default(),
        }))
    }

    /// Allocates a buffer for work on a stream. Its bytes are not set. Size 0 gives a buffer at no
    /// address.
    ///
    /// # Errors
    /// Those of the driver. If memory is short, free blocks are given back to the driver first.
    pub fn allocate(&self, num_bytes: usize, stream: &Stream) -> Result<Buffer> {
        self.allocate_for(Lifetime::Short, num_bytes, stream)
    }

    /// Allocates a buffer like [`allocate`](Self::allocate), with a hint about its lifetime.
    ///
    /// ```
    /// use tfrt_gpu::eager::EagerGpu;
    /// use tfrt_gpu::host_device::{HostDevice, Options};
    /// use tfrt_gpu::values::Lifetime;
    ///
    /// let gpu = EagerGpu::open(&HostDevice::open(Options::default()), 0)?;
    /// drop(gpu.allocator().allocate(1000, gpu.stream())?);
    /// // The free block of 1024 bytes is larger than needed, and stays free for others.
    /// let weights = gpu.allocator().allocate_for(Lifetime::Long, 600, gpu.stream())?;
    /// assert_eq!(gpu.allocator().stats().free_bytes, 1024);
    /// # drop(weights);
    /// # Ok::<(), tfrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `allocate`.
    pub fn allocate_for(
        &self,
        lifetime: Lifetime,
        num_bytes: usize,
        stream: &Stream,
    ) -> Result<Buffer> {
        let current = stream.enter(&self.0.context)?;
        if num_bytes == 0 {
            return Ok(Buffer::without_bytes());
        }
        let block_bytes = num_bytes
            .checked_next_multiple_of(BLOCK_BYTES)
            .ok_or_else(|| GpuError::new("cuMemAlloc(&ptr, size)", Status::OUT_OF_MEMORY))?;
        let most = match lifetime {
            Lifetime::Short => block_bytes.saturating_mul(MAX_WASTE),
            Lifetime::Long => block_bytes,
        };
        let (pointer, block_bytes) = match self.0.take(block_bytes..=most, stream, &current)? {
            Some(found) => found,
            None => (self.0.allocate(block_bytes, &current)?, block_bytes),
        };
        let block = PooledBlock {
            pool: Arc::clone(&self.0),
            num_bytes: block_bytes,
            stream: stream.clone(),
        };
        Ok(Buffer::pooled(pointer, num_bytes, block))
    }

    /// Gives all free blocks back to the driver, which waits for the work that uses them.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn clear(&self) -> Result<()> {
        let current = self.0.context.set_current()?;
        Ok(self.0.free_all(&current)?)
    }

    /// Returns what the allocator has done, and holds.
    #[must_use]
    pub fn stats(&self) -> StreamAllocatorStats {
        lock(&self.0.state).stats
    }
}

impl Pool {
    /// Takes the smallest free block whose size is in a range: first one of the stream, then one of
    /// another stream, which the stream then waits for.
    fn take(
        &self,
        num_bytes: RangeInclusive<usize>,
        stream: &Stream,
        current: &Current,
    ) -> GpuResult<Option<(DevicePtr, usize)>> {
        let mut state = lock(&self.state);
        let is_own = |block: &FreeBlock| block.stream.handle() == stream.handle();
        let mut own = None;
        let mut foreign = None;
        for (&size, blocks) in state.free.range(num_bytes) {
            // The one that came back first, whose stream is furthest past it.
            own = blocks.iter().position(is_own).map(|index| (size, index));
            if own.is_some() {
                break;
            }
            foreign = foreign.or((!blocks.is_empty()).then_some((size, 0)));
        }
        let Some((size, index)) = own.or(foreign) else {
            return Ok(None);
        };
        let blocks = state.free.entry(size).or_default();
        let block = blocks.remove(index);
        if blocks.is_empty() {
            state.free.remove(&size);
        }
        state.stats.reuses += 1;
        state.stats.free_bytes -= size;
        state.stats.used_bytes += size;
        if own.is_some() {
            return Ok(Some((block.pointer, size)));
        }
        state.stats.waits += 1;
        drop(state);
        if let Err(error) = self.wait_for(&block, stream, current) {
            let mut state = lock(&self.state);
            state.stats.reuses -= 1;
            state.stats.waits -= 1;
            state.stats.used_bytes -= size;
            state.stats.free_bytes += size;
            state.free.entry(size).or_default().push(block);
            return Err(error);
        }
        Ok(Some((block.pointer, size)))
    }

    /// Makes a stream wait for all work that may use a block.
    fn wait_for(&self, block: &FreeBlock, stream: &Stream, current: &Current) -> GpuResult<()> {
        let driver = &self.context.gpu().driver;
        let event = Event::new(&self.context, driver.event_create(current, false)?);
        driver.event_record(event.handle(), block.stream.handle())?;
        driver.stream_wait_event(stream.handle(), event.handle())
    }

    /// Allocates a block from the driver.
    fn allocate(&self, num_bytes: usize, current: &Current) -> GpuResult<DevicePtr> {
        if !self.reserve(num_bytes) {
            self.free_all(current)?;
            if !self.reserve(num_bytes) {
                let used = lock(&self.state).stats.used_bytes;
                let info = Some((self.max_bytes.saturating_sub(used), self.max_bytes));
                let device = self.context.device().id.0;
                return Err(GpuError::out_of_memory(num_bytes, info, device));
            }
        }
        let driver = &self.context.gpu().driver;
        let allocated = match driver.memory_allocate(current, num_bytes) {
            Err(error) if error.status == Status::OUT_OF_MEMORY => self
                .free_all(current)
                .and_then(|()| driver.memory_allocate(current, num_bytes)),
            allocated => allocated,
        };
        let mut state = lock(&self.state);
        match &allocated {
            Ok(_) => state.stats.allocations += 1,
            Err(_) => state.stats.used_bytes -= num_bytes,
        }
        allocated
    }

    /// Counts bytes as used that are about to be allocated, if the limit allows it. So two threads
    /// cannot both take the last bytes.
    fn reserve(&self, num_bytes: usize) -> bool {
        let mut state = lock(&self.state);
        let stats = &mut state.stats;
        let held = stats.used_bytes.saturating_add(stats.free_bytes);
        let is_within = num_bytes <= self.max_bytes.saturating_sub(held);
        if is_within {
            stats.used_bytes += num_bytes;
        }
        is_within
    }

    /// Frees every free block.
    fn free_all(&self, _current: &Current) -> GpuResult<()> {
        let _turn = lock(&self.freeing);
        let free = std::mem::take(&mut lock(&self.state).free);
        let driver = &self.context.gpu().driver;
        let mut outcome = Ok(());
        for (num_bytes, blocks) in free {
            for block in blocks {
                outcome = outcome.and(driver.memory_free(block.pointer));
                // Only now may others have the bytes.
                lock(&self.state).stats.free_bytes -= num_bytes;
            }
        }
        outcome
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let freed = self
            .context
            .set_current()
            .and_then(|current| self.free_all(&current));
        log_failure(freed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_device::{HostDevice, Options};
    use crate::values::GpuDevice;

    /// Returns a context of a host device on which a call fails, and two streams of it.
    fn streams(failures: &[(&str, u64, u32)]) -> (GpuContext, [Stream; 2]) {
        let failures = failures.iter();
        let failures = failures.map(|&(name, count, status)| (name.to_owned(), count, status));
        let gpu = HostDevice::open(Options {
            failures: failures.collect(),
            memory_bytes: 1 << 20,
            ..Options::default()
        });
        gpu.driver.init().unwrap();
        let id = gpu.driver.device(0).unwrap();
        let context = GpuContext::primary(&GpuDevice { gpu, id }).unwrap();
        let current = context.set_current().unwrap();
        let driver = &context.gpu().driver;
        let stream = || Stream::new(&context, driver.stream_create(&current).unwrap());
        let streams = [stream(), stream()];
        (context, streams)
    }

    #[test]
    fn memory_is_used_again_in_the_order_of_streams() {
        let (context, [first, second]) = streams(&[]);
        let allocator = StreamAllocator::new(&context);
        let pointer = |num_bytes, stream| allocator.allocate(num_bytes, stream).unwrap().pointer();
        let block = pointer(1000, &first);
        // The same stream: at once, if the block is not much too large.
        assert_eq!(pointer(600, &first), block);
        assert_eq!(allocator.stats().waits, 0);
        let small = allocator.allocate(256, &first).unwrap();
        assert_ne!(small.pointer(), block);
        // Another stream waits for the one that had the block, which then belongs to it.
        assert_eq!(pointer(1000, &second), block);
        assert_eq!(pointer(1000, &second), block);
        let stats = allocator.stats();
        assert_eq!((stats.allocations, stats.reuses, stats.waits), (2, 3, 1));
        assert_eq!((stats.used_bytes, stats.free_bytes), (256, 1024));
        drop(small);
        allocator.clear().unwrap();
        let stats = allocator.stats();
        assert_eq!((stats.used_bytes, stats.free_bytes), (0, 0));
        let nothing = allocator.allocate(0, &first).unwrap();
        assert!(nothing.pointer().is_null() && nothing.num_bytes() == 0);
        assert_eq!(allocator.stats(), stats);
    }

    #[test]
    fn a_block_of_a_stream_that_cannot_be_waited_for_stays_free() {
        for function in ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"] {
            let (context, [first, second]) = streams(&[(function, 1, 1)]);
            let allocator = StreamAllocator::new(&context);
            let block = allocator.allocate(512, &first).unwrap().pointer();
            let before = allocator.stats();
            let error = allocator.allocate(512, &second).unwrap_err();
            assert!(error.message().contains(function), "{error}");
            assert_eq!(allocator.stats(), before, "{function}");
            assert_eq!(allocator.allocate(512, &second).unwrap().pointer(), block);
        }
    }

    #[test]
    fn free_blocks_are_given_back_when_memory_is_short() {
        let (context, [stream, _]) = streams(&[]);
        // The device has a mebibyte, and the allocator may use three quarters of it.
        for (allocator, expected) in [
            (StreamAllocator::new(&context), "Out of memory"),
            (
                StreamAllocator::with_limit(&context, 768 << 10),
                "Out of memory trying to allocate 800.0KiB (768.0KiB of 768.0KiB available)",
            ),
        ] {
            drop(allocator.allocate(300 << 10, &stream).unwrap());
            assert_eq!(allocator.stats().free_bytes, 300 << 10);
            let large = allocator.allocate(760 << 10, &stream).unwrap();
            assert_eq!(allocator.stats().free_bytes, 0);
            drop(large);
            let asked = if expected.contains("800") { 800 } else { 2000 };
            let error = allocator.allocate(asked << 10, &stream).unwrap_err();
            assert!(error.message().starts_with(expected), "{error}");
            assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        }
        let error = StreamAllocator::new(&context).allocate(usize::MAX, &stream);
        assert!(error.is_err());
    }
}

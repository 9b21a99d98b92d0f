//! Pinned memory on the way between tensors of the host and memory of the device.
//!
//! The driver may wait for the device before it copies pageable memory, and so for members that
//! never come; the thread of a member must not. It waits neither for a block to be used again, as a
//! block comes back once the work that used it is done, nor for one to be freed: another thread
//! does that. So the memory is not that of the context's pool, which waits.

use std::collections::VecDeque;

use tfrt_gpu::api::DevicePtr;
use tfrt_gpu::values::{GpuContext, Stream};
use tfrt_host::log;
use tfrt_support::Error;

/// The most bytes of a member that wait to be used again.
const MAX_IDLE_BYTES: usize = 256 << 20;

/// The pinned memory of a member.
#[derive(Debug)]
pub(crate) struct Staging {
    stream: Stream,
    /// Blocks whose work is done, the oldest first.
    idle: VecDeque<Block>,
    idle_bytes: usize,
    max_idle_bytes: usize,
}

/// A block of pinned memory for work of a stream.
#[derive(Debug)]
pub(crate) struct Block {
    /// Nothing, once it is dropped.
    memory: Option<Pinned>,
    stream: Stream,
}

/// Pinned memory, which is freed when it is dropped.
#[derive(Debug)]
struct Pinned {
    context: GpuContext,
    pointer: DevicePtr,
    num_bytes: usize,
}

impl Staging {
    /// Creates memory for work of a stream.
    pub(crate) fn new(stream: &Stream) -> Self {
        Self {
            stream: stream.clone(),
            idle: VecDeque::new(),
            idle_bytes: 0,
            max_idle_bytes: MAX_IDLE_BYTES,
        }
    }

    /// Returns a block of at least so many bytes.
    pub(crate) fn take(&mut self, num_bytes: usize) -> Result<Block, Error> {
        let size = rounded(num_bytes);
        let idle = self.idle.iter().position(|block| block.num_bytes() == size);
        if let Some(block) = idle.and_then(|index| self.idle.remove(index)) {
            self.idle_bytes -= size;
            return Ok(block);
        }
        let context = self.stream.context();
        let current = context.set_current()?;
        let pointer = context.gpu().driver.host_memory_allocate(&current, size)?;
        Ok(Block {
            memory: Some(Pinned {
                context: context.clone(),
                pointer,
                num_bytes: size,
            }),
            stream: self.stream.clone(),
        })
    }

    /// Takes back blocks whose work is done.
    pub(crate) fn give_back(&mut self, blocks: impl IntoIterator<Item = Block>) {
        for block in blocks {
            self.idle_bytes += block.num_bytes();
            self.idle.push_back(block);
        }
        // Sizes that are used no more are the oldest.
        while self.idle_bytes > self.max_idle_bytes
            && let Some(block) = self.idle.pop_front()
        {
            self.idle_bytes -= block.num_bytes();
        }
    }
}

/// Returns the size of the block for so many bytes: one of few sizes, so that blocks fit again, and
/// at most a quarter more.
fn rounded(num_bytes: usize) -> usize {
    let power = num_bytes.checked_next_power_of_two().unwrap_or(num_bytes);
    let step = (power / 8).max(64);
    num_bytes
        .checked_next_multiple_of(step)
        .unwrap_or(num_bytes)
}

impl Block {
    pub(crate) fn pointer(&self) -> DevicePtr {
        let memory = self.memory.as_ref();
        memory.map_or(DevicePtr::NULL, |memory| memory.pointer)
    }

    fn num_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.num_bytes)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else {
            return;
        };
        // Work of the stream may use it, after an error, and freeing may wait for the device.
        let driver = &self.stream.context().gpu().driver;
        let kept = driver.keep_until_passed(self.stream.handle(), Box::new(memory));
        if let Err(error) = kept {
            log::error!("{error}");
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let driver = &self.context.gpu().driver;
        let current = self.context.set_current();
        let freed = current.and_then(|_current| driver.host_memory_free(self.pointer));
        if let Err(error) = freed {
            log::error!("{error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use tfrt_gpu::api::ccl::Collective;
    use tfrt_gpu::eager::EagerGpu;
    use tfrt_gpu::host_device::{HostDevice, Options};
    use tfrt_gpu::values::Buffer;

    use super::*;

    #[test]
    fn memory_is_taken_and_dropped_while_the_device_waits_for_a_member() {
        let host_device = HostDevice::new(Options::default());
        let gpu = HostDevice::gpu(&host_device);
        let device = EagerGpu::open(&gpu, 0).unwrap();
        let (context, stream) = (device.context(), device.stream());
        let current = context.set_current().unwrap();
        let id = gpu.ccl.unique_id().unwrap();
        let comms = [0, 1].map(|rank| gpu.ccl.begin_init_rank(&current, rank, 2, &id).unwrap());
        let buffer = device.allocator().allocate(64, stream).unwrap();
        let gather = Collective::Receive {
            buffer: buffer.pointer(),
            count: 64,
            data_type: 1,
            peer: 1,
        };
        // The pool of the context has a block that work may use.
        drop(Buffer::pinned(context, 64).unwrap());
        // Member 1 never comes.
        gpu.ccl
            .group(&current, comms[0], &[gather], stream.handle())
            .unwrap();
        let mut staging = Staging::new(stream);
        let taken = [0, 1].map(|_| staging.take(64).unwrap());
        let dropped = staging.take(64).unwrap();
        let live = host_device.num_live();
        drop(dropped);
        staging.give_back(taken);
        // Nothing has waited for the device.
        assert!(!gpu.driver.stream_query(stream.handle()).unwrap());
        assert_eq!(host_device.num_live(), live, "the stream may use the block");
        gpu.ccl.abort(comms[0]).unwrap();
        gpu.ccl.abort(comms[1]).unwrap();
        stream.synchronize().unwrap();
        // The communicators are gone, and another thread frees the block.
        while host_device.num_live() > live - 3 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn few_bytes_wait_to_be_used_again() {
        let gpu = HostDevice::open(Options::default());
        let device = EagerGpu::open(&gpu, 0).unwrap();
        let mut staging = Staging::new(device.stream());
        let kept = 1 << 10;
        staging.max_idle_bytes = 4 * kept;
        let blocks = [64, kept, kept, kept, kept].map(|size| staging.take(size).unwrap());
        let pointers: Vec<_> = blocks.iter().map(Block::pointer).collect();
        staging.give_back(blocks);
        assert_eq!(staging.idle_bytes, 4 * kept);
        let again: Vec<_> = (0..4).map(|_| staging.take(kept - 1).unwrap()).collect();
        let found: Vec<_> = again.iter().map(Block::pointer).collect();
        assert_eq!(found, pointers[1..], "the oldest block was freed");
        staging.give_back(again);
        let too_large = staging.take(5 * kept).unwrap();
        staging.give_back([too_large]);
        assert_eq!((staging.idle_bytes, staging.idle.len()), (0, 0));
    }

    #[test]
    fn blocks_have_few_sizes_close_to_what_is_needed() {
        let mut sizes = std::collections::BTreeSet::new();
        for num_bytes in 512..=4096 {
            let size = rounded(num_bytes);
            assert!(
                (num_bytes..=num_bytes * 5 / 4).contains(&size),
                "{num_bytes}"
            );
            sizes.insert(size);
        }
        assert_eq!(sizes.len(), 13);
        assert_eq!(
            [1, 64, 65, usize::MAX].map(rounded),
            [64, 64, 128, usize::MAX]
        );
    }
}

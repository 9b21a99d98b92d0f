//! Pinned memory on the way of large tensors.
//!
//! The driver stages copies of pageable memory through its own pinned memory while the calling
//! thread waits. Large copies bring their own: a few blocks of pinned memory, each used again once
//! the copy that used it last is done.

use std::sync::Mutex;

use tfrt::prelude::*;

use crate::api::driver::CopyEndpoint;
use crate::api::{Current, DevicePtr, GpuResult};
use crate::values::{Buffer, Event, GpuContext, Stream, lock};

/// Copies of more bytes go through pinned memory.
pub(super) const MAX_DIRECT_BYTES: usize = 64 << 10;

/// The bytes of a block.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// The number of blocks.
pub(super) const NUM_BLOCKS: usize = 4;

/// The blocks of pinned memory of a device.
#[derive(Debug)]
pub(super) struct Staging {
    context: GpuContext,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that nobody fills, least recently used first.
    idle: Vec<Block>,
    /// The number of blocks that come back here, without those of [`Staging::take_and_wait`] beyond
    /// the limit.
    num_blocks: usize,
}

/// A block that its holder may fill, once its last copy is done.
#[derive(Debug)]
pub(super) struct Block {
    buffer: Buffer,
    /// Recorded after the last copy.
    copied: Event,
    /// Whether it is one beyond the limit, which is dropped after its use.
    is_extra: bool,
}

impl Staging {
    pub(super) fn new(context: &GpuContext) -> Self {
        Self {
            context: context.clone(),
            state: Mutex::default(),
        }
    }

    /// Returns enough blocks for `num_bytes` if they are free now.
    pub(super) fn take_at_once(&self, num_bytes: usize) -> Result<Option<Vec<Block>>> {
        let wanted = num_bytes.div_ceil(BLOCK_BYTES);
        let driver = &self.context.gpu().driver;
        let mut taken = Vec::new();
        while taken.len() < wanted {
            let block = match self.take() {
                Ok(Some(block)) => block,
                none_or_error => {
                    taken.into_iter().for_each(|block| self.give_back(block));
                    return none_or_error.map(|_| None);
                }
            };
            let is_done = driver.event_query(block.copied.handle());
            if !matches!(is_done, Ok(true)) {
                taken.push(block);
                taken.into_iter().for_each(|block| self.give_back(block));
                is_done?;
                return Ok(None);
            }
            taken.push(block);
        }
        Ok(Some(taken))
    }

    /// Returns a block, after waiting for its last copy. If others hold all blocks, makes one more,
    /// which is dropped after its use.
    pub(super) fn take_and_wait(&self) -> Result<Block> {
        let Some(block) = self.take()? else {
            return self.new_block(true);
        };
        let driver = &self.context.gpu().driver;
        match driver.event_synchronize(block.copied.handle()) {
            Ok(()) => Ok(block),
            Err(error) => {
                self.give_back(block);
                Err(error.into())
            }
        }
    }

    /// Takes the least recently used block, or makes one, if there are fewer than the limit.
    fn take(&self) -> Result<Option<Block>> {
        let mut state = lock(&self.state);
        if state.num_blocks < NUM_BLOCKS {
            state.num_blocks += 1;
            drop(state);
            let made = self.new_block(false);
            if made.is_err() {
                lock(&self.state).num_blocks -= 1;
            }
            return made.map(Some);
        }
        Ok((!state.idle.is_empty()).then(|| state.idle.remove(0)))
    }

    fn new_block(&self, is_extra: bool) -> Result<Block> {
        let buffer = Buffer::pinned(&self.context, BLOCK_BYTES)?;
        let current = self.context.set_current()?;
        let driver = &self.context.gpu().driver;
        let copied = Event::new(&self.context, driver.event_create(&current, false)?);
        Ok(Block {
            buffer,
            copied,
            is_extra,
        })
    }

    /// Makes a block available to others once its last copy is done.
    pub(super) fn give_back(&self, block: Block) {
        if !block.is_extra {
            lock(&self.state).idle.push(block);
        }
    }

    /// Drops a block whose last copy has failed: the copy may be enqueued without the event behind
    /// it. The pool of pinned memory waits for the device before it uses the memory again.
    pub(super) fn give_up(&self, block: Block) {
        if !block.is_extra {
            lock(&self.state).num_blocks -= 1;
        }
    }

    /// Returns the number of idle blocks, and of all that come back.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.idle.len(), state.num_blocks)
    }
}

impl Block {
    /// Fills the block from the host, and enqueues the copy to the device.
    pub(super) fn upload(
        &self,
        current: &Current,
        bytes: &[u8],
        target: DevicePtr,
        stream: &Stream,
    ) -> GpuResult<()> {
        let driver = &stream.context().gpu().driver;
        driver.host_memory_write(self.buffer.pointer(), bytes)?;
        self.copy(current, target, self.buffer.pointer(), bytes.len(), stream)
    }

    /// Enqueues the copy from the device into the block.
    pub(super) fn download(
        &self,
        current: &Current,
        source: DevicePtr,
        num_bytes: usize,
        stream: &Stream,
    ) -> GpuResult<()> {
        self.copy(current, self.buffer.pointer(), source, num_bytes, stream)
    }

    fn copy(
        &self,
        current: &Current,
        target: DevicePtr,
        source: DevicePtr,
        num_bytes: usize,
        stream: &Stream,
    ) -> GpuResult<()> {
        let driver = &stream.context().gpu().driver;
        let (target, source) = (CopyEndpoint::Device(target), CopyEndpoint::Device(source));
        driver.copy_async(current, &target, &source, num_bytes, stream.handle())?;
        driver.event_record(self.copied.handle(), stream.handle())
    }

    /// Waits for the copy into the block, and reads it.
    pub(super) fn read(&self, bytes: &mut [u8]) -> GpuResult<()> {
        let driver = &self.copied.context().gpu().driver;
        driver.event_synchronize(self.copied.handle())?;
        driver.host_memory_read(self.buffer.pointer(), bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::eager::EagerGpu;
    use crate::host_device::{HostDevice, Options};

    use super::*;

    #[test]
    fn a_block_whose_copy_has_no_event_is_given_up() {
        let options = Options {
            failures: vec![("cuEventRecord".to_owned(), 1, 700)],
            ..Options::default()
        };
        let gpu = EagerGpu::open(&HostDevice::open(options), 0).unwrap();
        let target = gpu.allocator().allocate(8, gpu.stream()).unwrap();
        let current = gpu.context().set_current().unwrap();
        let upload =
            |block: &Block| block.upload(&current, &[1; 8], target.pointer(), gpu.stream());
        let staging = gpu.staging();
        let block = staging.take_and_wait().unwrap();
        assert!(upload(&block).is_err());
        staging.give_up(block);
        assert_eq!(staging.counts(), (0, 0));
        let blocks = staging.take_at_once(NUM_BLOCKS * BLOCK_BYTES).unwrap();
        let blocks = blocks.expect("nobody holds a block");
        // One beyond the limit is not counted, whichever way it goes.
        for is_given_up in [false, true] {
            let extra = staging.take_and_wait().unwrap();
            assert!(upload(&extra).is_ok());
            match is_given_up {
                true => staging.give_up(extra),
                false => staging.give_back(extra),
            }
            assert_eq!(staging.counts(), (0, NUM_BLOCKS));
        }
        blocks
            .into_iter()
            .for_each(|block| staging.give_back(block));
        assert_eq!(staging.counts(), (NUM_BLOCKS, NUM_BLOCKS));
    }

    #[test]
    fn blocks_taken_before_a_failure_are_given_back() {
        let options = Options {
            failures: vec![("cuEventCreate".to_owned(), 3, 2)],
            ..Options::default()
        };
        let gpu = EagerGpu::open(&HostDevice::open(options), 0).unwrap();
        let staging = gpu.staging();
        assert!(staging.take_at_once(NUM_BLOCKS * BLOCK_BYTES).is_err());
        assert_eq!(staging.counts(), (2, 2));
        // The device is usable again.
        let blocks = staging.take_at_once(NUM_BLOCKS * BLOCK_BYTES).unwrap();
        assert_eq!(blocks.map(|blocks| blocks.len()), Some(NUM_BLOCKS));
    }
}

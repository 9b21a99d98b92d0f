//! Pinned memory on the way of large tensors.
//!
//! A device copies from and to pageable memory only by way of pinned memory, which the driver then
//! looks for while the calling thread waits. Large copies bring their own: a few blocks of pinned
//! memory, each used again once the copy that used it last is done.

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
    /// Blocks that nobody fills, those that were used first at the front.
    idle: Vec<Block>,
    num_blocks: usize,
}

/// A block that its holder may fill, once its last copy is done.
#[derive(Debug)]
pub(super) struct Block {
    buffer: Buffer,
    /// Recorded after the last copy.
    copied: Event,
}

impl Staging {
    pub(super) fn new(context: &GpuContext) -> Self {
        Self {
            context: context.clone(),
            state: Mutex::default(),
        }
    }

    /// Returns blocks for `num_bytes` that nobody has to wait for; `None` if there are not enough.
    pub(super) fn take_at_once(&self, num_bytes: usize) -> Result<Option<Vec<Block>>> {
        let wanted = num_bytes.div_ceil(BLOCK_BYTES);
        let driver = &self.context.gpu().driver;
        let mut taken = Vec::new();
        while taken.len() < wanted {
            let Some(block) = self.take()? else {
                taken.into_iter().for_each(|block| self.give_back(block));
                return Ok(None);
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
            return self.new_block();
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

    /// Takes the block that was used first, or makes one, if there are fewer than the limit.
    fn take(&self) -> Result<Option<Block>> {
        let mut state = lock(&self.state);
        if state.num_blocks < NUM_BLOCKS {
            state.num_blocks += 1;
            drop(state);
            let made = self.new_block();
            if made.is_err() {
                lock(&self.state).num_blocks -= 1;
            }
            return made.map(Some);
        }
        Ok((!state.idle.is_empty()).then(|| state.idle.remove(0)))
    }

    fn new_block(&self) -> Result<Block> {
        let buffer = Buffer::pinned(&self.context, BLOCK_BYTES)?;
        let current = self.context.set_current()?;
        let driver = &self.context.gpu().driver;
        let copied = Event::new(&self.context, driver.event_create(&current, false)?);
        Ok(Block { buffer, copied })
    }

    /// Makes a block available to others.
    pub(super) fn give_back(&self, block: Block) {
        let mut state = lock(&self.state);
        if state.idle.len() < NUM_BLOCKS {
            state.idle.push(block);
        }
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

//! Pinned memory on the way between tensors of the host and memory of the device.
//!
//! The driver may wait for the device before it copies pageable memory, and so for members that
//! never come; the thread of a member must not. Nor does it wait for a block to be used again: a
//! block comes back once the work that used it is done.

use tfrt_gpu::values::{Buffer, GpuContext};
use tfrt_support::Error;

/// The pinned memory of a member.
#[derive(Debug)]
pub(crate) struct Staging {
    context: GpuContext,
    /// Blocks whose work is done.
    idle: Vec<Buffer>,
}

impl Staging {
    pub(crate) fn new(context: &GpuContext) -> Self {
        Self {
            context: context.clone(),
            idle: Vec::new(),
        }
    }

    /// Returns a block of at least so many bytes.
    pub(crate) fn take(&mut self, num_bytes: usize) -> Result<Buffer, Error> {
        // Few sizes, so that blocks fit again.
        let size = num_bytes.checked_next_power_of_two().unwrap_or(num_bytes);
        let idle = self.idle.iter().position(|block| block.num_bytes() == size);
        match idle {
            Some(index) => Ok(self.idle.swap_remove(index)),
            None => Buffer::pinned(&self.context, size),
        }
    }

    /// Takes back blocks whose work is done.
    pub(crate) fn give_back(&mut self, blocks: impl IntoIterator<Item = Buffer>) {
        self.idle.extend(blocks);
    }
}

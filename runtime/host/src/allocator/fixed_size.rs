//! An allocator with a small capacity, to test what happens when memory runs out.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::{HostAllocator, Malloc};
use crate::log;

/// Requests of at most this many bytes are not counted, so that tests see tensors and not bookkeeping.
const MAX_UNCOUNTED_BYTES: usize = 32;

/// The system heap, up to a capacity. Logs what it hands out and what it refuses.
#[derive(Debug)]
pub struct FixedSizeAllocator {
    remaining_bytes: Mutex<usize>,
}

impl FixedSizeAllocator {
    /// An allocator of `capacity_bytes` in all.
    #[must_use]
    pub fn new(capacity_bytes: usize) -> Self {
        Self {
            remaining_bytes: Mutex::new(capacity_bytes),
        }
    }

    /// Counts what is about to be handed out; whether there is so much.
    fn take(&self, size: usize) -> bool {
        if size > MAX_UNCOUNTED_BYTES {
            let mut remaining = self
                .remaining_bytes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let Some(rest) = remaining.checked_sub(size) else {
                log::error!(
                    "Attempted to allocate {size} bytes. However current capacity is only {remaining}."
                );
                return false;
            };
            *remaining = rest;
            log::info!("Allocating {size} bytes. {rest} remaining.");
        }
        true
    }
}

// SAFETY: memory is that of `Malloc`, which keeps the promise; counting does not touch it.
unsafe impl HostAllocator for FixedSizeAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take(layout.size()).then_some(())?;
        Malloc.allocate(layout)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take(layout.size()).then_some(())?;
        Malloc.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        let size = layout.size();
        if size > MAX_UNCOUNTED_BYTES {
            let mut remaining = self
                .remaining_bytes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *remaining += size;
            log::info!("Freeing {size} bytes. {remaining} available.");
        }
        // SAFETY: the caller's duties are those of `Malloc`, where the memory came from.
        unsafe { Malloc.deallocate(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_capacity_are_refused() {
        let allocator = FixedSizeAllocator::new(100);
        let layout = Layout::from_size_align(64, 8).unwrap();
        let first = allocator.allocate(layout).unwrap();
        assert!(allocator.allocate(layout).is_none());
        // SAFETY: it came from this allocator with this layout, and it is not used any more.
        unsafe { allocator.deallocate(first, layout) };
        let second = allocator.allocate(layout).unwrap();
        // SAFETY: as above.
        unsafe { allocator.deallocate(second, layout) };
    }
}

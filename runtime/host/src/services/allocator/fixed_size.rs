//! An allocator with a small capacity, to test exhausted memory.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::{HostAllocator, Malloc};
use crate::log;

/// Requests of at most this size are not counted, so tests observe tensors and not bookkeeping.
const MAX_UNCOUNTED_BYTES: usize = 32;

/// The system heap, up to a capacity. Logs what it allocates and refuses.
#[derive(Debug)]
pub struct FixedSizeAllocator {
    remaining_bytes: Mutex<usize>,
}

impl FixedSizeAllocator {
    /// Creates an allocator of `capacity_bytes` in total.
    #[must_use]
    pub fn new(capacity_bytes: usize) -> Self {
        Self {
            remaining_bytes: Mutex::new(capacity_bytes),
        }
    }

    /// Counts an allocation. Returns `false` if it exceeds the remaining capacity.
    fn take(&self, size: usize) -> bool {
        if size > MAX_UNCOUNTED_BYTES {
            let mut remaining = self
                .remaining_bytes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let Some(rest) = remaining.checked_sub(size) else {
                log::error!(
                    "Attempted to allocate {size} bytes. However current capacity is only \
                     {remaining}."
                );
                return false;
            };
            *remaining = rest;
            log::info!("Allocating {size} bytes. {rest} remaining.");
        }
        true
    }
}

// SAFETY: the memory is that of `Malloc`, which keeps the guarantee; counting does not access it.
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
        // SAFETY: the caller's duties are those of `Malloc`, from which the memory came.
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
        // SAFETY: the memory came from this allocator with this layout, and is not used afterwards.
        unsafe { allocator.deallocate(first, layout) };
        let second = allocator.allocate(layout).unwrap();
        // SAFETY: as above.
        unsafe { allocator.deallocate(second, layout) };
    }
}

//! The system heap.

use std::alloc::Layout;
use std::ptr::NonNull;

use tfrt_async::pool;

use super::HostAllocator;

/// The system heap, through the global allocator. Threads keep small freed blocks for reuse. Counts
/// nothing.
///
/// A small block may be up to twice as large as requested, and a thread keeps up to 32 KiB of each
/// size. Neither is charged to a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Malloc;

impl Malloc {
    /// Returns the layout that is actually requested: the global allocator accepts no zero sizes.
    #[inline]
    fn real(layout: Layout) -> Layout {
        if layout.size() == 0 {
            Layout::from_size_align(1, layout.align()).unwrap_or(layout)
        } else {
            layout
        }
    }
}

// SAFETY: the pool provides what `HostAllocator` guarantees for every layout with a non-zero size,
// and `real` requests no other.
unsafe impl HostAllocator for Malloc {
    #[inline]
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        pool::allocate(Self::real(layout))
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        pool::allocate_zeroed(Self::real(layout))
    }

    #[inline]
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: duties 1 and 2: `memory` came from the pool with this layout and is freed once.
        unsafe { pool::deallocate(memory, Self::real(layout)) }
    }

    fn charge_pooled(&self, _num_bytes: usize) -> bool {
        true
    }

    fn is_malloc(&self) -> bool {
        true
    }
}

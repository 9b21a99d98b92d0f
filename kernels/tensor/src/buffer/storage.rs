//! Allocations that are shared by reference count.
//!
//! ```text
//!  drawn from an allocator:   ┌─ Header (64 bytes) ─┬─ data ───────────┐   one block, aligned as the data is
//!                             └─────────────────────┴──────────────────┘
//!  lent by an owner:          ┌─ Header ────────────┐    ┌─ data ──────┐   the header keeps the owner
//!                             └─────────────────────┘    └─────────────┘
//! ```
//!
//! Invariant H1: a handle owns one count of the header; the header, its origin and the data live until the last one is
//! dropped. Upheld by `new_handle`, `Clone` and `Drop`.
#![expect(unsafe_code, reason = "owns raw memory")]

use std::alloc::Layout;
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use tfrt_host::allocator::{HostAllocator, Malloc};

use super::borrow::Borrows;
use crate::error::TensorError;

/// Where data starts behind its header, and how it is aligned at least: a cache line, and the widest vector register.
pub(super) const MIN_ALIGN_BYTES: usize = 64;

/// What precedes the data, or stands for it.
#[repr(C, align(64))]
struct Header {
    owners: AtomicUsize,
    borrows: Borrows,
    origin: Origin,
}

const _: () = assert!(size_of::<Header>() == MIN_ALIGN_BYTES);

/// Where the memory came from, and goes back to.
enum Origin {
    /// Header and data are a block of this layout.
    Block {
        allocator: Arc<dyn HostAllocator>,
        layout: Layout,
    },
    /// The data is the owner's; the header is a block of the system heap.
    Owner(NonNull<dyn Any + Send + Sync>),
}

/// A handle of an allocation.
pub(super) struct Storage {
    header: NonNull<Header>,
}

// SAFETY: the header is shared by atomics and by a lock; the origin is read only, but for its end, which the last handle
// brings about, on whatever thread: allocators and owners are `Send` and `Sync`. The data is behind `Borrows`.
unsafe impl Send for Storage {}

// SAFETY: as for `Send`.
unsafe impl Sync for Storage {}

impl Storage {
    /// Memory of this size and alignment, not initialised, and where it starts. The alignment is a power of two.
    pub(super) fn allocate(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Result<(Self, NonNull<u8>), TensorError> {
        let out_of_memory = TensorError::OutOfMemory { size_bytes };
        let data_offset = align_bytes.max(MIN_ALIGN_BYTES);
        let layout = data_offset
            .checked_add(size_bytes)
            .and_then(|size| Layout::from_size_align(size, data_offset).ok())
            .ok_or(out_of_memory.clone())?;
        let block = allocator.allocate(layout).ok_or(out_of_memory)?;
        let origin = Origin::Block {
            allocator: Arc::clone(allocator),
            layout,
        };
        // SAFETY: 1: the block is at least `data_offset` bytes, which a header takes at most, and aligned to them. 2: it is ours.
        let storage = unsafe { Self::new_handle(block.cast(), origin) };
        // SAFETY: the block has `data_offset` bytes and more.
        Ok((storage, unsafe { block.add(data_offset) }))
    }

    /// The bytes of an owner, which lives as long as any handle.
    pub(super) fn lend<O>(owner: O) -> Result<(Self, NonNull<[u8]>), TensorError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let layout = Layout::new::<Header>();
        let block = Malloc.allocate(layout).ok_or(TensorError::OutOfMemory {
            size_bytes: layout.size(),
        })?;
        let owner = NonNull::from(Box::leak(Box::new(owner)));
        // SAFETY: just leaked, and not shared yet; from now on it is only ever shared, until `Drop` takes it back.
        let bytes = NonNull::from(unsafe { owner.as_ref() }.as_ref());
        let owner: NonNull<dyn Any + Send + Sync> = owner;
        // SAFETY: 1: the layout is that of a header. 2: the block is ours.
        let storage = unsafe { Self::new_handle(block.cast(), Origin::Owner(owner)) };
        Ok((storage, bytes))
    }

    /// The first handle of an allocation.
    ///
    /// # Safety
    /// 1. `header` is valid for writes of a header, and aligned.
    /// 2. It belongs to the caller, and is given away.
    unsafe fn new_handle(header: NonNull<Header>, origin: Origin) -> Self {
        let value = Header {
            owners: AtomicUsize::new(1),
            borrows: Borrows::default(),
            origin,
        };
        // SAFETY: duty 1.
        unsafe { header.write(value) };
        Self { header }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: H1.
        unsafe { self.header.as_ref() }
    }

    /// Who uses the data.
    #[inline]
    pub(super) fn borrows(&self) -> &Borrows {
        &self.header().borrows
    }

    /// Whether the data may be written: it came from an allocator.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        matches!(self.header().origin, Origin::Block { .. })
    }

    /// Whether this is the only handle.
    #[inline]
    pub(super) fn is_unique(&self) -> bool {
        // Acquire pairs with the release in `drop`: what other handles did has happened.
        self.header().owners.load(Ordering::Acquire) == 1
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: who clones has a handle, and the new one is handed to others by means that order it.
        let before = self.header().owners.fetch_add(1, Ordering::Relaxed);
        assert!(
            before <= isize::MAX as usize,
            "a buffer has more handles than there can be"
        );
        Self {
            header: self.header,
        }
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the fence below: all uses through this handle come before the end.
        if self.header().owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        fence(Ordering::Acquire);
        // SAFETY: H1: this was the last handle, and the header is initialised.
        let header = unsafe { self.header.read() };
        match header.origin {
            Origin::Block { allocator, layout } => {
                // SAFETY: 1: the header starts the block, which came from this allocator with this layout. 2: H1.
                unsafe { allocator.deallocate(self.header.cast(), layout) };
            }
            Origin::Owner(owner) => {
                // SAFETY: it was leaked from a box by `lend`, and H1.
                drop(unsafe { Box::from_raw(owner.as_ptr()) });
                // SAFETY: 1: `lend` asked `Malloc` for this layout. 2: H1.
                unsafe { Malloc.deallocate(self.header.cast(), Layout::new::<Header>()) };
            }
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("owners", &self.header().owners)
            .field("borrows", &self.header().borrows)
            .finish_non_exhaustive()
    }
}

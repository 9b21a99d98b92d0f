//! Allocators for the runtime's larger memory.
//!
//! A [`HostAllocator`] is chosen once per host. It provides executor state and tensor buffers;
//! small runtime objects may bypass it. All implementations use the system heap; they differ in
//! the allocations that they count, refuse, and keep for reuse.
#![expect(unsafe_code, reason = "hands out raw memory")]

mod arena;
mod fixed_size;
mod malloc;
mod profiled;
mod request_memory;

use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

pub use arena::{ArenaAllocator, ArenaStatistics};
pub use fixed_size::FixedSizeAllocator;
pub use malloc::Malloc;
pub use profiled::{AllocatorProfile, LeakCheckAllocator, ProfiledAllocator};
pub use request_memory::RequestMemory;

/// Allocates and frees memory. Safe to call from any thread.
///
/// # Safety
/// An implementor guarantees that the memory returned by [`allocate`](Self::allocate),
/// [`allocate_zeroed`](Self::allocate_zeroed) and
/// [`allocate_initialized`](Self::allocate_initialized) is valid for reads and writes of the
/// layout's size, is aligned as requested, and belongs exclusively to the caller until it is freed;
/// and that all bytes of the latter two are initialised.
pub unsafe trait HostAllocator: Send + Sync + fmt::Debug {
    /// Returns uninitialised memory of `layout`, or `None` if none is available. The size may be
    /// zero.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Returns zeroed memory of `layout`, or `None` if none is available. Large memory may come
    /// directly from the system, so that unused parts are never touched.
    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let memory = self.allocate(layout)?;
        // SAFETY: `allocate` returned memory that is valid for writes of this size.
        unsafe { memory.write_bytes(0, layout.size()) };
        Some(memory)
    }

    /// Returns memory of `layout` whose bytes are initialised, but have unspecified values, or
    /// `None` if none is available. For memory that is written before it is read: an allocator
    /// that keeps memory for reuse does not clear it.
    fn allocate_initialized(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate_zeroed(layout)
    }

    /// Frees memory.
    ///
    /// # Safety
    /// 1. `memory` came from [`allocate`](Self::allocate),
    ///    [`allocate_zeroed`](Self::allocate_zeroed) or
    ///    [`allocate_initialized`](Self::allocate_initialized) of this allocator, with exactly this
    ///    `layout`.
    /// 2. It is released once and not used afterwards.
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout);

    /// Frees memory whose bytes are still initialised if they were initialised before. An allocator
    /// that keeps memory for reuse need not clear it.
    ///
    /// # Safety
    /// 1. and 2. as for [`deallocate`](Self::deallocate).
    /// 3. Only initialised bytes were written to the memory: no padding.
    unsafe fn deallocate_initialized(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: 1 and 2 are the duties of the caller.
        unsafe { self.deallocate(memory, layout) }
    }

    /// Returns the counts, for allocators that count.
    fn profile(&self) -> Option<AllocatorProfile> {
        None
    }

    /// Charges bytes that the caller takes from the [pool](tfrt_async::pool) itself, as if it had
    /// asked for them here. Returns `false` without doing anything if the memory of the allocator
    /// does not come from there, or if the bytes would exceed a limit.
    #[doc(hidden)]
    fn charge_pooled(&self, num_bytes: usize) -> bool {
        let _ = num_bytes;
        false
    }

    /// Releases bytes that were [charged](Self::charge_pooled).
    #[doc(hidden)]
    fn release_pooled(&self, num_bytes: usize) {
        let _ = num_bytes;
    }

    /// Returns `true` if [`Malloc`] may be used in place of the allocator.
    #[doc(hidden)]
    fn is_malloc(&self) -> bool {
        false
    }
}

/// The allocators that a driver offers by name.
///
/// ```
/// use tfrt_host::allocator::AllocatorKind;
///
/// let kind = AllocatorKind::from_name("malloc").unwrap();
/// assert_eq!(kind.banner(), "Choosing malloc.");
/// let allocator = kind.create();
/// assert!(allocator.profile().is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocatorKind {
    /// The system heap.
    Malloc,
    /// At most 1024 bytes in total, for tests.
    FixedSize1k,
    /// Counts allocations and prints the counts at the end.
    Profiled,
    /// Counts allocations and fails the run if any are left at the end.
    #[default]
    LeakCheck,
}

impl AllocatorKind {
    /// Every kind, in the order of help texts.
    pub const ALL: [Self; 4] = [
        Self::Malloc,
        Self::FixedSize1k,
        Self::Profiled,
        Self::LeakCheck,
    ];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::FixedSize1k => "test_fixed_size_1k",
            Self::Profiled => "profiled_allocator",
            Self::LeakCheck => "leak_check_allocator",
        }
    }

    /// Returns the kind with this command-line name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the line that a driver prints when it chooses this kind.
    #[must_use]
    pub const fn banner(self) -> &'static str {
        match self {
            Self::Malloc => "Choosing malloc.",
            Self::FixedSize1k => "Choosing fixed size malloc.",
            Self::Profiled => "Choosing profiled allocator based on malloc.",
            Self::LeakCheck => "Choosing memory leak check allocator.",
        }
    }

    /// Creates an allocator of this kind.
    #[must_use]
    pub fn create(self) -> Arc<dyn HostAllocator> {
        match self {
            Self::Malloc => Arc::new(Malloc),
            Self::FixedSize1k => Arc::new(FixedSizeAllocator::new(1024)),
            Self::Profiled => Arc::new(ProfiledAllocator::default()),
            Self::LeakCheck => Arc::new(LeakCheckAllocator::default()),
        }
    }
}

//! Allocators that count.

use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::{HostAllocator, Malloc};

/// The counts of an allocator so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocatorProfile {
    /// Live allocations.
    pub num_current: usize,
    /// The maximum number of live allocations.
    pub num_max: usize,
    /// All allocations so far.
    pub num_total: usize,
    /// Live bytes.
    pub current_bytes: usize,
    /// The maximum number of live bytes.
    pub max_bytes: usize,
    /// `true` if live memory at the end is an error.
    pub is_leak_checked: bool,
}

impl AllocatorProfile {
    /// Returns the line about a leak, if this allocator checks for leaks and memory is still alive.
    #[must_use]
    pub fn leak(&self) -> Option<String> {
        (self.is_leak_checked && self.current_bytes != 0).then(|| {
            format!(
                "Memory leak detected: {} alive allocations, {} alive bytes",
                self.num_current, self.current_bytes
            )
        })
    }
}

impl fmt::Display for AllocatorProfile {
    /// Writes the six lines that a driver prints, without the final newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "HostAllocator profile:")?;
        writeln!(f, "Current number of allocations = {}", self.num_current)?;
        writeln!(f, "Max number of allocations = {}", self.num_max)?;
        writeln!(f, "Total number of allocations = {}", self.num_total)?;
        writeln!(
            f,
            "Current number of bytes allocated = {}",
            self.current_bytes
        )?;
        write!(f, "Max number of bytes allocated = {}", self.max_bytes)
    }
}

/// The system heap with counts of allocations, which a driver prints at the end.
#[derive(Debug, Default)]
pub struct ProfiledAllocator {
    profile: Mutex<AllocatorProfile>,
}

impl ProfiledAllocator {
    /// Counts an allocation.
    fn count(&self, layout: Layout) {
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        profile.num_current += 1;
        profile.num_total += 1;
        profile.current_bytes += layout.size();
        profile.num_max = profile.num_max.max(profile.num_current);
        profile.max_bytes = profile.max_bytes.max(profile.current_bytes);
    }
}

// SAFETY: the memory is that of `Malloc`, which keeps the guarantee; counting does not access it.
unsafe impl HostAllocator for ProfiledAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        let memory = Malloc.allocate(layout)?;
        self.count(layout);
        Some(memory)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let memory = Malloc.allocate_zeroed(layout)?;
        self.count(layout);
        Some(memory)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        {
            let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
            profile.num_current -= 1;
            profile.current_bytes -= layout.size();
        }
        // SAFETY: the caller's duties are those of `Malloc`, from which the memory came.
        unsafe { Malloc.deallocate(memory, layout) }
    }

    fn profile(&self) -> Option<AllocatorProfile> {
        Some(*self.profile.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The system heap with counts of allocations; a driver fails if memory is still alive at the end.
///
/// ```
/// use tfrt_host::allocator::{HostAllocator, LeakCheckAllocator};
/// use std::alloc::Layout;
///
/// let allocator = LeakCheckAllocator::default();
/// let memory = allocator.allocate(Layout::new::<u64>()).unwrap();
/// assert_eq!(
///     allocator.profile().unwrap().leak().unwrap(),
///     "Memory leak detected: 1 alive allocations, 8 alive bytes",
/// );
/// // SAFETY: it came from this allocator with this layout, and it is not used any more.
/// unsafe { allocator.deallocate(memory, Layout::new::<u64>()) };
/// assert_eq!(allocator.profile().unwrap().leak(), None);
/// ```
#[derive(Debug, Default)]
pub struct LeakCheckAllocator {
    counted: ProfiledAllocator,
}

// SAFETY: the memory is that of `ProfiledAllocator`, which keeps the guarantee.
unsafe impl HostAllocator for LeakCheckAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.counted.allocate(layout)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.counted.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's duties are those of `counted`, from which the memory came.
        unsafe { self.counted.deallocate(memory, layout) }
    }

    fn profile(&self) -> Option<AllocatorProfile> {
        self.counted.profile().map(|profile| AllocatorProfile {
            is_leak_checked: true,
            ..profile
        })
    }
}

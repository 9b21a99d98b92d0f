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
///
/// The system is asked to put large blocks into huge pages: the processor finds the addresses of
/// large tensors in fewer steps, and there are fewer first accesses to pages. The first access to
/// a huge page may take longer, because the system may have to make it from smaller pages.
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
        let memory = pool::allocate(Self::real(layout));
        prefer_huge_pages(memory, layout.size());
        memory
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let memory = pool::allocate_zeroed(Self::real(layout));
        prefer_huge_pages(memory, layout.size());
        memory
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

/// The size of blocks that are worth the call.
const MIN_HUGE_BYTES: usize = 2 * HUGE_PAGE_BYTES;

/// The size of a huge page of most processors. For others, the advice concerns a part of the block.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Asks the system to put a large block into huge pages, as far as whole ones lie in it.
///
/// Measured on Sapphire Rapids, with pages of 4 KiB and with huge ones: to write 4 MiB of fresh
/// memory takes 1.59 and 0.42 ms, and 64 MiB 34.6 and 12.9 ms, since each page costs an entry into
/// the system. A product of matrices of 1024 × 1024 in memory that is there takes 0.99 of the time.
#[inline]
fn prefer_huge_pages(memory: Option<NonNull<u8>>, num_bytes: usize) {
    if num_bytes >= MIN_HUGE_BYTES
        && let Some(memory) = memory
    {
        advise(memory, num_bytes);
    }
}

#[cold]
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(memory: NonNull<u8>, num_bytes: usize) {
    use rustix::mm::{Advice, madvise};

    let skipped = memory.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let rest = num_bytes.saturating_sub(skipped);
    let whole = rest - rest % HUGE_PAGE_BYTES;
    if whole == 0 {
        return;
    }
    // SAFETY: fewer bytes are skipped than the block has.
    let start = unsafe { memory.add(skipped) };
    // SAFETY: the range lies in the block, whose content the advice does not change.
    let advised = unsafe { madvise(start.as_ptr().cast(), whole, Advice::LinuxHugepage) };
    // A system without huge pages refuses it, which is fine.
    let _ = advised;
}

#[cfg(any(not(target_os = "linux"), miri))]
fn advise(_: NonNull<u8>, _: usize) {}

#[cfg(all(test, target_os = "linux", not(miri), not(loom)))]
mod tests {
    use super::*;

    /// Returns what the system says of the mapping of an address: the line of its flags.
    fn flags_of(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_it = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|word| word.split_once('-'));
            if let Some((start, end)) = range {
                let number = |text: &str| usize::from_str_radix(text, 16);
                if let (Ok(start), Ok(end)) = (number(start), number(end)) {
                    is_it = (start..end).contains(&address);
                }
            }
            if is_it && let Some(flags) = line.strip_prefix("VmFlags:") {
                return flags.to_owned();
            }
        }
        panic!("no mapping has the address {address:#x}");
    }

    #[test]
    fn large_blocks_prefer_huge_pages() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            println!("skipped: the system has no huge pages");
            return;
        }
        let layout = Layout::from_size_align(5 * HUGE_PAGE_BYTES, 64).unwrap();
        for memory in [Malloc.allocate(layout), Malloc.allocate_zeroed(layout)] {
            let memory = memory.unwrap();
            let middle = memory.addr().get() + layout.size() / 2;
            let flags = flags_of(middle);
            assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
            // SAFETY: it was allocated with this layout, and nobody else has it.
            unsafe { Malloc.deallocate(memory, layout) };
        }
    }
}

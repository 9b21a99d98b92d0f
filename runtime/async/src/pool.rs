//! Memory for values: small blocks of one size, kept by each thread for the next value.
//!
//! A value is small and short-lived, and programs make as many of them as kernels; going through the allocator of the process
//! for each was measured to be most of what a value costs. A thread keeps up to [`MAX_KEPT`] blocks that were freed on it, whichever
//! thread they came from, and gives them back when it ends. Larger values go through the allocator.
//!
//! Invariant P1: a block that is kept came from the allocator with the layout [`BLOCK`], and nobody uses it. Upheld by `free`.
#![expect(unsafe_code, reason = "hands out memory")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// What a block is: a header, and a payload of up to 16 bytes.
const BLOCK: Layout = match Layout::from_size_align(32, 8) {
    Ok(layout) => layout,
    Err(_) => panic!("the size is a multiple of the alignment"),
};

/// How many blocks a thread keeps: 32 KiB.
const MAX_KEPT: u32 = 1024;

/// A block that nobody uses.
struct Kept {
    next: *mut Kept,
}

/// The blocks that a thread keeps.
struct Blocks {
    first: Cell<*mut Kept>,
    len: Cell<u32>,
}

thread_local! {
    static BLOCKS: Blocks = const {
        Blocks {
            first: Cell::new(ptr::null_mut()),
            len: Cell::new(0),
        }
    };
}

impl Blocks {
    #[inline]
    fn pop(&self) -> Option<NonNull<u8>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: P1: the block begins with what `push` wrote.
        let next = unsafe { first.as_ref() }.next;
        self.first.set(next);
        self.len.set(self.len.get() - 1);
        Some(first.cast())
    }

    /// Keeps a block, unless there are enough. Whether it does.
    ///
    /// # Safety
    /// 1. The block came from the allocator with the layout `BLOCK`, and the caller gives it away.
    #[inline]
    unsafe fn push(&self, block: NonNull<u8>) -> bool {
        if self.len.get() >= MAX_KEPT {
            return false;
        }
        let block = block.cast::<Kept>();
        let next = self.first.get();
        // SAFETY: duty 1: the block is ours, and large and aligned enough.
        unsafe { block.write(Kept { next }) };
        self.first.set(block.as_ptr());
        self.len.set(self.len.get() + 1);
        true
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        while let Some(block) = self.pop() {
            // SAFETY: P1.
            unsafe { dealloc(block.as_ptr(), BLOCK) };
        }
    }
}

/// Whether values of this layout are in blocks.
const fn fits(layout: Layout) -> bool {
    layout.size() <= BLOCK.size() && layout.align() <= BLOCK.align()
}

/// Puts `value` into memory of its own.
#[inline]
pub(crate) fn leak<T>(value: T) -> NonNull<T> {
    let layout = Layout::new::<T>();
    let kept = match fits(layout) {
        // Where the thread is about to end, nothing is kept any more.
        true => BLOCKS.try_with(Blocks::pop).ok().flatten(),
        false => None,
    };
    let place = kept
        .unwrap_or_else(|| allocate(if fits(layout) { BLOCK } else { layout }))
        .cast::<T>();
    // SAFETY: the memory is ours alone, and large and aligned enough.
    unsafe { place.write(value) };
    place
}

#[cold]
fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: a value has a header, so that the layout is not empty.
    let memory = unsafe { alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

/// A value that is taken back from where [`leak`] put it. Goes away with its memory.
pub(crate) struct Owned<T>(NonNull<T>);

impl<T> Owned<T> {
    /// Takes a value back.
    ///
    /// # Safety
    /// 1. `place` came from [`leak`], for a `T`.
    /// 2. The caller gives it away.
    #[inline]
    pub(crate) unsafe fn from_leaked(place: NonNull<T>) -> Self {
        Self(place)
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: duties of `from_leaked`: it is there, and ours.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Owned<T> {
    #[inline]
    fn drop(&mut self) {
        /// Frees the memory also if what was in it panics as it goes away.
        struct Memory(NonNull<u8>, Layout);

        impl Drop for Memory {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: the duties of `from_leaked`, with the layout that `leak` took.
                unsafe { free(self.0, self.1) };
            }
        }

        let _memory = Memory(self.0.cast(), Layout::new::<T>());
        // SAFETY: the duties of `from_leaked`; nobody uses the value afterwards.
        unsafe { self.0.drop_in_place() };
    }
}

/// Frees the memory of a value.
///
/// # Safety
/// 1. `leak` took it for a value of this layout, and nobody uses it any more.
#[inline]
unsafe fn free(memory: NonNull<u8>, layout: Layout) {
    if !fits(layout) {
        // SAFETY: duty 1.
        return unsafe { dealloc(memory.as_ptr(), layout) };
    }
    // SAFETY: duty 1: a block.
    let keep = |blocks: &Blocks| unsafe { blocks.push(memory) };
    if !BLOCKS.try_with(keep).unwrap_or(false) {
        // SAFETY: duty 1: a block.
        unsafe { dealloc(memory.as_ptr(), BLOCK) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn take_back<T>(place: NonNull<T>) -> Owned<T> {
        // SAFETY: each test takes back what it has just leaked, once.
        unsafe { Owned::from_leaked(place) }
    }

    #[test]
    fn a_block_serves_one_value_after_the_other() {
        let first = leak([1_u64, 2]);
        let place = first.addr();
        drop(take_back(first));
        let second = leak(3_u8);
        assert_eq!(second.addr(), place);
        assert_eq!(*take_back(second), 3);
    }

    #[test]
    fn values_of_any_size_go_away() {
        let owners = Arc::new(());
        drop(take_back(leak(Arc::clone(&owners))));
        drop(take_back(leak((Arc::clone(&owners), [0_u64; 100]))));
        assert_eq!(Arc::strong_count(&owners), 1);
    }

    #[test]
    fn a_thread_keeps_a_bounded_number_of_blocks_and_frees_them_as_it_ends() {
        let thread = std::thread::spawn(|| {
            let values: Vec<_> = (0..3 * u64::from(MAX_KEPT)).map(leak).collect();
            values.into_iter().for_each(|value| drop(take_back(value)));
            BLOCKS.with(|blocks| blocks.len.get())
        });
        assert_eq!(thread.join().ok(), Some(MAX_KEPT));
    }

    #[test]
    fn blocks_may_be_freed_by_another_thread() {
        struct Sent(NonNull<u64>);
        // SAFETY: what the test leaks is a number, and one thread uses it at a time.
        unsafe impl Send for Sent {}

        let values: Vec<_> = (0..100).map(|number| Sent(leak(number))).collect();
        let thread = std::thread::spawn(move || {
            let values = values.into_iter();
            values.map(|Sent(value)| *take_back(value)).sum::<u64>()
        });
        assert_eq!(thread.join().ok(), Some(4950));
    }
}

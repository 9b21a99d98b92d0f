//! Memory for values, waiters and small buffers: blocks of a few sizes, which each thread keeps for
//! reuse.
//!
//! Values are small and short-lived, and a program creates about as many of them as it runs
//! kernels. Allocating each from the process allocator was measured to be most of the cost of a
//! value, and 700 instructions for a buffer aligned to a cache line. A thread keeps freed blocks of
//! each size, whichever thread allocated them, and frees them when it ends. Larger allocations go
//! directly to the allocator.
//!
//! In a pipeline, one thread frees what another one allocates. So blocks travel in *magazines*,
//! lists of `MAGAZINE_BYTES`: a thread keeps up to two magazines of each size, hands a full one on
//! to the *exchange* before it frees blocks, and takes one from there before it allocates any.
//!
//! ```text
//!  free ──► current ──full──► spare ──► exchange ──► current ──► allocate
//!           └──── this thread ────┘                  another thread
//! ```
//!
//! Invariant P1: a kept block came from the allocator with the layout of its size and is unused.
//! Upheld by `free`.
#![expect(unsafe_code, reason = "hands out memory")]

mod counted;

mod exchange;

mod future;

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr::{self, NonNull};

pub use counted::{PooledArc, PooledWeak, WakePooled};
pub use future::PooledFuture;

/// The block sizes. A header and a number fit the first size, a header and a cache line or two the
/// next ones.
const SIZES: [usize; 6] = [32, 64, 128, 256, 512, 1024];

/// The number of bytes in a magazine: 512 of the smallest blocks, 16 of the largest.
const MAGAZINE_BYTES: usize = 16 * 1024;

/// Returns the number of blocks in a magazine of a class.
const fn magazine_len(class: usize) -> usize {
    // Sizes are powers of two: a division would cost more than the rest of `push`.
    MAGAZINE_BYTES >> SIZES[class].trailing_zeros()
}

/// Returns the alignment of the blocks of a size: at most a cache line, which is what buffers
/// require.
const fn align_of_class(class: usize) -> usize {
    if SIZES[class] < 64 { SIZES[class] } else { 64 }
}

/// An unused block.
struct Kept {
    next: *mut Kept,
}

/// The blocks of one size that a thread keeps.
struct List {
    /// The current magazine, a list of `len` blocks.
    first: Cell<*mut Kept>,
    len: Cell<usize>,
    /// A full magazine, or null.
    spare: Cell<*mut Kept>,
}

impl List {
    const fn empty() -> Self {
        Self {
            first: Cell::new(ptr::null_mut()),
            len: Cell::new(0),
            spare: Cell::new(ptr::null_mut()),
        }
    }

    /// Replaces the empty current magazine by a full one, and returns its first block.
    #[cold]
    fn refill(&self, class: usize) -> Option<NonNull<Kept>> {
        let spare = NonNull::new(self.spare.replace(ptr::null_mut()));
        let first = spare.or_else(|| exchange::take(class))?;
        self.first.set(first.as_ptr());
        self.len.set(magazine_len(class));
        Some(first)
    }

    /// Makes the full current magazine the spare one. Returns `false` if there is one already that
    /// the exchange does not take.
    #[cold]
    fn make_room(&self, class: usize) -> bool {
        if let Some(spare) = NonNull::new(self.spare.get()) {
            // SAFETY: the spare magazine is full and, if it is taken, no longer ours.
            if !unsafe { exchange::give(class, spare) } {
                return false;
            }
        }
        self.spare.set(self.first.replace(ptr::null_mut()));
        self.len.set(0);
        true
    }
}

/// The blocks that a thread keeps.
struct Blocks([List; SIZES.len()]);

thread_local! {
    static BLOCKS: Blocks = const { Blocks([const { List::empty() }; SIZES.len()]) };
}

impl Blocks {
    #[inline]
    fn pop(&self, class: usize) -> Option<NonNull<u8>> {
        let list = &self.0[class];
        let first = NonNull::new(list.first.get()).or_else(|| list.refill(class))?;
        // SAFETY: P1: the block begins with the `Kept` that `push` wrote.
        let next = unsafe { first.as_ref() }.next;
        list.first.set(next);
        list.len.set(list.len.get() - 1);
        Some(first.cast())
    }

    /// Keeps a block unless there are too many. Returns `true` if it was kept.
    ///
    /// # Safety
    /// 1. The block came from the allocator with the layout of its class, and the caller transfers
    ///    ownership if this returns `true`.
    #[inline]
    unsafe fn push(&self, class: usize, block: NonNull<u8>) -> bool {
        let list = &self.0[class];
        if list.len.get() == magazine_len(class) && !list.make_room(class) {
            return false;
        }
        let block = block.cast::<Kept>();
        let next = list.first.get();
        // SAFETY: duty 1: the block is ours, large enough and sufficiently aligned.
        unsafe { block.write(Kept { next }) };
        list.first.set(block.as_ptr());
        list.len.set(list.len.get() + 1);
        true
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (class, list) in self.0.iter().enumerate() {
            for magazine in [list.first.get(), list.spare.get()] {
                let mut rest = NonNull::new(magazine);
                while let Some(block) = rest {
                    // SAFETY: P1: the block begins with the `Kept` that `push` wrote.
                    rest = NonNull::new(unsafe { block.as_ref() }.next);
                    // SAFETY: P1.
                    unsafe { dealloc(block.as_ptr().cast(), layout_of(class)) };
                }
            }
        }
    }
}

/// Returns the class of the smallest blocks that fit this layout, if any.
#[inline]
const fn class_of(layout: Layout) -> Option<usize> {
    const LAST: usize = SIZES.len() - 1;
    let (size, align) = (layout.size(), layout.align());
    if size > SIZES[LAST] || align > align_of_class(LAST) {
        None
    } else if size <= SIZES[0] && align <= align_of_class(0) {
        Some(0)
    } else if size <= SIZES[1] {
        Some(1)
    } else {
        // The sizes are the powers of two from 32 on.
        Some((size - 1).ilog2() as usize - 4)
    }
}

/// Returns the layout of the blocks of a class.
const fn layout_of(class: usize) -> Layout {
    match Layout::from_size_align(SIZES[class], align_of_class(class)) {
        Ok(layout) => layout,
        Err(_) => panic!("the size is a multiple of the alignment"),
    }
}

/// Allocates memory of this layout. Returns `None` if the allocator is out of memory. Free it with
/// [`deallocate`].
///
/// ```
/// use std::alloc::Layout;
/// use tfrt_async::pool;
///
/// let cache_line = Layout::new::<[u64; 8]>().align_to(64).unwrap();
/// let memory = pool::allocate(cache_line).expect("there is memory");
/// assert_eq!(memory.addr().get() % 64, 0);
/// // SAFETY: it was just allocated with this layout, and nobody uses it.
/// unsafe { pool::deallocate(memory, cache_line) };
/// ```
///
/// # Panics
/// If the size is zero.
#[inline]
#[must_use]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() > 0, "memory has a size");
    let Some(class) = class_of(layout) else {
        // SAFETY: the size is above zero.
        return NonNull::new(unsafe { alloc(layout) });
    };
    match BLOCKS.try_with(|blocks| blocks.pop(class)) {
        Ok(Some(block)) => Some(block),
        // SAFETY: no class is of size zero.
        _ => NonNull::new(unsafe { alloc(layout_of(class)) }),
    }
}

/// Like [`allocate`], with all bytes zero. Large memory that the allocator knows to be untouched is
/// not written.
///
/// # Panics
/// If the size is zero.
#[must_use]
pub fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() > 0, "memory has a size");
    if class_of(layout).is_none() {
        // SAFETY: the size is above zero.
        return NonNull::new(unsafe { alloc_zeroed(layout) });
    }
    let memory = allocate(layout)?;
    // SAFETY: the memory is ours and has this many bytes.
    unsafe { memory.write_bytes(0, layout.size()) };
    Some(memory)
}

/// Frees memory.
///
/// # Safety
/// 1. It came from [`allocate`] or [`allocate_zeroed`] with this layout, and is not used
///    afterwards.
#[inline]
pub unsafe fn deallocate(memory: NonNull<u8>, layout: Layout) {
    match class_of(layout) {
        // SAFETY: duty 1: a block of that class.
        Some(class) => unsafe { free_block(class, memory) },
        // SAFETY: duty 1.
        None => unsafe { dealloc(memory.as_ptr(), layout) },
    }
}

/// Moves `value` into its own block.
#[inline]
pub(crate) fn leak<T>(value: T) -> NonNull<T> {
    let place = reserve::<T>();
    // SAFETY: the memory is exclusively ours, large enough and sufficiently aligned.
    unsafe { place.write(value) };
    place
}

/// Returns the block of a `T` that the caller writes there. It is then as if [`leak`] had moved it.
#[inline]
pub(crate) fn reserve<T>() -> NonNull<T> {
    const { assert!(size_of::<T>() > 0, "what is pooled takes up room") };
    let class = const { class_of(Layout::new::<T>()) };
    // If the thread is about to end, nothing is kept any more.
    let kept = class.and_then(|class| BLOCKS.try_with(|blocks| blocks.pop(class)).ok().flatten());
    kept.unwrap_or_else(|| allocate_new(class.map_or(Layout::new::<T>(), layout_of)))
        .cast()
}

#[cold]
fn allocate_new(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty: `reserve` asserts it.
    let memory = unsafe { alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Like a [`Box`], in memory that threads keep for reuse. Not for zero-sized types.
///
/// Invariant P2: it owns the value it points to, which `leak` placed there.
///
/// ```
/// use tfrt_async::pool::Pooled;
///
/// let mut numbers = Pooled::new([1, 2, 3]);
/// numbers[0] = 7;
/// assert_eq!(numbers.into_inner(), [7, 2, 3]);
/// ```
pub struct Pooled<T> {
    place: NonNull<T>,
    owns: PhantomData<T>,
}

// SAFETY: P2: sending it sends the value it owns.
unsafe impl<T: Send> Send for Pooled<T> {}

// SAFETY: it provides the same shared references as the value it owns.
unsafe impl<T: Sync> Sync for Pooled<T> {}

/// As for a box: moving it does not move the value.
impl<T> Unpin for Pooled<T> {}

impl<T> Pooled<T> {
    /// Moves `value` into its own block.
    #[inline]
    pub fn new(value: T) -> Self {
        Self {
            place: leak(value),
            owns: PhantomData,
        }
    }

    /// Moves `value` into its own block and pins it there.
    #[inline]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: the value is not moved before it is dropped: only `into_inner` moves it, which
        // takes an unpinned `self`.
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// Returns the value and frees its block.
    #[inline]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        let _memory = Memory::<T>(this.place);
        // SAFETY: P2: the value is there and not used afterwards.
        unsafe { this.place.read() }
    }

    /// Takes ownership of a leaked value.
    ///
    /// # Safety
    /// 1. `place` came from [`leak`], for a `T` or a type of the same layout.
    /// 2. The caller transfers ownership.
    #[inline]
    pub(crate) unsafe fn from_leaked(place: NonNull<T>) -> Self {
        Self {
            place,
            owns: PhantomData,
        }
    }
}

impl<T> Deref for Pooled<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: P2.
        unsafe { self.place.as_ref() }
    }
}

impl<T> DerefMut for Pooled<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: P2.
        unsafe { self.place.as_mut() }
    }
}

impl<T> Drop for Pooled<T> {
    #[inline]
    fn drop(&mut self) {
        let _memory = Memory::<T>(self.place);
        // SAFETY: P2; the value is not used afterwards.
        unsafe { self.place.drop_in_place() };
    }
}

impl<T: fmt::Debug> fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// The memory of a value that [`leak`] placed there. Freed even if dropping the value panics.
struct Memory<T>(NonNull<T>);

impl<T> Drop for Memory<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: P2 of the creator: the memory came from `leak`, and the value is gone.
        unsafe { free::<T>(self.0.cast()) };
    }
}

/// Frees the memory of a value.
///
/// # Safety
/// 1. `leak` allocated it for a `T`, and it is not used afterwards.
#[inline]
unsafe fn free<T>(memory: NonNull<u8>) {
    let class = const { class_of(Layout::new::<T>()) };
    let Some(class) = class else {
        // SAFETY: duty 1.
        return unsafe { dealloc(memory.as_ptr(), Layout::new::<T>()) };
    };
    // SAFETY: duty 1: a block of that class.
    unsafe { free_block(class, memory) };
}

/// Keeps a block for reuse, or frees it.
///
/// # Safety
/// 1. The block came from the allocator with the layout of its class, and is not used afterwards.
#[inline]
unsafe fn free_block(class: usize, memory: NonNull<u8>) {
    // SAFETY: duty 1.
    let keep = |blocks: &Blocks| unsafe { blocks.push(class, memory) };
    if !BLOCKS.try_with(keep).unwrap_or(false) {
        // SAFETY: duty 1: a block of that class.
        unsafe { dealloc(memory.as_ptr(), layout_of(class)) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn take_back<T>(place: NonNull<T>) -> Pooled<T> {
        // SAFETY: each test takes back what it has just leaked, once.
        unsafe { Pooled::from_leaked(place) }
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
    fn a_block_of_every_size_serves_one_value_after_the_other() {
        fn check<T: Copy>(value: T) {
            let first = leak(value);
            let place = first.addr();
            drop(take_back(first));
            assert_eq!(take_back(leak(value)).place.addr(), place);
        }
        check([1_u64; 5]);
        check([1_u128; 8]);
        check([1_u64; 32]);
    }

    #[test]
    fn memory_is_aligned_and_serves_one_buffer_after_the_other() {
        for (size, align) in [
            (1, 1),
            (24, 32),
            (33, 16),
            (64, 64),
            (700, 64),
            (8, 128),
            (5000, 64),
        ] {
            let layout = Layout::from_size_align(size, align).expect("a power of two");
            let first = allocate(layout).expect("there is memory");
            assert_eq!(first.addr().get() % align, 0);
            // SAFETY: just allocated with this layout.
            unsafe { deallocate(first, layout) };
            let second = allocate(layout).expect("there is memory");
            assert!(class_of(layout).is_none() || second == first);
            // SAFETY: as above.
            unsafe { deallocate(second, layout) };
        }
    }

    #[test]
    fn the_class_is_the_smallest_that_fits() {
        for size in 1..=2 * SIZES[SIZES.len() - 1] {
            for align in [1, 16, 32, 64, 128] {
                let layout = Layout::from_size_align(size, align).unwrap();
                let fits = |&class: &usize| size <= SIZES[class] && align <= align_of_class(class);
                assert_eq!(class_of(layout), (0..SIZES.len()).find(fits), "{layout:?}");
            }
        }
    }

    #[test]
    fn values_of_any_size_go_away() {
        let owners = Arc::new(());
        drop(Pooled::new(Arc::clone(&owners)));
        drop(Pooled::new((Arc::clone(&owners), [0_u64; 100])));
        drop(Pooled::new((Arc::clone(&owners), [0_u64; 10])).into_inner());
        drop(Pooled::pin(Arc::clone(&owners)));
        assert_eq!(Arc::strong_count(&owners), 1);
    }

    #[test]
    fn a_thread_keeps_a_bounded_number_of_blocks_and_frees_them_as_it_ends() {
        let thread = std::thread::spawn(|| {
            let values: Vec<_> = (0..3000_u64).map(leak).collect();
            values.into_iter().for_each(|value| drop(take_back(value)));
            BLOCKS.with(|blocks| {
                let kept = |list: &List| (list.len.get(), list.spare.get().is_null());
                blocks.0.each_ref().map(kept)
            })
        });
        let [numbers, others @ ..] = thread.join().expect("the thread returns");
        assert!(numbers.0 <= magazine_len(0) && !numbers.1);
        assert_eq!(others, [(0, true); SIZES.len() - 1]);
    }

    #[test]
    fn blocks_travel_from_threads_that_free_to_threads_that_allocate() {
        type Large = [u64; 100];
        let len = magazine_len(class_of(Layout::new::<Large>()).expect("it is pooled"));
        let address = |value: &Pooled<Large>| value.place.addr();
        let travel = || {
            let values: Vec<_> = (0..3 * len).map(|_| Pooled::new([1_u64; 100])).collect();
            let given: Vec<_> = values.iter().map(address).collect();
            let consumer = std::thread::spawn(move || drop(values));
            consumer.join().expect("the thread returns");
            let producer = std::thread::spawn(move || {
                let values: Vec<_> = (0..len).map(|_| Pooled::new([2_u64; 100])).collect();
                values.iter().map(address).collect::<Vec<_>>()
            });
            let found = producer.join().expect("the thread returns");
            found.iter().all(|place| given.contains(place))
        };
        // Another test may have given blocks of this size before, which are then taken first.
        assert!((0..20).any(|_| travel()));
    }

    #[test]
    fn blocks_may_be_freed_by_another_thread() {
        struct Sent(NonNull<u64>);
        // SAFETY: the test leaks a number, and one thread at a time accesses it.
        unsafe impl Send for Sent {}

        let values: Vec<_> = (0..100).map(|number| Sent(leak(number))).collect();
        let thread = std::thread::spawn(move || {
            let values = values.into_iter();
            values.map(|Sent(value)| *take_back(value)).sum::<u64>()
        });
        assert_eq!(thread.join().ok(), Some(4950));
    }
}

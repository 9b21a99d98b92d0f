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
//! Upheld by `free_block`.
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
///
/// A list starts closed, without room. It opens with the first block that it keeps, once the thread
/// is known to free its blocks as it ends, and closes again when that has happened.
struct List {
    /// The current magazine, a list of blocks.
    first: Cell<*mut Kept>,
    /// The number of blocks for which the current magazine has room; 0 if the list is closed.
    room: Cell<usize>,
    /// A full magazine, or null.
    spare: Cell<*mut Kept>,
}

impl List {
    const fn closed() -> Self {
        Self {
            first: Cell::new(ptr::null_mut()),
            room: Cell::new(0),
            spare: Cell::new(ptr::null_mut()),
        }
    }

    /// Takes a block out of the current magazine.
    #[inline]
    fn pop(&self) -> Option<NonNull<u8>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: P1: the block begins with the `Kept` that `push` wrote.
        let next = unsafe { first.as_ref() }.next;
        self.first.set(next);
        self.room.set(self.room.get() + 1);
        Some(first.cast())
    }

    /// Keeps a block if the current magazine has room. Returns `true` if it was kept.
    ///
    /// # Safety
    /// 1. The block came from the allocator with the layout of the list's class, and the caller
    ///    transfers ownership if this returns `true`.
    #[inline]
    unsafe fn push(&self, block: NonNull<u8>) -> bool {
        let Some(room) = self.room.get().checked_sub(1) else {
            return false;
        };
        let block = block.cast::<Kept>();
        let next = self.first.get();
        // SAFETY: duty 1: the block is ours, large enough and sufficiently aligned.
        unsafe { block.write(Kept { next }) };
        self.first.set(block.as_ptr());
        self.room.set(room);
        true
    }

    /// Replaces the empty current magazine by a full one. Returns `false` if there is none.
    fn refill(&self, class: usize) -> bool {
        if !frees_at_end() {
            return false;
        }
        let spare = NonNull::new(self.spare.replace(ptr::null_mut()));
        let Some(first) = spare.or_else(|| exchange::take(class)) else {
            return false;
        };
        self.first.set(first.as_ptr());
        self.room.set(0);
        true
    }

    /// Makes room in a list that is closed, or whose current magazine is full, which then becomes
    /// the spare one. Returns `false` if there is one already that the exchange does not take, or
    /// if the thread is about to end.
    fn make_room(&self, class: usize) -> bool {
        if !frees_at_end() {
            return false;
        }
        if !self.first.get().is_null() {
            if let Some(spare) = NonNull::new(self.spare.get()) {
                // SAFETY: the spare magazine is full and, if it is taken, no longer ours.
                if !unsafe { exchange::give(class, spare) } {
                    return false;
                }
            }
            self.spare.set(self.first.replace(ptr::null_mut()));
        }
        self.room.set(magazine_len(class));
        true
    }

    /// Frees all blocks, and closes the list.
    fn close(&self, class: usize) {
        self.room.set(0);
        for magazine in [&self.first, &self.spare] {
            let mut rest = NonNull::new(magazine.replace(ptr::null_mut()));
            while let Some(block) = rest {
                // SAFETY: P1: the block begins with the `Kept` that `push` wrote.
                rest = NonNull::new(unsafe { block.as_ref() }.next);
                // SAFETY: P1.
                unsafe { dealloc(block.as_ptr().cast(), layout_of(class)) };
            }
        }
    }
}

thread_local! {
    /// The blocks that a thread keeps. Nothing is dropped here, so that an access costs no check.
    static BLOCKS: [List; SIZES.len()] = const { [const { List::closed() }; SIZES.len()] };

    /// Frees the blocks as the thread ends.
    static END: End = const { End };
}

/// Closes the lists of the thread when it is dropped.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        BLOCKS.with(|lists| {
            for (class, list) in lists.iter().enumerate() {
                list.close(class);
            }
        });
    }
}

/// Makes the thread free its blocks as it ends. Returns `false` if it has done so already.
fn frees_at_end() -> bool {
    END.try_with(|_| ()).is_ok()
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
    BLOCKS
        .with(|lists| lists[class].pop())
        .or_else(|| take_block(class))
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
// Nothing here panics or calls as long as a block is at hand, so that a large value is written
// directly to its place.
#[inline]
pub(crate) fn leak<T>(value: T) -> NonNull<T> {
    let Some(place) = reserve_kept() else {
        return leak_slowly(value);
    };
    // SAFETY: the memory is exclusively ours, large enough and sufficiently aligned.
    unsafe { place.write(value) };
    place
}

#[cold]
#[inline(never)]
fn leak_slowly<T>(value: T) -> NonNull<T> {
    let place = reserve();
    // SAFETY: as in `leak`.
    unsafe { place.write(value) };
    place
}

/// Returns the block of a `T` that the caller writes there. It is then as if [`leak`] had moved it.
#[inline]
pub(crate) fn reserve<T>() -> NonNull<T> {
    match reserve_kept() {
        Some(place) => place,
        None => reserve_slowly(const { class_of(Layout::new::<T>()) }, Layout::new::<T>()).cast(),
    }
}

/// Like [`reserve`], but only in a block that is at hand. Does not panic.
#[inline]
pub(crate) fn reserve_kept<T>() -> Option<NonNull<T>> {
    const { assert!(size_of::<T>() > 0, "what is pooled takes up room") };
    let class = const { class_of(Layout::new::<T>()) };
    BLOCKS.with(|lists| lists[class?].pop()).map(NonNull::cast)
}

#[cold]
#[inline(never)]
fn reserve_slowly(class: Option<usize>, layout: Layout) -> NonNull<u8> {
    let block = match class {
        Some(class) => take_block(class),
        // SAFETY: the layout is not empty: `reserve_kept` asserts it.
        None => NonNull::new(unsafe { alloc(layout) }),
    };
    block.unwrap_or_else(|| handle_alloc_error(layout))
}

/// Returns a block of a class whose current magazine is empty, or `None` if there is no memory.
#[cold]
#[inline(never)]
fn take_block(class: usize) -> Option<NonNull<u8>> {
    BLOCKS.with(|lists| {
        let list = &lists[class];
        match list.refill(class) {
            true => list.pop(),
            // SAFETY: no class is of size zero.
            false => NonNull::new(unsafe { alloc(layout_of(class)) }),
        }
    })
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
    if !BLOCKS.with(|lists| unsafe { lists[class].push(memory) }) {
        // SAFETY: duty 1.
        unsafe { free_slowly(class, memory) };
    }
}

/// Like [`free_block`], where there is no room.
///
/// # Safety
/// 1. The duty of [`free_block`].
#[cold]
#[inline(never)]
unsafe fn free_slowly(class: usize, memory: NonNull<u8>) {
    BLOCKS.with(|lists| {
        let list = &lists[class];
        // SAFETY: duty 1.
        let is_kept = list.make_room(class) && unsafe { list.push(memory) };
        if !is_kept {
            // SAFETY: duty 1: a block of that class.
            unsafe { dealloc(memory.as_ptr(), layout_of(class)) };
        }
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::mpsc::{Sender, channel};

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
            BLOCKS.with(|lists| {
                let kept = |list: &List| {
                    let is_empty = |magazine: &Cell<*mut Kept>| magazine.get().is_null();
                    (
                        list.room.get(),
                        is_empty(&list.first),
                        is_empty(&list.spare),
                    )
                };
                lists.each_ref().map(kept)
            })
        });
        let [(room, ..), others @ ..] = thread.join().expect("the thread returns");
        assert!(room <= magazine_len(0));
        // The other lists are closed.
        assert_eq!(others, [(0, true, true); SIZES.len() - 1]);
    }

    #[test]
    fn a_block_that_is_freed_after_the_thread_has_freed_its_own_is_not_kept() {
        /// Frees a block as the thread ends, and tells whether the thread keeps it.
        struct Late(Sender<(bool, bool)>);

        impl Drop for Late {
            fn drop(&mut self) {
                let may_keep = frees_at_end();
                drop(Pooled::new(1_u64));
                let keeps = BLOCKS.with(|lists| !lists[0].first.get().is_null());
                let _ = self.0.send((may_keep, keeps));
            }
        }

        thread_local! {
            static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
        }

        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            // Destructors run in reverse order, so this one runs after that of `END`.
            LATE.with(|late| *late.borrow_mut() = Some(Late(sender)));
            drop(Pooled::new(1_u64));
            BLOCKS.with(|lists| !lists[0].first.get().is_null())
        });
        assert_eq!(thread.join().ok(), Some(true));
        assert_eq!(receiver.recv(), Ok((false, false)));
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

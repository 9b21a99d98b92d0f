//! Allocations that are shared by reference count.
//!
//! ```text
//!  drawn from an allocator:   ┌─ … ─┬─ Header (64 bytes) ─┬─ data ─────────────┐   one block, the header right before the data
//!                             └─────┴─────────────────────┴────────────────────┘
//!  small, from the pool:      ┌─ room ─┬─ Header (64 bytes) ─┬─ data ──────────┐   the room is for a value that holds the tensor
//!                             └────────┴─────────────────────┴─────────────────┘
//!  lent by an owner:          ┌─ Header ────────────┐    ┌─ data ──────┐   the header keeps the owner
//!                             └─────────────────────┘    └─────────────┘
//! ```
//!
//! Invariant H1: a handle owns one count of the header; the header, its origin and the data live
//! until the last one is dropped. Upheld by `new_handle`, `Clone` and `Drop`.
//!
//! A small block has two users: the handles together, and the value in its room. [`BlockOwners`]
//! counts both, and tells the last one to free the block. The account of the memory does not wait
//! for the value: it ends with the last handle.
//!
//! Invariant H2: the room of a small block is used if and only if `owners` says so. Upheld by
//! `claim_room` and `release_room`.
#![expect(unsafe_code, reason = "owns raw memory")]

use std::alloc::Layout;
use std::any::Any;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use tfrt_async::{BlockOwners, pool};
use tfrt_host::allocator::{HostAllocator, Malloc};

use super::borrow::Borrows;
use crate::error::TensorError;

/// The offset of the data after its header, and its minimum alignment: a cache line, and the widest
/// vector register.
pub(super) const MIN_ALIGN_BYTES: usize = 64;

/// The default alignment of the heap. Less than [`MIN_ALIGN_BYTES`].
const HEAP_ALIGN_BYTES: usize = 16;

/// From this size on zeroed memory is better not touched: less is cleared quickly, and mostly used
/// at once.
const MIN_UNTOUCHED_BYTES: usize = 1 << 16;

/// The room of a small block.
pub(super) const ROOM_BYTES: usize = 128;

/// The largest data of a small block: with it, such a block is as large as a block without room and
/// a separate value would be together.
const MAX_SMALL_BYTES: usize = 64;

/// The layout of small blocks.
const SMALL: Layout = {
    let size = ROOM_BYTES + size_of::<Header>() + MAX_SMALL_BYTES;
    match Layout::from_size_align(size, MIN_ALIGN_BYTES) {
        Ok(layout) => layout,
        Err(_) => panic!("the alignment is a power of two"),
    }
};

/// The header, which precedes the data or refers to it.
#[repr(C, align(64))]
struct Header {
    /// The handles, and the value in the room of a small block.
    owners: BlockOwners,
    borrows: Borrows,
    origin: Origin,
}

const _: () = assert!(size_of::<Header>() == MIN_ALIGN_BYTES);

/// The origin of the memory, which determines how it is freed.
enum Origin {
    /// Header and data are in one block.
    Block {
        allocator: Arc<dyn HostAllocator>,
        block: Block,
    },
    /// The data is the owner's; the header is a block of the system heap.
    Owner(NonNull<dyn Any + Send + Sync>),
}

/// A block that was drawn from an allocator, in no more bytes than the header has for it.
#[derive(Clone, Copy)]
struct Block {
    size: usize,
    /// The offset of the header in bytes.
    header_offset: u32,
    align_log2: u8,
    /// Whether it is a small one. Then only the size is that of the memory on the allocator's
    /// account, and the block came from the pool with the layout [`SMALL`].
    is_small: bool,
}

impl Block {
    fn new(layout: Layout, header_offset: u32) -> Self {
        Self {
            size: layout.size(),
            header_offset,
            // Less than the number of bits of an address.
            align_log2: layout.align().trailing_zeros() as u8,
            is_small: false,
        }
    }

    #[inline]
    fn layout(self) -> Layout {
        Layout::from_size_align(self.size, 1 << self.align_log2).expect("it was made of a layout")
    }
}

/// A handle of an allocation.
pub(super) struct Storage {
    header: NonNull<Header>,
}

// SAFETY: the header is shared by atomics and by a lock; the origin is read only, but for its end,
// which the last handle brings about, on whatever thread: allocators and owners are `Send` and
// `Sync`. The data is behind `Borrows`.
unsafe impl Send for Storage {}

// SAFETY: as for `Send`.
unsafe impl Sync for Storage {}

impl Storage {
    /// Memory of this size and alignment, not initialised, and where it starts. The alignment is a
    /// power of two.
    pub(super) fn allocate(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Result<(Self, NonNull<u8>), TensorError> {
        if let Some(small) = Self::take_small(allocator, size_bytes, align_bytes) {
            return Ok(small);
        }
        let draw = |layout| allocator.allocate(layout);
        if size_bytes >= MIN_UNTOUCHED_BYTES {
            // As zeroed memory, so that a large block fits into the place of another one of its
            // size. Heaps split blocks of greater alignment than their own.
            let data_align = align_bytes.max(MIN_ALIGN_BYTES);
            return Self::draw(allocator, size_bytes, data_align, HEAP_ALIGN_BYTES, draw);
        }
        if align_bytes <= MIN_ALIGN_BYTES {
            // Nearly every buffer: of known alignments, little is left to compute.
            const ALIGN: usize = MIN_ALIGN_BYTES;
            return Self::draw(allocator, size_bytes, ALIGN, ALIGN, draw);
        }
        Self::draw(allocator, size_bytes, align_bytes, align_bytes, draw)
    }

    /// As [`allocate`](Self::allocate), but all bytes are zero. Much memory is not touched for
    /// that.
    pub(super) fn allocate_zeroed(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Result<(Self, NonNull<u8>), TensorError> {
        if let Some(small) = Self::take_small_zeroed(allocator, size_bytes, align_bytes) {
            return Ok(small);
        }
        if size_bytes < MIN_UNTOUCHED_BYTES {
            let (storage, start) = Self::allocate(allocator, size_bytes, align_bytes)?;
            // SAFETY: the storage has so many bytes from there, which are not shared.
            unsafe { start.write_bytes(0, size_bytes) };
            return Ok((storage, start));
        }
        // The heap hands out untouched memory if the alignment does not exceed its own, and clears
        // memory otherwise.
        let data_align = align_bytes.max(MIN_ALIGN_BYTES);
        let draw = |layout| allocator.allocate_zeroed(layout);
        Self::draw(allocator, size_bytes, data_align, HEAP_ALIGN_BYTES, draw)
    }

    /// Takes a small block from the pool, if the allocator takes memory from there. The data, which
    /// is returned as well, is not initialised.
    // Always inlined: otherwise what it returns goes through memory, at a cost of a fifth of what
    // it does.
    #[inline(always)]
    fn take_small(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Option<(Self, NonNull<u8>)> {
        if size_bytes > MAX_SMALL_BYTES || align_bytes > MIN_ALIGN_BYTES {
            return None;
        }
        // The room is like a value of its own, which is on nobody's account.
        let num_charged = MIN_ALIGN_BYTES + size_bytes;
        if !allocator.charge_pooled(num_charged) {
            return None;
        }
        let Some(block) = pool::allocate(SMALL) else {
            allocator.release_pooled(num_charged);
            return None;
        };
        let origin = Origin::Block {
            allocator: Arc::clone(allocator),
            block: Block {
                size: num_charged,
                header_offset: ROOM_BYTES as u32,
                align_log2: MIN_ALIGN_BYTES.trailing_zeros() as u8,
                is_small: true,
            },
        };
        // SAFETY: the block is larger.
        let header = unsafe { block.add(ROOM_BYTES) };
        // SAFETY: 1: the block has a header's bytes from there, and both are aligned to as many. 2:
        // it is ours.
        let storage = unsafe { Self::new_handle(header.cast(), BlockOwners::with_room(), origin) };
        // SAFETY: the block is larger.
        Some((storage, unsafe { header.add(size_of::<Header>()) }))
    }

    /// As [`take_small`](Self::take_small), but all bytes of the data are zero.
    #[inline(always)]
    fn take_small_zeroed(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Option<(Self, NonNull<u8>)> {
        let (storage, start) = Self::take_small(allocator, size_bytes, align_bytes)?;
        // A constant size takes fewer instructions than the right one.
        // SAFETY: the block has so many bytes from there, which are not shared.
        unsafe { start.write_bytes(0, MAX_SMALL_BYTES) };
        Some((storage, start))
    }

    /// As [`allocate`](Self::allocate), but all bytes are initialised, with unspecified values.
    pub(super) fn allocate_initialized(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
    ) -> Result<(Self, NonNull<u8>), TensorError> {
        if let Some(small) = Self::take_small_zeroed(allocator, size_bytes, MIN_ALIGN_BYTES) {
            return Ok(small);
        }
        let draw = |layout| allocator.allocate_initialized(layout);
        let block_align = match size_bytes < MIN_UNTOUCHED_BYTES {
            true => MIN_ALIGN_BYTES,
            // As in `allocate_zeroed`, which is the fallback of allocators.
            false => HEAP_ALIGN_BYTES,
        };
        Self::draw(allocator, size_bytes, MIN_ALIGN_BYTES, block_align, draw)
    }

    /// Allocates a block of `block_align`, and puts a header and data of `data_align` into it. Both
    /// are powers of two.
    #[inline]
    fn draw(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        data_align: usize,
        block_align: usize,
        draw: impl FnOnce(Layout) -> Option<NonNull<u8>>,
    ) -> Result<(Self, NonNull<u8>), TensorError> {
        let out_of_memory = || TensorError::OutOfMemory { size_bytes };
        // Wherever the block starts, what is before the data has room for a header.
        let most_before_data = if block_align < data_align {
            data_align.checked_add(MIN_ALIGN_BYTES)
        } else {
            Some(data_align)
        };
        let layout = most_before_data
            .and_then(|before| before.checked_add(size_bytes))
            .and_then(|size| Layout::from_size_align(size, block_align).ok())
            .filter(|_| u32::try_from(data_align).is_ok())
            .ok_or_else(out_of_memory)?;
        let block = draw(layout).ok_or_else(out_of_memory)?;
        let start = block.addr().get();
        // The first multiple of the alignment behind a header.
        // A power of two: the bits below it are what is to be rounded up.
        let data_start = (start + MIN_ALIGN_BYTES + (data_align - 1)) & !(data_align - 1);
        let data_offset = data_start - start;
        let header_offset = data_offset - MIN_ALIGN_BYTES;
        let origin = Origin::Block {
            allocator: Arc::clone(allocator),
            // At most the alignment of the data, which fits.
            block: Block::new(layout, header_offset as u32),
        };
        // SAFETY: the data starts within the block, and the header before it.
        let header = unsafe { block.add(header_offset) };
        // SAFETY: 1: the block has a header's bytes from there, and data is aligned to a multiple
        // of a header's size. 2: it is ours.
        let storage =
            unsafe { Self::new_handle(header.cast(), BlockOwners::without_room(), origin) };
        // SAFETY: `data_offset` is at most `most_before_data`, and the block is larger by
        // `size_bytes`.
        Ok((storage, unsafe { block.add(data_offset) }))
    }

    /// Returns the bytes of an owner, which lives as long as any handle.
    pub(super) fn lend<O>(owner: O) -> Result<(Self, NonNull<[u8]>), TensorError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let layout = Layout::new::<Header>();
        let block = Malloc
            .allocate(layout)
            .ok_or_else(|| TensorError::OutOfMemory {
                size_bytes: layout.size(),
            })?;
        let owner = NonNull::from(Box::leak(Box::new(owner)));
        // SAFETY: just leaked, and not shared yet; from now on it is only ever shared, until `Drop`
        // takes it back.
        let bytes = NonNull::from(unsafe { owner.as_ref() }.as_ref());
        let owner: NonNull<dyn Any + Send + Sync> = owner;
        let owners = BlockOwners::without_room();
        let origin = Origin::Owner(owner);
        // SAFETY: 1: the layout is that of a header. 2: the block is ours.
        let storage = unsafe { Self::new_handle(block.cast(), owners, origin) };
        Ok((storage, bytes))
    }

    /// Returns the first handle of an allocation, which `owners` counts.
    ///
    /// # Safety
    /// 1. `header` is valid for writes of a header, and aligned.
    /// 2. The caller owns it, and transfers ownership.
    #[inline]
    unsafe fn new_handle(header: NonNull<Header>, owners: BlockOwners, origin: Origin) -> Self {
        let value = Header {
            owners,
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

    /// Returns the borrows of the data.
    #[inline]
    pub(super) fn borrows(&self) -> &Borrows {
        &self.header().borrows
    }

    /// Returns `true` if the data may be written: it came from an allocator.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        matches!(self.header().origin, Origin::Block { .. })
    }

    /// Returns the owner of the data, if the data did not come from an allocator.
    pub(super) fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.header().origin {
            Origin::Block { .. } => None,
            // SAFETY: `lend` leaked it from a box; H1: it lives as long as this handle, and until
            // then it is only shared.
            Origin::Owner(owner) => Some(unsafe { owner.as_ref() }),
        }
    }

    /// Returns `true` if this is the only handle.
    #[inline]
    pub(super) fn is_unique(&self) -> bool {
        self.header().owners.is_unique()
    }

    /// Returns the room of a small block for a value, unless it is used, or other handles exist. It
    /// is exclusively the caller's until [`release_room`](Self::release_room).
    #[inline]
    pub(super) fn claim_room(&self) -> Option<NonNull<u8>> {
        if !self.header().owners.claim_room() {
            return None;
        }
        // SAFETY: only a small block has room, which lies before its header.
        Some(unsafe { self.header.cast().sub(ROOM_BYTES) })
    }

    /// Ends the use of room.
    ///
    /// # Safety
    /// 1. `place` came from [`claim_room`](Self::claim_room), and was not released since.
    /// 2. It is not used afterwards.
    #[inline]
    pub(super) unsafe fn release_room(place: NonNull<u8>) {
        // SAFETY: duty 1: it is the room of a small block, which is larger.
        let header = unsafe { place.add(ROOM_BYTES) }.cast::<Header>();
        // A reference to the whole header would conflict with `end` on another thread.
        // SAFETY: the header of the block, which exists until the value is gone (H2).
        let owners = unsafe { &(*header.as_ptr()).owners };
        if owners.release_room() {
            // SAFETY: the block came from the pool with this layout; it has no owners.
            unsafe { pool::deallocate(place, SMALL) };
        }
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Self {
        self.header().owners.add_handle();
        Self {
            header: self.header,
        }
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        if self.header().owners.remove_handle() {
            self.end();
        }
    }
}

impl Storage {
    /// Frees the allocation of the last handle, which is not used afterwards. Its room may be used.
    #[inline(never)]
    fn end(&mut self) {
        // Another thread may release the room at the same time, which changes `owners`. So nothing
        // reads the header as a whole, and `owners` is only used by reference.
        let header = self.header.as_ptr();
        // SAFETY: H1: the header is initialised.
        let borrows = unsafe { &raw mut (*header).borrows };
        // SAFETY: H1: the borrows exist.
        if unsafe { &*borrows }.own_memory() {
            // SAFETY: H1: nobody else uses the borrows, and they are not used afterwards.
            unsafe { borrows.drop_in_place() };
        }
        // SAFETY: H1: the header is initialised, and nothing writes the origin.
        let origin = unsafe { &(*header).origin };
        if let Origin::Block { allocator, block } = origin
            && block.is_small
        {
            let size = block.size;
            // Only what is needed of the origin is read: most tensors of single ops are small.
            // SAFETY: H1: this was the last handle, and nothing else takes the allocator.
            let allocator = unsafe { ptr::from_ref(allocator).read() };
            allocator.release_pooled(size);
            // SAFETY: the header exists until `end_handles`: the handles still own the block.
            let owners = unsafe { &(*header).owners };
            if !owners.end_handles() {
                return;
            }
            // SAFETY: `take_small` put the header so many bytes behind the start of the block.
            let start = unsafe { self.header.cast::<u8>().sub(ROOM_BYTES) };
            // SAFETY: the block came from the pool with this layout; it has no owners.
            unsafe { pool::deallocate(start, SMALL) };
            return;
        }
        // SAFETY: H1: this was the last handle, and nothing else takes the origin.
        let origin = unsafe { ptr::from_ref(origin).read() };
        match origin {
            Origin::Block { allocator, block } => {
                let header_offset = block.header_offset as usize;
                // SAFETY: `draw` put the header so many bytes behind the start of the block.
                let start = unsafe { self.header.cast::<u8>().sub(header_offset) };
                // The header has padding, which is not initialised.
                // SAFETY: H1: the header is not used any more.
                unsafe { self.header.write_bytes(0, 1) };
                // SAFETY: 1: the block came from this allocator with this layout. 2: H1. 3: the
                // header was just cleared, and elements have no padding.
                unsafe { allocator.deallocate_initialized(start, block.layout()) };
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

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::{ArenaAllocator, RequestMemory};

    use super::*;
    use crate::testing::malloc;

    /// Creates storage of so many bytes.
    type Create = fn(&Arc<dyn HostAllocator>, usize) -> Result<(Storage, NonNull<u8>), TensorError>;

    const CREATE: [Create; 3] = [
        |allocator, size| Storage::allocate(allocator, size, 8),
        |allocator, size| Storage::allocate_zeroed(allocator, size, 8),
        Storage::allocate_initialized,
    ];

    fn has_room(allocator: &Arc<dyn HostAllocator>, create: Create, size_bytes: usize) -> bool {
        let (storage, _) = create(allocator, size_bytes).unwrap();
        let Some(place) = storage.claim_room() else {
            return false;
        };
        drop(storage);
        // SAFETY: it was just claimed, and is not used afterwards.
        unsafe { Storage::release_room(place) };
        true
    }

    #[test]
    fn small_storage_of_an_arena_has_room_unless_freed_memory_is_filled() {
        let arena = |source| -> Arc<dyn HostAllocator> { Arc::new(ArenaAllocator::new(source)) };
        let poisoned: Arc<dyn HostAllocator> = Arc::new(ArenaAllocator::new_poisoned(malloc()));
        for create in CREATE {
            assert!(has_room(&malloc(), create, 8));
            assert!(has_room(&arena(malloc()), create, MAX_SMALL_BYTES));
            assert!(!has_room(&arena(malloc()), create, MAX_SMALL_BYTES + 1));
            assert!(!has_room(&poisoned, create, 8));
        }
    }

    #[test]
    fn small_storage_of_a_request_is_on_its_account_until_the_last_handle_is_dropped() {
        let arena: Arc<dyn HostAllocator> = Arc::new(ArenaAllocator::new(malloc()));
        for host in [malloc(), arena] {
            let request = Arc::new(RequestMemory::new(host, 100));
            let allocator: Arc<dyn HostAllocator> = Arc::clone(&request) as _;
            for create in CREATE {
                let (storage, _) = create(&allocator, 8).unwrap();
                let place = storage.claim_room().unwrap();
                assert!(create(&allocator, 8).is_err(), "beyond the limit");
                drop(storage.clone());
                assert_eq!(request.num_bytes(), MIN_ALIGN_BYTES + 8);
                drop(storage);
                assert_eq!(request.num_bytes(), 0);
                // SAFETY: it was claimed, and is not used afterwards.
                unsafe { Storage::release_room(place) };
            }
        }
    }

    /// Room that was claimed; dropping it releases it, as the end of a value does.
    struct Claimed(NonNull<u8>);

    // SAFETY: the room is the owner's alone, and is released on any thread.
    unsafe impl Send for Claimed {}

    impl Drop for Claimed {
        fn drop(&mut self) {
            // SAFETY: 1: tests make it of claimed room. 2: it is dropped once.
            unsafe { Storage::release_room(self.0) };
        }
    }

    #[test]
    fn the_last_handle_and_the_value_end_on_two_threads() {
        let rounds = if cfg!(miri) { 20 } else { 200 };
        for _ in 0..rounds {
            let (storage, _) = Storage::allocate(&malloc(), 8, 8).unwrap();
            let value = Claimed(storage.claim_room().unwrap());
            std::thread::scope(|scope| {
                scope.spawn(move || drop(value));
                scope.spawn(move || drop(storage));
            });
        }
    }

    #[test]
    fn handles_are_shown_by_their_number() {
        let (storage, _) = Storage::allocate(&malloc(), 8, 8).unwrap();
        let other = storage.clone();
        let shown = format!("{storage:?}");
        assert!(shown.contains("num_handles: 2"), "{shown}");
        drop(other);
    }
}

//! Buffers: bytes in host memory that are shared by reference count.
//!
//! Several tensors may share one buffer, or parts of it, so each allocation records the borrows of
//! its bytes: reading takes a shared borrow, writing an exclusive one, and a conflict is an error,
//! never a data race. A borrow costs one atomic exchange, regardless of the size; take it once,
//! outside of the loop.
//!
//! Invariant B1: the bytes of a buffer are initialised, and lie within its storage. Upheld by
//! `create`, by `filling` and by [`HostBuffer::slice`].
//!
//! - `create`: the creation of buffers; `filling`: of buffers whose bytes arrive in parts.
//! - `storage`: the allocation, its count and its end.
//! - `borrow`: the borrows of an allocation.
//! - `elements`: bytes as slices, while they are borrowed; `owned`: independent of a lifetime.
//! - `mapped`: files that are mapped into memory.
//! - `notes`: data derived from bytes that do not change, kept with them.
#![expect(unsafe_code, reason = "hands out parts of raw memory")]

mod conflict;

mod borrow;

mod create;

mod elements;

mod filling;

mod mapped;

mod notes;

mod owned;

mod storage;

use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};

pub use conflict::BufferConflict;
pub use elements::{Elements, ElementsMut};
pub use filling::FillingBuffer;
pub use owned::{OwnedElements, OwnedElementsMut};

pub(crate) use mapped::MappedFile;

use storage::Storage;

use crate::error::TensorError;
use crate::identity;

/// Bytes in host memory, or a part of them. Clones share the bytes.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::HostBuffer;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let buffer = HostBuffer::copied(&allocator, &[1_i32, 2, 3])?;
/// let mut tail = buffer.slice(4, 8)?;
/// tail.elements_mut::<i32>()?[0] = 7;
/// assert_eq!(*buffer.elements::<i32>()?, [1, 7, 3]);
/// assert!(!buffer.is_exclusive());
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[derive(Clone)]
pub struct HostBuffer {
    storage: Storage,
    start: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: `start` points into the storage, which is `Send` and `Sync`; the bytes are used under its
// borrows.
unsafe impl Send for HostBuffer {}

// SAFETY: as for `Send`.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Returns the number of bytes.
    #[inline]
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Returns `true` if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len_bytes == 0
    }

    /// Returns the address of the bytes, as an identity to print and compare.
    #[inline]
    #[must_use]
    pub fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// Returns `true` if the bytes may be written, because they came from an allocator.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.storage.is_writable()
    }

    /// Returns `true` if this is the only handle of memory that came from an allocator: its bytes
    /// are not shared.
    #[inline]
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.storage.is_writable() && self.storage.is_unique()
    }

    /// Returns a part of the buffer, which shares its memory.
    ///
    /// # Errors
    /// [`TensorError::OutOfBounds`].
    pub fn slice(&self, offset_bytes: usize, size_bytes: usize) -> Result<Self, TensorError> {
        let rest = self.len_bytes.checked_sub(offset_bytes);
        if rest.is_none_or(|rest| size_bytes > rest) {
            return Err(TensorError::OutOfBounds {
                offset_bytes,
                size_bytes,
                buffer_bytes: self.len_bytes,
            });
        }
        if size_bytes != self.len_bytes {
            self.storage.borrows().cut();
        }
        Ok(Self {
            storage: self.storage.clone(),
            // SAFETY: B1, and the offset is at most the size.
            start: unsafe { self.start.add(offset_bytes) },
            len_bytes: size_bytes,
        })
    }

    /// Releases the memory of a part of a [mapped file](crate::file::map) to the system. Its
    /// bytes remain valid: the system reads them from the file again when they are used. Memory of
    /// other origin is not affected.
    ///
    /// Programs that have made something else of weights in a file call it, so that the weights do
    /// not take up memory twice.
    pub fn give_back(&self) {
        let Some(file) =
            (self.storage.owner()).and_then(|owner| owner.downcast_ref::<MappedFile>())
        else {
            return;
        };
        let start = self.address() - file.as_ref().as_ptr().addr();
        file.give_back(start..start + self.len_bytes);
    }

    /// Returns room for a value before the header of the buffer. There is none if the room is used,
    /// or if the buffer has other handles.
    #[inline]
    pub(crate) fn claim_room(&self) -> Option<NonNull<u8>> {
        self.storage.claim_room()
    }

    /// Ends the use of room.
    ///
    /// # Safety
    /// 1. `place` came from [`claim_room`](Self::claim_room), and was not released since.
    /// 2. It is not used afterwards.
    #[inline]
    pub(crate) unsafe fn release_room(place: NonNull<u8>) {
        // SAFETY: duties 1 and 2.
        unsafe { Storage::release_room(place) };
    }

    /// The size of the room, which is aligned to a cache line.
    pub(crate) const ROOM_BYTES: usize = storage::ROOM_BYTES;

    #[inline]
    fn range(&self) -> Range<usize> {
        let start = self.address();
        start..start + self.len_bytes
    }
}

impl fmt::Display for HostBuffer {
    /// Writes the address and the number of the bytes: `HostBuffer<pointer=0x…, size=24>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "HostBuffer<pointer={:#x}, size={}>",
            self.address(),
            self.len_bytes
        )
    }
}

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Value for HostBuffer {
    const MLIR_TYPE: &'static str = "!ht.host_buffer";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
    // The bytes keep their borrows: see `BufferConflict`.
    const HANDLE: Option<fn(&Self) -> Self> = Some(Self::clone);
}

impl Immutable for HostBuffer {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;
    use std::sync::Arc;
    use tfrt_host::allocator::{HostAllocator, LeakCheckAllocator};

    #[test]
    fn memory_goes_back_with_the_last_handle() {
        let allocator: Arc<dyn HostAllocator> = Arc::new(LeakCheckAllocator::default());
        let live = || allocator.profile().unwrap().num_current;
        let buffer = HostBuffer::zeroed(&allocator, 100, 8).unwrap();
        let part = buffer.slice(10, 20).unwrap();
        assert_eq!(live(), 1);
        drop(buffer);
        assert_eq!(live(), 1);
        assert_eq!(*part.read().unwrap(), [0; 20]);
        drop(part);
        assert_eq!(live(), 0);
    }

    #[test]
    fn parts_stay_within_their_buffer() {
        let buffer = HostBuffer::zeroed(&malloc(), 10, 1).unwrap();
        assert!(buffer.slice(10, 0).unwrap().is_empty());
        assert!(buffer.slice(3, 8).is_err());
        assert!(buffer.slice(11, 0).is_err());
        assert!(buffer.slice(1, usize::MAX).is_err());
        let part = buffer.slice(2, 4).unwrap();
        assert!(part.slice(0, 5).is_err());
        assert_eq!(part.slice(1, 2).unwrap().address(), buffer.address() + 3);
    }

    #[test]
    fn an_exclusive_owner_is_the_only_one() {
        let buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        assert!(buffer.is_exclusive());
        let other = buffer.clone();
        assert!(!buffer.is_exclusive());
        drop(other);
        assert!(buffer.is_exclusive());
        assert!(!HostBuffer::from_owner(vec![0_u8]).unwrap().is_exclusive());
    }
}

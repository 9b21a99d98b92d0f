//! Buffers: bytes in host memory that are shared by reference count.
//!
//! Several tensors may share one buffer, or parts of it, so the bytes carry their own record of who uses them: reading
//! takes a borrow, writing an exclusive one, and a conflict is an error and never a data race. A borrow costs one atomic
//! exchange, whatever the size; take it once, outside of the loop.
//!
//! Invariant B1: the bytes of a buffer are initialised, and lie within its storage. Upheld by the constructors and by
//! [`HostBuffer::slice`].
#![expect(unsafe_code, reason = "hands out typed views of raw memory")]

mod borrow;

mod owned;

mod storage;

use std::fmt;
#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io;
use std::marker::PhantomData;
#[cfg(unix)]
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use tfrt_async::Value;
use tfrt_host::allocator::HostAllocator;

pub use borrow::BufferConflict;
pub use owned::{OwnedElements, OwnedElementsMut};

use borrow::Borrow;
use storage::Storage;

use crate::element::Element;
use crate::error::TensorError;
#[cfg(unix)]
use crate::file::SourceError;

/// Bytes in host memory, or a part of them. Cloning shares.
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

// SAFETY: `start` points into the storage, which is `Send` and `Sync`; the bytes are used under its borrows.
unsafe impl Send for HostBuffer {}

// SAFETY: as for `Send`.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// A buffer of this size whose bytes are all zero, at a multiple of the alignment and of 64.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] and [`TensorError::BadAlignment`].
    pub fn zeroed(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Result<Self, TensorError> {
        if !align_bytes.is_power_of_two() {
            return Err(TensorError::BadAlignment { align_bytes });
        }
        let (storage, start) = Storage::allocate(allocator, size_bytes, align_bytes)?;
        // SAFETY: the storage has so many bytes from there, and nobody else knows them.
        unsafe { start.write_bytes(0, size_bytes) };
        Ok(Self {
            storage,
            start,
            len_bytes: size_bytes,
        })
    }

    /// A buffer of these elements.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn copied<T: Element>(
        allocator: &Arc<dyn HostAllocator>,
        elements: &[T],
    ) -> Result<Self, TensorError> {
        let len_bytes = size_of_val(elements);
        let (storage, start) = Storage::allocate(allocator, len_bytes, align_of::<T>())?;
        let source = NonNull::from(elements).cast::<T>();
        // SAFETY: the storage has so many bytes from there, aligned for `T`, and nobody else knows them.
        unsafe {
            start
                .cast::<T>()
                .copy_from_nonoverlapping(source, elements.len())
        };
        Ok(Self {
            storage,
            start,
            len_bytes,
        })
    }

    /// A buffer of so many elements, each made from its position.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn from_fn<T: Element>(
        allocator: &Arc<dyn HostAllocator>,
        len: usize,
        mut element: impl FnMut(usize) -> T,
    ) -> Result<Self, TensorError> {
        let len_bytes = len
            .checked_mul(size_of::<T>())
            .ok_or(TensorError::OutOfMemory {
                size_bytes: usize::MAX,
            })?;
        let (storage, start) = Storage::allocate(allocator, len_bytes, align_of::<T>())?;
        let elements = start.cast::<T>();
        for index in 0..len {
            // SAFETY: the storage has `len` elements from there.
            let place = unsafe { elements.add(index) };
            // SAFETY: it is within the storage, which is aligned for `T` and which nobody else knows.
            unsafe { place.write(element(index)) };
        }
        Ok(Self {
            storage,
            start,
            len_bytes,
        })
    }

    /// A buffer of bytes of a file. Nothing is cleared before.
    #[cfg(unix)]
    pub(crate) fn read_file(
        allocator: &Arc<dyn HostAllocator>,
        file: &File,
        offset: u64,
        len_bytes: usize,
    ) -> Result<Self, SourceError> {
        let (storage, start) = Storage::allocate(allocator, len_bytes, 1)?;
        let bytes = NonNull::slice_from_raw_parts(start.cast::<MaybeUninit<u8>>(), len_bytes);
        // SAFETY: the storage has so many bytes from there, which need not be initialised, and nobody else knows them.
        let bytes = unsafe { &mut *bytes.as_ptr() };
        let mut num_read = 0;
        // B1: what is read is initialised, and that is everything in the end.
        while num_read < len_bytes {
            let place = offset.saturating_add(num_read as u64);
            match rustix::io::pread(file, &mut bytes[num_read..], place) {
                Ok(([], _)) => return Err(SourceError::Io(io::ErrorKind::UnexpectedEof.into())),
                Ok((read, _)) => num_read += read.len(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(SourceError::Io(error.into())),
            }
        }
        Ok(Self {
            storage,
            start,
            len_bytes,
        })
    }

    /// The bytes of somebody else, without copying them. They can only be read.
    ///
    /// ```
    /// let buffer = tfrt_tensor::HostBuffer::from_owner(vec![1_u8, 2, 3])?;
    /// assert_eq!(*buffer.read()?, [1, 2, 3]);
    /// assert!(!buffer.is_writable());
    /// # Ok::<(), tfrt_tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn from_owner<O>(owner: O) -> Result<Self, TensorError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let (storage, bytes) = Storage::lend(owner)?;
        Ok(Self {
            storage,
            start: bytes.cast(),
            len_bytes: bytes.len(),
        })
    }

    /// How many bytes there are.
    #[inline]
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len_bytes == 0
    }

    /// Where the bytes are: an identity, to be printed and compared.
    #[must_use]
    pub fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// Whether the bytes may be written: they came from an allocator.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.storage.is_writable()
    }

    /// Whether this is the only handle of memory that came from an allocator: nobody else can see its bytes change.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.storage.is_writable() && self.storage.is_unique()
    }

    /// A part of the buffer, which shares its memory.
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

    /// Borrows the bytes to read them.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if somebody writes them.
    #[inline]
    pub fn read(&self) -> Result<Elements<'_, u8>, TensorError> {
        self.elements()
    }

    /// Borrows the bytes to write them.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if somebody reads or writes them, or they can only be read.
    #[inline]
    pub fn write(&mut self) -> Result<ElementsMut<'_, u8>, TensorError> {
        self.elements_mut()
    }

    /// Borrows the bytes to read them, as elements.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if somebody writes them, [`TensorError::Misaligned`] and [`TensorError::WrongBufferSize`]
    /// if they are no such elements.
    #[inline]
    pub fn elements<T: Element>(&self) -> Result<Elements<'_, T>, TensorError> {
        let len = self.num_elements::<T>()?;
        let borrow = self.storage.borrows().read(self.range())?;
        Ok(Elements {
            start: self.start.cast(),
            len,
            _borrow: borrow,
            lifetime: PhantomData,
        })
    }

    /// Borrows the bytes to write them, as elements.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements), and [`TensorError::Conflict`] also if somebody reads them.
    #[inline]
    pub fn elements_mut<T: Element>(&mut self) -> Result<ElementsMut<'_, T>, TensorError> {
        let len = self.num_elements::<T>()?;
        if !self.storage.is_writable() {
            return Err(BufferConflict::ReadOnly.into());
        }
        let borrow = self.storage.borrows().write(self.range())?;
        Ok(ElementsMut {
            start: self.start.cast(),
            len,
            _borrow: borrow,
            lifetime: PhantomData,
        })
    }

    /// Borrows the bytes to read them, as elements, for as long as the result lives: it keeps a handle of the buffer.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements).
    pub fn elements_owned<T: Element>(&self) -> Result<OwnedElements<T>, TensorError> {
        OwnedElements::new(self.clone())
    }

    /// Borrows the bytes to write them, as elements, for as long as the result lives: it keeps a handle of the buffer.
    ///
    /// # Errors
    /// Those of [`elements_mut`](Self::elements_mut).
    pub fn elements_mut_owned<T: Element>(&mut self) -> Result<OwnedElementsMut<T>, TensorError> {
        OwnedElementsMut::new(self.clone())
    }

    #[inline]
    fn range(&self) -> Range<usize> {
        let start = self.address();
        start..start + self.len_bytes
    }

    /// How many elements the bytes are, if they are whole elements in the right place.
    #[inline]
    fn num_elements<T: Element>(&self) -> Result<usize, TensorError> {
        let len = self.len_bytes / size_of::<T>();
        if !self.start.cast::<T>().is_aligned() {
            return Err(TensorError::Misaligned {
                expected: align_of::<T>(),
            });
        }
        if len * size_of::<T>() != self.len_bytes {
            return Err(TensorError::WrongBufferSize {
                expected: len * size_of::<T>(),
                found: self.len_bytes,
            });
        }
        Ok(len)
    }
}

impl fmt::Display for HostBuffer {
    /// Where the bytes are and how many there are: `HostBuffer<pointer=0x…, size=24>`.
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
    // The bytes keep their borrows: see `BufferConflict`.
    const HANDLE: Option<fn(&Self) -> Self> = Some(Self::clone);
}

/// Elements of a buffer, while they are being read: a slice.
///
/// ```
/// use tfrt_tensor::{Elements, HostBuffer};
///
/// let buffer = HostBuffer::from_owner([1_u8, 2, 3])?;
/// let bytes: Elements<'_, u8> = buffer.read()?;
/// assert_eq!(bytes.iter().sum::<u8>(), 6);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
// Pointers, because references would have to stay valid until the end of the function that drops the guard, and the borrow
// ends before that.
pub struct Elements<'a, T> {
    start: NonNull<T>,
    len: usize,
    _borrow: Borrow<'a>,
    lifetime: PhantomData<&'a [T]>,
}

// SAFETY: stands for a shared slice, and for a borrow, which is kept in atomics and a lock.
unsafe impl<T: Sync> Send for Elements<'_, T> {}

// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Elements<'_, T> {}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `HostBuffer::elements` checked alignment and length; B1 and the lifetime say that the bytes are initialised
        // and live, `Element` that any bytes are elements, and the borrow that nobody writes them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Elements of a buffer, while they are being written: a slice that nobody else sees.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{ElementsMut, HostBuffer};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let mut buffer = HostBuffer::zeroed(&allocator, 8, 4)?;
/// let mut numbers: ElementsMut<'_, f32> = buffer.elements_mut()?;
/// numbers.fill(0.5);
/// drop(numbers);
/// assert_eq!(*buffer.elements::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
pub struct ElementsMut<'a, T> {
    start: NonNull<T>,
    len: usize,
    _borrow: Borrow<'a>,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: stands for an exclusive slice, and for a borrow, which is kept in atomics and a lock.
unsafe impl<T: Send> Send for ElementsMut<'_, T> {}

// SAFETY: as for `Send`; a shared guard gives shared slices only.
unsafe impl<T: Sync> Sync for ElementsMut<'_, T> {}

impl<T> Deref for ElementsMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: as for `Elements`, by `HostBuffer::elements_mut`; nobody else uses the bytes.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for ElementsMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for ElementsMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::storage::MIN_ALIGN_BYTES;
    use super::*;
    use tfrt_host::allocator::{FixedSizeAllocator, LeakCheckAllocator, Malloc};

    fn malloc() -> Arc<dyn HostAllocator> {
        Arc::new(Malloc)
    }

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
    fn data_is_aligned_as_asked_and_to_a_cache_line() {
        for align_bytes in [1, 8, 64, 256, 4096] {
            let buffer = HostBuffer::zeroed(&malloc(), 10, align_bytes).unwrap();
            assert_eq!(buffer.address() % align_bytes.max(MIN_ALIGN_BYTES), 0);
        }
        assert_eq!(
            HostBuffer::zeroed(&malloc(), 1, 3).unwrap_err(),
            TensorError::BadAlignment { align_bytes: 3 }
        );
    }

    #[test]
    fn sizes_beyond_memory_are_errors() {
        let small: Arc<dyn HostAllocator> = Arc::new(FixedSizeAllocator::new(100));
        let expected = |size_bytes| TensorError::OutOfMemory { size_bytes };
        assert_eq!(
            HostBuffer::zeroed(&small, 1000, 8).unwrap_err(),
            expected(1000)
        );
        assert_eq!(
            HostBuffer::zeroed(&malloc(), usize::MAX, 8).unwrap_err(),
            expected(usize::MAX)
        );
        let huge_align = 1 << (usize::BITS - 1);
        assert_eq!(
            HostBuffer::zeroed(&malloc(), 8, huge_align).unwrap_err(),
            expected(8)
        );
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
    fn bytes_are_elements_only_in_the_right_place_and_number() {
        let buffer = HostBuffer::zeroed(&malloc(), 10, 8).unwrap();
        assert_eq!(
            buffer.elements::<i32>().unwrap_err(),
            TensorError::WrongBufferSize {
                expected: 8,
                found: 10
            }
        );
        assert_eq!(
            buffer.slice(1, 4).unwrap().elements::<i32>().unwrap_err(),
            TensorError::Misaligned { expected: 4 }
        );
        assert_eq!(
            *buffer.slice(0, 8).unwrap().elements::<i32>().unwrap(),
            [0, 0]
        );
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

    #[test]
    fn lent_bytes_are_dropped_with_the_last_handle_and_never_written() {
        let owner: Arc<[u8]> = Arc::from([1, 2, 3]);
        let mut buffer = HostBuffer::from_owner(Arc::clone(&owner)).unwrap();
        assert_eq!(*buffer.read().unwrap(), [1, 2, 3]);
        assert_eq!(
            buffer.write().unwrap_err(),
            TensorError::Conflict(BufferConflict::ReadOnly)
        );
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(buffer);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn disjoint_parts_are_written_at_once() {
        let buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        let (mut low, mut high) = (buffer.slice(0, 4).unwrap(), buffer.slice(4, 4).unwrap());
        std::thread::scope(|scope| {
            let low = low.elements_mut::<u32>().unwrap();
            let high = high.elements_mut::<u32>().unwrap();
            for mut part in [low, high] {
                scope.spawn(move || part[0] = 7);
            }
        });
        assert_eq!(*buffer.elements::<u32>().unwrap(), [7, 7]);
    }

    /// Threads that write a buffer, or a part of it, while others read and cut it: a reader never sees half of what was written.
    #[test]
    fn readers_never_see_half_of_a_write() {
        const ROUNDS: u32 = 20_000;
        let buffer = HostBuffer::zeroed(&malloc(), 64, 8).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let mut buffer = buffer.clone();
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        if let Ok(mut elements) = buffer.elements_mut::<u32>() {
                            elements.fill(round * 2 + thread);
                        }
                        if round == ROUNDS / 2 {
                            // From here on the borrows are kept in the other way.
                            buffer.slice(0, 8).unwrap();
                        }
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        if let Ok(elements) = buffer.elements::<u32>() {
                            assert!(elements.iter().all(|element| *element == elements[0]));
                        }
                    }
                });
            }
        });
        assert!(buffer.elements::<u32>().is_ok(), "every borrow has ended");
    }
}

//! The creation of buffers.
#![expect(unsafe_code, reason = "initialises raw memory")]

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;

use super::HostBuffer;
use super::storage::{MIN_ALIGN_BYTES, Storage};
use crate::element::Element;
use crate::error::TensorError;
#[cfg(unix)]
use crate::file::SourceError;

impl HostBuffer {
    /// Creates a zeroed buffer of this size, aligned to a multiple of the alignment and of 64.
    /// Unused parts of a large one take no memory.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`] and [`TensorError::BadAlignment`].
    #[inline]
    pub fn zeroed(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
        align_bytes: usize,
    ) -> Result<Self, TensorError> {
        if !align_bytes.is_power_of_two() {
            return Err(TensorError::BadAlignment { align_bytes });
        }
        let (storage, start) = Storage::allocate_zeroed(allocator, size_bytes, align_bytes)?;
        Ok(Self {
            storage,
            start,
            len_bytes: size_bytes,
        })
    }

    /// Creates a buffer of this size whose bytes are initialised, but have unspecified values, for
    /// owners that write all of it. It is aligned to a multiple of 64.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    #[inline]
    pub fn unspecified(
        allocator: &Arc<dyn HostAllocator>,
        size_bytes: usize,
    ) -> Result<Self, TensorError> {
        let (storage, start) = Storage::allocate_initialized(allocator, size_bytes)?;
        Ok(Self {
            storage,
            start,
            len_bytes: size_bytes,
        })
    }

    /// Creates a buffer of these elements.
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
        // SAFETY: the storage has so many bytes from there, aligned for `T`, and they are not
        // shared.
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

    /// Creates a buffer of this many elements, each computed from its position.
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
            // SAFETY: it is within the storage, which is aligned for `T` and not shared.
            unsafe { place.write(element(index)) };
        }
        Ok(Self {
            storage,
            start,
            len_bytes,
        })
    }

    /// Creates a buffer of this many elements, which `compute` writes, and returns what `compute`
    /// returns. Before, the elements are unspecified. This is cheaper than a borrow of a finished
    /// buffer: nobody else has a handle yet.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    #[inline]
    pub(crate) fn computed<T: Element, R>(
        allocator: &Arc<dyn HostAllocator>,
        len: usize,
        compute: impl FnOnce(&mut [T]) -> R,
    ) -> Result<(Self, R), TensorError> {
        const {
            assert!(
                align_of::<T>() <= MIN_ALIGN_BYTES,
                "initialised memory is aligned for every element"
            );
        }
        // Not `ok_or`, which makes an error and drops it in every call.
        let Some(len_bytes) = len.checked_mul(size_of::<T>()) else {
            return Err(TensorError::OutOfMemory {
                size_bytes: usize::MAX,
            });
        };
        let (storage, start) = Storage::allocate_initialized(allocator, len_bytes)?;
        let buffer = Self {
            storage,
            start,
            len_bytes,
        };
        // SAFETY: the storage has so many initialised bytes from there, aligned for `T`, and any
        // bytes are elements. The only handle is `buffer`, which is not used meanwhile.
        let elements = unsafe { slice::from_raw_parts_mut(start.cast::<T>().as_ptr(), len) };
        let returned = compute(elements);
        Ok((buffer, returned))
    }

    /// Creates a buffer of bytes of a file. Nothing is cleared before.
    #[cfg(unix)]
    pub(crate) fn read_file(
        allocator: &Arc<dyn HostAllocator>,
        file: &File,
        offset: u64,
        len_bytes: usize,
    ) -> Result<Self, SourceError> {
        let (storage, start) = Storage::allocate(allocator, len_bytes, 1)?;
        let bytes = NonNull::slice_from_raw_parts(start.cast::<MaybeUninit<u8>>(), len_bytes);
        // SAFETY: the storage has so many bytes from there, which need not be initialised, and they
        // are not shared.
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

    /// Creates a read-only buffer of the owner's bytes, without a copy.
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
}

#[cfg(test)]
mod tests {
    use super::super::BufferConflict;
    use super::*;
    use crate::testing::malloc;
    use tfrt_host::allocator::{FixedSizeAllocator, LeakCheckAllocator};

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
    fn large_zeroed_memory_is_aligned_zero_and_given_back() {
        let allocator: Arc<dyn HostAllocator> = Arc::new(LeakCheckAllocator::default());
        for align_bytes in [1, 64, 256, 4096] {
            let mut buffer = HostBuffer::zeroed(&allocator, 1 << 17, align_bytes).unwrap();
            assert_eq!(buffer.address() % align_bytes.max(MIN_ALIGN_BYTES), 0);
            assert!(buffer.read().unwrap().iter().all(|byte| *byte == 0));
            // The next one must be clear, too.
            buffer.write().unwrap().fill(0xff);
        }
        assert_eq!(allocator.profile().unwrap().current_bytes, 0);
    }

    /// Returns how many bytes of memory the process takes up, where the system says so.
    #[cfg(target_os = "linux")]
    fn resident_bytes() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident = pages.split(' ').nth(1).unwrap();
        4096 * resident.parse::<usize>().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn zeroed_memory_is_not_touched() {
        const SIZE_BYTES: usize = 1 << 30;
        let before = resident_bytes();
        let mut buffer = HostBuffer::zeroed(&malloc(), SIZE_BYTES, 64).unwrap();
        buffer.write().unwrap()[SIZE_BYTES / 2] = 1;
        // Other tests take little.
        assert!(resident_bytes() < before + SIZE_BYTES / 4);
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
}

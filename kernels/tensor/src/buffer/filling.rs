//! Buffers that are filled from front to back.
#![expect(unsafe_code, reason = "writes to memory that is not initialised yet")]

use std::ptr::NonNull;
use std::sync::Arc;

use bytes::BufMut;
use bytes::buf::UninitSlice;
use tfrt_host::allocator::HostAllocator;

use super::HostBuffer;
use super::storage::Storage;
use crate::error::TensorError;

/// A buffer whose bytes arrive one part after the other. Nothing is cleared before.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::FillingBuffer;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let mut filling = FillingBuffer::new(&allocator, 4)?;
/// filling.append(&[1, 2])?;
/// filling.append(&[3])?;
/// assert!(filling.append(&[4, 5]).is_err());
/// assert_eq!(*filling.finish().read()?, [1, 2, 3]);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[derive(Debug)]
pub struct FillingBuffer {
    /// The bytes so far. The only handle of its memory, and nobody has borrowed it.
    filled: HostBuffer,
    capacity_bytes: usize,
}

impl FillingBuffer {
    /// Allocates memory for this many bytes, aligned to a cache line.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn new(
        allocator: &Arc<dyn HostAllocator>,
        capacity_bytes: usize,
    ) -> Result<Self, TensorError> {
        let (storage, start) = Storage::allocate(allocator, capacity_bytes, 1)?;
        let filled = HostBuffer {
            storage,
            start,
            len_bytes: 0,
        };
        Ok(Self {
            filled,
            capacity_bytes,
        })
    }

    /// Returns the number of bytes so far.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.filled.len_bytes
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`TensorError::OutOfBounds`] if there is no room for all of them; nothing is appended then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), TensorError> {
        let end = self.end(bytes.len())?;
        let source = NonNull::from(bytes).cast::<u8>();
        // SAFETY: so many bytes are left there; they are not shared, so the source lies elsewhere.
        unsafe { end.copy_from_nonoverlapping(source, bytes.len()) };
        // B1: the bytes up to here are initialised.
        self.filled.len_bytes += bytes.len();
        Ok(())
    }

    /// Returns the bytes so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let bytes = NonNull::slice_from_raw_parts(self.filled.start, self.filled.len_bytes);
        // SAFETY: B1: initialised. Nobody writes them: nobody else has a handle, and the result
        // borrows this one.
        unsafe { bytes.as_ref() }
    }

    /// Returns the end of the bytes so far, behind which there is room for so many more.
    fn end(&self, num_bytes: usize) -> Result<NonNull<u8>, TensorError> {
        let offset_bytes = self.filled.len_bytes;
        if num_bytes > self.capacity_bytes - offset_bytes {
            return Err(TensorError::OutOfBounds {
                offset_bytes,
                size_bytes: num_bytes,
                buffer_bytes: self.capacity_bytes,
            });
        }
        // SAFETY: the storage has `capacity_bytes` from the start, which is at least the offset.
        Ok(unsafe { self.filled.start.add(offset_bytes) })
    }

    /// Returns the buffer of the bytes so far.
    #[must_use]
    pub fn finish(self) -> HostBuffer {
        self.filled
    }
}

/// What reads into memory of the caller's, such as a connection, appends its bytes in place.
// SAFETY: `chunk_mut` returns the memory behind the bytes so far, up to the capacity, and always
// the same until `advance_mut`.
unsafe impl BufMut for FillingBuffer {
    fn remaining_mut(&self) -> usize {
        self.capacity_bytes - self.filled.len_bytes
    }

    unsafe fn advance_mut(&mut self, num_bytes: usize) {
        let (offset_bytes, size_bytes) = (self.filled.len_bytes, num_bytes);
        assert!(
            size_bytes <= self.remaining_mut(),
            "{size_bytes} bytes at {offset_bytes} are beyond the capacity"
        );
        // B1: the caller has initialised them.
        self.filled.len_bytes += num_bytes;
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        let num_bytes = self.remaining_mut();
        // SAFETY: the storage has `capacity_bytes` from the start, which is at least the offset.
        let end = unsafe { self.filled.start.add(self.filled.len_bytes) };
        // SAFETY: so many bytes are left there, which are not shared: nobody else has a handle, and
        // the result borrows this one.
        unsafe { UninitSlice::from_raw_parts_mut(end.as_ptr(), num_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::storage::MIN_ALIGN_BYTES;
    use crate::testing::malloc;
    use tfrt_host::allocator::LeakCheckAllocator;

    #[test]
    fn parts_follow_each_other_and_stay_within_the_capacity() {
        let mut filling = FillingBuffer::new(&malloc(), 5).unwrap();
        filling.append(&[]).unwrap();
        filling.append(&[1, 2, 3]).unwrap();
        assert_eq!(
            filling.append(&[4, 5, 6]).unwrap_err(),
            TensorError::OutOfBounds {
                offset_bytes: 3,
                size_bytes: 3,
                buffer_bytes: 5,
            }
        );
        assert_eq!(filling.len_bytes(), 3);
        filling.append(&[4, 5]).unwrap();
        let mut buffer = filling.finish();
        assert_eq!(*buffer.read().unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(buffer.address() % MIN_ALIGN_BYTES, 0);
        buffer.write().unwrap()[0] = 7;
    }

    #[test]
    fn readers_append_in_place_up_to_the_capacity() {
        let mut filling = FillingBuffer::new(&malloc(), 5).unwrap();
        filling.append(&[9]).unwrap();
        assert_eq!(filling.chunk_mut().len(), 4);
        filling.put_slice(&[1, 2, 3]);
        assert_eq!(filling.as_bytes(), [9, 1, 2, 3]);
        assert_eq!(filling.remaining_mut(), 1);
        filling.put_u8(4);
        assert!(!filling.has_remaining_mut());
        assert!(filling.chunk_mut().len() == 0 && filling.append(&[5]).is_err());
        assert_eq!(*filling.finish().read().unwrap(), [9, 1, 2, 3, 4]);
    }

    #[test]
    fn memory_is_given_back_whether_it_is_filled_or_not() {
        let allocator: Arc<dyn HostAllocator> = Arc::new(LeakCheckAllocator::default());
        for size in [0, 1, 1 << 17] {
            let mut filling = FillingBuffer::new(&allocator, size).unwrap();
            filling.append(&vec![1; size / 2]).unwrap();
            assert_eq!(filling.finish().len_bytes(), size / 2);
            drop(FillingBuffer::new(&allocator, size).unwrap());
        }
        assert_eq!(allocator.profile().unwrap().current_bytes, 0);
    }
}

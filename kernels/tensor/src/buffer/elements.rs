//! Bytes as slices of elements, while they are borrowed.
#![expect(unsafe_code, reason = "hands out typed views of raw memory")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use super::borrow::{Borrow, READ, WRITE};
use super::{BufferConflict, HostBuffer};
use crate::element::Element;
use crate::error::TensorError;

impl HostBuffer {
    /// Borrows the bytes for reading.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if they are being written.
    #[inline]
    pub fn read(&self) -> Result<Elements<'_, u8>, TensorError> {
        self.elements()
    }

    /// Borrows the bytes for writing.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if they are being read or written, or are read-only.
    #[inline]
    pub fn write(&mut self) -> Result<ElementsMut<'_, u8>, TensorError> {
        self.elements_mut()
    }

    /// Borrows the bytes for reading, as elements.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if they are being written, [`TensorError::Misaligned`] and
    /// [`TensorError::WrongBufferSize`] if they are not such elements.
    #[inline]
    pub fn elements<T: Element>(&self) -> Result<Elements<'_, T>, TensorError> {
        let len = self.num_elements::<T>()?;
        let borrow = self.storage.borrows().read(self.range())?;
        Ok(Elements::new(self.start.cast(), len, borrow))
    }

    /// Borrows the bytes for writing, as elements.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements), and [`TensorError::Conflict`] also if they are being
    /// read.
    #[inline]
    pub fn elements_mut<T: Element>(&mut self) -> Result<ElementsMut<'_, T>, TensorError> {
        let len = self.num_elements::<T>()?;
        if !self.storage.is_writable() {
            return Err(BufferConflict::ReadOnly.into());
        }
        let borrow = self.storage.borrows().write(self.range())?;
        Ok(ElementsMut::new(self.start.cast(), len, borrow))
    }

    /// Returns how many elements the bytes are, if they are whole elements in the right place.
    #[inline]
    pub(super) fn num_elements<T: Element>(&self) -> Result<usize, TensorError> {
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
// Pointers, because references would have to stay valid until the end of the function that drops
// the guard, and the borrow ends before that.
pub struct Elements<'a, T> {
    start: NonNull<T>,
    len: usize,
    _borrow: Borrow<'a, READ>,
    lifetime: PhantomData<&'a [T]>,
}

// SAFETY: stands for a shared slice, and for a borrow, which is kept in atomics and a lock.
unsafe impl<T: Sync> Send for Elements<'_, T> {}

// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Elements<'_, T> {}

impl<'a, T> Elements<'a, T> {
    /// So many elements from `start` on, which `borrow` is of; checked by `num_elements`.
    #[inline]
    pub(super) fn new(start: NonNull<T>, len: usize, borrow: Borrow<'a, READ>) -> Self {
        Self {
            start,
            len,
            _borrow: borrow,
            lifetime: PhantomData,
        }
    }
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: callers of `new` checked alignment and length; B1 and the lifetime say that the
        // bytes are initialised and live, `Element` that any bytes are elements, and the borrow
        // that nobody writes them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Elements of a buffer while they are being written: an exclusive slice.
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
    _borrow: Borrow<'a, WRITE>,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: stands for an exclusive slice, and for a borrow, which is kept in atomics and a lock.
unsafe impl<T: Send> Send for ElementsMut<'_, T> {}

// SAFETY: as for `Send`; a shared guard gives shared slices only.
unsafe impl<T: Sync> Sync for ElementsMut<'_, T> {}

impl<'a, T> ElementsMut<'a, T> {
    /// So many elements from `start` on, which `borrow` is of; checked by `num_elements`.
    #[inline]
    pub(super) fn new(start: NonNull<T>, len: usize, borrow: Borrow<'a, WRITE>) -> Self {
        Self {
            start,
            len,
            _borrow: borrow,
            lifetime: PhantomData,
        }
    }
}

impl<T> Deref for ElementsMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: as for `Elements`; the bytes are not shared.
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
    use super::*;
    use crate::testing::malloc;

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

    /// Threads that write a buffer, or a part of it, while others read and cut it: a reader never
    /// sees half of what was written.
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

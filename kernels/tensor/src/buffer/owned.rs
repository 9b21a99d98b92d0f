//! Borrows that own a handle of their buffer, for work that outlives the kernel that started it.
//!
//! ```text
//!   kernel ── elements_owned ──► OwnedElements ──moves into──► task ── drop ──► the borrow ends, then the handle
//! ```
//!
//! A task that owns such a borrow does not depend on other values, and conflicting borrows fail
//! meanwhile.
#![expect(
    unsafe_code,
    reason = "a borrow and the handle that keeps its memory are one value"
)]

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::borrow::Borrows;
use super::{BufferConflict, Elements, ElementsMut, HostBuffer};
use crate::element::Element;
use crate::error::TensorError;

impl HostBuffer {
    /// Borrows the bytes for reading, as elements, for the lifetime of the result, which keeps a
    /// handle of the buffer.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements).
    pub fn elements_owned<T: Element>(&self) -> Result<OwnedElements<T>, TensorError> {
        OwnedElements::new(self.clone())
    }

    /// Borrows the bytes for writing, as elements, for the lifetime of the result, which keeps a
    /// handle of the buffer.
    ///
    /// # Errors
    /// Those of [`elements_mut`](Self::elements_mut).
    pub fn elements_mut_owned<T: Element>(&mut self) -> Result<OwnedElementsMut<T>, TensorError> {
        OwnedElementsMut::new(self.clone())
    }
}

/// An owned borrow of elements of a buffer for reading.
///
/// ```
/// use tfrt_tensor::{HostBuffer, OwnedElements};
///
/// let bytes: OwnedElements<u8> = HostBuffer::from_owner([1_u8, 2, 3])?.elements_owned()?;
/// let sum = std::thread::spawn(move || bytes.iter().sum::<u8>()).join();
/// assert_eq!(sum.unwrap(), 6);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
pub struct OwnedElements<T: 'static> {
    // O1: the borrow and the elements lie in the allocation that the handle keeps, and end before
    // it: fields are dropped in order. The lifetime does not get out: `deref` lends from `self`.
    // Upheld by this file.
    elements: Elements<'static, T>,
    buffer: HostBuffer,
}

/// Returns the borrows of a buffer, together with a handle of it.
fn lasting_borrows(buffer: &HostBuffer) -> &'static Borrows {
    // SAFETY: they lie in the allocation, which stays where it is as long as there is a handle; the
    // borrow made of this is kept beside one (O1).
    unsafe { NonNull::from(buffer.storage.borrows()).as_ref() }
}

impl<T: Element> OwnedElements<T> {
    pub(super) fn new(buffer: HostBuffer) -> Result<Self, TensorError> {
        let len = buffer.num_elements::<T>()?;
        let borrow = lasting_borrows(&buffer).read(buffer.range())?;
        let elements = Elements::new(buffer.start.cast(), len, borrow);
        Ok(Self { elements, buffer })
    }
}

impl<T> OwnedElements<T> {
    /// Returns the buffer of the elements.
    #[must_use]
    pub fn buffer(&self) -> &HostBuffer {
        &self.buffer
    }
}

impl<T> OwnedElements<T> {
    /// Returns the first accepted note of type `N` about these elements. If there is none, one is
    /// made, which lives as long as the buffer's memory. Returns `None` if the elements have been
    /// written since such a note was made: notes about data that changes are not worthwhile.
    ///
    /// A note must not hold a handle of this buffer, which would then never be freed. A look-up
    /// takes no lock, but one step for each note about the same allocation. If several threads make
    /// a note at the same time, one of them is kept.
    ///
    /// ```
    /// use tfrt_tensor::HostBuffer;
    ///
    /// struct Sum(i32);
    ///
    /// let elements = HostBuffer::copied(&allocator(), &[1, 2, 3])?.elements_owned::<i32>()?;
    /// let sum = |number: i32| elements.note(|_| true, || Sum(number)).map(|sum| sum.0);
    /// assert_eq!(sum(elements.iter().sum()), Some(6));
    /// assert_eq!(sum(7), Some(6), "that is noted already");
    /// # use tfrt_host::allocator::{HostAllocator, Malloc};
    /// # fn allocator() -> std::sync::Arc<dyn HostAllocator> { std::sync::Arc::new(Malloc) }
    /// # Ok::<(), tfrt_tensor::TensorError>(())
    /// ```
    pub fn note<N: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&N) -> bool,
        make: impl FnOnce() -> N,
    ) -> Option<&N> {
        let buffer = self.buffer();
        let borrows = buffer.storage.borrows();
        let num_writes = borrows.num_writes()?;
        let notes = borrows.notes();
        notes.get_or_make(&buffer.range(), num_writes, is_wanted, make)
    }
}

impl<T> Deref for OwnedElements<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> AsRef<[T]> for OwnedElements<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: fmt::Debug> fmt::Debug for OwnedElements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// An owned borrow of elements of a buffer for writing.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{HostBuffer, OwnedElementsMut};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let mut buffer = HostBuffer::zeroed(&allocator, 8, 4)?;
/// let mut numbers: OwnedElementsMut<f32> = buffer.elements_mut_owned()?;
/// std::thread::spawn(move || numbers.fill(0.5)).join().unwrap();
/// assert_eq!(*buffer.elements::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
pub struct OwnedElementsMut<T: 'static> {
    // O1, as for `OwnedElements`.
    elements: ElementsMut<'static, T>,
    _buffer: HostBuffer,
}

impl<T: Element> OwnedElementsMut<T> {
    pub(super) fn new(buffer: HostBuffer) -> Result<Self, TensorError> {
        let len = buffer.num_elements::<T>()?;
        if !buffer.is_writable() {
            return Err(BufferConflict::ReadOnly.into());
        }
        let borrow = lasting_borrows(&buffer).write(buffer.range())?;
        let elements = ElementsMut::new(buffer.start.cast(), len, borrow);
        Ok(Self {
            elements,
            _buffer: buffer,
        })
    }
}

impl<T> Deref for OwnedElementsMut<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> DerefMut for OwnedElementsMut<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

impl<T> AsMut<[T]> for OwnedElementsMut<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: fmt::Debug> fmt::Debug for OwnedElementsMut<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferConflict;
    use crate::testing::malloc;
    use std::sync::Arc;
    use tfrt_host::allocator::{HostAllocator, LeakCheckAllocator};

    #[test]
    fn an_owned_borrow_keeps_its_memory() {
        let allocator: Arc<dyn HostAllocator> = Arc::new(LeakCheckAllocator::default());
        let live = || allocator.profile().unwrap().num_current;
        let mut buffer = HostBuffer::copied(&allocator, &[1_i32, 2]).unwrap();
        let mut elements = buffer.elements_mut_owned::<i32>().unwrap();
        drop(buffer);
        elements[1] = 5;
        assert_eq!((&*elements, live()), (&[1, 5][..], 1));
        drop(elements);
        assert_eq!(live(), 0);
    }

    #[test]
    fn an_owned_borrow_excludes_others_until_it_is_dropped() {
        let mut buffer = HostBuffer::copied(&malloc(), &[1_i32, 2]).unwrap();
        let reading = buffer.elements_owned::<i32>().unwrap();
        assert_eq!(
            buffer.elements_mut_owned::<i32>().unwrap_err(),
            TensorError::Conflict(BufferConflict::Read)
        );
        drop(reading);
        let writing = buffer.elements_mut_owned::<i32>().unwrap();
        assert_eq!(
            buffer.elements_owned::<i32>().unwrap_err(),
            TensorError::Conflict(BufferConflict::Written)
        );
        drop(writing);
        assert!(buffer.elements::<i32>().is_ok());
    }
}

//! Borrows of payloads that kernels change in place.
//!
//! Chains provide order, borrows provide safety. A program that forgets a chain, or passes one
//! value to a kernel twice, requests a conflicting borrow and gets an error instead of a data race.
//! The borrow count is a spare byte of the value's header. No thread waits for a borrow.
#![expect(unsafe_code, reason = "a guard stands for the right to use a payload")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::sync::{AtomicU8, Ordering};
use crate::value::Value;

/// The reasons why a payload could not be borrowed.
///
/// ```
/// use tfrt_async::{AnyRef, BorrowError};
///
/// let value = AnyRef::available(1_i32);
/// let refused = value.try_read::<f32>().map(|guard| *guard);
/// assert_eq!(refused, Err(BorrowError::WrongType { expected: "f32", found: "i32" }));
/// assert_eq!(BorrowError::Written.to_string(), "the value is being written by another kernel");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BorrowError {
    /// The value is not available yet, or is an error.
    NoPayload,
    /// The payload has another type; both are MLIR spellings.
    WrongType {
        /// The requested type.
        expected: &'static str,
        /// The type of the payload.
        found: &'static str,
    },
    /// The payload is being written.
    Written,
    /// The payload is being read, so it cannot be written.
    Read,
}

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPayload => f.write_str("the value has no payload"),
            Self::WrongType { expected, found } => {
                write!(f, "expected a value of type `{expected}`, found `{found}`")
            }
            Self::Written => f.write_str("the value is being written by another kernel"),
            Self::Read => f.write_str("the value is being read by another kernel"),
        }
    }
}

impl std::error::Error for BorrowError {}

tfrt_support::convert_errors!(BorrowError);

/// The number of readers, or the mark of a writer.
#[derive(Debug)]
pub(crate) struct BorrowCount(AtomicU8);

const WRITER: u8 = u8::MAX;
const MAX_READERS: u8 = WRITER - 1;

impl BorrowCount {
    /// A count without borrows.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// A count without borrows.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Adds a reader. Fails if there is a writer or if there are already 254 readers.
    fn read(&self) -> Result<(), BorrowError> {
        // Relaxed: only the exchange below has to synchronise.
        let mut current = self.0.load(Ordering::Relaxed);
        loop {
            match current {
                WRITER => return Err(BorrowError::Written),
                MAX_READERS => return Err(BorrowError::Read),
                _ => {}
            }
            // Acquire pairs with the release in `end_write`: the reader sees what was written.
            // Relaxed on failure, as above.
            match self.0.compare_exchange_weak(
                current,
                current + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(changed) => current = changed,
            }
        }
    }

    fn end_read(&self) {
        // Release pairs with the acquire in `write`: the writer runs after these reads.
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Marks a writer. Fails if there is a writer or a reader.
    fn write(&self) -> Result<(), BorrowError> {
        // Acquire pairs with the releases in `end_read` and `end_write`. Relaxed on failure: the
        // payload is not accessed then.
        match self
            .0
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
        {
            Ok(_) => Ok(()),
            Err(WRITER) => Err(BorrowError::Written),
            Err(_) => Err(BorrowError::Read),
        }
    }

    fn end_write(&self) {
        // Release pairs with the acquires in `read` and `write`.
        self.0.store(0, Ordering::Release);
    }
}

/// The right to read a payload.
///
/// ```
/// use tfrt_async::AnyRef;
///
/// let value = AnyRef::available(7_i64);
/// assert_eq!(value.try_read::<i64>().map(|guard| *guard), Ok(7));
/// ```
pub struct ReadGuard<'a, T: Value> {
    // A pointer, because a reference would have to stay valid until the end of the function that
    // drops the guard, but the borrow ends earlier.
    payload: *const T,
    /// Nothing for a type that is not mutable.
    borrow: Option<&'a BorrowCount>,
    lifetime: PhantomData<&'a T>,
}

impl<'a, T: Value> ReadGuard<'a, T> {
    /// Creates a guard for a payload that is borrowed already.
    ///
    /// ```
    /// use tfrt_async::ReadGuard;
    ///
    /// assert_eq!(*ReadGuard::of_borrowed(&7_i64), 7);
    /// ```
    #[inline]
    #[must_use]
    pub fn of_borrowed(payload: &'a T) -> Self {
        Self {
            payload,
            borrow: None,
            lifetime: PhantomData,
        }
    }

    /// Creates a guard for a payload that `borrow` protects. `payload` is called once the borrow is
    /// held.
    ///
    /// # Safety
    /// 1. The pointer that `payload` returns is initialised and lives throughout `'a`.
    /// 2. It is read and written only under borrows of `borrow`.
    #[inline]
    pub(crate) unsafe fn guarded(
        borrow: &'a BorrowCount,
        payload: impl FnOnce() -> *const T,
    ) -> Result<Self, BorrowError> {
        debug_assert!(T::IS_MUTABLE, "what is never written needs no borrow");
        borrow.read()?;
        Ok(Self {
            payload: payload(),
            borrow: Some(borrow),
            lifetime: PhantomData,
        })
    }
}

impl<T: Value> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: created from a shared reference, or duty 1 of `guarded`; duty 2 and the borrow
        // held exclude writers.
        unsafe { &*self.payload }
    }
}

impl<T: Value> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Known at compile time for most types: a guard of a kernel's operand is in registers of
        // the processor if nothing is done here.
        if T::IS_MUTABLE
            && let Some(borrow) = self.borrow
        {
            borrow.end_read();
        }
    }
}

// SAFETY: a guard is a shared reference to the payload and a shared reference to an atomic.
unsafe impl<T: Value + Sync> Send for ReadGuard<'_, T> {}

// SAFETY: as for `Send`.
unsafe impl<T: Value + Sync> Sync for ReadGuard<'_, T> {}

impl<T: Value + fmt::Debug> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// The right to read and write a payload of a [mutable](crate::Value::IS_MUTABLE) type, or a
/// [handle](crate::Value::HANDLE) of the memory that a payload stands for.
///
/// ```
/// use tfrt_async::{AnyRef, Value};
///
/// struct Counter(i32);
///
/// impl Value for Counter {
///     const MLIR_TYPE: &'static str = "!my.counter";
///     const IS_MUTABLE: bool = true;
/// }
///
/// let value = AnyRef::available(Counter(1));
/// value.try_write::<Counter>()?.0 += 1;
/// assert_eq!(value.try_read::<Counter>()?.0, 2);
/// # Ok::<(), tfrt_async::BorrowError>(())
/// ```
pub struct WriteGuard<'a, T> {
    target: WriteTarget<'a, T>,
    lifetime: PhantomData<&'a mut T>,
}

enum WriteTarget<'a, T> {
    /// The payload, under its borrow. A pointer, for the reason given in `ReadGuard`.
    Payload(*mut T, &'a BorrowCount),
    /// An owned handle.
    Handle(T),
}

impl<'a, T> WriteGuard<'a, T> {
    /// Creates a guard for writing a payload that `borrow` protects. `payload` is called once the
    /// borrow is held.
    ///
    /// # Safety
    /// 1. The pointer that `payload` returns is initialised and lives throughout `'a`.
    /// 2. It is read and written only under borrows of `borrow`.
    #[inline]
    pub(crate) unsafe fn guarded(
        borrow: &'a BorrowCount,
        payload: impl FnOnce() -> *mut T,
    ) -> Result<Self, BorrowError> {
        borrow.write()?;
        Ok(Self {
            target: WriteTarget::Payload(payload(), borrow),
            lifetime: PhantomData,
        })
    }

    /// Creates a guard from an owned handle, which manages its borrows itself.
    #[inline]
    #[must_use]
    pub fn of_handle(handle: T) -> Self {
        Self {
            target: WriteTarget::Handle(handle),
            lifetime: PhantomData,
        }
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.target {
            // SAFETY: duty 1 of `guarded`; duty 2 and the borrow held exclude other readers and
            // writers.
            WriteTarget::Payload(payload, _) => unsafe { &**payload },
            WriteTarget::Handle(handle) => handle,
        }
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.target {
            // SAFETY: duty 1 of `guarded`; duty 2 and the borrow held exclude other readers and
            // writers.
            WriteTarget::Payload(payload, _) => unsafe { &mut **payload },
            WriteTarget::Handle(handle) => handle,
        }
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let WriteTarget::Payload(_, borrow) = self.target {
            borrow.end_write();
        }
    }
}

// SAFETY: a guard is an exclusive reference to the payload and a shared reference to an atomic.
unsafe impl<T: Send> Send for WriteGuard<'_, T> {}

// SAFETY: as for `Send`; a shared guard provides only shared references.
unsafe impl<T: Sync> Sync for WriteGuard<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_exclude_a_writer() {
        let count = BorrowCount::new();
        assert_eq!(count.read(), Ok(()));
        assert_eq!(count.read(), Ok(()));
        count.end_read();
        assert_eq!(count.write(), Err(BorrowError::Read));
        count.end_read();
        assert_eq!(count.write(), Ok(()));
    }

    #[test]
    fn a_writer_excludes_everybody() {
        let count = BorrowCount::new();
        assert_eq!(count.write(), Ok(()));
        assert_eq!(count.read(), Err(BorrowError::Written));
        assert_eq!(count.write(), Err(BorrowError::Written));
        count.end_write();
        assert_eq!(count.read(), Ok(()));
    }

    #[test]
    fn too_many_readers_are_refused_not_miscounted() {
        let count = BorrowCount::new();
        for _ in 0..MAX_READERS {
            assert_eq!(count.read(), Ok(()));
        }
        assert_eq!(count.read(), Err(BorrowError::Read));
        count.end_read();
        assert_eq!(count.read(), Ok(()));
    }
}

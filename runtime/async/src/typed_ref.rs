//! References to values of a known type.
#![expect(unsafe_code, reason = "skips type checks that were made once")]

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use tfrt_support::{Error, ErrorCode};

use crate::any_ref::AnyRef;
use crate::borrow::{BorrowError, ReadGuard, WriteGuard};
use crate::cell::{self, Kind};
use crate::promise::{ConstructedPromise, Promise};
use crate::value::{Immutable, Value};

/// An owning reference to a value whose payload, if it ever has one, is a `T`.
///
/// Invariant T1: if the value is concrete, its payload is a `T`. Upheld by the constructors in this
/// file and by the callers of `from_matching`.
///
/// ```
/// use tfrt_async::{AnyRef, AsyncValueRef};
///
/// let value = AsyncValueRef::available(7_i64);
/// assert_eq!(value.get(), Some(&7));
/// let any: AnyRef = value.into();
/// assert!(any.downcast::<i32>().is_err_and(|any| any.downcast::<i64>().is_ok()));
/// ```
#[repr(transparent)]
pub struct AsyncValueRef<T: Value> {
    any: AnyRef,
    payload: PhantomData<fn() -> T>,
}

/// Constructors.
impl<T: Value> AsyncValueRef<T> {
    /// Creates an available value. For a [`Chain`](crate::Chain), returns the ready chain without
    /// allocating.
    #[inline]
    #[must_use]
    pub fn available(payload: T) -> Self {
        // SAFETY: the payload is a `T`.
        unsafe { Self::from_matching(AnyRef::available(payload)) }
    }

    /// Creates an error value.
    #[must_use]
    pub fn error(error: Error) -> Self {
        // SAFETY: there will never be a payload.
        unsafe { Self::from_matching(AnyRef::error(error)) }
    }

    /// Creates an unavailable value, and the promise to set it.
    pub fn unconstructed() -> (Promise<T>, Self) {
        let header = cell::new_unavailable::<T>(Kind::Concrete);
        // SAFETY: this reference takes the first of its two counts.
        let any = unsafe { AnyRef::from_header(header) };
        // SAFETY: its payload type is `T`.
        let promised = unsafe { Self::from_matching(any) };
        // SAFETY: this reference takes the second one.
        let any = unsafe { AnyRef::from_header(header) };
        // SAFETY: its payload type is `T`.
        let value = unsafe { Self::from_matching(any) };
        // The value is new: its payload is not initialised, and it has no other promise.
        (Promise::new(promised), value)
    }

    /// Creates a value whose payload exists but is accessible only to the promise until it is
    /// published.
    pub fn constructed(payload: T) -> (ConstructedPromise<T>, Self) {
        let (promise, value) = Self::unconstructed();
        (promise.construct(payload), value)
    }

    /// Converts a value that is expected to be a `T`; one of another type becomes an error as soon
    /// as that is known.
    ///
    /// ```
    /// use tfrt_async::{AnyRef, AsyncValueRef, ByteString};
    ///
    /// let (promise, value) = AnyRef::indirect();
    /// let number = AsyncValueRef::<i32>::expecting(value);
    /// promise.forward_to(AnyRef::available(7_i32));
    /// assert_eq!(number.get(), Some(&7));
    ///
    /// let text = AnyRef::available(ByteString::from("seven"));
    /// let error = AsyncValueRef::<i32>::expecting(text).error_if_present().map(ToString::to_string);
    /// assert_eq!(error.as_deref(), Some("expected a value of type `i32`, found `!tfrt.string`"));
    /// ```
    #[must_use]
    pub fn expecting(value: AnyRef) -> Self {
        let typed = |value: AnyRef| value.downcast::<T>().unwrap_or_else(Self::of_another_type);
        let value = match value.downcast::<T>() {
            Ok(value) => return value,
            Err(value) if value.is_available() => return Self::of_another_type(value),
            Err(value) => value,
        };
        let (promise, promised) = AnyRef::indirect();
        value.and_then(move |value| promise.forward_to(typed(value.clone()).into_any()));
        // SAFETY: the promise is forwarded only to values whose payload, if any, is a `T`.
        unsafe { Self::from_matching(promised) }
    }

    #[cold]
    fn of_another_type(value: AnyRef) -> Self {
        let found = value.mlir_type().unwrap_or("no payload");
        let expected = T::MLIR_TYPE;
        Self::error(
            Error::new(format!(
                "expected a value of type `{expected}`, found `{found}`"
            ))
            .with_code(ErrorCode::InvalidArgument),
        )
    }

    /// Adds the type to the same reference.
    ///
    /// # Safety
    /// 1. If the value has a payload, or ever will, it is a `T`.
    #[inline]
    pub(crate) unsafe fn from_matching(any: AnyRef) -> Self {
        debug_assert!(
            !any.is_concrete() || any.is::<T>(),
            "the payload is a `{}`",
            T::MLIR_TYPE
        );
        Self {
            any,
            payload: PhantomData,
        }
    }
}

/// State of the value and access to its payload: as for [`AnyRef`], without its type checks.
impl<T: Value> AsyncValueRef<T> {
    /// Borrows the same reference without its type.
    #[inline]
    #[must_use]
    pub fn as_any(&self) -> &AnyRef {
        &self.any
    }

    /// Converts to the same reference without its type.
    #[inline]
    #[must_use]
    pub fn into_any(self) -> AnyRef {
        self.any
    }

    /// Returns `true` if the value has a payload or is an error.
    #[inline]
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.any.is_available()
    }

    /// Returns `true` if the value has a payload.
    #[inline]
    #[must_use]
    pub fn is_concrete(&self) -> bool {
        self.any.is_concrete()
    }

    /// Returns `true` if the value is an error.
    #[inline]
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.any.is_error()
    }

    /// Returns `true` if this is the only reference, see [`AnyRef::is_unique`].
    #[inline]
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.any.is_unique()
    }

    /// Returns the error if the value is one.
    #[inline]
    #[must_use]
    pub fn error_if_present(&self) -> Option<&Error> {
        self.any.error_if_present()
    }

    /// Returns the payload if the value has one.
    ///
    /// Read payloads of types that are not [`Immutable`] with [`try_read`](Self::try_read).
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&T>
    where
        T: Immutable,
    {
        // SAFETY: the value was just observed to be concrete; T1.
        self.is_concrete()
            .then(|| unsafe { self.any.get_unchecked() })
    }

    /// Borrows the payload for reading, see [`AnyRef::try_read`].
    ///
    /// # Errors
    /// If there is no payload, or it is being written.
    #[inline]
    pub fn try_read(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        if !self.is_concrete() {
            return Err(BorrowError::NoPayload);
        }
        // SAFETY: the value was just observed to be concrete; T1.
        unsafe { self.any.try_read_unchecked() }
    }

    /// Borrows the payload for writing, see [`AnyRef::try_write`].
    ///
    /// # Errors
    /// If there is no payload, or it is being read or written.
    #[inline]
    pub fn try_write(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        if !self.is_concrete() {
            return Err(BorrowError::NoPayload);
        }
        // SAFETY: the value was just observed to be concrete; T1.
        unsafe { self.any.try_write_unchecked() }
    }

    /// Runs `f` when the value is available, see [`AnyRef::and_then`].
    pub fn and_then(&self, f: impl FnOnce(&Self) + Send + 'static) {
        // SAFETY: `any` is the value of `self`, so T1 holds for it.
        self.any
            .and_then(|any| f(unsafe { Self::from_matching_ref(any) }));
    }

    /// Makes the value an error unless it is already available, see [`AnyRef::try_set_error`].
    pub fn try_set_error(&self, error: Error) -> bool {
        self.any.try_set_error(error)
    }

    /// Adds the type to the same reference.
    ///
    /// # Safety
    /// 1. If the value has a payload, or ever will, it is a `T`.
    #[inline]
    unsafe fn from_matching_ref(any: &AnyRef) -> &Self {
        debug_assert!(
            !any.is_concrete() || any.is::<T>(),
            "the payload is a `{}`",
            T::MLIR_TYPE
        );
        // SAFETY: `Self` is transparent over the field, so the layouts are equal; duty 1 implies
        // T1.
        unsafe { &*ptr::from_ref(any).cast::<Self>() }
    }
}

impl<T: Value> Clone for AsyncValueRef<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self {
            any: self.any.clone(),
            payload: PhantomData,
        }
    }
}

impl<T: Value> From<AsyncValueRef<T>> for AnyRef {
    #[inline]
    fn from(value: AsyncValueRef<T>) -> Self {
        value.any
    }
}

impl<T: Value> fmt::Debug for AsyncValueRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncValueRef").field(&self.any).finish()
    }
}

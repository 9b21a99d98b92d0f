//! References to values of a known type.
#![expect(unsafe_code, reason = "skips type checks that were made once")]

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use tfrt_support::{Error, ErrorCode};

use crate::any_ref::AnyRef;
use crate::borrow::{BorrowError, ReadGuard, WriteGuard};
use crate::cell;
use crate::promise::{ConstructedPromise, Promise};
use crate::value::{Immutable, Value};

/// An owning reference to a value whose payload, if it ever has one, is a `T`.
///
/// Invariant T1: if the value is concrete, its payload is a `T`. Upheld by the makers of this file and by
/// the callers of `from_matching`.
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

/// Making values.
impl<T: Value> AsyncValueRef<T> {
    /// A value that is there. A [`Chain`](crate::Chain) is the ready chain, without any allocation.
    #[inline]
    #[must_use]
    pub fn available(payload: T) -> Self {
        // SAFETY: the payload is a `T`.
        unsafe { Self::from_matching(AnyRef::available(payload)) }
    }

    /// A value that is an error.
    #[must_use]
    pub fn error(error: Error) -> Self {
        // SAFETY: there will never be a payload.
        unsafe { Self::from_matching(AnyRef::error(error)) }
    }

    /// A value that is not there yet, and the right to make it.
    pub fn unconstructed() -> (Promise<T>, Self) {
        let header = cell::new_unavailable::<T>();
        // SAFETY: the first of its two counts goes here.
        let any = unsafe { AnyRef::from_header(header) };
        // SAFETY: a payload of it is a `T`.
        let promised = unsafe { Self::from_matching(any) };
        // SAFETY: the second one goes here.
        let any = unsafe { AnyRef::from_header(header) };
        // SAFETY: a payload of it is a `T`.
        let value = unsafe { Self::from_matching(any) };
        // The promise of a value that was just made: its payload is not initialised, and there is no other promise.
        (Promise::new(promised), value)
    }

    /// A value whose payload exists, but is nobody's but the promise's until it is published.
    pub fn constructed(payload: T) -> (ConstructedPromise<T>, Self) {
        let (promise, value) = Self::unconstructed();
        (promise.construct(payload), value)
    }

    /// A value that is expected to be a `T`, typed: one of another type becomes an error as soon as that is known.
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
        // SAFETY: what the promise is forwarded to has no other payload than a `T`.
        unsafe { Self::from_matching(promised) }
    }

    #[cold]
    fn of_another_type(value: AnyRef) -> Self {
        let found = value.mlir_type().unwrap_or("no value");
        let expected = T::MLIR_TYPE;
        Self::error(
            Error::new(format!(
                "expected a value of type `{expected}`, found `{found}`"
            ))
            .with_code(ErrorCode::InvalidArgument),
        )
    }

    /// The same reference, typed.
    ///
    /// # Safety
    /// 1. If the value has a payload, or ever will, that is a `T`.
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

/// What is known of a value, and using it: as for [`AnyRef`], without its type checks.
impl<T: Value> AsyncValueRef<T> {
    /// The same reference, untyped.
    #[inline]
    #[must_use]
    pub fn as_any(&self) -> &AnyRef {
        &self.any
    }

    /// The same reference, untyped.
    #[inline]
    #[must_use]
    pub fn into_any(self) -> AnyRef {
        self.any
    }

    /// Whether the value has a payload, or is an error.
    #[inline]
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.any.is_available()
    }

    /// Whether the value has a payload.
    #[inline]
    #[must_use]
    pub fn is_concrete(&self) -> bool {
        self.any.is_concrete()
    }

    /// Whether the value is an error.
    #[inline]
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.any.is_error()
    }

    /// Whether this is the only reference, see [`AnyRef::is_unique`].
    #[inline]
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.any.is_unique()
    }

    /// The error, if the value is one.
    #[inline]
    #[must_use]
    pub fn error_if_present(&self) -> Option<&Error> {
        self.any.error_if_present()
    }

    /// The payload, if it is there.
    ///
    /// Payloads of types that are not [`Immutable`] are read by [`try_read`](Self::try_read).
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&T>
    where
        T: Immutable,
    {
        // SAFETY: just seen to be concrete; T1.
        self.is_concrete()
            .then(|| unsafe { self.any.get_unchecked() })
    }

    /// Borrows the payload to read it, see [`AnyRef::try_read`].
    ///
    /// # Errors
    /// If there is no payload, or somebody writes it.
    #[inline]
    pub fn try_read(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        if !self.is_concrete() {
            return Err(BorrowError::NoPayload);
        }
        // SAFETY: just seen to be concrete; T1.
        unsafe { self.any.try_read_unchecked() }
    }

    /// Borrows the payload to change it, see [`AnyRef::try_write`].
    ///
    /// # Errors
    /// If there is no payload, or somebody reads or writes it.
    #[inline]
    pub fn try_write(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        if !self.is_concrete() {
            return Err(BorrowError::NoPayload);
        }
        // SAFETY: just seen to be concrete; T1.
        unsafe { self.any.try_write_unchecked() }
    }

    /// Runs `f` when the value is available, see [`AnyRef::and_then`].
    pub fn and_then(&self, f: impl FnOnce(&Self) + Send + 'static) {
        // SAFETY: it is the value of `self`, so that T1 holds for it.
        self.any
            .and_then(|any| f(unsafe { Self::from_matching_ref(any) }));
    }

    /// Makes the value an error, if it is not available yet, see [`AnyRef::try_set_error`].
    pub fn try_set_error(&self, error: Error) -> bool {
        self.any.try_set_error(error)
    }

    /// The same reference, typed.
    ///
    /// # Safety
    /// 1. If the value has a payload, or ever will, that is a `T`.
    #[inline]
    unsafe fn from_matching_ref(any: &AnyRef) -> &Self {
        debug_assert!(
            !any.is_concrete() || any.is::<T>(),
            "the payload is a `{}`",
            T::MLIR_TYPE
        );
        // SAFETY: transparent over the field, so that the layouts are the same; duty 1 is T1.
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

//! A value as a `Result`: its payload, or the reason why there is none.

use tfrt_support::{Error, ErrorCode};

use crate::any_ref::AnyRef;
use crate::typed_ref::AsyncValueRef;
use crate::value::{Immutable, Value};

impl AnyRef {
    /// Returns the payload, or the value's error. The error is shared, so it outlives the value and
    /// works with `?`.
    ///
    /// Read payloads of types that are not [`Immutable`] with [`try_read`](Self::try_read).
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_support::Error;
    ///
    /// fn twice(value: &AnyRef) -> Result<i32, Error> {
    ///     Ok(2 * *value.as_result::<i32>()?)
    /// }
    ///
    /// assert_eq!(twice(&AnyRef::available(21)).ok(), Some(42));
    /// let failed = twice(&AnyRef::error(Error::new("no row 7"))).unwrap_err();
    /// assert_eq!(failed.message(), "no row 7");
    /// let mistaken = twice(&AnyRef::available(1.5_f32)).unwrap_err();
    /// assert_eq!(mistaken.message(), "expected a value of type `i32`, found `f32`");
    /// ```
    ///
    /// # Errors
    /// The error of the value; or an error if it is not available yet, or of another type.
    #[inline]
    pub fn as_result<T: Value + Immutable>(&self) -> Result<&T, Error> {
        self.get().ok_or_else(|| self.why_not::<T>())
    }

    #[cold]
    fn why_not<T: Value>(&self) -> Error {
        if let Some(error) = self.error_if_present() {
            return error.clone();
        }
        match self.wrong_type::<T>() {
            Some(mistake) => Error::other(mistake).with_code(ErrorCode::InvalidArgument),
            None => Error::new("the value is not available yet")
                .with_code(ErrorCode::FailedPrecondition),
        }
    }
}

impl<T: Value> AsyncValueRef<T> {
    /// Returns the payload, or the value's error, see [`AnyRef::as_result`].
    ///
    /// # Errors
    /// The error of the value; or an error if it is not available yet.
    #[inline]
    pub fn as_result(&self) -> Result<&T, Error>
    where
        T: Immutable,
    {
        self.as_any().as_result()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_available_yet_is_no_payload() {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let early = value.as_result().unwrap_err();
        assert_eq!(early.message(), "the value is not available yet");
        promise.emplace(7);
        assert_eq!(value.as_result().ok(), Some(&7));
    }

    #[test]
    fn the_error_of_a_value_is_the_very_one() {
        let error = Error::new("x");
        let value = AsyncValueRef::<i32>::error(error.clone());
        assert!(value.as_result().is_err_and(|found| found.is_same(&error)));
    }
}

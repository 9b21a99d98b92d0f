//! Payloads whose types are found out by asking.
#![expect(unsafe_code, reason = "reads a payload whose type was compared")]

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::AnyRef;
use crate::cell::{self, Header};
use crate::type_index::TypeIndex;
use crate::value::{Immutable, Value};

/// A payload of one of several types. The payload is found once, and [`get`](Self::get) compares
/// only its type.
///
/// ```
/// use tfrt_async::AnyRef;
///
/// fn number(value: &AnyRef) -> Option<f64> {
///     let payload = value.payload()?;
///     let integer = || payload.get::<i32>().map(|number| f64::from(*number));
///     payload.get::<f64>().copied().or_else(integer)
/// }
///
/// assert_eq!(number(&AnyRef::available(1.5)), Some(1.5));
/// assert_eq!(number(&AnyRef::available(2)), Some(2.0));
/// assert_eq!(number(&AnyRef::available(true)), None);
/// ```
///
/// Invariant P1: the header lives throughout `'v`, and has a payload of the type that was found.
#[derive(Clone, Copy, Debug)]
pub struct AnyPayload<'v> {
    holder: NonNull<Header>,
    found: TypeIndex,
    value: PhantomData<&'v AnyRef>,
}

impl AnyRef {
    /// Returns the payload if there is one.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> Option<AnyPayload<'_>> {
        let (holder, found) = self.concrete_holder()?;
        // P1: guaranteed by `concrete_holder` for as long as `self` lives.
        Some(AnyPayload {
            holder,
            found,
            value: PhantomData,
        })
    }
}

impl<'v> AnyPayload<'v> {
    /// Returns the payload if it is a `T`.
    #[inline]
    #[must_use]
    pub fn get<T: Value + Immutable>(self) -> Option<&'v T> {
        const {
            assert!(
                !T::IS_MUTABLE,
                "a payload of a mutable type is read by `try_read`"
            )
        };
        if !self.found.is::<T>() {
            return None;
        }
        // SAFETY: P1, and the type that was found is `T`; a type that is not mutable is never
        // written.
        Some(unsafe { cell::payload(self.holder) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use tfrt_support::Error;

    use super::*;
    use crate::AsyncValueRef;

    #[test]
    fn payloads_are_found_behind_links_and_nowhere_else() {
        let (promise, later) = AsyncValueRef::<i32>::unconstructed();
        let later = later.as_any().clone();
        assert!(later.payload().is_none());
        promise.emplace(7);
        let (link, linked) = AnyRef::indirect();
        assert!(linked.payload().is_none());
        link.forward_to(later.clone());
        for value in [later, linked] {
            let payload = value.payload().expect("it is available");
            assert_eq!(
                (payload.get::<i32>(), payload.get::<i64>()),
                (Some(&7), None)
            );
        }
        assert!(AnyRef::error(Error::new("gone")).payload().is_none());
    }
}

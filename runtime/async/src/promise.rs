//! Promises: the right to publish a value, once.
//!
//! A holder of a reference may make the value an error first ([`AnyRef::try_set_error`]). The
//! promise then has no observable effect: its publication is dropped. Dropping a promise publishes
//! an error, so consumers never wait forever.
#![expect(unsafe_code, reason = "initialises payloads in place")]

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use tfrt_support::{Error, ErrorCode};

use crate::any_ref::AnyRef;
use crate::borrow::BorrowError;
use crate::cell;
use crate::type_index::TypeIndex;
use crate::typed_ref::AsyncValueRef;
use crate::value::Value;
use crate::word::Outcome;

#[cold]
fn broken_promise() -> Error {
    Error::new("promise dropped before a value was set").with_code(ErrorCode::Internal)
}

/// The right to set the payload of a value.
///
/// Invariant P1: the value's payload is not initialised, and only the promise may initialise it.
///
/// ```
/// use tfrt_async::AsyncValueRef;
///
/// let (promise, value) = AsyncValueRef::<i32>::unconstructed();
/// drop(promise);
/// let error = value.error_if_present().map(ToString::to_string);
/// assert_eq!(error.as_deref(), Some("promise dropped before a value was set"));
/// ```
#[derive(Debug)]
#[must_use = "a promise that is dropped makes its value an error"]
pub struct Promise<T: Value> {
    value: AsyncValueRef<T>,
}

impl<T: Value> Promise<T> {
    /// Creates the promise of a new value.
    pub(crate) fn new(value: AsyncValueRef<T>) -> Self {
        Self { value }
    }

    /// Publishes the payload and runs the waiters on this thread.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    #[inline]
    pub fn emplace(self, payload: T) {
        let value = self.into_value();
        let header = value.as_any().as_header();
        // SAFETY: the promise's reference keeps the value alive; its payload type is `T`; P1.
        unsafe { cell::write_payload(header, payload) };
        if value.as_any().publish(Outcome::Payload).is_err() {
            // SAFETY: as above. The payload was just initialised, and since the value is an error,
            // it is never accessed again.
            unsafe { cell::drop_payload::<T>(header) };
        }
    }

    /// Returns the promise's reference, for code that publishes.
    #[inline]
    fn into_value(self) -> AsyncValueRef<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the promise is not used or dropped any more, so that the reference has one owner.
        unsafe { ptr::read(&this.value) }
    }

    /// Publishes an error and runs the waiters on this thread.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn set_error(self, error: Error) {
        self.value.try_set_error(error);
    }

    /// Returns `true` if the value is already an error, so producing a payload would be pointless.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.value.is_available()
    }

    /// Returns `true` if the published value can be observed: a reference to the value or a waiter
    /// exists. A [watcher](AnyRef::watch) does not count.
    ///
    /// `false` is final.
    ///
    /// ```
    /// use tfrt_async::AsyncValueRef;
    ///
    /// let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    /// assert!(promise.has_consumer());
    /// value.as_any().watch(|_| ());
    /// drop(value);
    /// assert!(!promise.has_consumer());
    /// ```
    #[must_use]
    pub fn has_consumer(&self) -> bool {
        let value = self.value.as_any();
        if !value.is_unique() {
            return true;
        }
        // SAFETY: the only reference is the promise's, which publishes by value, so nothing
        // publishes while it is borrowed.
        unsafe { value.has_waiting_consumer() }
    }

    /// Stores a payload in the value without publishing it.
    #[inline]
    pub fn construct(self, payload: T) -> ConstructedPromise<T> {
        // SAFETY: the promise's reference keeps the value alive; its payload type is `T`; P1.
        unsafe { cell::write_payload(self.value.as_any().as_header(), payload) };
        ConstructedPromise {
            promise: self,
            owns_payload: true,
        }
    }
}

/// The right to publish values: a promise, or several.
///
/// ```
/// use tfrt_async::{AnyRef, Promises};
///
/// let (promise, value) = AnyRef::indirect();
/// let (other, _other_value) = AnyRef::indirect();
/// let promises = [promise, other];
/// drop(value);
/// assert!(promises.have_consumer());
/// ```
pub trait Promises: Send + 'static {
    /// Returns `true` if a publication of any of the promises can be observed. `false` is final.
    fn have_consumer(&self) -> bool;
}

impl<T: Value> Promises for Promise<T> {
    fn have_consumer(&self) -> bool {
        self.has_consumer()
    }
}

impl Promises for IndirectPromise {
    fn have_consumer(&self) -> bool {
        self.has_consumer()
    }
}

impl<P: Promises, const N: usize> Promises for [P; N] {
    fn have_consumer(&self) -> bool {
        self.iter().any(P::have_consumer)
    }
}

impl<T: Value> Drop for Promise<T> {
    #[inline]
    fn drop(&mut self) {
        if !self.value.is_available() {
            self.value.try_set_error(broken_promise());
        }
    }
}

/// The right to publish a payload that already exists, with exclusive access to it until then.
///
/// Invariant P2: while `owns_payload`, the value's payload is initialised and only the promise may
/// access it.
///
/// ```
/// use tfrt_async::AsyncValueRef;
///
/// let (mut promise, value) = AsyncValueRef::constructed(20_i32);
/// assert_eq!(value.get(), None);
/// *promise.payload_mut() += 1;
/// promise.set_concrete();
/// assert_eq!(value.get(), Some(&21));
/// ```
#[derive(Debug)]
#[must_use = "a promise that is dropped makes its value an error"]
pub struct ConstructedPromise<T: Value> {
    promise: Promise<T>,
    owns_payload: bool,
}

impl<T: Value> ConstructedPromise<T> {
    /// Returns the payload, which is not visible to any reference yet.
    pub fn payload_mut(&mut self) -> &mut T {
        // SAFETY: the promise's reference keeps the value alive, and its payload type is `T`.
        let payload = unsafe { cell::payload_ptr::<T>(self.promise.value.as_any().as_header()) };
        // SAFETY: P2: only `set_concrete` and `drop` end the ownership, and both consume the
        // promise.
        unsafe { &mut *payload }
    }

    /// Publishes the payload and runs the waiters on this thread.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    #[inline]
    pub fn set_concrete(mut self) {
        // Cleared before publication: if a waiter panics, the destructor must not drop the payload.
        self.owns_payload = false;
        let lost = self
            .promise
            .value
            .as_any()
            .publish(Outcome::Payload)
            .is_err();
        self.owns_payload = lost;
    }

    /// Publishes an error, runs the waiters on this thread, and drops the payload.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn set_error(self, error: Error) {
        self.promise.value.try_set_error(error);
    }
}

impl<T: Value> Drop for ConstructedPromise<T> {
    #[inline]
    fn drop(&mut self) {
        if !self.owns_payload {
            return;
        }
        // Publish the error first: a payload whose drop panics must not prevent the waiters from
        // running.
        if !self.promise.value.is_available() {
            self.promise.value.try_set_error(broken_promise());
        }
        // SAFETY: the promise's reference keeps the value alive; its payload type is `T`; P2; and
        // since the value is an error, its payload is never accessed again.
        unsafe { cell::drop_payload::<T>(self.promise.value.as_any().as_header()) };
    }
}

/// The right to make an indirect value available: with a target that it stands for, or, if it was
/// made [for a payload type](AnyRef::indirect_of), with a payload of its own.
///
/// Invariant P3: if the value can hold a payload itself, that is not initialised, and only the
/// promise may initialise it.
///
/// ```
/// use tfrt_async::{AnyRef, AsyncValueRef};
///
/// let (promise, value) = AnyRef::indirect();
/// let (later, target) = AsyncValueRef::<i32>::unconstructed();
/// promise.forward_to(target.into_any());
/// assert!(!value.is_available());
/// later.emplace(5);
/// assert_eq!(value.get::<i32>(), Some(&5));
/// ```
#[derive(Debug)]
#[must_use = "a promise that is dropped makes its value an error"]
pub struct IndirectPromise {
    value: AnyRef,
}

impl IndirectPromise {
    /// Creates the promise of a new value (P3), which may be able to hold a payload.
    pub(crate) fn new(value: AnyRef) -> Self {
        Self { value }
    }

    /// Forwards the value to `target`: immediately if `target` is available, otherwise once it is.
    ///
    /// A resolved indirect value is an error or stands for a value that has its own payload. A
    /// value that was made [for a payload type](AnyRef::indirect_of) becomes an error, with code
    /// `InvalidArgument`, if the payload of the target is of another type. A value that is
    /// forwarded to itself becomes an error; a longer cycle of values that wait for each other is
    /// never resolved.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn forward_to(self, target: AnyRef) {
        if target.ptr_eq(&self.value) {
            self.set_error(Error::new("value forwarded to itself").with_code(ErrorCode::Internal));
        } else if target.is_available() {
            self.resolve(target);
        } else {
            target.and_then(move |target| self.resolve(target.clone()));
        }
    }

    /// Publishes a payload and runs the waiters on this thread: in the value itself, if that was
    /// made [for a `T`](AnyRef::indirect_of), or else in another one that it stands for. A value
    /// that was made for another type becomes an error, as in [`forward_to`](Self::forward_to).
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    ///
    /// let (promise, value) = AnyRef::indirect();
    /// promise.emplace(7_i32);
    /// assert_eq!(value.get::<i32>(), Some(&7));
    /// ```
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    #[inline]
    pub fn emplace<T: Value>(self, payload: T) {
        if self.value.own_payload_type() != TypeIndex::of::<T>() {
            return self.resolve(AnyRef::available(payload));
        }
        let value = self.into_value();
        let header = value.as_header();
        // SAFETY: the promise's reference keeps the value alive; its payload type is `T`; P3.
        unsafe { cell::write_payload(header, payload) };
        if value.publish(Outcome::Payload).is_err() {
            // SAFETY: as above. The payload was just initialised, and since the value is an error,
            // it is never accessed again.
            unsafe { cell::drop_payload::<T>(header) };
        }
    }

    /// Returns the promise's reference, for code that publishes.
    #[inline]
    fn into_value(self) -> AnyRef {
        let this = ManuallyDrop::new(self);
        // SAFETY: the promise is not used or dropped any more, so that the reference has one owner.
        unsafe { ptr::read(&this.value) }
    }

    /// Returns `true` if a publication of this promise can be observed; see
    /// [`Promise::has_consumer`].
    #[must_use]
    pub fn has_consumer(&self) -> bool {
        if !self.value.is_only_reference() {
            return true;
        }
        // SAFETY: the only reference is the promise's, which publishes by value, so nothing
        // publishes while it is borrowed.
        unsafe { self.value.has_waiting_consumer() }
    }

    /// Gives up the promise without breaking it.
    #[must_use]
    pub fn into_raw(self) -> NonNull<()> {
        self.into_value().into_raw()
    }

    /// Takes back a promise that was given up.
    ///
    /// ```
    /// use tfrt_async::{AnyRef, IndirectPromise};
    ///
    /// let (promise, value) = AnyRef::indirect();
    /// let raw = promise.into_raw();
    /// // SAFETY: it came from `into_raw`, and is used once.
    /// let promise = unsafe { IndirectPromise::from_raw(raw) };
    /// promise.forward_to(AnyRef::available(7_i32));
    /// assert_eq!(value.get::<i32>(), Some(&7));
    /// ```
    ///
    /// # Safety
    /// 1. `raw` came from [`into_raw`](Self::into_raw).
    /// 2. It is taken back at most once.
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: duties 1 and 2: the count belongs to the promise.
        let value = unsafe { AnyRef::from_raw(raw) };
        Self { value }
    }

    /// Like [`forward_to`](Self::forward_to) for an available `target`, but a payload that is not a
    /// `T` becomes an error.
    pub(crate) fn forward_matching<T: Value>(self, target: AnyRef) {
        match target.wrong_type::<T>() {
            Some(mismatch) => {
                self.set_error(Error::from(mismatch).with_code(ErrorCode::InvalidArgument))
            }
            None => self.resolve(target),
        }
    }

    /// Publishes an error and runs the waiters on this thread.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn set_error(self, error: Error) {
        self.value.try_set_error(error);
    }

    /// Returns `true` if the value is already an error, so finding a target would be pointless.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.value.is_available()
    }

    fn resolve(self, target: AnyRef) {
        let expected = self.value.own_payload_type();
        let is_typed = expected != TypeIndex::NONE;
        if is_typed && target.is_concrete() && target.type_id() != expected {
            return self.refuse(expected, target.type_id());
        }
        if let Some(outcome) = target.outcome_for_link() {
            // If the value was made an error in the meantime, the target is just dropped.
            drop(self.value.publish(outcome));
        }
    }
}

impl IndirectPromise {
    /// Publishes the error of a value that was made for a payload of one type, and so counts as a
    /// value of that type from the start, but would get a payload of another type.
    #[cold]
    fn refuse(self, expected: TypeIndex, found: TypeIndex) {
        let [expected, found] = [expected, found].map(|ty| ty.mlir_type().unwrap_or("none"));
        let mismatch = BorrowError::WrongType { expected, found };
        self.set_error(Error::from(mismatch).with_code(ErrorCode::InvalidArgument));
    }
}

impl Drop for IndirectPromise {
    fn drop(&mut self) {
        if !self.value.is_available() {
            self.value.try_set_error(broken_promise());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

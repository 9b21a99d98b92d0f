//! References to values of any type.
#![expect(unsafe_code, reason = "owns one count of an erased value")]

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use tfrt_support::Error;

use crate::borrow::{BorrowError, ReadGuard, WriteGuard};
use crate::cell::{self, Header, Kind};
use crate::nesting;
use crate::promise::{IndirectPromise, Promises};
use crate::type_index::{Copying, TypeIndex};
use crate::typed_ref::AsyncValueRef;
use crate::value::{Chain, Immutable, Value};
use crate::waiter::{Wait, Waiter};
use crate::word::{Outcome, State, Word};

/// An owning reference to a value of any type, one pointer wide.
///
/// Cloning shares the value. Registers hold the operands and results of kernels in this form.
///
/// Invariant R1: the header belongs to a live value, and the reference owns one count of it (none
/// if the value is immortal).
/// Invariant R2: the pointer is valid for the whole allocation.
///
/// ```
/// use tfrt_async::AnyRef;
///
/// let value = AnyRef::available(1.5_f32);
/// assert!(value.is::<f32>());
/// assert_eq!(value.get::<f32>(), Some(&1.5));
/// assert_eq!(value.get::<f64>(), None);
/// assert_eq!(size_of::<Option<AnyRef>>(), size_of::<usize>());
/// ```
#[repr(transparent)]
pub struct AnyRef {
    header: NonNull<Header>,
    owns: PhantomData<Header>,
}

// SAFETY: a payload is `Send` and `Sync` by the bound of `Value`, an error is both, and the header
// consists of atomics, of constants, and of the kind, which only a sole owner changes
// (`mark_given`).
unsafe impl Send for AnyRef {}

// SAFETY: as for `Send`.
unsafe impl Sync for AnyRef {}

/// Constructors.
impl AnyRef {
    /// Creates an available value. For a [`Chain`](crate::Chain), returns the ready chain without
    /// allocating.
    #[inline]
    #[must_use]
    pub fn available<T: Value>(payload: T) -> Self {
        // Known when the code is compiled, unlike the index of the type.
        if TypeId::of::<T>() == TypeId::of::<Chain>() {
            return Self::ready_chain();
        }
        // SAFETY: a new value has one count, which this reference takes.
        unsafe { Self::from_header(cell::new_available(payload, Kind::Concrete)) }
    }

    /// Returns the chain that is always ready. The process has one; it is not counted and never
    /// unique.
    #[inline]
    #[must_use]
    pub fn ready_chain() -> Self {
        // SAFETY: the ready chain is immortal, so there is no count to own.
        unsafe { Self::from_header(cell::ready_chain()) }
    }

    /// Creates an error value, which has no payload type.
    #[must_use]
    pub fn error(error: Error) -> Self {
        let word = Word::available(Outcome::Error(Box::new(error)));
        // SAFETY: a new value has one count, which this reference takes.
        unsafe { Self::from_header(cell::new_untyped(Kind::Concrete, word, 1)) }
    }

    /// Creates a value that holds a copy of `payload`.
    ///
    /// # Safety
    /// 1. `payload` points to an initialised payload of type `ty`, aligned as required by
    ///    [`TypeIndex::copied_layout`].
    /// 2. `ty` has such a layout.
    #[must_use]
    pub unsafe fn from_copied(ty: TypeIndex, payload: *const u8) -> Self {
        // SAFETY: the caller fulfils both duties.
        unsafe { Self::wrap_copied(ty, payload, Kind::Concrete) }
    }

    /// Like [`from_copied`](Self::from_copied), for a function result: the value is never
    /// [unique](Self::is_unique).
    ///
    /// # Safety
    /// The duties of [`from_copied`](Self::from_copied).
    #[must_use]
    pub unsafe fn given_from_copied(ty: TypeIndex, payload: *const u8) -> Self {
        // SAFETY: the caller fulfils both duties.
        unsafe { Self::wrap_copied(ty, payload, Kind::Given) }
    }

    /// # Safety
    /// The duties of [`from_copied`](Self::from_copied).
    unsafe fn wrap_copied(ty: TypeIndex, payload: *const u8, kind: Kind) -> Self {
        if ty == TypeIndex::CHAIN {
            return Self::ready_chain();
        }
        let copying = ty.info_at_hand().and_then(|info| info.copying);
        let copying = copying.unwrap_or_else(|| copying_of(ty));
        // SAFETY: duties 1 and 2.
        let header = unsafe { (copying.wrap)(ty, payload, kind) };
        // SAFETY: a new value has one count, which this reference takes.
        unsafe { Self::from_header(header) }
    }

    /// Converts the value to a function result, which stands for `self` and is never
    /// [unique](Self::is_unique).
    #[must_use]
    pub fn into_given(self) -> Self {
        if !self.header().kind.is_concrete() {
            return self;
        }
        if self.is_available() {
            if self.header().count.is_one() {
                // SAFETY: 1: as just found. 2: the count is ours, and the only one: others left
                // with a release, which `is_one` has acquired.
                unsafe { cell::mark_given(self.header) };
                return self;
            }
            let outcome = self.outcome_for_link().expect("the value is available");
            let header = cell::new_untyped(Kind::Indirect, Word::available(outcome), 1);
            // SAFETY: a new value has one count, which this reference takes.
            return unsafe { Self::from_header(header) };
        }
        let (promise, value) = Self::indirect();
        promise.forward_to(self);
        value
    }

    /// Creates a value that will stand for another value, not known yet. It has no type until then.
    pub fn indirect() -> (IndirectPromise, Self) {
        let header = cell::new_untyped(Kind::Indirect, Word::unavailable(), 2);
        // SAFETY: this reference takes the first of its two counts.
        let promised = unsafe { Self::from_header(header) };
        // SAFETY: this reference takes the second one.
        let value = unsafe { Self::from_header(header) };
        (IndirectPromise::new(promised), value)
    }

    /// Like [`indirect`](Self::indirect), for a payload of type `T`, which the value can also hold
    /// itself: see [`IndirectPromise::emplace`]. A payload of any other type becomes an error. The
    /// value is never [unique](Self::is_unique) either.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    ///
    /// let (promise, value) = AnyRef::indirect_of::<i32>();
    /// promise.emplace(7);
    /// assert_eq!(value.get::<i32>(), Some(&7));
    /// ```
    pub fn indirect_of<T: Value>() -> (IndirectPromise, Self) {
        let header = cell::new_unavailable::<T>(Kind::Given);
        // SAFETY: this reference takes the first of its two counts.
        let promised = unsafe { Self::from_header(header) };
        // SAFETY: this reference takes the second one.
        let value = unsafe { Self::from_header(header) };
        (IndirectPromise::new(promised), value)
    }
}

/// State and type.
impl AnyRef {
    /// Returns `true` if the value has a payload or is an error.
    #[inline]
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.header().word.is_available()
    }

    /// Returns `true` if the value has a payload.
    #[inline]
    #[must_use]
    pub fn is_concrete(&self) -> bool {
        self.header().word.is_concrete()
    }

    /// Returns `true` if the value is an error.
    #[inline]
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error_if_present().is_some()
    }

    /// Returns the error if the value is one.
    #[inline]
    #[must_use]
    pub fn error_if_present(&self) -> Option<&Error> {
        match self.header().word.state() {
            State::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Returns `true` if this is the only reference. Always `false` for indirect values, function
    /// results and the ready chain. A promise counts as a reference.
    #[inline]
    #[must_use]
    pub fn is_unique(&self) -> bool {
        let header = self.header();
        header.kind.is_concrete() && header.count.is_one()
    }

    /// Returns `true` if the value has no other references, even if it is indirect.
    pub(crate) fn is_only_reference(&self) -> bool {
        let header = self.header();
        header.kind != Kind::Immortal && header.count.is_one()
    }

    /// Returns `true` if no other reference can reach the payload. Unlike
    /// [`is_unique`](Self::is_unique), it also accepts a function result with one owner, and a
    /// resolved indirect value that has one owner and is the only owner of its target.
    #[inline]
    #[must_use]
    pub fn is_unique_through_links(&self) -> bool {
        let header = self.header();
        if header.kind == Kind::Immortal || !header.count.is_one() {
            return false;
        }
        let State::Link(target) = header.word.state() else {
            return header.kind != Kind::Indirect;
        };
        // SAFETY: the link owns a count of the target, and lives as long as `self`.
        let target = unsafe { target.as_ref() };
        target.kind != Kind::Immortal && target.count.is_one()
    }

    /// Returns `true` if the value has a payload and that is a `T`.
    ///
    /// ```
    /// use tfrt_async::{AnyRef, AsyncValueRef};
    ///
    /// assert!(AnyRef::available(1_i32).holds::<i32>());
    /// assert!(!AnyRef::available(1_i32).holds::<i64>());
    /// let (_promise, later) = AsyncValueRef::<i32>::unconstructed();
    /// assert!(later.as_any().is::<i32>() && !later.as_any().holds::<i32>());
    /// ```
    #[inline]
    #[must_use]
    pub fn holds<T: Value>(&self) -> bool {
        self.concrete_holder()
            .is_some_and(|(_, found)| found.is::<T>())
    }

    /// Returns the index of the payload's type, or [`TypeIndex::NONE`] if it has none yet or never
    /// will.
    #[inline]
    #[must_use]
    pub fn type_id(&self) -> TypeIndex {
        let header = self.header();
        match header.word.state() {
            // SAFETY: the link owns a count of the target, and lives as long as `self`.
            State::Link(target) => unsafe { target.as_ref() }.type_index,
            _ => header.type_index,
        }
    }

    /// Returns `true` if the payload's type is known to be `T`, possibly before the value is
    /// available.
    #[inline]
    #[must_use]
    pub fn is<T: Value>(&self) -> bool {
        self.type_id() == TypeIndex::of::<T>()
    }

    /// Returns the type of the payload that the value can hold itself, without a link to another
    /// value; [`TypeIndex::NONE`] if it cannot hold any.
    #[inline]
    pub(crate) fn own_payload_type(&self) -> TypeIndex {
        self.header().type_index
    }

    /// Returns the MLIR spelling of the payload's type, if it has one.
    #[must_use]
    pub fn mlir_type(&self) -> Option<&'static str> {
        self.type_id().mlir_type()
    }

    /// Returns the address of the value, as an identity to compare while the value lives. An
    /// indirect value differs from its target.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    ///
    /// let value = AnyRef::available(1);
    /// assert_eq!(value.address(), value.clone().address());
    /// assert_ne!(value.address(), AnyRef::available(1).address());
    /// ```
    #[inline]
    #[must_use]
    pub fn address(&self) -> usize {
        self.header.addr().get()
    }

    /// Returns `true` if both refer to the same value. An indirect value differs from its target.
    #[inline]
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

/// Access to the payload.
impl AnyRef {
    /// Returns the payload if there is one and it is a `T`.
    ///
    /// Read payloads of mutable types with [`try_read`](Self::try_read). A type that claims to be
    /// both mutable and immutable does not compile here:
    ///
    /// ```compile_fail,E0080
    /// # use tfrt_async::{AnyRef, Immutable, Value};
    /// struct Counter(i32);
    ///
    /// impl Value for Counter {
    ///     const MLIR_TYPE: &'static str = "!my.counter";
    ///     const IS_MUTABLE: bool = true;
    /// }
    ///
    /// impl Immutable for Counter {}
    ///
    /// AnyRef::available(Counter(1)).get::<Counter>();
    /// ```
    #[inline]
    #[must_use]
    pub fn get<T: Value + Immutable>(&self) -> Option<&T> {
        self.payload()?.get()
    }

    /// Returns the payload for writing if there is one, it is a `T`, and this is the [only
    /// reference](Self::is_unique) to it.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    ///
    /// let mut value = AnyRef::available(1_i32);
    /// *value.get_mut::<i32>().unwrap() += 1;
    /// let shared = value.clone();
    /// assert_eq!((value.get_mut::<i32>(), shared.get::<i32>()), (None, Some(&2)));
    /// ```
    #[inline]
    #[must_use]
    pub fn get_mut<T: Value>(&mut self) -> Option<&mut T> {
        if !self.is_unique() {
            return None;
        }
        let holder = self.holder::<T>().ok()?;
        // SAFETY: `holder` guarantees that the header lives as long as `self` and has a `T`
        // payload.
        let payload = unsafe { cell::payload_ptr::<T>(holder) };
        // SAFETY: as above, so it is initialised. It cannot be reached otherwise: `self` is the
        // only reference, and mutably borrowed.
        Some(unsafe { &mut *payload })
    }

    /// Returns the payload without checking that there is one or what its type is.
    ///
    /// Does not compile for [mutable](Value::IS_MUTABLE) types.
    ///
    /// # Safety
    /// 1. The caller has observed that the value [is concrete](Self::is_concrete).
    /// 2. The payload's type is `T`.
    #[inline]
    #[must_use]
    pub unsafe fn get_unchecked<T: Value>(&self) -> &T {
        const {
            assert!(
                !T::IS_MUTABLE,
                "a payload of a mutable type is read by `try_read`"
            )
        };
        // SAFETY: duties 1 and 2; a type that is not mutable is never written.
        unsafe { cell::payload(self.holder_unchecked()) }
    }

    /// Copies the payload to `place`.
    ///
    /// # Safety
    /// 1. The caller has observed that the value [is concrete](Self::is_concrete).
    /// 2. The payload's type has a [`TypeIndex::copied_layout`], `place` has room for it, and only
    ///    the caller accesses `place`.
    pub unsafe fn copy_payload_to(&self, place: *mut u8) {
        let holder = self.holder_unchecked();
        // SAFETY: duty 1; the holder lives as long as `self`.
        let ty = unsafe { holder.as_ref() }.type_index;
        // SAFETY: duties 1 and 2.
        unsafe { copy_payload_in(holder, ty, place) };
    }

    /// Copies the payload to `place` if there is one of type `ty`. Otherwise returns `false`
    /// without doing anything.
    ///
    /// # Safety
    /// The type has a [`TypeIndex::copied_layout`], `place` has room for it, and only the caller
    /// accesses `place`.
    #[inline]
    #[must_use]
    pub unsafe fn copy_payload_of(&self, ty: TypeIndex, place: *mut u8) -> bool {
        let holder = match self.header().word.state() {
            State::Payload => self.header,
            State::Link(target) => target,
            State::Unavailable | State::Error(_) => return false,
        };
        // SAFETY: R1, or the link, owns a count of the holder, and lives as long as `self`.
        if unsafe { holder.as_ref() }.type_index != ty {
            return false;
        }
        // SAFETY: the caller's duty; the holder has a payload of this type.
        unsafe { copy_payload_in(holder, ty, place) };
        true
    }

    /// Borrows the payload for reading. A type that is not mutable needs no borrow, so this costs
    /// nothing.
    ///
    /// # Errors
    /// If there is no payload of type `T`, or it is being written.
    #[inline]
    pub fn try_read<T: Value>(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        let holder = self.holder::<T>()?;
        // SAFETY: `holder` guarantees a payload of type `T`.
        unsafe { self.read_in(holder) }
    }

    /// Like [`try_read`](Self::try_read), without checking that there is a payload or what its type
    /// is.
    ///
    /// # Errors
    /// If the payload is being written.
    ///
    /// # Safety
    /// The duties of [`get_unchecked`](Self::get_unchecked).
    #[inline]
    pub unsafe fn try_read_unchecked<T: Value>(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        // SAFETY: the caller fulfils both duties.
        unsafe { self.read_in(self.holder_unchecked()) }
    }

    /// Borrows the payload for writing. Does not compile for types that are not
    /// [mutable](Value::IS_MUTABLE).
    ///
    /// # Errors
    /// If there is no payload of type `T`, or it is being read or written.
    #[inline]
    pub fn try_write<T: Value>(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        let holder = self.holder::<T>()?;
        // SAFETY: `holder` guarantees a payload of type `T`.
        unsafe { self.write_in(holder) }
    }

    /// Like [`try_write`](Self::try_write), without checking that there is a payload or what its
    /// type is.
    ///
    /// # Errors
    /// If the payload is being read or written.
    ///
    /// # Safety
    /// The duties of [`get_unchecked`](Self::get_unchecked).
    #[inline]
    pub unsafe fn try_write_unchecked<T: Value>(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        // SAFETY: the caller fulfils both duties.
        unsafe { self.write_in(self.holder_unchecked()) }
    }

    /// Converts to a typed reference, or returns `self` if its payload has another type.
    ///
    /// An error converts to any type. An unresolved indirect value has no type to compare: it
    /// becomes a new indirect value that is checked on arrival and becomes an error if the payload
    /// is not a `T`.
    ///
    /// # Errors
    /// Returns the value itself if its payload has another type.
    pub fn downcast<T: Value>(self) -> Result<AsyncValueRef<T>, Self> {
        // Checked first: if the value is resolved in between, its type is known.
        let is_unresolved = self.header().kind == Kind::Indirect && !self.is_available();
        if is_unresolved {
            let (promise, checked) = Self::indirect();
            self.and_then(move |value| promise.forward_matching::<T>(value.clone()));
            // SAFETY: the promise rejects any payload that is not a `T`.
            Ok(unsafe { AsyncValueRef::from_matching(checked) })
        } else if self.is::<T>() || self.is_error() {
            // SAFETY: the payload is a `T`, or there will never be one.
            Ok(unsafe { AsyncValueRef::from_matching(self) })
        } else {
            Err(self)
        }
    }

    /// Returns the type error if there is a payload and it is not a `T`.
    pub(crate) fn wrong_type<T: Value>(&self) -> Option<BorrowError> {
        self.holder::<T>()
            .err()
            .filter(|refusal| *refusal != BorrowError::NoPayload)
    }

    /// Returns the header that has the payload, if that is a `T`: the value's own, or its target's.
    #[inline]
    fn holder<T: Value>(&self) -> Result<NonNull<Header>, BorrowError> {
        let (holder, found) = self.concrete_holder().ok_or(BorrowError::NoPayload)?;
        if found.is::<T>() {
            Ok(holder)
        } else {
            Err(wrong_type::<T>(found))
        }
    }

    /// Returns the header that has the payload, if there is one, and the payload's type.
    #[inline]
    pub(crate) fn concrete_holder(&self) -> Option<(NonNull<Header>, TypeIndex)> {
        let holder = self.header().word.holder(self.header)?;
        // SAFETY: R1, or the link, owns a count of the holder, and lives as long as `self`.
        let found = unsafe { holder.as_ref() }.type_index;
        Some((holder, found))
    }

    /// Returns the header that has the payload of a concrete value.
    #[inline]
    fn holder_unchecked(&self) -> NonNull<Header> {
        self.header().word.link_if_concrete().unwrap_or(self.header)
    }

    /// # Safety
    /// 1. `holder` is the header that has the payload of this value, and the value is concrete.
    /// 2. The payload's type is `T`.
    #[inline]
    unsafe fn read_in<T: Value>(
        &self,
        holder: NonNull<Header>,
    ) -> Result<ReadGuard<'_, T>, BorrowError> {
        if !T::IS_MUTABLE {
            // SAFETY: duties 1 and 2; a type that is not mutable is never written.
            return Ok(ReadGuard::of_borrowed(unsafe { cell::payload(holder) }));
        }
        // SAFETY: duty 1; the holder lives as long as `self`.
        let borrow = &unsafe { holder.as_ref() }.borrow;
        // SAFETY: duties 1 and 2; the borrow held by then excludes writers.
        let payload = || ptr::from_ref(unsafe { cell::payload::<T>(holder) });
        // SAFETY: initialised by duty 1, and accessed only under this borrow count: `get` does not
        // compile for `T`.
        unsafe { ReadGuard::guarded(borrow, payload) }
    }

    /// # Safety
    /// 1. `holder` is the header that has the payload of this value, and the value is concrete.
    /// 2. The payload's type is `T`.
    #[inline]
    unsafe fn write_in<T: Value>(
        &self,
        holder: NonNull<Header>,
    ) -> Result<WriteGuard<'_, T>, BorrowError> {
        const {
            assert!(
                T::IS_MUTABLE || T::HANDLE.is_some(),
                "only a payload of a mutable type can be written"
            )
        };
        if let Some(handle) = T::HANDLE {
            // SAFETY: duties 1 and 2; a payload with handles is never written.
            return Ok(WriteGuard::of_handle(handle(unsafe {
                cell::payload(holder)
            })));
        }
        // SAFETY: duty 1; the holder lives as long as `self`.
        let borrow = &unsafe { holder.as_ref() }.borrow;
        // SAFETY: duties 1 and 2.
        let payload = || unsafe { cell::payload_ptr::<T>(holder) };
        // SAFETY: initialised by duty 1, and accessed only under this borrow count: `get` does not
        // compile for `T`.
        unsafe { WriteGuard::guarded(borrow, payload) }
    }
}

#[cold]
fn wrong_type<T: Value>(found: TypeIndex) -> BorrowError {
    // A value with a payload has a type.
    BorrowError::WrongType {
        expected: T::MLIR_TYPE,
        found: found.mlir_type().unwrap_or("none"),
    }
}

/// Waiting and publishing.
impl AnyRef {
    /// Runs `f` when the value is available: immediately on this thread if it already is, otherwise
    /// on the thread that publishes it, in reverse order of registration.
    ///
    /// `f` must not block, but may do anything else, including dropping the last reference to the
    /// value.
    pub fn and_then(&self, f: impl FnOnce(&AnyRef) + Send + 'static) {
        if self.is_available() {
            f(self);
        } else {
            self.register(Waiter::new(Consumer(f)));
        }
    }

    /// Runs `f` as [`and_then`](Self::and_then) does, but does not count as a consumer of the
    /// value.
    ///
    /// A promise may be given up when its value [has no consumer](crate::Promise::has_consumer). A
    /// watcher that needs the value keeps a reference to it for as long as it does.
    pub fn watch(&self, f: impl FnOnce(&AnyRef) + Send + 'static) {
        if self.is_available() {
            f(self);
        } else {
            self.register(Waiter::new(Watcher(f)));
        }
    }

    /// Returns `true` if a waiter that is not a [watcher](Self::watch) is registered.
    ///
    /// # Safety
    /// The value cannot become available meanwhile.
    pub(crate) unsafe fn has_waiting_consumer(&self) -> bool {
        // SAFETY: the caller's duty.
        unsafe { self.header().word.has_consumer() }
    }

    /// Runs `f` with `promises` as [`and_then`](Self::and_then) does. It counts as a consumer of
    /// this value for as long as a value of the promises [has one](Promises::have_consumer). What
    /// `f` holds must not refer to this value, which would be a consumer of its own.
    pub fn and_then_for<P: Promises>(
        &self,
        promises: P,
        f: impl FnOnce(&AnyRef, P) + Send + 'static,
    ) {
        if self.is_available() {
            f(self, promises);
        } else {
            self.register(Waiter::new(Producer { promises, f }));
        }
    }

    /// Registers a waiter, or runs it if the value has become available.
    #[inline]
    fn register(&self, waiter: Waiter) {
        if let Err(waiter) = self.header().word.register(waiter)
            && let Err(payload) = waiter.run(self)
        {
            std::panic::resume_unwind(payload);
        }
    }

    /// Makes the value an error unless it is already available. Returns `true` if this call set the
    /// error.
    ///
    /// The promise is not notified: its later publication is dropped.
    pub fn try_set_error(&self, error: Error) -> bool {
        !self.is_available() && self.publish(Outcome::Error(Box::new(error))).is_ok()
    }

    /// Publishes an outcome and runs the waiters, or returns the outcome if the value was already
    /// available.
    ///
    /// For [`Outcome::Payload`], the caller has initialised the payload and does not access it
    /// again.
    #[inline]
    pub(crate) fn publish(&self, outcome: Outcome) -> Result<(), Outcome> {
        let waiters = self.header().word.publish(outcome)?;
        nesting::run_waiters(self, waiters);
        Ok(())
    }

    /// Returns the outcome of an indirect value that stands for this one, or `None` if this one is
    /// not available.
    ///
    /// A link always leads to a value that has its own payload.
    pub(crate) fn outcome_for_link(self) -> Option<Outcome> {
        match self.header().word.state() {
            State::Unavailable => None,
            State::Error(error) => Some(Outcome::Error(Box::new(error.clone()))),
            // SAFETY: the link owns a count of the target, and lives as long as `self`; the copy is
            // not dropped.
            State::Link(target) => Some(Outcome::Link(
                (*ManuallyDrop::new(unsafe { Self::from_header(target) })).clone(),
            )),
            State::Payload => Some(Outcome::Link(self)),
        }
    }
}

/// Manual ownership.
impl AnyRef {
    /// Gives up the reference without dropping its count.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    ///
    /// let raw = AnyRef::available(1_i32).into_raw();
    /// // SAFETY: it came from `into_raw`, and is used once.
    /// let value = unsafe { AnyRef::from_raw(raw) };
    /// assert_eq!(value.get::<i32>(), Some(&1));
    /// ```
    #[inline]
    #[must_use]
    pub fn into_raw(self) -> NonNull<()> {
        self.into_header().cast()
    }

    /// Adds `count` references that have no handle yet. Each is to be claimed by
    /// [`from_raw`](Self::from_raw) or by a bitwise copy of this reference; unclaimed references
    /// leak.
    ///
    /// Equivalent to `mem::forget(value.clone())` repeated `count` times, in one step.
    #[inline]
    pub fn leak_clones(&self, count: u32) {
        let header = self.header();
        if header.kind != Kind::Immortal {
            header.count.add(count);
        }
    }

    /// Takes ownership of a count that was given up.
    ///
    /// # Safety
    /// 1. `raw` came from [`into_raw`](Self::into_raw).
    /// 2. It is taken at most once.
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: duties 1 and 2: the pointer is a header whose count is ours to take.
        unsafe { Self::from_header(raw.cast()) }
    }

    /// # Safety
    /// 1. The pointer came from a constructor of values or from `into_header`, so R2 holds.
    /// 2. The caller transfers ownership of a count.
    #[inline]
    pub(crate) unsafe fn from_header(header: NonNull<Header>) -> Self {
        Self {
            header,
            owns: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn into_header(self) -> NonNull<Header> {
        ManuallyDrop::new(self).header
    }

    /// Returns the header of the value, for code that constructs payloads.
    #[inline]
    pub(crate) fn as_header(&self) -> NonNull<Header> {
        self.header
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: R1.
        unsafe { self.header.as_ref() }
    }
}

/// A waiter that needs the value.
struct Consumer<F>(F);

impl<F: FnOnce(&AnyRef) + Send + 'static> Wait for Consumer<F> {
    fn run(self, value: &AnyRef) {
        (self.0)(value);
    }

    fn is_consumer(&self) -> bool {
        true
    }
}

/// A waiter that only wants to know that the value is available.
struct Watcher<F>(F);

impl<F: FnOnce(&AnyRef) + Send + 'static> Wait for Watcher<F> {
    fn run(self, value: &AnyRef) {
        (self.0)(value);
    }

    fn is_consumer(&self) -> bool {
        false
    }
}

/// A waiter that derives other values from the value.
struct Producer<P, F> {
    promises: P,
    f: F,
}

impl<P: Promises, F: FnOnce(&AnyRef, P) + Send + 'static> Wait for Producer<P, F> {
    fn run(self, value: &AnyRef) {
        (self.f)(value, self.promises);
    }

    fn is_consumer(&self) -> bool {
        self.promises.have_consumer()
    }
}

/// Copies a payload to `place`.
///
/// # Safety
/// 1. `holder` has a payload of type `ty`.
/// 2. The type has a [`TypeIndex::copied_layout`], `place` has room for it, and only the caller
///    accesses `place`.
#[inline]
unsafe fn copy_payload_in(holder: NonNull<Header>, ty: TypeIndex, place: *mut u8) {
    let copying = ty.info_at_hand().and_then(|info| info.copying);
    let copying = copying.unwrap_or_else(|| copying_of(ty));
    // SAFETY: duties 1 and 2.
    unsafe { (copying.unwrap)(holder, place) };
}

/// Returns how payloads of a copied type are copied, even if this copy of the crate has not met the
/// type.
#[cold]
#[inline(never)]
fn copying_of(ty: TypeIndex) -> Copying {
    let copying = ty.info().and_then(|info| info.copying);
    copying.expect("the caller has seen that the type is copied")
}

impl Clone for AnyRef {
    #[inline]
    fn clone(&self) -> Self {
        let header = self.header();
        if header.kind != Kind::Immortal {
            header.count.increment();
        }
        // SAFETY: R2; the new reference takes the count just added.
        unsafe { Self::from_header(self.header) }
    }
}

impl Drop for AnyRef {
    #[inline]
    fn drop(&mut self) {
        let header = self.header();
        if header.kind != Kind::Immortal && header.count.decrement() {
            // SAFETY: the value is not immortal, and this was the last count.
            unsafe { cell::destroy(self.header) }
        }
    }
}

impl fmt::Debug for AnyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("AnyRef");
        match self.header().word.state() {
            State::Unavailable => tuple.field(&format_args!("unavailable")),
            State::Error(error) => tuple.field(error),
            State::Payload | State::Link(_) => {
                tuple.field(&format_args!("{}", self.mlir_type().unwrap_or("none")))
            }
        };
        tuple.finish()
    }
}

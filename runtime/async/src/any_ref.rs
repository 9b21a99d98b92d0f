//! References to values of any type.
#![expect(unsafe_code, reason = "owns one count of an erased value")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use tfrt_support::Error;

use crate::borrow::{BorrowError, ReadGuard, WriteGuard};
use crate::cell::{self, Header, Kind};
use crate::nesting;
use crate::promise::IndirectPromise;
use crate::type_index::TypeIndex;
use crate::typed_ref::AsyncValueRef;
use crate::value::{Immutable, Value};
use crate::waiter::Waiter;
use crate::word::{Outcome, State, Word};

/// An owning reference to a value of any type, one pointer wide.
///
/// Cloning shares the value. Registers hold the operands and results of kernels in this form.
///
/// Invariant R1: the header is that of a live value, and the reference owns one count of it (none if it is immortal).
/// Invariant R2: the pointer may be used for the whole allocation.
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

// SAFETY: a payload is `Send` and `Sync` by the bound of `Value`, an error is both, and the header is atomics and constants.
unsafe impl Send for AnyRef {}

// SAFETY: as for `Send`.
unsafe impl Sync for AnyRef {}

/// Making values.
impl AnyRef {
    /// A value that is there. A [`Chain`](crate::Chain) is the ready chain, without any allocation.
    #[inline]
    #[must_use]
    pub fn available<T: Value>(payload: T) -> Self {
        if TypeIndex::of::<T>() == TypeIndex::CHAIN {
            return Self::ready_chain();
        }
        // SAFETY: a new value has one count, which goes here.
        unsafe { Self::from_header(cell::new_available(payload, Kind::Concrete)) }
    }

    /// The chain that is always ready. There is one in the process; it is not counted and never unique.
    #[inline]
    #[must_use]
    pub fn ready_chain() -> Self {
        // SAFETY: the ready chain is immortal, so that there is no count to own.
        unsafe { Self::from_header(cell::ready_chain()) }
    }

    /// A value that is an error, of no type.
    #[must_use]
    pub fn error(error: Error) -> Self {
        let word = Word::available(Outcome::Error(Box::new(error)));
        // SAFETY: a new value has one count, which goes here.
        unsafe { Self::from_header(cell::new_untyped(Kind::Concrete, word, 1)) }
    }

    /// A value that holds a copy of `payload`.
    ///
    /// # Safety
    /// 1. `payload` points to an initialised payload of type `ty`, aligned as [`TypeIndex::copied_layout`] says.
    /// 2. `ty` has such a layout.
    #[must_use]
    pub unsafe fn from_copied(ty: TypeIndex, payload: *const u8) -> Self {
        // SAFETY: the duties are ours.
        unsafe { Self::wrap_copied(ty, payload, Kind::Concrete) }
    }

    /// As [`from_copied`](Self::from_copied), for a result of a function: such a value is never [unique](Self::is_unique).
    ///
    /// # Safety
    /// The duties of [`from_copied`](Self::from_copied).
    #[must_use]
    pub unsafe fn given_from_copied(ty: TypeIndex, payload: *const u8) -> Self {
        // SAFETY: the duties are ours.
        unsafe { Self::wrap_copied(ty, payload, Kind::Given) }
    }

    /// # Safety
    /// The duties of [`from_copied`](Self::from_copied).
    unsafe fn wrap_copied(ty: TypeIndex, payload: *const u8, kind: Kind) -> Self {
        if ty == TypeIndex::CHAIN {
            return Self::ready_chain();
        }
        let copying = ty.info().and_then(|info| info.copying);
        let copying = copying.expect("the caller has seen that the type is copied");
        // SAFETY: duties 1 and 2.
        let header = unsafe { (copying.wrap)(payload, kind) };
        // SAFETY: a new value has one count, which goes here.
        unsafe { Self::from_header(header) }
    }

    /// The value as a result of a function: such a value is never [unique](Self::is_unique), and stands for what the
    /// function made.
    #[must_use]
    pub fn into_given(self) -> Self {
        if self.header().kind != Kind::Concrete {
            return self;
        }
        if self.is_available() {
            let outcome = self.outcome_for_link().expect("the value is available");
            let header = cell::new_untyped(Kind::Indirect, Word::available(outcome), 1);
            // SAFETY: a new value has one count, which goes here.
            return unsafe { Self::from_header(header) };
        }
        let (promise, value) = Self::indirect();
        promise.forward_to(self);
        value
    }

    /// A value that will stand for another one, which is not known yet. Until then it has no type.
    pub fn indirect() -> (IndirectPromise, Self) {
        let header = cell::new_untyped(Kind::Indirect, Word::unavailable(), 2);
        // SAFETY: the first of its two counts goes here.
        let promised = unsafe { Self::from_header(header) };
        // SAFETY: the second one goes here.
        let value = unsafe { Self::from_header(header) };
        (IndirectPromise::new(promised), value)
    }
}

/// What is known of a value.
impl AnyRef {
    /// Whether the value has a payload, or is an error.
    #[inline]
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.header().word.is_available()
    }

    /// Whether the value has a payload.
    #[inline]
    #[must_use]
    pub fn is_concrete(&self) -> bool {
        self.header().word.is_concrete()
    }

    /// Whether the value is an error.
    #[inline]
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error_if_present().is_some()
    }

    /// The error, if the value is one.
    #[inline]
    #[must_use]
    pub fn error_if_present(&self) -> Option<&Error> {
        match self.header().word.state() {
            State::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Whether this is the only reference. Never so for indirect values, results of functions and the ready chain; a promise
    /// counts as a reference.
    #[inline]
    #[must_use]
    pub fn is_unique(&self) -> bool {
        let header = self.header();
        header.kind == Kind::Concrete && header.count.is_one()
    }

    /// Whether nobody else can reach the payload: as [`is_unique`](Self::is_unique), but a result of a function counts too if it
    /// has one owner, and an indirect value if it is resolved, has one owner, and is the one owner of the value that it stands for.
    #[must_use]
    pub fn is_unique_through_links(&self) -> bool {
        let header = self.header();
        if header.kind != Kind::Indirect {
            return header.kind != Kind::Immortal && header.count.is_one();
        }
        let State::Link(target) = header.word.state() else {
            return false;
        };
        // SAFETY: the link owns a count of it, and lives as long as `self`.
        let target = unsafe { target.as_ref() };
        header.count.is_one() && target.kind != Kind::Immortal && target.count.is_one()
    }

    /// The number of the payload's type; [`TypeIndex::NONE`] if it has none, or not yet.
    #[inline]
    #[must_use]
    pub fn type_id(&self) -> TypeIndex {
        let header = self.header();
        match header.word.state() {
            // SAFETY: the link owns a count of it, and lives as long as `self`.
            State::Link(target) => unsafe { target.as_ref() }.type_index,
            _ => header.type_index,
        }
    }

    /// Whether the payload's type is known and is `T`. A value may be so before it is available.
    #[inline]
    #[must_use]
    pub fn is<T: Value>(&self) -> bool {
        self.type_id() == TypeIndex::of::<T>()
    }

    /// How MLIR spells the payload's type, if it has one.
    #[must_use]
    pub fn mlir_type(&self) -> Option<&'static str> {
        self.type_id().mlir_type()
    }

    /// Whether both refer to one value. An indirect value is another one than its target.
    #[inline]
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

/// Using the payload.
impl AnyRef {
    /// The payload, if there is one and it is a `T`.
    ///
    /// Payloads of other types are read by [`try_read`](Self::try_read). A type that claims both does not compile here:
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
        const {
            assert!(
                !T::IS_MUTABLE,
                "a payload of a mutable type is read by `try_read`"
            )
        };
        let holder = self.holder::<T>().ok()?;
        // SAFETY: `holder` says that it lives as long as `self`, has a payload, and of this type; nobody writes a type
        // that is not mutable.
        Some(unsafe { cell::payload(holder) })
    }

    /// The payload to be changed, if there is one, it is a `T`, and this is the [only reference](Self::is_unique) to it.
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
        // SAFETY: `holder` says that it lives as long as `self`, and has a payload of this type.
        let payload = unsafe { cell::payload_ptr::<T>(holder) };
        // SAFETY: as above, so that it is initialised. Nobody else can reach it: `self` is the only reference, and borrowed mutably.
        Some(unsafe { &mut *payload })
    }

    /// The payload, without looking whether there is one, and of which type.
    ///
    /// Does not compile for [mutable](Value::IS_MUTABLE) types.
    ///
    /// # Safety
    /// 1. The value [is concrete](Self::is_concrete), and the caller has seen that.
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
        // SAFETY: duties 1 and 2; nobody writes a type that is not mutable.
        unsafe { cell::payload(self.holder_unchecked()) }
    }

    /// Copies the payload to `place`.
    ///
    /// # Safety
    /// 1. The value [is concrete](Self::is_concrete), and the caller has seen that.
    /// 2. The payload's type has a [`TypeIndex::copied_layout`], for which `place` has room; the caller alone may touch it.
    pub unsafe fn copy_payload_to(&self, place: *mut u8) {
        let holder = self.holder_unchecked();
        // SAFETY: duty 1: it lives as long as `self`.
        let ty = unsafe { holder.as_ref() }.type_index;
        // SAFETY: duties 1 and 2.
        unsafe { copy_payload_in(holder, ty, place) };
    }

    /// Copies the payload to `place`, if there is one and it is of type `ty`. Otherwise returns `false` and does nothing.
    ///
    /// # Safety
    /// The type has a [`TypeIndex::copied_layout`], for which `place` has room; the caller alone may touch it.
    #[inline]
    #[must_use]
    pub unsafe fn copy_payload_of(&self, ty: TypeIndex, place: *mut u8) -> bool {
        let holder = match self.header().word.state() {
            State::Payload => self.header,
            State::Link(target) => target,
            State::Unavailable | State::Error(_) => return false,
        };
        // SAFETY: R1, or the link, owns a count of it, and lives as long as `self`.
        if unsafe { holder.as_ref() }.type_index != ty {
            return false;
        }
        // SAFETY: our duty: it has a payload, and of this type.
        unsafe { copy_payload_in(holder, ty, place) };
        true
    }

    /// Borrows the payload to read it. A type that is not mutable needs no borrow, and costs none.
    ///
    /// # Errors
    /// If there is no payload of type `T`, or somebody writes it.
    #[inline]
    pub fn try_read<T: Value>(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        let holder = self.holder::<T>()?;
        // SAFETY: `holder` says that it has a payload, and of this type.
        unsafe { self.read_in(holder) }
    }

    /// As [`try_read`](Self::try_read), without looking whether there is a payload, and of which type.
    ///
    /// # Errors
    /// If somebody writes the payload.
    ///
    /// # Safety
    /// The duties of [`get_unchecked`](Self::get_unchecked).
    #[inline]
    pub unsafe fn try_read_unchecked<T: Value>(&self) -> Result<ReadGuard<'_, T>, BorrowError> {
        // SAFETY: the duties are ours.
        unsafe { self.read_in(self.holder_unchecked()) }
    }

    /// Borrows the payload to change it. Does not compile for types that are not [mutable](Value::IS_MUTABLE).
    ///
    /// # Errors
    /// If there is no payload of type `T`, or somebody reads or writes it.
    #[inline]
    pub fn try_write<T: Value>(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        let holder = self.holder::<T>()?;
        // SAFETY: `holder` says that it has a payload, and of this type.
        unsafe { self.write_in(holder) }
    }

    /// As [`try_write`](Self::try_write), without looking whether there is a payload, and of which type.
    ///
    /// # Errors
    /// If somebody reads or writes the payload.
    ///
    /// # Safety
    /// The duties of [`get_unchecked`](Self::get_unchecked).
    #[inline]
    pub unsafe fn try_write_unchecked<T: Value>(&self) -> Result<WriteGuard<'_, T>, BorrowError> {
        // SAFETY: the duties are ours.
        unsafe { self.write_in(self.holder_unchecked()) }
    }

    /// The same value as a typed reference, or itself back if its payload is of another type.
    ///
    /// An error becomes a reference of any type. An indirect value that is not resolved has no type to compare: it becomes
    /// a new indirect value which is checked on arrival, and which is an error if the payload is not a `T`.
    ///
    /// # Errors
    /// The value, if its type is another one.
    pub fn downcast<T: Value>(self) -> Result<AsyncValueRef<T>, Self> {
        // Looked at first: if it is resolved in between, the type is there.
        let is_unresolved = self.header().kind == Kind::Indirect && !self.is_available();
        if is_unresolved {
            let (promise, checked) = Self::indirect();
            self.and_then(move |value| promise.forward_matching::<T>(value.clone()));
            // SAFETY: the promise refuses any payload that is not a `T`.
            Ok(unsafe { AsyncValueRef::from_matching(checked) })
        } else if self.is::<T>() || self.is_error() {
            // SAFETY: the value has the type, or will never have a payload.
            Ok(unsafe { AsyncValueRef::from_matching(self) })
        } else {
            Err(self)
        }
    }

    /// The type error, if there is a payload and it is not a `T`.
    pub(crate) fn wrong_type<T: Value>(&self) -> Option<BorrowError> {
        self.holder::<T>()
            .err()
            .filter(|refusal| *refusal != BorrowError::NoPayload)
    }

    /// The header that has the payload, if it is a `T`: the value's own, or that of the value it stands for.
    #[inline]
    fn holder<T: Value>(&self) -> Result<NonNull<Header>, BorrowError> {
        let holder = match self.header().word.state() {
            State::Payload => self.header,
            State::Link(target) => target,
            State::Unavailable | State::Error(_) => return Err(BorrowError::NoPayload),
        };
        // SAFETY: R1, or the link, owns a count of it, and lives as long as `self`.
        let found = unsafe { holder.as_ref() }.type_index;
        if found == TypeIndex::of::<T>() {
            Ok(holder)
        } else {
            Err(wrong_type::<T>(found))
        }
    }

    /// The header that has the payload, of a concrete value.
    #[inline]
    fn holder_unchecked(&self) -> NonNull<Header> {
        self.header().word.link_if_concrete().unwrap_or(self.header)
    }

    /// # Safety
    /// 1. `holder` is the header that has the payload of this value, which is concrete.
    /// 2. The payload's type is `T`.
    #[inline]
    unsafe fn read_in<T: Value>(
        &self,
        holder: NonNull<Header>,
    ) -> Result<ReadGuard<'_, T>, BorrowError> {
        if !T::IS_MUTABLE {
            // SAFETY: duties 1 and 2; nobody writes a type that is not mutable.
            return Ok(ReadGuard::unguarded(unsafe { cell::payload(holder) }));
        }
        // SAFETY: duty 1: it lives as long as `self`.
        let borrow = &unsafe { holder.as_ref() }.borrow;
        // SAFETY: duties 1 and 2; the borrow that is held by then excludes writers.
        let payload = || ptr::from_ref(unsafe { cell::payload::<T>(holder) });
        // SAFETY: initialised by duty 1, and used under this borrow count alone: `get` does not compile for `T`.
        unsafe { ReadGuard::guarded(borrow, payload) }
    }

    /// # Safety
    /// 1. `holder` is the header that has the payload of this value, which is concrete.
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
            // SAFETY: duties 1 and 2; nobody writes a payload of which there are handles.
            return Ok(WriteGuard::of_handle(handle(unsafe {
                cell::payload(holder)
            })));
        }
        // SAFETY: duty 1: it lives as long as `self`.
        let borrow = &unsafe { holder.as_ref() }.borrow;
        // SAFETY: duties 1 and 2.
        let payload = || unsafe { cell::payload_ptr::<T>(holder) };
        // SAFETY: initialised by duty 1, and used under this borrow count alone: `get` does not compile for `T`.
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
    /// Runs `f` when the value is available: now, on this thread, if it is; otherwise on the thread that makes it so, in the
    /// reverse order of registration.
    ///
    /// `f` may do anything but block, dropping the last reference to the value included.
    pub fn and_then(&self, f: impl FnOnce(&AnyRef) + Send + 'static) {
        if self.is_available() {
            f(self);
        } else if let Err(waiter) = self.header().word.register(Waiter::new(f))
            && let Err(payload) = waiter.run(self)
        {
            std::panic::resume_unwind(payload);
        }
    }

    /// Makes the value an error, if it is not available yet. Whether it was this call that did.
    ///
    /// The promise of the value is not told: what it publishes later is dropped.
    pub fn try_set_error(&self, error: Error) -> bool {
        !self.is_available() && self.publish(Outcome::Error(Box::new(error))).is_ok()
    }

    /// Publishes an outcome and runs the waiters, or gives the outcome back if the value was available before.
    ///
    /// For [`Outcome::Payload`] the caller has initialised the payload and will not touch it again.
    #[inline]
    pub(crate) fn publish(&self, outcome: Outcome) -> Result<(), Outcome> {
        let waiters = self.header().word.publish(outcome)?;
        nesting::run_waiters(self, waiters);
        Ok(())
    }

    /// What an indirect value that stands for this one becomes; none if this one is not available.
    ///
    /// The link always goes to a value that has a payload of its own.
    pub(crate) fn outcome_for_link(self) -> Option<Outcome> {
        match self.header().word.state() {
            State::Unavailable => None,
            State::Error(error) => Some(Outcome::Error(Box::new(error.clone()))),
            // SAFETY: the link owns a count of it, and lives as long as `self`; the copy is not dropped.
            State::Link(target) => Some(Outcome::Link(
                (*ManuallyDrop::new(unsafe { Self::from_header(target) })).clone(),
            )),
            State::Payload => Some(Outcome::Link(self)),
        }
    }
}

/// Ownership by hand.
impl AnyRef {
    /// Gives up the reference without giving up its count.
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

    /// Adds `count` references without a handle of their own: each is to be taken up by [`from_raw`](Self::from_raw), or by a
    /// copy of the bits of this one. What is not taken up is leaked.
    ///
    /// As `count` times `mem::forget(value.clone())`, in one step.
    #[inline]
    pub fn leak_clones(&self, count: u32) {
        let header = self.header();
        if header.kind != Kind::Immortal {
            header.count.add(count);
        }
    }

    /// Takes a count that was given up.
    ///
    /// # Safety
    /// 1. `raw` came from [`into_raw`](Self::into_raw).
    /// 2. It is taken at most once.
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: duties 1 and 2: a header, and its count.
        unsafe { Self::from_header(raw.cast()) }
    }

    /// # Safety
    /// 1. The pointer came from a maker of values, or from `into_header`, so that R2 holds.
    /// 2. The caller owns a count, and gives it away.
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

    /// The header of the value, for the makers of payloads.
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

/// Copies a payload to `place`.
///
/// # Safety
/// 1. `holder` has a payload of type `ty`.
/// 2. The type has a [`TypeIndex::copied_layout`], for which `place` has room; the caller alone may touch it.
#[inline]
unsafe fn copy_payload_in(holder: NonNull<Header>, ty: TypeIndex, place: *mut u8) {
    let copying = ty.info().and_then(|info| info.copying);
    let copying = copying.expect("the caller has seen that the type is copied");
    // SAFETY: duties 1 and 2.
    unsafe { (copying.unwrap)(holder, place) };
}

impl Clone for AnyRef {
    #[inline]
    fn clone(&self) -> Self {
        let header = self.header();
        if header.kind != Kind::Immortal {
            header.count.increment();
        }
        // SAFETY: R2, and the count just added goes here.
        unsafe { Self::from_header(self.header) }
    }
}

impl Drop for AnyRef {
    #[inline]
    fn drop(&mut self) {
        let header = self.header();
        if header.kind != Kind::Immortal && header.count.decrement() {
            // SAFETY: not immortal, and the last count.
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

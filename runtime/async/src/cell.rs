//! The memory layout of a value: a 16-byte header, followed by the payload in the same allocation.
//!
//! ```text
//!  offset 0        4      5       6            8                16, or rounded up to the payload's alignment
//!         ┌────────┬──────┬───────┬────────────┬────────────────┬───────────
//!         │ count  │ kind │borrow │ type index │ state word     │ payload …
//!         └────────┴──────┴───────┴────────────┴────────────────┴───────────
//! ```
//!
//! Values without a type (indirect values, and errors that never had one) consist of a header only.
//! A value may lie in memory of its payload instead of an allocation of its own: see [`Room`].
//!
//! Invariant C1: a header whose type index is that of `T` is the first field of a `ValueCell<T>`; a
//! header without a type index has its own allocation. Upheld by the three constructors in this
//! file; these two never change, and the kind of a value only once: see `mark_given`.
//! Invariant C2: the payload is initialised if the word says `Payload`. Upheld by the promises.
#![expect(unsafe_code, reason = "payloads are erased and reference-counted here")]

use std::alloc::Layout;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use crate::borrow::BorrowCount;
use crate::count::Count;
use crate::dropping;
use crate::live;
use crate::pool::{self, Pooled};
use crate::sync::UnsafeCell;
#[cfg(not(loom))]
use crate::sync::{AtomicPtr, Ordering};
use crate::type_index::TypeIndex;
use crate::value::Value;
use crate::word::{Outcome, State, Word};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Has its own payload, or an error.
    Concrete,
    /// Like `Concrete`, but lies in memory of its payload.
    InPayload,
    /// Like `Concrete`, but returned by a function: it never reports to be the only reference to
    /// its payload.
    Given,
    /// Like `Given`, but lies in memory of its payload.
    GivenInPayload,
    /// Like `Concrete`, but lives forever and is not counted.
    Immortal,
    /// Links to another value once that is known.
    Indirect,
}

impl Kind {
    /// Returns `true` for a value that has its own payload or an error, and that reports to be the
    /// only reference if it is.
    #[inline]
    pub(crate) fn is_concrete(self) -> bool {
        matches!(self, Self::Concrete | Self::InPayload)
    }

    /// Returns `true` for a value that lies in memory of its payload.
    #[inline]
    fn is_in_payload(self) -> bool {
        matches!(self, Self::InPayload | Self::GivenInPayload)
    }
}

/// The start of every value.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) count: Count,
    pub(crate) kind: Kind,
    pub(crate) borrow: BorrowCount,
    pub(crate) type_index: TypeIndex,
    pub(crate) word: Word,
}

#[cfg(all(not(loom), target_pointer_width = "64"))]
const _: () = assert!(
    size_of::<Header>() == 16,
    "the header of a value is 16 bytes"
);

/// A value with payload type `T`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ValueCell<T> {
    header: Header,
    payload: UnsafeCell<MaybeUninit<T>>,
}

#[cfg(all(not(loom), target_pointer_width = "64"))]
const _: () = assert!(
    std::mem::offset_of!(ValueCell<u64>, payload) == 16,
    "the payload follows the header at once"
);

// SAFETY: the header consists of atomics, of fields that never change, and of the kind, which only
// a sole owner changes (`mark_given`). The payload is itself `Send` and `Sync`; only the promise
// writes it before publication, and later writes hold a borrow count that excludes readers.
unsafe impl<T: Value> Sync for ValueCell<T> {}

/// The layout of a value with payload type `T`.
pub(crate) const fn layout_of_value<T>() -> Layout {
    Layout::new::<ValueCell<T>>()
}

/// Creates a value that has a payload, with one count.
// Nothing here panics or calls, as long as the type has been met and a block is at hand. So it is
// inlined where payloads are made, and a payload is written directly to its place.
#[inline]
pub(crate) fn new_available<T: Value>(payload: T, kind: Kind) -> NonNull<Header> {
    let Some(ty) = TypeIndex::known::<T>() else {
        return new_available_slowly(payload, kind);
    };
    let (cell, kind) = match claim_room(&payload, kind) {
        Some(cell) => (cell, Kind::InPayload),
        None => match pool::reserve_kept() {
            Some(cell) => (cell, kind),
            None => return new_available_slowly(payload, kind),
        },
    };
    // SAFETY: 1 and 3: the block was reserved for such a cell, or is room for one; it is
    // exclusively ours. 2: as just found.
    unsafe { write_available(cell, ty, payload, kind) }
}

#[cold]
#[inline(never)]
fn new_available_slowly<T: Value>(payload: T, kind: Kind) -> NonNull<Header> {
    let ty = TypeIndex::of::<T>();
    let (cell, kind) = match claim_room(&payload, kind) {
        Some(cell) => (cell, Kind::InPayload),
        None => (pool::reserve(), kind),
    };
    // SAFETY: as in `new_available`.
    unsafe { write_available(cell, ty, payload, kind) }
}

/// Returns room for a value in the memory of its payload, which is exclusively the caller's.
#[inline]
fn claim_room<T: Value>(payload: &T, kind: Kind) -> Option<NonNull<ValueCell<T>>> {
    let room = T::ROOM.as_ref().filter(|_| kind == Kind::Concrete)?;
    room.claim(payload).map(NonNull::cast)
}

/// Creates a value whose payload is not set yet, with two counts: the promise's and the first
/// reference's.
#[inline]
pub(crate) fn new_unavailable<T: Value>(kind: Kind) -> NonNull<Header> {
    let Some(ty) = TypeIndex::known::<T>() else {
        return new_unavailable_slowly::<T>(kind);
    };
    match pool::reserve_kept() {
        // SAFETY: 1 and 3: the block was reserved for such a cell, and is exclusively ours. 2: as
        // just found.
        Some(cell) => unsafe { write_cell::<T>(cell, ty, Word::unavailable(), kind, 2) },
        None => new_unavailable_slowly::<T>(kind),
    }
}

#[cold]
#[inline(never)]
fn new_unavailable_slowly<T: Value>(kind: Kind) -> NonNull<Header> {
    // The type first: where there are too many, this panics.
    let ty = TypeIndex::of::<T>();
    let cell = pool::reserve::<ValueCell<T>>();
    // SAFETY: as in `new_unavailable`.
    unsafe { write_cell(cell, ty, Word::unavailable(), kind, 2) }
}

/// Writes a value that has a payload, with one count.
///
/// # Safety
/// 1. `cell` is valid for writes of such a cell, and aligned.
/// 2. `type_index` is that of `T`.
/// 3. The cell is exclusively the caller's, until the value is destroyed.
#[inline]
unsafe fn write_available<T: Value>(
    cell: NonNull<ValueCell<T>>,
    type_index: TypeIndex,
    payload: T,
    kind: Kind,
) -> NonNull<Header> {
    let word = Word::available(Outcome::Payload);
    // SAFETY: the caller fulfils the duties.
    let header = unsafe { write_cell(cell, type_index, word, kind, 1) };
    // SAFETY: 1 and 2: the value was just written. 3: nobody else has it.
    unsafe { write_payload(header, payload) };
    header
}

/// Writes a value with `owners` counts, except for its payload.
///
/// # Safety
/// 1. `cell` is valid for writes of such a cell, and aligned.
/// 2. `type_index` is that of `T`.
/// 3. The cell is exclusively the caller's, until the value is destroyed.
#[inline]
unsafe fn write_cell<T: Value>(
    cell: NonNull<ValueCell<T>>,
    type_index: TypeIndex,
    word: Word,
    kind: Kind,
    owners: u32,
) -> NonNull<Header> {
    debug_assert_eq!(type_index, TypeIndex::of::<T>(), "C1 depends on it");
    live::add_one();
    let header = Header {
        count: Count::new(owners),
        kind,
        borrow: BorrowCount::new(),
        type_index,
        word,
    };
    // SAFETY: duty 1: the field is in the cell.
    let place = unsafe { &raw mut (*cell.as_ptr()).header };
    // SAFETY: duties 1 and 3.
    unsafe { place.write(header) };
    // A payload may be large. It is written later, directly to its place, so that it is copied
    // once.
    // SAFETY: as above.
    let place = unsafe { &raw mut (*cell.as_ptr()).payload };
    // SAFETY: as above.
    unsafe { place.write(UnsafeCell::new(MaybeUninit::uninit())) };
    live::enter(cell.addr().get(), type_index);
    cell.cast()
}

/// Creates a value without a type, with `owners` counts.
pub(crate) fn new_untyped(kind: Kind, word: Word, owners: u32) -> NonNull<Header> {
    let header = Header {
        count: Count::new(owners),
        kind,
        borrow: BorrowCount::new(),
        type_index: TypeIndex::NONE,
        word,
    };
    live::add_one();
    let header = pool::leak(header);
    live::enter(header.addr().get(), TypeIndex::NONE);
    header
}

/// Makes a value one that a function has returned.
///
/// # Safety
/// 1. `header` belongs to a live value, whose [kind is concrete](Kind::is_concrete).
/// 2. The caller has the only count of the value, so nobody else reads the kind meanwhile.
#[inline]
pub(crate) unsafe fn mark_given(header: NonNull<Header>) {
    // SAFETY: duty 1: the field is in the header.
    let kind = unsafe { &raw mut (*header.as_ptr()).kind };
    // SAFETY: duties 1 and 2.
    let given = match unsafe { kind.read() } {
        Kind::InPayload => Kind::GivenInPayload,
        _ => Kind::Given,
    };
    // SAFETY: duties 1 and 2.
    unsafe { kind.write(given) };
}

/// The ready chain.
#[cfg(not(loom))]
static READY: ValueCell<crate::value::Chain> = ValueCell {
    header: Header {
        count: Count::new(1),
        kind: Kind::Immortal,
        borrow: BorrowCount::new(),
        type_index: TypeIndex::CHAIN,
        word: Word::payload(),
    },
    payload: UnsafeCell::new(MaybeUninit::new(crate::value::Chain)),
};

/// The location of the ready chain: in this copy of the crate, or in that of the program.
///
/// Invariant C3: it points to a ready chain, which lives forever. Upheld by `adopt_ready_chain`.
#[cfg(not(loom))]
static READY_PLACE: AtomicPtr<Header> =
    AtomicPtr::new((&raw const READY).cast::<Header>().cast_mut());

/// Returns the header of the ready chain.
#[cfg(not(loom))]
#[inline]
pub(crate) fn ready_chain() -> NonNull<Header> {
    // Relaxed: all ready chains are equivalent, and each was complete when the process, or its
    // library, started.
    let place = READY_PLACE.load(Ordering::Relaxed);
    // SAFETY: C3, so the pointer is not null.
    unsafe { NonNull::new_unchecked(place) }
}

/// Makes this copy of the crate use the ready chain of another copy.
///
/// # Safety
/// 1. `ready_chain` came from [`ready_chain`] in a copy of the crate that is never unloaded.
#[cfg(not(loom))]
pub(crate) unsafe fn adopt_ready_chain(ready_chain: NonNull<Header>) {
    // Relaxed: see `ready_chain`.
    READY_PLACE.store(ready_chain.as_ptr(), Ordering::Relaxed);
}

/// Returns the header of the ready chain: one for each run of a model.
#[cfg(loom)]
pub(crate) fn ready_chain() -> NonNull<Header> {
    use crate::value::Chain;

    loom::lazy_static! {
        static ref READY: ValueCell<Chain> = ValueCell {
            header: Header {
                count: Count::new(1),
                kind: Kind::Immortal,
                borrow: BorrowCount::new(),
                type_index: TypeIndex::CHAIN,
                word: Word::available(Outcome::Payload),
            },
            payload: UnsafeCell::new(MaybeUninit::new(Chain)),
        };
    }
    NonNull::from(&*READY).cast()
}

/// Returns a pointer to the payload of a value.
///
/// # Safety
/// 1. `header` belongs to a live value.
/// 2. Its payload type is `T`.
#[inline]
pub(crate) unsafe fn payload_ptr<T: Value>(header: NonNull<Header>) -> *mut T {
    // SAFETY: duties 1 and 2, with C1; the pointer covers the whole allocation.
    let cell = unsafe { header.cast::<ValueCell<T>>().as_ref() };
    cell.payload.with_mut(<*mut MaybeUninit<T>>::cast)
}

/// Returns the payload of a value.
///
/// # Safety
/// 1. `header` belongs to a value that lives throughout `'a`.
/// 2. Its payload type is `T`.
/// 3. The caller has observed the state `Payload`.
/// 4. The payload is not written throughout `'a`.
#[inline]
pub(crate) unsafe fn payload<'a, T: Value>(header: NonNull<Header>) -> &'a T {
    // SAFETY: duties 1 and 2, with C1; the pointer covers the whole allocation.
    let cell = unsafe { header.cast::<ValueCell<T>>().as_ref() };
    // SAFETY: initialised by duty 3 with C2; read-only by duty 4.
    cell.payload
        .with(|payload| unsafe { &*payload.cast::<T>() })
}

/// Creates a value that holds a copy of `payload`, whose type is [copied](crate::is_copied).
/// The value has one count.
///
/// # Safety
/// 1. `payload` points to an initialised and aligned `T`.
/// 2. `type_index` is that of `T`. The caller knows it, so that it need not be looked up.
pub(crate) unsafe fn new_copy<T: Value>(
    type_index: TypeIndex,
    payload: *const u8,
    kind: Kind,
) -> NonNull<Header> {
    debug_assert!(crate::value::is_copied::<T>());
    let Some(cell) = pool::reserve_kept() else {
        // SAFETY: the caller fulfils the duties.
        return unsafe { new_copy_slowly::<T>(type_index, payload, kind) };
    };
    // SAFETY: duty 1; the type is `Copy`, so the original stays valid.
    let payload = unsafe { payload.cast::<T>().read() };
    // SAFETY: 1 and 3: the block was reserved for such a cell, and is exclusively ours. 2: duty 2.
    unsafe { write_available(cell, type_index, payload, kind) }
}

/// Like [`new_copy`], if no block is at hand.
///
/// # Safety
/// The duties of [`new_copy`].
#[cold]
#[inline(never)]
unsafe fn new_copy_slowly<T: Value>(
    type_index: TypeIndex,
    payload: *const u8,
    kind: Kind,
) -> NonNull<Header> {
    let cell = pool::reserve();
    // SAFETY: as in `new_copy`.
    let payload = unsafe { payload.cast::<T>().read() };
    // SAFETY: as in `new_copy`.
    unsafe { write_available(cell, type_index, payload, kind) }
}

/// Copies the payload of a value, whose type is [copied](crate::is_copied), to `place`.
///
/// # Safety
/// 1. `header` belongs to a live value with payload type `T`, and the caller has observed that it
///    has a payload.
/// 2. `place` is aligned and has room for a `T`, and only the caller accesses it.
pub(crate) unsafe fn copy_payload<T: Value>(header: NonNull<Header>, place: *mut u8) {
    debug_assert!(crate::value::is_copied::<T>());
    // SAFETY: duty 1; a copied type is never written.
    let payload = ptr::from_ref(unsafe { payload::<T>(header) });
    // SAFETY: duties 1 and 2; the type is `Copy`, so the original stays valid.
    unsafe { place.cast::<T>().copy_from_nonoverlapping(payload, 1) };
}

/// Initialises the payload of a value.
///
/// # Safety
/// 1. `header` belongs to a live value.
/// 2. Its payload type is `T`.
/// 3. Its state is not `Payload`, its payload is not initialised, and only the caller accesses it.
pub(crate) unsafe fn write_payload<T: Value>(header: NonNull<Header>, payload: T) {
    // SAFETY: duties 1 and 2, with C1; the pointer covers the whole allocation.
    let cell = unsafe { header.cast::<ValueCell<T>>().as_ref() };
    // SAFETY: duty 3: there are no other readers or writers, and no initialised payload is
    // overwritten.
    cell.payload
        .with_mut(|place| unsafe { place.cast::<T>().write(payload) });
}

/// Drops the payload of a value, which is uninitialised from then on. A panic is
/// [reported](dropping).
///
/// # Safety
/// 1. `header` belongs to a live value.
/// 2. Its payload type is `T`.
/// 3. Its payload is initialised, and only the caller accesses it, now and later.
#[inline]
pub(crate) unsafe fn drop_payload<T: Value>(header: NonNull<Header>) {
    // SAFETY: duties 1 and 2, with C1; the pointer covers the whole allocation.
    let cell = unsafe { header.cast::<ValueCell<T>>().as_ref() };
    // SAFETY: duty 3.
    let drop_payload = |place: *mut MaybeUninit<T>| unsafe { place.cast::<T>().drop_in_place() };
    let drop_in_cell = || cell.payload.with_mut(drop_payload);
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(drop_in_cell)) {
        dropping::report(TypeIndex::of::<T>(), payload);
    }
}

/// Destroys a value: edge 5. A panic of the payload's destructor is [reported](dropping) and not
/// propagated.
///
/// # Safety
/// 1. `header` belongs to a live value that is not immortal.
/// 2. The caller removed the last count; the value is not used afterwards.
pub(crate) unsafe fn destroy(header: NonNull<Header>) {
    live::remove_one();
    live::leave(header.addr().get());
    // SAFETY: duty 1.
    match unsafe { header.as_ref() }.type_index.info_at_hand() {
        // SAFETY: the caller fulfils duties 1 and 2; C1 implies duty 3.
        Some(info) => unsafe { (info.destroy)(header) },
        // SAFETY: the caller fulfils the duties.
        None => unsafe { destroy_otherwise(header) },
    }
}

/// Destroys a value without a type, or of a type that this copy of the crate has not met.
///
/// # Safety
/// The duties of [`destroy`].
#[inline(never)]
unsafe fn destroy_otherwise(header: NonNull<Header>) {
    // SAFETY: duty 1.
    match unsafe { header.as_ref() }.type_index.info() {
        // SAFETY: the caller fulfils duties 1 and 2; C1 implies duty 3.
        Some(info) => unsafe { (info.destroy)(header) },
        // SAFETY: C1: a header without a type has its own allocation; duty 2.
        None => drop(unsafe { Pooled::from_leaked(header) }),
    }
}

/// Destroys a value with payload type `T`. A panic of the payload's destructor is
/// [reported](dropping): it does not leave the copy of the standard library that raised it.
///
/// # Safety
/// 1. `header` belongs to a live value that is not immortal.
/// 2. The caller removed the last count; the value is not used afterwards.
/// 3. Its payload type is `T`.
pub(crate) unsafe fn destroy_cell<T: Value>(header: NonNull<Header>) {
    // SAFETY: duty 1.
    let Header { kind, word, .. } = unsafe { header.as_ref() };
    if !matches!(word.state(), State::Payload) {
        // SAFETY: duties 1 to 3, with C1: the header starts an allocation of this type, as only a
        // value that is created with its payload lies in memory of it.
        return drop(unsafe { Pooled::from_leaked(header.cast::<ValueCell<T>>()) });
    }
    if needs_drop::<T>() {
        // SAFETY: duties 1 to 3. C2: the payload is initialised; nothing accesses it otherwise.
        unsafe { drop_payload::<T>(header) };
    }
    // Besides the payload, nothing in the cell is to be dropped: the word owns nothing in this
    // state.
    match &T::ROOM {
        // SAFETY: the value was created in this room, and duty 2.
        Some(room) if kind.is_in_payload() => unsafe { room.release(header.cast()) },
        _ => {
            let cell = header.cast::<ManuallyDrop<ValueCell<T>>>();
            // SAFETY: duties 1 to 3, with C1: the header starts an allocation of this layout.
            drop(unsafe { Pooled::from_leaked(cell) });
        }
    }
}

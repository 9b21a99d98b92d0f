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
//! file; the fields never change.
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
use crate::nesting::PanicPayload;
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

// SAFETY: the header consists of atomics and of fields that never change. The payload is itself
// `Send` and `Sync`; only the promise writes it before publication, and later writes hold a borrow
// count that excludes readers.
unsafe impl<T: Value> Sync for ValueCell<T> {}

/// The layout of a value with payload type `T`.
pub(crate) const fn layout_of_value<T>() -> Layout {
    Layout::new::<ValueCell<T>>()
}

/// Creates a value that has a payload, with one count.
#[inline]
pub(crate) fn new_available<T: Value>(payload: T, kind: Kind) -> NonNull<Header> {
    let room = match &T::ROOM {
        Some(room) if kind == Kind::Concrete => room.claim(&payload),
        _ => None,
    };
    let (cell, kind) = match room {
        Some(place) => (place.cast(), Kind::InPayload),
        None => (pool::reserve::<ValueCell<T>>(), kind),
    };
    let word = Word::available(Outcome::Payload);
    // SAFETY: the block was reserved for such a cell, or is room for one by the duties of
    // `Room::new`; it is exclusively ours.
    unsafe { write_cell(cell, word, MaybeUninit::new(payload), kind, 1) }
}

/// Creates a value whose payload is not set yet, with two counts: the promise's and the first
/// reference's.
pub(crate) fn new_unavailable<T: Value>(kind: Kind) -> NonNull<Header> {
    let (cell, payload) = (pool::reserve::<ValueCell<T>>(), MaybeUninit::uninit());
    // SAFETY: the block was reserved for such a cell, and is exclusively ours.
    unsafe { write_cell(cell, Word::unavailable(), payload, kind, 2) }
}

/// Writes a value with `owners` counts.
///
/// # Safety
/// 1. `cell` is valid for writes of such a cell, and aligned.
/// 2. It is exclusively the caller's, until the value is destroyed.
#[inline]
unsafe fn write_cell<T: Value>(
    cell: NonNull<ValueCell<T>>,
    word: Word,
    payload: MaybeUninit<T>,
    kind: Kind,
    owners: u32,
) -> NonNull<Header> {
    let type_index = TypeIndex::of::<T>();
    live::add_one();
    let header = Header {
        count: Count::new(owners),
        kind,
        borrow: BorrowCount::new(),
        type_index,
        word,
    };
    // A payload may be large: written field by field, it is copied once.
    // SAFETY: duty 1: the field is in the cell.
    let place = unsafe { &raw mut (*cell.as_ptr()).header };
    // SAFETY: duties 1 and 2.
    unsafe { place.write(header) };
    // SAFETY: as above.
    let place = unsafe { &raw mut (*cell.as_ptr()).payload };
    // SAFETY: as above.
    unsafe { place.write(UnsafeCell::new(payload)) };
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
pub(crate) unsafe fn new_copy<T: Value>(payload: *const u8, kind: Kind) -> NonNull<Header> {
    debug_assert!(crate::value::is_copied::<T>());
    // SAFETY: duty 1; the type is `Copy`, so the original stays valid.
    new_available(unsafe { payload.cast::<T>().read() }, kind)
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
    let type_index = unsafe { header.as_ref() }.type_index;
    match type_index.info() {
        Some(info) => {
            // SAFETY: the caller fulfils duties 1 and 2; C1 implies duty 3.
            let panicked = unsafe { (info.destroy)(header) };
            if let Some(payload) = panicked {
                dropping::report(type_index, payload);
            }
        }
        // SAFETY: C1: a header without a type has its own allocation; duty 2.
        None => drop(unsafe { Pooled::from_leaked(header) }),
    }
}

/// Destroys a value with payload type `T`. Returns the panic of the payload's destructor, if any.
///
/// # Safety
/// 1. `header` belongs to a live value that is not immortal.
/// 2. The caller removed the last count; the value is not used afterwards.
/// 3. Its payload type is `T`.
pub(crate) unsafe fn destroy_cell<T: Value>(header: NonNull<Header>) -> Option<PanicPayload> {
    // SAFETY: duty 1.
    let Header { kind, word, .. } = unsafe { header.as_ref() };
    if !matches!(word.state(), State::Payload) {
        // SAFETY: duties 1 to 3, with C1: the header starts an allocation of this type, as only a
        // value that is created with its payload lies in memory of it.
        drop(unsafe { Pooled::from_leaked(header.cast::<ValueCell<T>>()) });
        return None;
    }
    if let (Some(room), Kind::InPayload) = (&T::ROOM, kind) {
        let drop_payload = || {
            // SAFETY: duties 1 and 3.
            let payload = unsafe { payload_ptr::<T>(header) };
            // SAFETY: C2: the payload is initialised; duty 2: it is not accessed otherwise.
            unsafe { payload.drop_in_place() };
        };
        let outcome = panic::catch_unwind(AssertUnwindSafe(drop_payload));
        // SAFETY: the value was created in this room, and duty 2.
        unsafe { room.release(header.cast()) };
        return outcome.err();
    }
    // Besides the payload, nothing in the cell is to be dropped: the word owns nothing in this
    // state.
    let cell = header.cast::<ManuallyDrop<ValueCell<T>>>();
    // SAFETY: duties 1 to 3, with C1: the header starts an allocation of this layout.
    let cell = unsafe { Pooled::from_leaked(cell) };
    if !needs_drop::<T>() {
        return None;
    }
    // SAFETY: C2: the payload is initialised; duty 2: it is not accessed otherwise.
    let drop_payload =
        |payload: *mut MaybeUninit<T>| unsafe { payload.cast::<T>().drop_in_place() };
    let drop_in_cell = || cell.payload.with_mut(drop_payload);
    panic::catch_unwind(AssertUnwindSafe(drop_in_cell)).err()
}

//! The synchronous value: what a register of a synchronous function holds.
//!
//! A [`ValueCell`] is empty, or it owns a value of any payload type, or it borrows one by holding a reference to an
//! AsyncValue. It is 64 bytes: small payloads live inside, others in a box. Nothing but the borrow
//! count is atomic, and only payloads of mutable types use that.
//!
//! ```text
//!   0         8      9       10      16                                  64
//!   ┌─────────┬──────┬────────┬──────┬────────────────────────────────────┐
//!   │ vtable  │ form │ borrow │      │ payload, or Box<T>, or AnyRef      │
//!   └─────────┴──────┴────────┴──────┴────────────────────────────────────┘
//! ```
//!
//! Invariant V1: `form` says what `data` holds: `Empty` nothing; `Inline` a `T` and `Heap` a pointer from `Box<T>`, both for
//! the `T` that the vtable was made of; `Shared` an `AnyRef`. Upheld by `put`, `take` and `clear`.
//! Invariant V2: `T` is inline exactly if it fits: at most 48 bytes, aligned to at most 8. Upheld by `put`.
//! Invariant V3: while a payload of a mutable type is lent out, `borrow` counts its readers or marks its writer. Payloads of
//! other types are never written through a shared cell. Upheld by `try_read` and `try_write`.
#![expect(unsafe_code, reason = "holds payloads of any type in place")]

use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use tfrt_async::value::{MAX_COPIED_ALIGN, MAX_COPIED_BYTES, is_copied};
use tfrt_async::{AnyRef, BorrowError, ReadGuard, TypeIndex, Value, WriteGuard};

/// How many bytes of payload fit inside.
const INLINE_BYTES: usize = 48;

const _: () = assert!(size_of::<ValueCell>() == 64);

const _: () = assert!(
    MAX_COPIED_BYTES <= INLINE_BYTES && MAX_COPIED_ALIGN <= align_of::<Data>(),
    "payloads that are copied from kernel to kernel lie inside"
);

/// A register of a synchronous function.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::value_cell::ValueCell;
///
/// let mut cell = ValueCell::new(7_i32);
/// assert_eq!(cell.get::<i32>(), Some(&7));
/// assert_eq!(cell.get::<i64>(), None);
/// assert_eq!(cell.take::<i32>(), Some(7));
/// assert!(cell.is_empty());
///
/// let borrowed = ValueCell::from_ref(AnyRef::available(1.5_f32));
/// assert_eq!(borrowed.get::<f32>(), Some(&1.5));
/// ```
pub struct ValueCell {
    vtable: Option<&'static Vtable>,
    form: Form,
    borrow: AtomicU8,
    data: UnsafeCell<Data>,
}

// SAFETY: through a shared cell, `vtable` and `form` are only read. `data` is read, which every payload allows because it is
// `Sync`, or, if its type is mutable, written under `borrow`, which is atomic, by one thread alone (V3); payloads are `Send`.
unsafe impl Sync for ValueCell {}

/// Room for a payload, aligned to 8.
#[repr(C, align(8))]
struct Data(MaybeUninit<[u8; INLINE_BYTES]>);

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Empty,
    Inline,
    Heap,
    Shared,
}

/// What is known of the payload's type.
struct Vtable {
    id: TypeId,
    /// The number of the type, which the process gives when it first asks.
    type_index: fn() -> TypeIndex,
    mlir_type: &'static str,
    /// Whether to destroy the payload means anything.
    needs_drop: bool,
    /// Destroys the payload. Duty: V1 holds, and the cell becomes empty. Gives back what the payload panics with, which only
    /// the code that made the table can catch: it may be that of a kernel library.
    destroy: unsafe fn(&mut Data) -> Option<Box<dyn Any + Send>>,
    /// Moves the payload into an AsyncValue. Duty: V1 holds, and the cell becomes empty.
    publish: unsafe fn(&mut Data) -> AnyRef,
}

/// The value of `borrow` while somebody writes.
const WRITTEN: u8 = u8::MAX;

/// How a `T` lies in a cell that owns it.
trait Layout: Value + Sized {
    const IS_INLINE: bool =
        size_of::<Self>() <= INLINE_BYTES && align_of::<Self>() <= align_of::<Data>();

    const FORM: Form = if Self::IS_INLINE {
        Form::Inline
    } else {
        Form::Heap
    };

    const VTABLE: &'static Vtable = &Vtable {
        id: TypeId::of::<Self>(),
        type_index: TypeIndex::of::<Self>,
        mlir_type: Self::MLIR_TYPE,
        // What is not inside is in a box, which is to be given back.
        needs_drop: needs_drop::<Self>() || !Self::IS_INLINE,
        destroy: |data| {
            // SAFETY: the duty of the field, passed on.
            let payload = unsafe { data.read::<Self>() };
            if !needs_drop::<Self>() {
                return None;
            }
            catch_unwind(AssertUnwindSafe(|| drop(payload))).err()
        },
        publish: |data| {
            // SAFETY: the duty of the field, passed on.
            AnyRef::available(unsafe { data.read::<Self>() })
        },
    };
}

impl<T: Value> Layout for T {}

impl Data {
    const fn empty() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Puts a payload into empty data.
    #[inline]
    fn write<T: Value>(&mut self, payload: T) {
        let place = self.0.as_mut_ptr();
        if T::IS_INLINE {
            // SAFETY: `IS_INLINE` says that the place is large and aligned enough; it is ours to write.
            unsafe { place.cast::<T>().write(payload) };
        } else {
            let boxed = Box::into_raw(Box::new(payload));
            // SAFETY: a pointer fits and is aligned; the place is ours to write.
            unsafe { place.cast::<*mut T>().write(boxed) };
        }
    }

    /// Takes the payload out.
    ///
    /// # Safety
    /// 1. `self` holds a `T`, as `write` leaves it, and is not read as one again.
    #[inline]
    unsafe fn read<T: Value>(&mut self) -> T {
        let place = self.0.as_mut_ptr();
        if T::IS_INLINE {
            // SAFETY: duty 1.
            unsafe { place.cast::<T>().read() }
        } else {
            // SAFETY: duty 1.
            let boxed = unsafe { place.cast::<*mut T>().read() };
            // SAFETY: duty 1: `write` made it of a box, and nobody else takes the box back.
            *unsafe { Box::from_raw(boxed) }
        }
    }
}

impl ValueCell {
    /// A cell without a value.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            vtable: None,
            form: Form::Empty,
            borrow: AtomicU8::new(0),
            data: UnsafeCell::new(Data::empty()),
        }
    }

    /// A cell that owns `payload`.
    #[must_use]
    pub fn new<T: Value>(payload: T) -> Self {
        let mut cell = Self::empty();
        cell.set(payload);
        cell
    }

    /// A cell that borrows the payload of an AsyncValue. Clearing the cell releases the reference.
    #[must_use]
    pub fn from_ref(value: AnyRef) -> Self {
        let mut cell = Self::empty();
        let place = cell.data.get_mut().0.as_mut_ptr().cast::<AnyRef>();
        // SAFETY: the cell is empty, and a reference is a pointer, which fits and is aligned.
        unsafe { place.write(value) };
        cell.form = Form::Shared;
        cell
    }

    /// Replaces what the cell holds.
    #[inline]
    pub fn set<T: Value>(&mut self, payload: T) {
        let is_overwritten = const { !T::VTABLE.needs_drop }
            && self.form == Form::Inline
            && self.vtable.is_some_and(|found| ptr::eq(found, T::VTABLE));
        if is_overwritten {
            // As `forget` does.
            *self.borrow.get_mut() = 0;
        } else {
            self.clear();
            self.vtable = Some(T::VTABLE);
            self.form = T::FORM;
        }
        self.data.get_mut().write(payload);
    }

    /// Whether the cell holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.form == Form::Empty
    }

    /// Whether the cell holds a payload of type `T`.
    #[must_use]
    pub fn is<T: Value>(&self) -> bool {
        match self.shared() {
            Some(value) => value.is_concrete() && value.is::<T>(),
            None => self
                .vtable
                .is_some_and(|vtable| vtable.id == TypeId::of::<T>()),
        }
    }

    /// How MLIR spells the type of the payload, if there is one.
    #[must_use]
    pub fn mlir_type(&self) -> Option<&'static str> {
        match self.shared() {
            Some(value) => value.mlir_type(),
            None => self.vtable.map(|vtable| vtable.mlir_type),
        }
    }

    /// The payload, if there is one and it is a `T`.
    ///
    /// Does not compile for [mutable](Value::IS_MUTABLE) types: see [`try_read`](Self::try_read).
    #[inline]
    #[must_use]
    pub fn get<T: Value>(&self) -> Option<&T> {
        // SAFETY: duty 1: `is` has looked.
        self.is::<T>().then(|| unsafe { self.get_unchecked() })
    }

    /// The payload, without looking whether there is one, and of which type.
    ///
    /// Does not compile for [mutable](Value::IS_MUTABLE) types.
    ///
    /// # Safety
    /// 1. The cell holds a payload of type `T`.
    #[inline]
    #[must_use]
    pub unsafe fn get_unchecked<T: Value>(&self) -> &T {
        const {
            assert!(
                !T::IS_MUTABLE,
                "a value of a mutable type is borrowed: use `try_read`"
            )
        };
        if let Some(value) = self.shared() {
            // SAFETY: duty 1.
            return unsafe { value.get_unchecked() };
        }
        // SAFETY: duty 1.
        let payload = unsafe { self.payload::<T>() };
        // SAFETY: V1: the pointer is valid as long as the cell is unchanged; V3: nobody writes.
        unsafe { &*payload }
    }

    /// Borrows the payload to read it. A type that is not mutable needs no borrow, and costs none.
    ///
    /// # Errors
    /// If there is no payload of type `T`, or somebody writes it.
    pub fn try_read<T: Value>(&self) -> Result<CellReadGuard<'_, T>, BorrowError> {
        self.expect::<T>()?;
        // SAFETY: duty 1: `expect` has looked.
        unsafe { self.try_read_unchecked() }
    }

    /// As [`try_read`](Self::try_read), without looking whether there is a payload, and of which type.
    ///
    /// # Errors
    /// If somebody writes the payload.
    ///
    /// # Safety
    /// 1. The cell holds a payload of type `T`.
    #[inline]
    pub unsafe fn try_read_unchecked<T: Value>(&self) -> Result<CellReadGuard<'_, T>, BorrowError> {
        if let Some(value) = self.shared() {
            // SAFETY: duty 1.
            let guard = unsafe { value.try_read_unchecked() };
            return guard.map(|guard| CellReadGuard::new(Read::Shared(guard)));
        }
        let borrow = if T::IS_MUTABLE {
            Some(Reader::new(&self.borrow)?)
        } else {
            None
        };
        // SAFETY: duty 1.
        let payload = unsafe { self.payload::<T>() };
        // SAFETY: V1: the pointer is valid as long as the cell is unchanged; V3: `borrow` keeps writers away.
        Ok(CellReadGuard::new(Read::Own(unsafe { &*payload }, borrow)))
    }

    /// Borrows the payload to change it. Does not compile for types that are not [mutable](Value::IS_MUTABLE).
    ///
    /// # Errors
    /// If there is no payload of type `T`, or somebody reads or writes it.
    pub fn try_write<T: Value>(&self) -> Result<CellWriteGuard<'_, T>, BorrowError> {
        const {
            assert!(
                T::IS_MUTABLE || T::HANDLE.is_some(),
                "only a value of a mutable type can be written"
            )
        };
        if let Some(handle) = T::HANDLE {
            let payload = self.try_read::<T>()?;
            return Ok(CellWriteGuard {
                write: Write::Shared(WriteGuard::of_handle(handle(&payload))),
            });
        }
        self.expect::<T>()?;
        if let Some(value) = self.shared() {
            return value.try_write().map(|guard| CellWriteGuard {
                write: Write::Shared(guard),
            });
        }
        let borrow = Writer::new(&self.borrow)?;
        // SAFETY: duty 1: `expect` has looked.
        let payload = unsafe { self.payload::<T>() };
        // SAFETY: V1: the pointer is valid as long as the cell is unchanged; V3: `borrow` keeps everybody else away.
        let payload = unsafe { &mut *payload };
        Ok(CellWriteGuard {
            write: Write::Own(payload, borrow),
        })
    }

    /// Copies the payload, of so many bytes, to `place` if it is of type `ty`; whether it is.
    ///
    /// # Safety
    /// 1. `ty` has a [`TypeIndex::copied_layout`], of that size, for which `place` has room; the caller alone may touch it.
    #[inline]
    pub unsafe fn copy_payload_to(&self, ty: TypeIndex, num_bytes: usize, place: *mut u8) -> bool {
        if let Some(value) = self.shared() {
            let is_expected = value.is_concrete() && value.type_id() == ty;
            if is_expected {
                // SAFETY: it is concrete; duty 1.
                unsafe { value.copy_payload_to(place) };
            }
            return is_expected;
        }
        let is_expected = self
            .vtable
            .is_some_and(|vtable| (vtable.type_index)() == ty);
        if is_expected {
            let payload = self.data.get().cast::<u8>();
            // Most payloads are one number: a copy of known length is no call.
            match num_bytes {
                // SAFETY: V1 and V2: a copied payload is small enough to lie inside, so that its bytes are here; duty 1.
                4 => unsafe { place.copy_from_nonoverlapping(payload, 4) },
                // SAFETY: as above.
                _ => unsafe { place.copy_from_nonoverlapping(payload, num_bytes) },
            }
        }
        is_expected
    }

    /// Moves the payload out, if the cell owns one and it is a `T`. The cell is empty afterwards.
    ///
    /// A borrowed payload of a [copied](is_copied) type is as good as an owned one: it is copied out.
    #[must_use]
    pub fn take<T: Value>(&mut self) -> Option<T> {
        if !self.is::<T>() {
            return None;
        }
        if let Some(value) = self.shared() {
            if !is_copied::<T>() {
                return None;
            }
            let mut payload = MaybeUninit::<T>::uninit();
            // SAFETY: `is` says that it is concrete and a `T` (1), for which there is room (2).
            unsafe { value.copy_payload_to(payload.as_mut_ptr().cast()) };
            self.clear();
            // SAFETY: just written.
            return Some(unsafe { payload.assume_init() });
        }
        self.forget();
        // SAFETY: V1: the vtable was that of `T`, so that the data is; the cell has just been marked empty.
        Some(unsafe { self.data.get_mut().read() })
    }

    /// Empties the cell: destroys what it owns, releases what it borrows.
    #[inline]
    pub fn clear(&mut self) {
        match (self.form, self.vtable) {
            (Form::Empty, _) => {}
            (Form::Inline, Some(vtable)) if !vtable.needs_drop => self.forget(),
            _ => self.release(),
        }
    }

    /// The value as an AsyncValue, if there is one: moved into one of its own, or the one it was borrowed from.
    #[must_use]
    pub fn into_ref(mut self) -> Option<AnyRef> {
        if let Some(value) = self.shared() {
            return Some(value.clone());
        }
        let vtable = self.vtable?;
        self.forget();
        // SAFETY: V1: the data is of the vtable's type; the cell has just been marked empty.
        Some(unsafe { (vtable.publish)(self.data.get_mut()) })
    }

    /// The AsyncValue that the payload is borrowed from, if it is.
    #[inline]
    #[must_use]
    pub fn shared(&self) -> Option<&AnyRef> {
        if self.form != Form::Shared {
            return None;
        }
        // SAFETY: V1. Nobody writes the reference while the cell is shared.
        Some(unsafe { &*self.data.get().cast::<AnyRef>() })
    }

    /// Where the payload is.
    ///
    /// # Safety
    /// 1. The cell owns a payload of type `T`.
    #[inline]
    unsafe fn payload<T: Value>(&self) -> *mut T {
        let place = self.data.get();
        if T::IS_INLINE {
            place.cast()
        } else {
            // SAFETY: duty 1, V1 and V2: the data is a pointer.
            unsafe { place.cast::<*mut T>().read() }
        }
    }

    /// Whether there is a payload and it is a `T`.
    fn expect<T: Value>(&self) -> Result<(), BorrowError> {
        match self.mlir_type() {
            _ if self.is::<T>() => Ok(()),
            Some(found) => Err(BorrowError::WrongType {
                expected: T::MLIR_TYPE,
                found,
            }),
            None => Err(BorrowError::NoPayload),
        }
    }

    /// Marks the cell empty; the caller disposes of the data.
    #[inline]
    fn forget(&mut self) {
        self.form = Form::Empty;
        self.vtable = None;
        // Guards borrow the cell, so there are none now; one that was leaked must not block the next payload.
        *self.borrow.get_mut() = 0;
    }

    fn release(&mut self) {
        let (form, vtable) = (self.form, self.vtable);
        self.forget();
        let data = self.data.get_mut();
        if form == Form::Shared {
            // SAFETY: V1; the cell has just been marked empty.
            drop(unsafe { data.0.as_mut_ptr().cast::<AnyRef>().read() });
        } else if let Some(vtable) = vtable {
            // SAFETY: V1: the data is of the vtable's type; the cell has just been marked empty.
            let panicked = unsafe { (vtable.destroy)(data) };
            if let Some(payload) = panicked {
                resume_unwind(payload);
            }
        }
    }
}

impl Drop for ValueCell {
    #[inline]
    fn drop(&mut self) {
        self.clear();
    }
}

impl Default for ValueCell {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<AnyRef> for ValueCell {
    fn from(value: AnyRef) -> Self {
        Self::from_ref(value)
    }
}

impl fmt::Debug for ValueCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ValueCell({:?}, {})",
            self.form,
            self.mlir_type().unwrap_or("no value")
        )
    }
}

/// The right to read the payload of a [`ValueCell`].
///
/// ```
/// use tfrt_host::value_cell::ValueCell;
///
/// let cell = ValueCell::new(3_i64);
/// assert_eq!(cell.try_read::<i64>().map(|guard| *guard), Ok(3));
/// ```
pub struct CellReadGuard<'a, T: Value> {
    read: ManuallyDrop<Read<'a, T>>,
}

enum Read<'a, T> {
    Own(
        &'a T,
        #[expect(dead_code, reason = "its drop ends the borrow")] Option<Reader<'a>>,
    ),
    Shared(ReadGuard<'a, T>),
}

impl<'a, T: Value> CellReadGuard<'a, T> {
    #[inline]
    fn new(read: Read<'a, T>) -> Self {
        Self {
            read: ManuallyDrop::new(read),
        }
    }
}

impl<T: Value> Deref for CellReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &*self.read {
            Read::Own(payload, _) => payload,
            Read::Shared(guard) => guard,
        }
    }
}

impl<T: Value> Drop for CellReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Of other types there is no borrow to end, and the compiler need not look for one.
        if T::IS_MUTABLE {
            // SAFETY: this is the only drop.
            unsafe { ManuallyDrop::drop(&mut self.read) };
        }
    }
}

impl<T: Value + fmt::Debug> fmt::Debug for CellReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The right to read and write the payload of a [`ValueCell`], of a [mutable](Value::IS_MUTABLE) type.
///
/// ```
/// use tfrt_async::Value;
/// use tfrt_host::value_cell::ValueCell;
///
/// struct Counter(i32);
///
/// impl Value for Counter {
///     const MLIR_TYPE: &'static str = "!my.counter";
///     const IS_MUTABLE: bool = true;
/// }
///
/// let cell = ValueCell::new(Counter(1));
/// cell.try_write::<Counter>()?.0 += 1;
/// assert_eq!(cell.try_read::<Counter>()?.0, 2);
/// # Ok::<(), tfrt_async::BorrowError>(())
/// ```
#[derive(Debug)]
pub struct CellWriteGuard<'a, T> {
    write: Write<'a, T>,
}

#[derive(Debug)]
enum Write<'a, T> {
    Own(
        &'a mut T,
        #[expect(dead_code, reason = "its drop ends the borrow")] Writer<'a>,
    ),
    Shared(WriteGuard<'a, T>),
}

impl<T> Deref for CellWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.write {
            Write::Own(payload, _) => payload,
            Write::Shared(guard) => guard,
        }
    }
}

impl<T> DerefMut for CellWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.write {
            Write::Own(payload, _) => payload,
            Write::Shared(guard) => guard,
        }
    }
}

/// One reader in the count of a cell.
#[derive(Debug)]
struct Reader<'a>(&'a AtomicU8);

impl<'a> Reader<'a> {
    fn new(borrow: &'a AtomicU8) -> Result<Self, BorrowError> {
        // Acquire pairs with the release in the drop of `Writer`. A full count must not become the mark.
        let counted = borrow.fetch_update(Ordering::Acquire, Ordering::Relaxed, |readers| {
            (readers < WRITTEN - 1).then(|| readers + 1)
        });
        counted
            .map(|_| Self(borrow))
            .map_err(|_| BorrowError::Written)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // Release pairs with the acquire in `Writer::new`.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// The writer of a cell.
#[derive(Debug)]
struct Writer<'a>(&'a AtomicU8);

impl<'a> Writer<'a> {
    fn new(borrow: &'a AtomicU8) -> Result<Self, BorrowError> {
        // Acquire pairs with the releases in the drops of `Reader` and `Writer`.
        match borrow.compare_exchange(0, WRITTEN, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Self(borrow)),
            Err(WRITTEN) => Err(BorrowError::Written),
            Err(_) => Err(BorrowError::Read),
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // Release pairs with the acquires in `Reader::new` and `Writer::new`.
        self.0.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_async::ByteString;

    use super::*;

    /// Counts its owners, and is too large to live inside a cell.
    struct Large(
        #[expect(dead_code, reason = "its count is what matters")] Arc<()>,
        [u64; 8],
    );

    impl Value for Large {
        const MLIR_TYPE: &'static str = "!test.large";
    }

    /// Counts its owners, and lives inside a cell.
    struct Small(#[expect(dead_code, reason = "its count is what matters")] Arc<()>);

    impl Value for Small {
        const MLIR_TYPE: &'static str = "!test.small";
    }

    struct Counter(i32);

    impl Value for Counter {
        const MLIR_TYPE: &'static str = "!test.counter";
        const IS_MUTABLE: bool = true;
    }

    #[test]
    fn a_payload_dies_with_the_cell_or_its_successor() {
        let owners = Arc::new(());
        let mut cell = ValueCell::new(Large(Arc::clone(&owners), [7; 8]));
        assert_eq!(cell.get::<Large>().map(|large| large.1), Some([7; 8]));
        cell.set(Small(Arc::clone(&owners)));
        assert_eq!(Arc::strong_count(&owners), 2);
        drop(cell);
        assert_eq!(Arc::strong_count(&owners), 1);
    }

    #[test]
    fn a_payload_moves_out_whole() {
        let owners = Arc::new(());
        for mut cell in [
            ValueCell::new(Large(Arc::clone(&owners), [7; 8])),
            ValueCell::new(Small(Arc::clone(&owners))),
        ] {
            assert!(cell.take::<i32>().is_none());
            assert_eq!(cell.take::<Large>().is_some(), !cell.is::<Small>());
        }
        assert_eq!(Arc::strong_count(&owners), 1);
        let value = ValueCell::new(Small(Arc::clone(&owners))).into_ref();
        assert!(value.is_some_and(|value| value.get::<Small>().is_some()));
        assert_eq!(Arc::strong_count(&owners), 1);
    }

    #[test]
    fn a_borrowed_payload_is_not_taken() {
        let value = AnyRef::available(ByteString::from("text"));
        let mut cell = ValueCell::from_ref(value.clone());
        assert_eq!(cell.get::<ByteString>(), Some(&ByteString::from("text")));
        assert_eq!(cell.get::<i32>(), None);
        assert_eq!(cell.take::<ByteString>(), None);
        cell.clear();
        assert!(cell.is_empty() && value.is_unique());
    }

    #[test]
    fn a_borrowed_payload_that_is_copied_anyway_is_taken() {
        let value = AnyRef::available(7_i32);
        let mut cell = ValueCell::from_ref(value.clone());
        assert_eq!(cell.take::<i64>(), None);
        assert_eq!(cell.take::<i32>(), Some(7));
        assert!(cell.is_empty() && value.is_unique());
    }

    #[test]
    fn a_writer_is_alone() {
        let cell = ValueCell::new(Counter(1));
        {
            let first = cell.try_read::<Counter>();
            let second = cell.try_read::<Counter>();
            assert!(first.is_ok() && second.is_ok());
            assert_eq!(
                cell.try_write::<Counter>().map(|counter| counter.0),
                Err(BorrowError::Read)
            );
        }
        let writer = cell.try_write::<Counter>();
        assert_eq!(
            cell.try_read::<Counter>().map(|counter| counter.0),
            Err(BorrowError::Written)
        );
        assert_eq!(
            cell.try_write::<Counter>().map(|counter| counter.0),
            Err(BorrowError::Written)
        );
        drop(writer);
        assert_eq!(cell.try_read::<Counter>().map(|counter| counter.0), Ok(1));
    }

    #[test]
    fn an_empty_cell_has_nothing_to_lend() {
        let cell = ValueCell::empty();
        assert_eq!(
            cell.try_read::<i32>().map(|value| *value),
            Err(BorrowError::NoPayload)
        );
        assert!(cell.into_ref().is_none());
    }
}

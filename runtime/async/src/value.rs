//! Payload types of AsyncValues.

use std::fmt;
use std::marker::PhantomData;

use half::{bf16, f16};
use tfrt_support::complex::Complex;

use crate::identity::{self, TypeIdentity};
use crate::index_cell::IndexCell;
use crate::room::Room;

/// A type whose objects may be payloads of AsyncValues.
///
/// ```
/// use tfrt_async::{AnyRef, Value};
///
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
/// }
///
/// let value = AnyRef::available(Coordinate { x: 1, y: 2 });
/// assert_eq!(value.mlir_type(), Some("!my.coordinate"));
/// assert_eq!(value.try_read::<Coordinate>().map(|c| c.x + c.y), Ok(3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a register",
    label = "not a `Value`",
    note = "add `#[derive(Value)] #[value(\"!my.type\")]` to your type, with its MLIR name",
    note = "`i8` to `i64`, `u8` to `u64`, floats, `bool` and `ByteString` implement `Value`, and \
            kernels can take and return `String`; wrap a type of another crate in a struct of \
            your own"
)]
pub trait Value: Send + Sync + 'static {
    /// The MLIR spelling of the type.
    const MLIR_TYPE: &'static str;

    /// Whether a kernel may change a payload of this type in place.
    ///
    /// Payloads of a mutable type are accessed through guards, which prevent concurrent reads and
    /// writes; payloads of other types are read freely and never written.
    const IS_MUTABLE: bool = false;

    /// Creates another handle, for types whose payloads are handles to memory that tracks its own
    /// borrows.
    ///
    /// Such a type is not mutable: its payloads never change. A kernel that writes gets its own
    /// handle as `&mut`; changes to the handle itself, as opposed to the memory, are lost with it.
    /// So reading a property that never changes, such as the shape of a tensor, never conflicts
    /// with a writer.
    const HANDLE: Option<fn(&Self) -> Self> = None;

    /// How payloads of this type reach the kernels that read them.
    const PASSING: Passing<Self> = Passing::SHARED;

    /// How copies of the runtime in one process identify the type. Only types of the runtime set
    /// this.
    const IDENTITY: TypeIdentity<Self> = TypeIdentity::BY_TYPE_ID;

    /// Where the memory of a payload has room for its value. Only types of the runtime set this.
    const ROOM: Option<Room<Self>> = None;

    /// A static with the number of the type, which makes type checks cheaper. `#[derive(Value)]`
    /// defines one for a type without parameters.
    const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = None;

    /// How to display payloads of this type; see [`AnyRef::displayed`](crate::AnyRef::displayed).
    const DISPLAY: Option<DisplayFn<Self>> = None;
}

/// A type whose payloads never change, so they are read without a guard, as by
/// [`AnyRef::get`](crate::AnyRef::get).
///
/// `#[derive(Value)]` implements it unless the type is `mutable`. By hand:
///
/// ```
/// use tfrt_async::{AnyRef, Immutable, Value};
///
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
/// }
///
/// impl Immutable for Coordinate {}
///
/// assert!(AnyRef::available(Coordinate { x: 1, y: 2 }).get::<Coordinate>().is_some_and(|c| c.x + c.y == 3));
/// ```
///
/// A type that implements this although it is [mutable](Value::IS_MUTABLE) does not compile where
/// it is read.
#[diagnostic::on_unimplemented(
    message = "payloads of `{Self}` can only be read through a guard that excludes writers",
    label = "values of this type may be written concurrently",
    note = "call `try_read()` instead, or declare the type without `mutable` if kernels never \
            take `&mut {Self}`",
    note = "if you implement `Value` by hand, add `impl Immutable for {Self} {{}}`; in generic \
            code, add the bound `T: Value + Immutable`"
)]
pub trait Immutable {}

/// Formats a payload for people.
pub type DisplayFn<T> = fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result;

/// How payloads of a type reach the kernels that read them.
///
/// ```
/// use tfrt_async::{Passing, Value};
///
/// #[derive(Clone, Copy)]
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
///     // Two numbers are cheaper to copy than to share.
///     const PASSING: Passing<Self> = Passing::COPIED;
/// }
/// ```
pub struct Passing<T: ?Sized> {
    is_copied: bool,
    payload: PhantomData<fn() -> T>,
}

impl<T: ?Sized> Passing<T> {
    /// All kernels share the same payload.
    pub const SHARED: Self = Self {
        is_copied: false,
        payload: PhantomData,
    };
}

impl<T: Copy> Passing<T> {
    /// Each kernel may receive a copy, so a small payload needs no allocation on its way from
    /// kernel to kernel. Types that are larger than [`MAX_COPIED_BYTES`], mutable, or have
    /// [handles](Value::HANDLE) are shared nevertheless.
    pub const COPIED: Self = Self {
        is_copied: true,
        payload: PhantomData,
    };
}

impl<T: ?Sized> fmt::Debug for Passing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_copied { "COPIED" } else { "SHARED" })
    }
}

/// The maximum size of payloads that may be copied from kernel to kernel.
pub const MAX_COPIED_BYTES: usize = 16;

/// The maximum alignment of payloads that may be copied from kernel to kernel.
pub const MAX_COPIED_ALIGN: usize = 8;

/// Returns `true` if payloads of type `T` are copied from kernel to kernel. Such a type is `Copy`
/// and small, and no kernel takes it as `&mut`.
#[must_use]
pub const fn is_copied<T: Value>() -> bool {
    T::PASSING.is_copied
        && !T::IS_MUTABLE
        && T::HANDLE.is_none()
        && size_of::<T>() <= MAX_COPIED_BYTES
        && align_of::<T>() <= MAX_COPIED_ALIGN
}

/// A value that only orders effects: a kernel that needs it runs after the one that produced it.
///
/// ```
/// use tfrt_async::{AnyRef, Chain};
///
/// let chain = AnyRef::available(Chain);
/// assert!(chain.ptr_eq(&AnyRef::ready_chain()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chain;

macro_rules! impl_value {
    ($($payload:ty => $spelling:literal),* $(,)?) => {
        $(impl Value for $payload {
            const MLIR_TYPE: &'static str = $spelling;
            const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = {
                static CELL: IndexCell<$payload> = IndexCell::new();
                Some(|| &CELL)
            };
            const PASSING: Passing<Self> = Passing::COPIED;
            const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
        }

        impl Immutable for $payload {})*
    };
}

impl_value! {
    Chain => "!tfrt.chain",
    bool => "i1",
    i8 => "i8",
    i16 => "i16",
    i32 => "i32",
    i64 => "i64",
    u8 => "ui8",
    u16 => "ui16",
    u32 => "ui32",
    u64 => "ui64",
    f16 => "f16",
    bf16 => "bf16",
    f32 => "f32",
    f64 => "f64",
    Complex<f32> => "complex<f32>",
    Complex<f64> => "complex<f64>",
}

//! Attributes as parameters: the types that can be read, and reading them.
//!
//! An attribute is read twice: when a file is loaded, checking every byte, through
//! [`KernelTypes::check_attributes`]; and when a kernel runs. A [direct](crate::kernel::direct)
//! kernel then relies on the first read. Other frames may be built by any caller with any
//! attributes, so attributes of a frame are checked again.
//!
//! [`KernelTypes::check_attributes`]: crate::kernel::KernelTypes::check_attributes
#![expect(unsafe_code, reason = "reads attributes that were accepted before")]

use half::{bf16, f16};
use tfrt_async::ByteString;
use tfrt_attr::{AggregateView, CompilationUnitView, DenseView, FromAttr, ShapeView};
use tfrt_ods::binding::ABSENT;
use tfrt_ods::{AttrKind, OpDef};
use tfrt_support::{DType, Error, ErrorCode};

use crate::kernel::inputs::AttributeList;

/// A type that a parameter with `#[attr]` can have, or the referent of such a reference.
///
/// Implemented for numbers, `bool`, `&str`, `String`, [`ByteString`], [`DType`], `&[T]` and
/// `Vec<T>` of numbers, and the views of [`tfrt_attr`]; an `Option` of one is an optional
/// attribute. Other types can be built from one of these:
///
/// ```
/// use tfrt_host::kernel::AttrParam;
/// use tfrt_ods::AttrKind;
/// use tfrt_support::Error;
///
/// enum Padding {
///     Same,
///     Valid,
/// }
///
/// impl AttrParam for Padding {
///     type Value<'a> = Padding;
///     const KIND: AttrKind = AttrKind::String;
///
///     fn read(section: &[u8], offset: u32) -> Result<Padding, Error> {
///         match str::read(section, offset)? {
///             "same" => Ok(Padding::Same),
///             "valid" => Ok(Padding::Valid),
///             other => Err(Error::new(format!("padding '{other}' is not recognized"))),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from an attribute",
    label = "not an attribute type",
    note = "supported types: numbers, `bool`, `&str`, `String`, `ByteString`, `DType`, `&[T]` and \
            `Vec<T>` of numbers, and the views of `tfrt::attr`; derive `Attr` for your own enum, \
            or implement `AttrParam` for another type"
)]
pub trait AttrParam {
    /// The type of the function's parameter.
    type Value<'a>: Send;

    /// The attributes it can be read from.
    const KIND: AttrKind;

    /// Reads the attribute at `offset` of a file's attribute section.
    ///
    /// # Errors
    /// If the bytes there do not hold one.
    fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>, Error>;

    /// Reads an attribute that [`read`](Self::read) has accepted.
    ///
    /// # Safety
    /// 1. `read` has succeeded for this section and offset, and the section has not moved or
    ///    changed since.
    #[doc(hidden)]
    #[inline]
    unsafe fn read_accepted(section: &[u8], offset: u32) -> Self::Value<'_> {
        match Self::read(section, offset) {
            Ok(value) => value,
            Err(error) => panic!("an attribute was accepted, and is not any more: {error}"),
        }
    }
}

/// Reads a `T` from the bytes of an accepted attribute.
///
/// # Safety
/// 1. `section` has a `T` at `offset`, not necessarily aligned.
#[inline]
unsafe fn load<T: Copy>(section: &[u8], offset: u32) -> T {
    // SAFETY: duty 1: the offset is inside the section.
    let place = unsafe { section.as_ptr().add(offset as usize) };
    // SAFETY: duty 1.
    unsafe { place.cast::<T>().read_unaligned() }
}

/// Returns the elements of an accepted list attribute, which starts with their number in four
/// bytes.
///
/// # Safety
/// 1. `section` has such a list at `offset`, and its elements are aligned unless it is empty.
#[inline]
unsafe fn load_list<T>(section: &[u8], offset: u32) -> &[T] {
    // SAFETY: duty 1.
    let len = unsafe { load::<u32>(section, offset) };
    if len == 0 {
        return &[];
    }
    // SAFETY: duty 1: the elements are inside the section.
    let elements = unsafe { section.as_ptr().add(offset as usize + size_of::<u32>()) };
    // SAFETY: duty 1: `len` aligned elements are there; the section is borrowed.
    unsafe { std::slice::from_raw_parts(elements.cast::<T>(), len as usize) }
}

macro_rules! impl_attribute_param {
    ($($ty:ty => $value:ty, $kind:expr;)*) => {$(
        impl AttrParam for $ty {
            type Value<'a> = $value;
            const KIND: AttrKind = $kind;

            #[inline]
            fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>, Error> {
                Ok(FromAttr::read(section, offset)?)
            }
        }
    )*};
}

/// Numbers: by value, as a slice read in place, and as a list that is copied.
macro_rules! impl_number {
    ($($ty:ty => $kind:expr;)*) => {$(
        impl AttrParam for $ty {
            type Value<'a> = Self;
            const KIND: AttrKind = $kind;

            #[inline]
            fn read(section: &[u8], offset: u32) -> Result<Self, Error> {
                Ok(FromAttr::read(section, offset)?)
            }

            #[inline]
            unsafe fn read_accepted(section: &[u8], offset: u32) -> Self {
                // SAFETY: duty 1: `read` has found this many bytes; any bytes are a number.
                unsafe { load(section, offset) }
            }
        }

        impl AttrParam for [$ty] {
            type Value<'a> = &'a [$ty];
            const KIND: AttrKind = AttrKind::Array(&$kind);

            #[inline]
            fn read(section: &[u8], offset: u32) -> Result<&[$ty], Error> {
                Ok(FromAttr::read(section, offset)?)
            }

            #[inline]
            unsafe fn read_accepted(section: &[u8], offset: u32) -> &[$ty] {
                // SAFETY: duty 1: `read` has found such a list of numbers.
                unsafe { load_list(section, offset) }
            }
        }

        impl AttrParam for Vec<$ty> {
            type Value<'a> = Self;
            const KIND: AttrKind = AttrKind::Array(&$kind);

            fn read(section: &[u8], offset: u32) -> Result<Self, Error> {
                <[$ty]>::read(section, offset).map(<[$ty]>::to_vec)
            }
        }
    )*};
}

impl_number! {
    i8 => AttrKind::Int { width: 8, is_unsigned: false };
    i16 => AttrKind::Int { width: 16, is_unsigned: false };
    i32 => AttrKind::I32;
    i64 => AttrKind::I64;
    u8 => AttrKind::Int { width: 8, is_unsigned: true };
    u16 => AttrKind::Int { width: 16, is_unsigned: true };
    u32 => AttrKind::Int { width: 32, is_unsigned: true };
    u64 => AttrKind::Int { width: 64, is_unsigned: true };
    f16 => AttrKind::Float(tfrt_ods::FloatKind::F16);
    bf16 => AttrKind::Float(tfrt_ods::FloatKind::Bf16);
    f32 => AttrKind::F32;
    f64 => AttrKind::F64;
}

impl_attribute_param! {
    bool => bool, AttrKind::BOOL;
    DType => DType, AttrKind::Type;
    ShapeView<'static> => ShapeView<'a>, AttrKind::Shape;
    DenseView<'static> => DenseView<'a>, AttrKind::Dense;
    AggregateView<'static> => AggregateView<'a>, AttrKind::Aggregate;
    CompilationUnitView<'static> => CompilationUnitView<'a>, AttrKind::CompilationUnit;
}

impl AttrParam for str {
    type Value<'a> = &'a str;
    const KIND: AttrKind = AttrKind::String;

    #[inline]
    fn read(section: &[u8], offset: u32) -> Result<&str, Error> {
        Ok(FromAttr::read(section, offset)?)
    }

    #[inline]
    unsafe fn read_accepted(section: &[u8], offset: u32) -> &str {
        // SAFETY: duty 1: `read` has found this many bytes.
        let bytes = unsafe { load_list(section, offset) };
        // SAFETY: duty 1: `read` has validated them as UTF-8.
        unsafe { str::from_utf8_unchecked(bytes) }
    }
}

/// A string of arbitrary bytes.
impl AttrParam for ByteString {
    type Value<'a> = Self;
    const KIND: AttrKind = AttrKind::String;

    fn read(section: &[u8], offset: u32) -> Result<Self, Error> {
        Ok(<&[u8] as FromAttr>::read(section, offset)?.into())
    }
}

impl AttrParam for String {
    type Value<'a> = Self;
    const KIND: AttrKind = AttrKind::String;

    fn read(section: &[u8], offset: u32) -> Result<Self, Error> {
        str::read(section, offset).map(str::to_owned)
    }
}

/// An optional attribute.
impl<A: AttrParam> AttrParam for Option<A> {
    type Value<'a> = Option<A::Value<'a>>;
    const KIND: AttrKind = A::KIND;

    #[inline]
    fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>, Error> {
        match offset {
            ABSENT => Ok(None),
            offset => A::read(section, offset).map(Some),
        }
    }

    #[inline]
    unsafe fn read_accepted(section: &[u8], offset: u32) -> Self::Value<'_> {
        if offset == ABSENT {
            return None;
        }
        // SAFETY: duty 1: `read` has accepted the offset, and so has `A::read`.
        Some(unsafe { A::read_accepted(section, offset) })
    }
}

/// An attribute borrowed from the file, where a sized type is needed: in an `Option`.
impl<A: AttrParam + ?Sized> AttrParam for &'static A {
    type Value<'a> = A::Value<'a>;
    const KIND: AttrKind = A::KIND;

    #[inline]
    fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>, Error> {
        A::read(section, offset)
    }

    #[inline]
    unsafe fn read_accepted(section: &[u8], offset: u32) -> Self::Value<'_> {
        // SAFETY: duty 1, unchanged.
        unsafe { A::read_accepted(section, offset) }
    }
}

/// How a kernel reads one of its attributes.
#[derive(Clone, Copy, Debug)]
pub struct AttrRead {
    /// Its index, in byte order of the names.
    pub(super) index: usize,
    pub(super) check: fn(&[u8], u32) -> Result<(), Error>,
}

impl AttrRead {
    /// Checks that the attribute can be read.
    pub(crate) fn check(self, op: &OpDef, attributes: AttributeList<'_>) -> Result<(), Error> {
        match attributes.offsets.get(self.index) {
            Some(&offset) => (self.check)(attributes.section, offset)
                .map_err(|error| unreadable(op, self.index, error)),
            None => Err(missing(op, self.index)),
        }
    }
}

/// Reads the attribute at `index`.
#[inline]
pub(crate) fn read<'a, A: AttrParam + ?Sized>(
    op: &OpDef,
    attributes: AttributeList<'a>,
    index: usize,
) -> Result<A::Value<'a>, Error> {
    match attributes.offsets.get(index) {
        Some(&offset) => {
            A::read(attributes.section, offset).map_err(|error| unreadable(op, index, error))
        }
        None => Err(missing(op, index)),
    }
}

/// Returns the name of the attribute at `index`, for messages.
fn name_of(op: &OpDef, index: usize) -> String {
    op.attributes.get(index).map_or_else(
        || index.to_string(),
        |attribute| format!("`{}`", attribute.name),
    )
}

/// Returns the error for a number that is not a case of an enum attribute.
#[cold]
#[must_use]
pub fn no_case(name: &str, number: i32) -> Error {
    Error::new(format!("unknown value {number} of the enum `{name}`"))
        .with_code(ErrorCode::InvalidArgument)
}

#[cold]
fn missing(op: &OpDef, index: usize) -> Error {
    Error::new(format!(
        "attribute {} of `{}` is missing",
        name_of(op, index),
        op.name
    ))
    .with_code(ErrorCode::InvalidArgument)
}

/// Adds the name of the attribute to `error`.
#[cold]
fn unreadable(op: &OpDef, index: usize, error: Error) -> Error {
    Error::new(format!(
        "attribute {} of `{}`: {}",
        name_of(op, index),
        op.name,
        error.message()
    ))
    .with_code(ErrorCode::InvalidArgument)
}

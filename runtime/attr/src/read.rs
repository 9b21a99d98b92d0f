//! Reading of attributes as Rust values, in place if the value is a view or a slice.

use half::{bf16, f16};
use tfrt_support::DType;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

use crate::bytes::{array, read_u8, read_u32, slice};
use crate::code::{AttrTypeCode, AttrTypeKind};
use crate::error::{AttrError, AttrProblem};
use crate::verify;
use crate::view::{AggregateView, ShapeView};

/// A Rust type that an attribute can be read as.
///
/// The section has to outlive the value: strings, slices and views are windows on its bytes. Slices
/// and views need the section at an address aligned as its encoder asked, see
/// [`AlignedBytes`](crate::AlignedBytes).
///
/// ```
/// use tfrt_attr::{AttrEncoder, AttrTypeCode, AttrValue, FromAttr};
///
/// let mut encoder = AttrEncoder::new();
/// let offset = encoder.encode(&AttrValue::string("hey"))?;
/// let section = encoder.as_bytes();
/// assert_eq!(<&str>::read(section, offset)?, "hey");
/// assert!(i32::read_as(section, offset, AttrTypeCode::STRING).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from an attribute",
    label = "does not implement `FromAttr`",
    note = "supported types: numbers, `bool`, `&str`, `DType` and the views of this crate"
)]
pub trait FromAttr<'a>: Sized {
    /// The name of such attributes in messages.
    const EXPECTED: &'static str;

    /// Whether every empty list is such an attribute, regardless of its element type.
    const TAKES_EMPTY_ARRAY: bool = false;

    /// Returns `true` if attributes of type `code` are read as `Self`.
    fn is_stored_as(code: AttrTypeCode) -> bool;

    /// Reads the attribute at `offset` of `section`, assuming that it has this type.
    ///
    /// # Errors
    /// If the bytes there are not such an attribute. Bytes of another type may be accepted, but a
    /// read never leaves the section.
    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError>;

    /// Reads the attribute of type `code` at `offset` of `section`.
    ///
    /// # Errors
    /// If attributes of that type are not read as `Self`, or the bytes there are not such an
    /// attribute.
    fn read_as(section: &'a [u8], offset: u32, code: AttrTypeCode) -> Result<Self, AttrError> {
        let is_empty_array = || read_u32(section, offset as usize) == Ok(0);
        if Self::is_stored_as(code)
            || Self::TAKES_EMPTY_ARRAY && code == AttrTypeCode::EMPTY_ARRAY && is_empty_array()
        {
            Self::read(section, offset)
        } else {
            let problem = AttrProblem::WrongType {
                expected: Self::EXPECTED,
                found: code,
            };
            Err(AttrError::new(offset as usize, problem))
        }
    }
}

/// A Rust type that has the bytes of one array or tensor element.
///
/// Complex numbers are pairs, real part first; they are elements of dense tensors, not of arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a dense attribute",
    label = "not a number of a fixed layout"
)]
pub trait Element:
    TryFromBytes + KnownLayout + Immutable + Copy + PartialEq + std::fmt::Debug + 'static
{
    /// The element type.
    const DTYPE: DType;

    /// The name of lists of such elements in messages.
    const ARRAY_NAME: &'static str;
}

/// Returns the elements stored in `bytes`, which start at `offset` of their section.
pub(crate) fn in_place<T: Element>(bytes: &[u8], offset: usize) -> Result<&[T], AttrError> {
    <[T]>::try_ref_from_bytes(bytes).map_err(|error| {
        let problem = match error {
            zerocopy::ConvertError::Alignment(_) => AttrProblem::Misaligned {
                expected: align_of::<T>(),
            },
            zerocopy::ConvertError::Size(_) => {
                let expected = bytes.len().next_multiple_of(size_of::<T>());
                AttrProblem::Truncated {
                    expected: expected as u64,
                    found: bytes.len(),
                }
            }
            zerocopy::ConvertError::Validity(_) => {
                let found = bytes.iter().copied().max().unwrap_or_default();
                AttrProblem::InvalidValue {
                    expected: "booleans",
                    found,
                }
            }
        };
        AttrError::new(offset, problem)
    })
}

macro_rules! elements {
    ($($element:ty = $dtype:ident, $array_name:literal;)*) => {
        $(
            impl Element for $element {
                const DTYPE: DType = DType::$dtype;
                const ARRAY_NAME: &'static str = $array_name;
            }
        )*
    };
}

elements! {
    bool = I1, "array of i1";
    u8 = Ui8, "array of u8";
    u16 = Ui16, "array of u16";
    u32 = Ui32, "array of u32";
    u64 = Ui64, "array of u64";
    i8 = I8, "array of i8";
    i16 = I16, "array of i16";
    i32 = I32, "array of i32";
    i64 = I64, "array of i64";
    f16 = F16, "array of f16";
    bf16 = Bf16, "array of bf16";
    f32 = F32, "array of f32";
    f64 = F64, "array of f64";
    [f32; 2] = Complex64, "array of complex64";
    [f64; 2] = Complex128, "array of complex128";
}

macro_rules! numbers {
    ($($number:ty = $dtype:ident, $name:literal;)*) => {
        $(
            impl FromAttr<'_> for $number {
                const EXPECTED: &'static str = $name;

                fn is_stored_as(code: AttrTypeCode) -> bool {
                    code.kind() == AttrTypeKind::Scalar(DType::$dtype)
                }

                fn read(section: &[u8], offset: u32) -> Result<Self, AttrError> {
                    array(section, offset as usize).map(Self::from_le_bytes)
                }
            }
        )*
    };
}

numbers! {
    u8 = Ui8, "u8";
    u16 = Ui16, "u16";
    u32 = Ui32, "u32";
    u64 = Ui64, "u64";
    i8 = I8, "i8";
    i16 = I16, "i16";
    i32 = I32, "i32";
    i64 = I64, "i64";
    f16 = F16, "f16";
    bf16 = Bf16, "bf16";
    f32 = F32, "f32";
    f64 = F64, "f64";
}

impl FromAttr<'_> for bool {
    const EXPECTED: &'static str = "i1";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code.kind() == AttrTypeKind::Scalar(DType::I1)
    }

    fn read(section: &[u8], offset: u32) -> Result<Self, AttrError> {
        match read_u8(section, offset as usize)? {
            0 => Ok(false),
            1 => Ok(true),
            found => {
                let problem = AttrProblem::InvalidValue {
                    expected: "a boolean",
                    found,
                };
                Err(AttrError::new(offset as usize, problem))
            }
        }
    }
}

impl FromAttr<'_> for DType {
    const EXPECTED: &'static str = "type";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code == AttrTypeCode::TYPE
    }

    fn read(section: &[u8], offset: u32) -> Result<Self, AttrError> {
        verify::dtype(read_u8(section, offset as usize)?, offset as usize)
    }
}

/// Returns the bytes after the `u32` length at `offset`.
fn counted(section: &[u8], offset: u32, element_bytes: usize) -> Result<&[u8], AttrError> {
    let offset = offset as usize;
    let count = read_u32(section, offset)?;
    slice(section, offset + 4, u64::from(count) * element_bytes as u64)
}

/// A string, or the name of a function.
impl<'a> FromAttr<'a> for &'a str {
    const EXPECTED: &'static str = "string";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        matches!(code, AttrTypeCode::STRING | AttrTypeCode::FUNC)
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        let bytes = counted(section, offset, 1)?;
        str::from_utf8(bytes).map_err(|_| AttrError::new(offset as usize + 4, AttrProblem::NotUtf8))
    }
}

/// An array. A string is also an array of `u8`: so are strings read that are not UTF-8.
impl<'a, T: Element> FromAttr<'a> for &'a [T] {
    const EXPECTED: &'static str = T::ARRAY_NAME;
    const TAKES_EMPTY_ARRAY: bool = true;

    fn is_stored_as(code: AttrTypeCode) -> bool {
        AttrTypeCode::of(T::DTYPE).and_then(AttrTypeCode::array) == Some(code)
            || T::DTYPE == DType::Ui8 && code == AttrTypeCode::STRING
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        let bytes = counted(section, offset, size_of::<T>())?;
        if bytes.is_empty() {
            // The empty array is aligned for its count only.
            return Ok(&[]);
        }
        in_place(bytes, offset as usize + 4)
    }
}

/// An array of element types.
impl FromAttr<'_> for Vec<DType> {
    const EXPECTED: &'static str = "array of type";
    const TAKES_EMPTY_ARRAY: bool = true;

    fn is_stored_as(code: AttrTypeCode) -> bool {
        AttrTypeCode::TYPE.array() == Some(code)
    }

    fn read(section: &[u8], offset: u32) -> Result<Self, AttrError> {
        let codes = counted(section, offset, 1)?;
        (offset as usize + 4..)
            .zip(codes)
            .map(|(at, &code)| verify::dtype(code, at))
            .collect()
    }
}

macro_rules! lists {
    ($($element:ty, $name:literal;)*) => {
        $(
            impl<'a> FromAttr<'a> for Vec<$element> {
                const EXPECTED: &'static str = $name;
                const TAKES_EMPTY_ARRAY: bool = true;

                fn is_stored_as(code: AttrTypeCode) -> bool {
                    code == AttrTypeCode::AGGREGATE
                }

                fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
                    AggregateView::read(section, offset)?.iter().map(|element| element.read()).collect()
                }
            }
        )*
    };
}

lists! {
    &'a str, "list of strings";
    ShapeView<'a>, "list of shapes";
}

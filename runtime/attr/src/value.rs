//! Owned attribute values, which compilers create and decoders return.

use half::{bf16, f16};
use tfrt_support::DType;

use crate::code::AttrTypeCode;

/// A number, as its bits.
///
/// Two scalars are equal if type and bits are, so that `-0.0` differs from `0.0` and a NaN equals
/// itself.
///
/// ```
/// use tfrt_attr::Scalar;
/// use tfrt_support::DType;
///
/// assert_eq!(Scalar::i8(-2).bits(), 0xfe);
/// assert_eq!(Scalar::new(DType::I8, 0xfe), Some(Scalar::i8(-2)));
/// assert_eq!(Scalar::new(DType::I8, 0x100), None);
/// assert_eq!(Scalar::new(DType::String, 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    code: AttrTypeCode,
    dtype: DType,
    bits: u64,
}

impl Scalar {
    /// Creates a number of type `dtype` from the low bits of `bits`.
    ///
    /// Returns `None` if numbers of that type are not encoded, such as complex numbers, or if
    /// `bits` has ones beyond the width of the type.
    #[must_use]
    pub const fn new(dtype: DType, bits: u64) -> Option<Self> {
        let (Some(code), Some(size)) = (AttrTypeCode::of(dtype), dtype.size_bytes()) else {
            return None;
        };
        let width = if matches!(dtype, DType::I1) {
            1
        } else {
            8 * size as u32
        };
        if width < u64::BITS && bits >> width != 0 {
            return None;
        }
        Some(Self { code, dtype, bits })
    }

    /// Returns the type of the number.
    #[inline]
    #[must_use]
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// Returns the bits of the number, zero-extended.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Returns the code of the number's encoding.
    #[inline]
    #[must_use]
    pub const fn code(self) -> AttrTypeCode {
        self.code
    }

    /// Returns the size of the encoding in bytes, which is also its alignment: 1, 2, 4 or 8.
    #[must_use]
    pub(crate) const fn size_bytes(self) -> usize {
        match self.dtype.size_bytes() {
            Some(size) => size,
            None => 0,
        }
    }
}

macro_rules! scalar_constructors {
    ($($name:ident($native:ty as $bits:ty) => $dtype:ident: $to_bits:expr;)*) => {
        impl Scalar {
            $(
                #[doc = concat!("The `", stringify!($name), "` number `value`.")]
                #[inline]
                #[must_use]
                pub fn $name(value: $native) -> Self {
                    let to_bits: fn($native) -> $bits = $to_bits;
                    let code = const { AttrTypeCode::of(DType::$dtype).expect("numbers of this type are encoded") };
                    Self { code, dtype: DType::$dtype, bits: u64::from(to_bits(value)) }
                }
            )*
        }
    };
}

scalar_constructors! {
    bool(bool as u8) => I1: u8::from;
    ui8(u8 as u8) => Ui8: |value| value;
    ui16(u16 as u16) => Ui16: |value| value;
    ui32(u32 as u32) => Ui32: |value| value;
    ui64(u64 as u64) => Ui64: |value| value;
    i8(i8 as u8) => I8: i8::cast_unsigned;
    i16(i16 as u16) => I16: i16::cast_unsigned;
    i32(i32 as u32) => I32: i32::cast_unsigned;
    i64(i64 as u64) => I64: i64::cast_unsigned;
    f16(f16 as u16) => F16: f16::to_bits;
    bf16(bf16 as u16) => Bf16: bf16::to_bits;
    f32(f32 as u32) => F32: f32::to_bits;
    f64(f64 as u64) => F64: f64::to_bits;
}

/// A dense tensor: every element, row-major, packed, little-endian.
///
/// ```
/// use tfrt_attr::DenseAttr;
/// use tfrt_support::DType;
///
/// let sevens = DenseAttr { dtype: DType::I16, dims: vec![3], data: [7_i16.to_le_bytes(); 3].concat() };
/// assert_eq!(sevens.num_elements(), Some(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseAttr {
    /// The type of the elements.
    pub dtype: DType,
    /// The dimensions, outermost first; none is negative.
    pub dims: Vec<i64>,
    /// The elements. `i1` takes a byte each, 0 or 1; a complex number is its real part, then its
    /// imaginary part.
    pub data: Vec<u8>,
}

impl DenseAttr {
    /// Returns the number of elements that the dimensions call for, or `None` if it overflows or a
    /// dimension is negative.
    #[must_use]
    pub fn num_elements(&self) -> Option<u64> {
        count_elements(&self.dims)
    }
}

/// Returns the product of `dims`, or `None` if it overflows or a dimension is negative.
pub(crate) fn count_elements(dims: &[i64]) -> Option<u64> {
    dims.iter().try_fold(1_u64, |product, &dim| {
        product.checked_mul(u64::try_from(dim).ok()?)
    })
}

/// A reference to a symbol of a compiled module, together with that module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolRefAttr {
    /// The outermost symbol: that of the module.
    pub root: String,
    /// The symbols inside it, outermost first.
    pub nested: Vec<String>,
    /// The module, printed in generic form.
    pub text: String,
}

/// An attribute value.
///
/// The value alone determines the encoding, see [`code`](Self::code). MLIR attributes that differ
/// only in properties that are not encoded, such as `1 : i8` and `1 : si8`, are equal here.
///
/// ```
/// use tfrt_attr::{AttrTypeCode, AttrValue, Scalar};
///
/// let mixed = AttrValue::Array(vec![Scalar::bool(true).into(), AttrValue::string("s")]);
/// assert_eq!(mixed.code(), AttrTypeCode::AGGREGATE);
/// assert_eq!(AttrValue::Array(vec![]).code(), AttrTypeCode::EMPTY_ARRAY);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttrValue {
    /// A number.
    Scalar(Scalar),
    /// A string of any bytes.
    String(Vec<u8>),
    /// An element type.
    Type(DType),
    /// The name of a function, as op attributes hold it.
    Func(String),
    /// The dimensions of a shape, -1 for an unknown one; none if not even the rank is known.
    Shape(Option<Vec<i64>>),
    /// A dense tensor.
    Dense(DenseAttr),
    /// A list. Encoded as an array if all elements are numbers of one type or all are element
    /// types, else as an aggregate.
    Array(Vec<AttrValue>),
    /// A reference into a compiled module.
    SymbolRef(SymbolRefAttr),
}

impl AttrValue {
    /// Creates a string of text.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(text.as_bytes().to_vec())
    }

    /// Returns the code of the encoding.
    #[must_use]
    pub fn code(&self) -> AttrTypeCode {
        match self {
            Self::Scalar(scalar) => scalar.code(),
            Self::String(_) => AttrTypeCode::STRING,
            Self::Type(_) => AttrTypeCode::TYPE,
            Self::Func(_) => AttrTypeCode::FUNC,
            Self::Shape(_) => AttrTypeCode::SHAPE,
            Self::Dense(_) => AttrTypeCode::DENSE,
            Self::SymbolRef(_) => AttrTypeCode::SYMBOL_REF,
            Self::Array(elements) => match elements.split_first() {
                None => AttrTypeCode::EMPTY_ARRAY,
                Some((first, rest)) => array_code(first, rest).unwrap_or(AttrTypeCode::AGGREGATE),
            },
        }
    }
}

/// Returns the code of the array `[first, rest..]` if all its elements have one encoding of a fixed
/// size.
fn array_code(first: &AttrValue, rest: &[AttrValue]) -> Option<AttrTypeCode> {
    let fixed_code = |value: &AttrValue| match value {
        AttrValue::Scalar(scalar) => Some(scalar.code()),
        AttrValue::Type(_) => Some(AttrTypeCode::TYPE),
        _ => None,
    };
    let code = fixed_code(first)?;
    rest.iter()
        .all(|element| fixed_code(element) == Some(code))
        .then(|| code.array())?
}

impl From<Scalar> for AttrValue {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar)
    }
}

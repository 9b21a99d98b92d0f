//! Attribute type codes: one byte that specifies the encoding of an attribute.
//!
//! Bit 7 set means an array whose elements all have the encoding of the low seven bits. Codes 1 to
//! 23 are those of [`DType`].

use std::fmt;

use tfrt_support::DType;

const ARRAY_BIT: u8 = 0x80;

/// The code of one attribute encoding; always one that this crate can read.
///
/// ```
/// use tfrt_attr::{AttrTypeKind, AttrTypeCode};
/// use tfrt_support::DType;
///
/// let code = AttrTypeCode::of(DType::I64).and_then(AttrTypeCode::array).unwrap();
/// assert_eq!(code.raw(), 137);
/// assert_eq!(code.to_string(), "array of i64");
/// assert_eq!(code.kind(), AttrTypeKind::Array(AttrTypeCode::of(DType::I64).unwrap()));
/// assert_eq!(AttrTypeCode::from_raw(24), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttrTypeCode(u8);

/// The meaning of an [`AttrTypeCode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttrTypeKind {
    /// A number of this type.
    Scalar(DType),
    /// A string of bytes.
    String,
    /// An element type.
    Type,
    /// The name of a function.
    Func,
    /// A shape, ranked or not.
    Shape,
    /// A dense tensor.
    Dense,
    /// A reference into a compiled module, with the text of that module.
    SymbolRef,
    /// A list of attributes of any kinds.
    Aggregate,
    /// A list of scalars or element types, all of this code.
    Array(AttrTypeCode),
}

impl AttrTypeCode {
    /// A string.
    pub const STRING: Self = Self(16);
    /// An element type.
    pub const TYPE: Self = Self(25);
    /// The name of a function.
    pub const FUNC: Self = Self(26);
    /// A shape.
    pub const SHAPE: Self = Self(27);
    /// A dense tensor.
    pub const DENSE: Self = Self(28);
    /// A symbol reference with its compilation unit.
    pub const SYMBOL_REF: Self = Self(29);
    /// An aggregate.
    pub const AGGREGATE: Self = Self(30);
    /// The empty array; the same byte as an array of `i32`.
    pub const EMPTY_ARRAY: Self = Self(ARRAY_BIT | DType::I32.code());

    /// Returns the code of a number of type `dtype`, if numbers of that type are encoded: integers,
    /// `i1` and real floats are.
    #[must_use]
    pub const fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
            | DType::I1
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::F32
            | DType::F64
            | DType::F16
            | DType::Bf16 => Some(Self(dtype.code())),
            _ => None,
        }
    }

    /// Returns the code of a non-empty array whose elements all have this code, if such arrays
    /// exist.
    #[must_use]
    pub const fn array(self) -> Option<Self> {
        match self.kind() {
            AttrTypeKind::Scalar(_) | AttrTypeKind::Type => Some(Self(ARRAY_BIT | self.0)),
            _ => None,
        }
    }

    /// Returns the code stored as `raw`, if it is one.
    #[must_use]
    pub const fn from_raw(raw: u8) -> Option<Self> {
        let element = match raw & !ARRAY_BIT {
            25 => Self::TYPE,
            26..=30 | 16 if raw & ARRAY_BIT == 0 => return Some(Self(raw)),
            low => match DType::from_code(low) {
                Some(dtype) => match Self::of(dtype) {
                    Some(code) => code,
                    None => return None,
                },
                None => return None,
            },
        };
        Some(Self(raw & ARRAY_BIT | element.0))
    }

    /// Returns the stored code.
    #[must_use]
    pub const fn raw(self) -> u8 {
        self.0
    }

    /// Returns the meaning of the code.
    #[must_use]
    pub const fn kind(self) -> AttrTypeKind {
        if self.0 & ARRAY_BIT != 0 {
            return AttrTypeKind::Array(Self(self.0 & !ARRAY_BIT));
        }
        match self {
            Self::STRING => AttrTypeKind::String,
            Self::TYPE => AttrTypeKind::Type,
            Self::FUNC => AttrTypeKind::Func,
            Self::SHAPE => AttrTypeKind::Shape,
            Self::DENSE => AttrTypeKind::Dense,
            Self::SYMBOL_REF => AttrTypeKind::SymbolRef,
            Self::AGGREGATE => AttrTypeKind::Aggregate,
            Self(number) => match DType::from_code(number) {
                Some(dtype) => AttrTypeKind::Scalar(dtype),
                None => panic!("a code is made only by the constructors above"),
            },
        }
    }
}

impl fmt::Display for AttrTypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            AttrTypeKind::Scalar(dtype) => dtype.fmt(f),
            AttrTypeKind::String => f.write_str("string"),
            AttrTypeKind::Type => f.write_str("type"),
            AttrTypeKind::Func => f.write_str("function name"),
            AttrTypeKind::Shape => f.write_str("shape"),
            AttrTypeKind::Dense => f.write_str("dense"),
            AttrTypeKind::SymbolRef => f.write_str("symbol reference"),
            AttrTypeKind::Aggregate => f.write_str("aggregate"),
            AttrTypeKind::Array(element) => write!(f, "array of {element}"),
        }
    }
}

impl fmt::Debug for AttrTypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttrTypeCode({:#04x}: {self})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accepted_byte_has_a_kind_and_comes_back() {
        let accepted: Vec<u8> = (0..=255)
            .filter(|&raw| {
                AttrTypeCode::from_raw(raw).is_some_and(|code| {
                    assert_eq!(code.raw(), raw);
                    !code.to_string().is_empty()
                })
            })
            .collect();
        let scalars = (1..=11).chain([14, 15]);
        let plain = scalars.clone().chain([16]).chain(25..=30);
        let arrays = scalars.chain([25]).map(|element| ARRAY_BIT | element);
        assert_eq!(accepted, plain.chain(arrays).collect::<Vec<u8>>());
    }
}

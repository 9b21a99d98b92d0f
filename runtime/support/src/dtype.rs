//! Element types: the data types of tensors, attributes and numbers.
//!
//! The numbering is that of BEF attribute type codes 1 to 23, which is also the run-time numbering.

use std::fmt;

/// An element type.
///
/// ```
/// use tfrt_support::DType;
///
/// assert_eq!(DType::F32.code(), 10);
/// assert_eq!(DType::from_code(10), Some(DType::F32));
/// assert_eq!(DType::Complex128.size_bytes(), Some(16));
/// assert_eq!(DType::String.to_string(), "str");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum DType {
    Ui8 = 1,
    Ui16 = 2,
    Ui32 = 3,
    Ui64 = 4,
    I1 = 5,
    I8 = 6,
    I16 = 7,
    I32 = 8,
    I64 = 9,
    F32 = 10,
    F64 = 11,
    Complex64 = 12,
    Complex128 = 13,
    F16 = 14,
    Bf16 = 15,
    String = 16,
    Resource = 17,
    Variant = 18,
    QUi8 = 19,
    QUi16 = 20,
    QI8 = 21,
    QI16 = 22,
    QI32 = 23,
}

impl DType {
    /// Every element type, in order of its code.
    pub const ALL: [Self; 23] = [
        Self::Ui8,
        Self::Ui16,
        Self::Ui32,
        Self::Ui64,
        Self::I1,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F32,
        Self::F64,
        Self::Complex64,
        Self::Complex128,
        Self::F16,
        Self::Bf16,
        Self::String,
        Self::Resource,
        Self::Variant,
        Self::QUi8,
        Self::QUi16,
        Self::QI8,
        Self::QI16,
        Self::QI32,
    ];

    /// Returns the code of the type in files, 1 to 23.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the type of a code, if it is one.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        if code >= 1 && code <= 23 {
            Some(Self::ALL[code as usize - 1])
        } else {
            None
        }
    }

    /// Returns the size of one element in bytes; none for strings, resources and variants, which
    /// have no fixed size.
    #[must_use]
    pub const fn size_bytes(self) -> Option<usize> {
        match self {
            Self::Ui8 | Self::I1 | Self::I8 | Self::QUi8 | Self::QI8 => Some(1),
            Self::Ui16 | Self::I16 | Self::F16 | Self::Bf16 | Self::QUi16 | Self::QI16 => Some(2),
            Self::Ui32 | Self::I32 | Self::F32 | Self::QI32 => Some(4),
            Self::Ui64 | Self::I64 | Self::F64 | Self::Complex64 => Some(8),
            Self::Complex128 => Some(16),
            Self::String | Self::Resource | Self::Variant => None,
        }
    }

    /// Returns the alignment of one element in bytes: that of its scalar parts.
    #[must_use]
    pub const fn align_bytes(self) -> Option<usize> {
        match self {
            Self::Complex64 => Some(4),
            Self::Complex128 => Some(8),
            other => other.size_bytes(),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ui8 => "u8",
            Self::Ui16 => "u16",
            Self::Ui32 => "u32",
            Self::Ui64 => "u64",
            Self::I1 => "i1",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::String => "str",
            Self::Resource => "resource",
            Self::Variant => "variant",
            Self::QUi8 => "qu8",
            Self::QUi16 => "qu16",
            Self::QI8 => "qi8",
            Self::QI16 => "qi16",
            Self::QI32 => "qi32",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_types_are_inverse() {
        for (index, dtype) in DType::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(dtype.code()), index + 1);
            assert_eq!(DType::from_code(dtype.code()), Some(dtype));
        }
        assert_eq!(DType::from_code(0), None);
        assert_eq!(DType::from_code(24), None);
    }
}

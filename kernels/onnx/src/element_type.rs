//! The element types of ONNX.

use std::fmt;

use tfrt_support::DType;

use crate::proto::tensor_proto::DataType;

/// An element type of ONNX, possibly one that we only know by name.
///
/// ```
/// use tfrt_onnx::ElementType;
/// use tfrt_support::DType;
///
/// let float = ElementType::from_code(1).unwrap();
/// assert_eq!((float.dtype(), float.to_string().as_str()), (Some(DType::F32), "FLOAT"));
/// assert_eq!(ElementType::from_code(17).unwrap().dtype(), None);
/// assert_eq!(ElementType::from_code(99), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(DataType);

impl ElementType {
    /// Booleans.
    pub const BOOL: Self = Self(DataType::Bool);
    /// 32-bit integers.
    pub const INT32: Self = Self(DataType::Int32);
    /// 64-bit integers.
    pub const INT64: Self = Self(DataType::Int64);
    /// 32-bit floating-point numbers.
    pub const FLOAT: Self = Self(DataType::Float);

    /// Returns the type of a code, unless that is 0 or unknown.
    #[must_use]
    pub fn from_code(code: i32) -> Option<Self> {
        let known = DataType::try_from(code).ok();
        known.filter(|&ty| ty != DataType::Undefined).map(Self)
    }

    /// Returns the type that the oldest files name, such as `"FLOAT"`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let known = DataType::from_str_name(name);
        known.filter(|&ty| ty != DataType::Undefined).map(Self)
    }

    /// Returns the code of an element type of ours.
    #[must_use]
    pub fn from_dtype(dtype: DType) -> Option<Self> {
        (1..=16)
            .filter_map(Self::from_code)
            .find(|ty| ty.dtype() == Some(dtype))
    }

    /// Returns the code in files.
    #[must_use]
    pub fn code(self) -> i32 {
        self.0 as i32
    }

    /// Returns our element type, if we support it.
    #[must_use]
    pub fn dtype(self) -> Option<DType> {
        Some(match self.0 {
            DataType::Float => DType::F32,
            DataType::Double => DType::F64,
            DataType::Float16 => DType::F16,
            DataType::Bfloat16 => DType::Bf16,
            DataType::Int8 => DType::I8,
            DataType::Int16 => DType::I16,
            DataType::Int32 => DType::I32,
            DataType::Int64 => DType::I64,
            DataType::Uint8 => DType::Ui8,
            DataType::Uint16 => DType::Ui16,
            DataType::Uint32 => DType::Ui32,
            DataType::Uint64 => DType::Ui64,
            DataType::Bool => DType::I1,
            DataType::String => DType::String,
            DataType::Complex64 => DType::Complex64,
            DataType::Complex128 => DType::Complex128,
            _ => return None,
        })
    }

    /// Returns `true` if programs of ours can contain tensors of the type.
    pub(crate) fn is_supported(self) -> bool {
        let dtype = self.dtype();
        dtype.is_some_and(|dtype| {
            !matches!(dtype, DType::String | DType::Complex64 | DType::Complex128)
        })
    }

    /// Returns the number of bits of one element; none for strings.
    pub(crate) fn bits(self) -> Option<u64> {
        match self.0 {
            DataType::Uint2 | DataType::Int2 => Some(2),
            DataType::Uint4 | DataType::Int4 | DataType::Float4e2m1 => Some(4),
            DataType::Float8e4m3fn
            | DataType::Float8e4m3fnuz
            | DataType::Float8e5m2
            | DataType::Float8e5m2fnuz
            | DataType::Float8e8m0 => Some(8),
            _ => self.dtype()?.size_bytes().map(|bytes| 8 * bytes as u64),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str_name())
    }
}

impl fmt::Debug for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_ours_are_found_by_code_and_by_name() {
        for code in 1..=16 {
            let ty = ElementType::from_code(code).unwrap();
            assert_eq!(ElementType::from_dtype(ty.dtype().unwrap()), Some(ty));
            assert_eq!(ElementType::from_name(&ty.to_string()), Some(ty));
        }
        assert_eq!(ElementType::from_code(0), None);
        assert_eq!(ElementType::from_name("UNDEFINED"), None);
    }
}

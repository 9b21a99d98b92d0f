//! Numbers and truth values as bytes, in the order of the machine.

use half::{bf16, f16};
use tfrt_async::{AnyRef, ByteString};
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, StringHostTensor};

use crate::dataset::invalid;

/// Returns the type and the bytes of a number or truth value.
#[inline]
pub(crate) fn scalar(value: &AnyRef) -> Option<(DType, [u8; 8])> {
    macro_rules! one_of {
        ($($ty:ty => $dtype:ident, |$payload:ident| $bytes:expr;)+) => {
            $(if let Some(&$payload) = value.get::<$ty>() {
                let mut bytes = [0; 8];
                bytes[..size_of::<$ty>()].copy_from_slice(&$bytes);
                return Some((DType::$dtype, bytes));
            })+
        };
    }
    one_of! {
        i64 => I64, |number| number.to_ne_bytes();
        i32 => I32, |number| number.to_ne_bytes();
        f32 => F32, |number| number.to_ne_bytes();
        f64 => F64, |number| number.to_ne_bytes();
        u8 => Ui8, |number| number.to_ne_bytes();
        i8 => I8, |number| number.to_ne_bytes();
        i16 => I16, |number| number.to_ne_bytes();
        u16 => Ui16, |number| number.to_ne_bytes();
        u32 => Ui32, |number| number.to_ne_bytes();
        u64 => Ui64, |number| number.to_ne_bytes();
        f16 => F16, |number| number.to_ne_bytes();
        bf16 => Bf16, |number| number.to_ne_bytes();
        bool => I1, |truth| [u8::from(truth)];
    }
    None
}

/// Estimates the memory of values, in bytes. For types of users, only the overhead counts.
pub(crate) fn size_bytes_of(values: &[AnyRef]) -> u64 {
    /// The overhead of each value.
    const OVERHEAD: usize = 32;
    let size = |value: &AnyRef| {
        let payload = if let Some(tensor) = value.get::<DenseHostTensor>() {
            tensor.buffer().len_bytes()
        } else if let Some(string) = value.get::<ByteString>() {
            string.as_bytes().len()
        } else if let Ok(tensor) = value.try_read::<StringHostTensor>() {
            let strings = tensor.strings().iter();
            strings.map(|string| OVERHEAD + string.len()).sum()
        } else {
            0
        };
        (OVERHEAD + payload) as u64
    };
    values.iter().map(size).sum()
}

/// Returns `true` if this is the spelling of a number type or Boolean.
pub(crate) fn is_number(spelling: &str) -> bool {
    const NUMBERS: [&str; 13] = [
        "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
    ];
    NUMBERS.contains(&spelling)
}

/// Returns the number with these bytes.
pub(crate) fn number(dtype: DType, bytes: &[u8]) -> Result<AnyRef, Error> {
    macro_rules! one_of {
        ($($dtype:ident => $ty:ty;)+) => {
            match dtype {
                $(DType::$dtype => bytes.try_into().ok().map(|bytes| AnyRef::available(<$ty>::from_ne_bytes(bytes))),)+
                DType::I1 => bytes.first().map(|&byte| AnyRef::available(byte != 0)),
                _ => None,
            }
        };
    }
    let number = one_of! {
        I64 => i64;
        I32 => i32;
        F32 => f32;
        F64 => f64;
        Ui8 => u8;
        Ui16 => u16;
        Ui32 => u32;
        Ui64 => u64;
        I8 => i8;
        I16 => i16;
        F16 => f16;
        Bf16 => bf16;
    };
    number.ok_or_else(|| invalid(format!("unsupported number type {dtype}")))
}

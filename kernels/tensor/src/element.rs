//! The Rust types of a tensor's elements.
//!
//! Booleans are a byte, [`I1`], and not `bool`: bytes that come from a buffer or a file may be
//! neither 0 nor 1.

#![expect(unsafe_code, reason = "states and uses that any bytes are elements")]

use std::fmt;

use half::{bf16, f16};
use tfrt_support::DType;
use tfrt_support::complex::Complex;
use tfrt_support::float_text::Scientific;

use crate::error::TensorError;
use crate::shape::Shape;

/// A Rust type that has the bytes of one element.
///
/// # Safety
/// 1. Every bit pattern of `size_of::<Self>()` bytes is a value, and no byte is padding.
/// 2. Size and alignment are those that [`DTYPE`](Self::DTYPE) states.
pub unsafe trait Element: Copy + PartialEq + Send + Sync + fmt::Debug + 'static {
    /// The element type.
    const DTYPE: DType;

    /// The element whose bytes are all zero.
    const ZERO: Self;

    /// Returns the bytes of the element in this machine's order, followed by zeros.
    fn to_bytes(self) -> [u8; 16];

    /// Returns the element in the first of these bytes.
    fn from_bytes(bytes: [u8; 16]) -> Self;

    /// Prints the element in the format of tensors.
    ///
    /// # Errors
    /// Those of `f`.
    fn write_text(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A Boolean of a tensor: one byte, where anything but zero is true.
///
/// ```
/// use tfrt_tensor::I1;
///
/// assert!(bool::from(I1::from(true)) && !bool::from(I1::default()));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct I1(u8);

impl From<bool> for I1 {
    fn from(truth: bool) -> Self {
        Self(u8::from(truth))
    }
}

impl From<I1> for bool {
    fn from(truth: I1) -> Self {
        truth.0 != 0
    }
}

impl PartialEq for I1 {
    fn eq(&self, other: &Self) -> bool {
        bool::from(*self) == bool::from(*other)
    }
}

impl Eq for I1 {}

/// An integer that represents a real number, with a scale that is stored elsewhere.
///
/// ```
/// use tfrt_support::DType;
/// use tfrt_tensor::{Element, Quantized};
///
/// assert_eq!(Quantized::<u8>::DTYPE, DType::QUi8);
/// assert_eq!(Quantized(3_i8).0, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Quantized<T>(pub T);

macro_rules! impl_element {
    ($($element:ty => $dtype:ident, $zero:expr, |$value:ident, $f:ident| $write:expr;)+) => {$(
        // SAFETY: 1: numbers, and structs of numbers of one size without gaps. 2: asserted below.
        unsafe impl Element for $element {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = $zero;

            fn to_bytes(self) -> [u8; 16] {
                let mut bytes = [0; 16];
                // SAFETY: duty 1: the value has no padding, so that all its bytes are initialised;
                // and the array is as large at least.
                unsafe { bytes.as_mut_ptr().cast::<Self>().write_unaligned(self) };
                bytes
            }

            fn from_bytes(bytes: [u8; 16]) -> Self {
                // SAFETY: the array is as large at least, and duty 1: any bytes are a value.
                unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() }
            }

            fn write_text(&self, $f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self;
                $write
            }
        }

        const _: () = {
            assert!(matches!(DType::$dtype.size_bytes(), Some(size) if size == size_of::<$element>()));
            assert!(matches!(DType::$dtype.align_bytes(), Some(align) if align >= align_of::<$element>()));
        };
    )+};
}

impl_element! {
    I1 => I1, I1(0), |value, f| write!(f, "{}", u8::from(bool::from(*value)));
    u8 => Ui8, 0, |value, f| write!(f, "{value}");
    u16 => Ui16, 0, |value, f| write!(f, "{value}");
    u32 => Ui32, 0, |value, f| write!(f, "{value}");
    u64 => Ui64, 0, |value, f| write!(f, "{value}");
    i8 => I8, 0, |value, f| write!(f, "{value}");
    i16 => I16, 0, |value, f| write!(f, "{value}");
    i32 => I32, 0, |value, f| write!(f, "{value}");
    i64 => I64, 0, |value, f| write!(f, "{value}");
    f16 => F16, f16::ZERO, |value, f| write!(f, "fp16({})", value.to_bits());
    bf16 => Bf16, bf16::ZERO, |value, f| write!(f, "bf16({})", value.to_bits());
    f32 => F32, 0.0, |value, f| write!(f, "{}", Scientific(f64::from(*value)));
    f64 => F64, 0.0, |value, f| write!(f, "{}", Scientific(*value));
    Complex<f32> => Complex64, Complex::new(0.0, 0.0), |value, f|
        write!(f, "({},{})", Scientific(f64::from(value.re)), Scientific(f64::from(value.im)));
    Complex<f64> => Complex128, Complex::new(0.0, 0.0), |value, f|
        write!(f, "({},{})", Scientific(value.re), Scientific(value.im));
    Quantized<u8> => QUi8, Quantized(0), |value, f| write!(f, "qu8({})", value.0);
    Quantized<u16> => QUi16, Quantized(0), |value, f| write!(f, "qu16({})", value.0);
    Quantized<i8> => QI8, Quantized(0), |value, f| write!(f, "qi8({})", value.0);
    Quantized<i16> => QI16, Quantized(0), |value, f| write!(f, "qi16({})", value.0);
    Quantized<i32> => QI32, Quantized(0), |value, f| write!(f, "qi32({})", value.0);
}

/// Returns the size of an element of `dtype` in bytes.
///
/// # Errors
/// [`TensorError::NoElements`] for strings, resources and variants, which have no size.
#[inline]
pub fn element_bytes(dtype: DType) -> Result<usize, TensorError> {
    match dtype.size_bytes() {
        Some(size_bytes) => Ok(size_bytes),
        None => Err(TensorError::NoElements { dtype }),
    }
}

/// Returns the size of a tensor's elements in bytes.
///
/// # Errors
/// [`TensorError::NoElements`] for types without a size, [`TensorError::OutOfMemory`] for more than
/// can be addressed.
#[inline]
pub fn size_bytes(dtype: DType, shape: &Shape) -> Result<usize, TensorError> {
    let element_bytes = element_bytes(dtype)?;
    let num_elements = shape.num_elements();
    match num_elements.checked_mul(element_bytes) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(too_large(num_elements, element_bytes)),
    }
}

#[cold]
fn too_large(num_elements: usize, element_bytes: usize) -> TensorError {
    TensorError::OutOfMemory {
        size_bytes: num_elements.saturating_mul(element_bytes),
    }
}

/// Evaluates an expression that is generic over [`Element`] for the Rust type of a [`DType`] that
/// is only known at run time; in the expression, the name stands for the type. Returns a `Result`,
/// which is an error if elements of the type have no fixed size.
///
/// ```
/// use tfrt_support::DType;
///
/// let size = |dtype| tfrt_tensor::with_element!(dtype, T => size_of::<T>());
/// assert_eq!(size(DType::Complex64)?, 8);
/// assert!(size(DType::String).is_err());
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[macro_export]
macro_rules! with_element {
    (@match $dtype:expr, $element:ident, $body:expr; $($name:ident => $rust:ty),+ $(,)?) => {
        match $dtype {
            $($crate::support::DType::$name => {
                type $element = $rust;
                ::core::result::Result::Ok($body)
            })+
            dtype => ::core::result::Result::Err($crate::TensorError::NoElements { dtype }),
        }
    };
    ($dtype:expr, $element:ident => $body:expr) => {
        $crate::with_element!(@match $dtype, $element, $body;
            Ui8 => u8, Ui16 => u16, Ui32 => u32, Ui64 => u64,
            I1 => $crate::I1, I8 => i8, I16 => i16, I32 => i32, I64 => i64,
            F16 => $crate::half::f16, Bf16 => $crate::half::bf16, F32 => f32, F64 => f64,
            Complex64 => $crate::support::complex::Complex<f32>,
            Complex128 => $crate::support::complex::Complex<f64>,
            QUi8 => $crate::Quantized<u8>, QUi16 => $crate::Quantized<u16>,
            QI8 => $crate::Quantized<i8>, QI16 => $crate::Quantized<i16>, QI32 => $crate::Quantized<i32>,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sized_type_has_a_rust_type_of_its_size() {
        for dtype in DType::ALL {
            let found = with_element!(dtype, T => (T::DTYPE, size_of::<T>())).ok();
            assert_eq!(found, dtype.size_bytes().map(|size| (dtype, size)));
        }
    }

    #[test]
    fn elements_print_as_documented() {
        fn text<T: Element>(element: T) -> String {
            fmt::from_fn(|f| element.write_text(f)).to_string()
        }
        assert_eq!(text(I1(7)), "1");
        assert_eq!(text(-128_i8), "-128");
        assert_eq!(text(f16::from_f32(1.5)), "fp16(15872)");
        assert_eq!(text(bf16::from_f32(-2.0)), "bf16(49152)");
        assert_eq!(text(f32::NEG_INFINITY), "-INF");
        assert_eq!(
            text(Complex::new(1.0_f32, -1.0)),
            "(1.000000e+00,-1.000000e+00)"
        );
        assert_eq!(text(Quantized(2_u8)), "qu8(2)");
        assert_eq!(text(Quantized(-1_i32)), "qi32(-1)");
    }
}

//! Scalars of library calls: operands of several types.

use half::f16;
use tfrt::kernel::AttrParam;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;

use crate::api::blas::Scalar;
use crate::enums::scalar_types;

/// Returns the scalar that a call takes, of a type that goes with the case `keyword` of an
/// enumeration.
///
/// # Errors
/// `pointer type not supported` for other values; `unexpected argument type` for a real number of
/// another type.
pub(super) fn scalar<E: AttrParam>(value: &AnyRef, keyword: &str) -> Result<Scalar> {
    let (scalar, spelling) = read(value).ok_or_else(|| {
        Error::new("pointer type not supported").with_code(ErrorCode::InvalidArgument)
    })?;
    let Some(expected) = scalar_types::<E>(keyword) else {
        return Err(Error::new(format!("could not infer type from {keyword}"))
            .with_code(ErrorCode::InvalidArgument));
    };
    let is_complex = spelling.starts_with("complex");
    if !is_complex && !expected.contains(&spelling) || is_complex && !keyword.contains("_C_") {
        return Err(Error::new("unexpected argument type").with_code(ErrorCode::InvalidArgument));
    }
    Ok(scalar)
}

/// Returns a number, with the spelling of its type.
fn read(value: &AnyRef) -> Option<(Scalar, &'static str)> {
    if let Some(number) = value.get::<f32>() {
        return Some((Scalar::F32(*number), "f32"));
    }
    if let Some(number) = value.get::<f64>() {
        return Some((Scalar::F64(*number), "f64"));
    }
    if let Some(number) = value.get::<f16>() {
        return Some((Scalar::F16(number.to_bits()), "f16"));
    }
    if let Some(number) = value.get::<i32>() {
        return Some((Scalar::I32(*number), "i32"));
    }
    if let Some(number) = value.get::<Complex<f32>>() {
        return Some((Scalar::C32(number.re, number.im), "complex<f32>"));
    }
    let number = value.get::<Complex<f64>>()?;
    Some((Scalar::C64(number.re, number.im), "complex<f64>"))
}

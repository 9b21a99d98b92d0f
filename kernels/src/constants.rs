//! Constants: values that are part of the program.

use half::f16;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;

/// Returns the constant value.
#[tfrt_kernel(
    "tfrt.constant.{T}",
    T = [bool as "i1", i32, i64, u32 as "ui32", u64 as "ui64", f16, f32, f64],
    pure,
    chain = none,
    format = "$value attr-dict"
)]
fn constant<T>(#[attr] value: T) -> T {
    value
}

/// Returns the constant complex number, given by its two parts.
#[tfrt_kernel(
    "tfrt.constant.{T}",
    T = [f32 as "complex64", f64 as "complex128"],
    pure,
    chain = none,
    format = "$real `,` $imaginary attr-dict"
)]
fn complex_constant<T>(#[attr] real: T, #[attr] imaginary: T) -> Complex<T> {
    Complex::new(real, imaginary)
}

/// Returns the constant value.
#[tfrt_kernel(
    "tfrt.constant_s.{T}",
    T = [i64, f16, f32, f64],
    sync,
    pure,
    format = "$value attr-dict",
)]
fn sync_constant<T>(#[attr] value: T) -> T {
    value
}

/// Returns the constant number. The op has no custom syntax.
#[tfrt_kernel("tfrt.constant_s.i32", sync, attribute_names = free)]
fn sync_constant_i32(#[attr] value: i32) -> i32 {
    value
}

//! Conversions between kinds of numbers.
//!
//! To a floating point number: the nearest one. To an integer: rounded towards zero; what is too
//! large becomes the largest or smallest, and what is not a number becomes zero.

use tfrt::prelude::*;

/// Returns the nearest single-precision number.
#[tfrt_kernel("tfrt.cast.i64_to_f32", effect_free)]
fn i64_to_f32(value: i64) -> f32 {
    value as f32
}

/// Returns the number rounded towards zero.
#[tfrt_kernel("tfrt.cast.f32_to_i64", effect_free)]
fn f32_to_i64(value: f32) -> i64 {
    value as i64
}

/// Returns the nearest double-precision number.
#[tfrt_kernel("tfrt.cast.i64_to_f64", effect_free)]
fn i64_to_f64(value: i64) -> f64 {
    value as f64
}

/// Returns the number rounded towards zero.
#[tfrt_kernel("tfrt.cast.f64_to_i64", effect_free)]
fn f64_to_i64(value: f64) -> i64 {
    value as i64
}

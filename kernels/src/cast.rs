//! Conversions between kinds of numbers.
//!
//! A conversion to a floating-point number returns the nearest one. A conversion to an integer
//! rounds towards zero; values out of range become the largest or smallest integer, and NaN becomes
//! zero.

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

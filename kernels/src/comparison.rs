//! Comparison and truth.

use tfrt::prelude::*;

/// Returns `true` if both are true.
#[tfrt_kernel("tfrt.and.i1", pure, chain = none, format = "operands attr-dict")]
fn and(a: bool, b: bool) -> bool {
    a && b
}

/// Returns `true` if two numbers are equal.
#[tfrt_kernel("tfrt.equal.{T}", T = [i32, i64], pure, chain = none, format = "operands attr-dict")]
fn equal<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}

/// Returns `true` if the first number is less than or equal to the second.
#[tfrt_kernel("tfrt.lessequal.{T}", T = [i32, i64], effect_free)]
fn less_or_equal<T: PartialOrd>(a: T, b: T) -> bool {
    a <= b
}

//! A kernel library: the addition of the benchmarks' user, loaded at run time.
#![forbid(unsafe_code)]

use tfrt::prelude::*;

tfrt::export_kernels!();

/// Adds two numbers, as `user.add` does.
#[tfrt_kernel("library.add")]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

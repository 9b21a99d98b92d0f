#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.raw", raw, operands(a: optional i32, b: variadic any))]
fn raw(frame: &mut KernelFrame<'_>) {}

fn main() {}

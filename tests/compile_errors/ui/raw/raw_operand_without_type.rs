#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call", raw, operands(a, b: variadic any, c: variadic any), symbol_list(d, e))]
fn call(frame: &mut KernelFrame<'_>) {}

fn main() {}

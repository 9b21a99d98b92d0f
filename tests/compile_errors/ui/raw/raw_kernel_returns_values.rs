#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call", raw, results(result: i32))]
fn call(frame: &mut KernelFrame<'_>) -> i32 {
    1
}

fn main() {}

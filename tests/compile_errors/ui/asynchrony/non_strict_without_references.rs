#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", non_strict)]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn main() {}

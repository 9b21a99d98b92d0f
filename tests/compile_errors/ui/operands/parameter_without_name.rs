#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
fn add((a, b): (i32, i32), _: i32) -> i32 {
    a + b
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
#[tfrt_kernel("my.plus")]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

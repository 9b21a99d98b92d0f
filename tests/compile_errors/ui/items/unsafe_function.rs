#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
unsafe fn add(a: i32) -> i32 {
    a
}

fn main() {}

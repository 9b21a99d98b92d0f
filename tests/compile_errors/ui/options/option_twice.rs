#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", pure, pure, format = "$a", format = "$b")]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", T = [i32])]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

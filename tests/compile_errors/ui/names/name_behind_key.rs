#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel(name = "my.add")]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

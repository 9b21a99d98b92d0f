#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", sync = true)]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

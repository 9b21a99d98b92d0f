#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", side_effecting, effect = "random")]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn none() -> i32 {
    0
}

#[tfrt_kernel("my.sort", workspace = none)]
fn sort(count: i64, #[workspace] scratch: &mut [i64]) {}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn none() -> usize {
    0
}

#[tfrt_kernel("my.sort", workspace = none)]
fn sort(count: i64) {}

fn main() {}

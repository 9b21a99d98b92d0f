#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.apply")]
fn apply(callee: Function<i32, i32>) {}

fn main() {}

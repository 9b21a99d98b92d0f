#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.apply")]
fn apply(a: fn(i32) -> i32, b: impl Fn(i32) -> i32, c: &dyn FnOnce(i32), d: i32) {}

fn main() {}

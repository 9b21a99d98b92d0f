#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.scale")]
fn scale(a: i32, #[operand(default = "ten")] b: i32) {}

fn main() {}

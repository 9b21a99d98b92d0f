#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(#[attr = "a"] a: i32, #[attr(nam = "b")] b: i32, #[attr(default = 1 + 1)] c: i32, #[attr(default)] d: i32) {}

fn main() {}

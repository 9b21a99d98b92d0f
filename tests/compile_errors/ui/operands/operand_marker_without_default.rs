#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.scale")]
fn scale(a: i32, #[operand] b: i32) {}

#[tfrt_kernel("my.scale_again")]
fn scale_again(a: i32, #[operand(defualt = 1)] b: i32) {}

fn main() {}

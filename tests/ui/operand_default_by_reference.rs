#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.greet")]
fn greet(#[operand(default = "you")] name: &str) {}

fn main() {}

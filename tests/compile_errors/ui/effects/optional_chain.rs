#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.print", side_effecting)]
fn print(number: i32, chain: Option<Chain>) {}

fn main() {}

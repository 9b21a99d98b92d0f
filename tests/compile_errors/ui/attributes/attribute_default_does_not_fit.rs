#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(#[attr(default = 300)] small: i8, #[attr(default = "text")] number: i32) {}

fn main() {}

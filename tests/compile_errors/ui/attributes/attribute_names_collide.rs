#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(value: i32, #[attr("value")] a: i32, #[attr] result: i32) -> i32 {
    a
}

fn main() {}

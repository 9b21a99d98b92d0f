#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("add", side_efecting, pure = 1)]
unsafe fn add(a: Option<i32>, (b, c): (i32, i32), #[attr(default = x)] d: i32) -> &str {
    ""
}

fn main() {}

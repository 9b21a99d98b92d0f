#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.div", results(quotient))]
fn div(a: i32, b: i32) -> (i32, i32) {
    (a / b, a % b)
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", operands(a: any), attrs(b: i32), symbols(c), regions(d), results(e: "i32"))]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", pure = true, effect, results, chain = operand, format("$a"), sync())]
fn add(a: i32) -> i32 {
    a
}

fn main() {}

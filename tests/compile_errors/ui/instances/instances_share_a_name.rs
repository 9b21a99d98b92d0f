#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", T = [i32, i64])]
fn add<T: Value + Clone>(a: T) -> T {
    a
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add.{T}", T = [i32, i64 as "i32"])]
fn add<T: Value + Clone>(a: T) -> T {
    a
}

fn main() {}

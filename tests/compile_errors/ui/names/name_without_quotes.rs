#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel(my.add, pure)]
fn add(a: i32) -> i32 {
    a
}

#[tfrt_kernel(my.negate.{T}, T = [i32])]
fn negate<T: Value + Clone>(a: T) -> T {
    a
}

fn main() {}

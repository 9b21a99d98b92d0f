#![allow(unused_variables)]

use tfrt::prelude::*;

trait Number: Value + Clone {}

impl Number for i32 {}

#[tfrt_kernel("my.add.{T}", T = [i32, bool])]
fn add<T: Number>(a: T) -> T {
    a
}

fn main() {}

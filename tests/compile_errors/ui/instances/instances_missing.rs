#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
fn add<T: Value + Clone>(a: T) -> T {
    a
}

fn main() {}

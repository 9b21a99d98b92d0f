#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.make")]
fn make(a: &str) -> (Option<i32>, &String, (i32, i32), Result<Result<i32>>, impl Value, Vec<i32>, i32) {
    todo!()
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call", sync)]
fn call(a: AnyRef, b: &[AnyRef]) -> AsyncValueRef<i32> {
    todo!()
}

fn main() {}

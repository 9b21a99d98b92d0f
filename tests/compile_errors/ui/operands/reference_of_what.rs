#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(value: AsyncValueRef) -> Vec {}

fn main() {}

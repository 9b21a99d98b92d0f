#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.sum")]
fn sum(rest: Operands<'_, i32>, last: i32) {}

fn main() {}

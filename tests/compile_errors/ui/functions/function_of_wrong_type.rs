#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(#[function] callee: i32, #[region(body)] body: FunctionRef, #[region] bodies: &[FunctionRef]) {}

fn main() {}

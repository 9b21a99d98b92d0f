#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(first: &[FunctionRef], second: Vec<FunctionRef>) {}

fn main() {}

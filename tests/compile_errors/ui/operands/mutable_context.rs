#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(text: &mut str, ctx: &mut ExecutionContext, value: &mut AnyRef) {}

fn main() {}

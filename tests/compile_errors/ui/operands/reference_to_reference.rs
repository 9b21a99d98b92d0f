#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(value: &AsyncValueRef<i32>, rest: &Operands<'_, i32>, host: HostContext) {}

fn main() {}

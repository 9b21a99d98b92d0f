#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.buffer", mutable)]
struct Buffer;

#[tfrt_kernel("my.sum")]
fn sum(buffers: Operands<'_, Buffer>) {}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.buffer", mutable)]
struct Buffer;

#[tfrt_kernel("my.fill", pure)]
fn fill(buffer: &mut Buffer) {}

fn main() {}

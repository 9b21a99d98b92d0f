#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.buffer", mutable)]
struct Buffer;

#[tfrt_kernel("my.fill", alias(result = bufer, other = buffer))]
fn fill(buffer: &mut Buffer) -> Buffer {
    Buffer
}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", format = "$a `,` $c attr-dict")]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[tfrt_kernel("my.first", format = "$a attr-dict")]
fn first(a: AnyRef) -> i32 {
    1
}

fn main() {}

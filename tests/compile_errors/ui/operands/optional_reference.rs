#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pick", non_strict)]
fn pick(first: AnyRef, second: Option<AnyRef>) -> AnyRef {
    first
}

fn main() {}

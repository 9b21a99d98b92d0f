#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.apply")]
fn apply(#[function] body: Region<(i32,), (i32,)>, #[region] callee: Function<(i32,), (i32,)>) {}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Point;

#[tfrt_kernel("my.apply")]
fn apply(callee: Function<(Point,), (i32,)>) {}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

struct Point;

#[tfrt_kernel("my.make")]
fn make() -> Point {
    Point
}

fn main() {}

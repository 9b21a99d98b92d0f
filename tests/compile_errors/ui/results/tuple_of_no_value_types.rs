#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Point;

struct Line;

#[tfrt_kernel("my.make")]
fn make() -> (Point, Result<Line>) {
    (Point, Ok(Line))
}

fn main() {}

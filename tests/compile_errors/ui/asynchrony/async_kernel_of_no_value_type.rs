#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Point;

#[tfrt_kernel("my.show")]
async fn show(point: &Point) -> Point {
    Point
}

fn main() {}

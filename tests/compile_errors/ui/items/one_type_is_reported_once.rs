#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Point;

#[tfrt_kernel("my.join.{N}", sync = "my_sync.join.{N}", N = [1, 2])]
fn join<const N: i32>(first: &Point, second: &Point) -> Point {
    Point
}

fn main() {}

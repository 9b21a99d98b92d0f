#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.point")]
struct Point;

#[tfrt_kernel("my.show")]
fn show(point: Point) {}

fn main() {}

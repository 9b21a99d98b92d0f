#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Clone, Value)]
#[value("!my.point")]
struct Point;

#[tfrt_kernel("my.show")]
fn show(#[attr] point: Point) {}

fn main() {}

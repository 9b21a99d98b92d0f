#![allow(unused_variables)]

use tfrt::prelude::*;

struct Point;

#[tfrt_kernel("my.show")]
fn show(point: &Point) {}

fn main() {}

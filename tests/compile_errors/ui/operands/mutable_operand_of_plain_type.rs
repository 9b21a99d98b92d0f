#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Clone, Value)]
#[value("!my.point")]
struct Point;

#[tfrt_kernel("my.move")]
fn shift(point: &mut Point) {}

fn main() {}

#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pad")]
fn pad(#[attr(default = 1)] amount: Option<i64>, #[attr] width: Option<usize>, #[attr] names: Option<&String>) {}

#[tfrt_kernel("my.free", attribute_names = free)]
fn free(#[attr] amount: Option<i64>) {}

#[derive(Value)]
#[value("!my.point")]
struct Point;

#[tfrt_kernel("my.point")]
fn point(#[attr] point: Option<Point>) {}

fn main() {}

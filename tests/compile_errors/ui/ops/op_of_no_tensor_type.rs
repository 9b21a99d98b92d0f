#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Clone, Value)]
#[value("!my.point")]
struct Point;

#[tfrt_op("my.ByRef")]
fn by_ref(x: &Point) {}

#[tfrt_op("my.Returned")]
fn returned(x: &DenseHostTensor) -> Point {
    Point
}

#[tfrt_op("my.Out", metadata = same)]
fn out(x: &DenseHostTensor, #[out] y: &mut Point) {}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

fn main() {}

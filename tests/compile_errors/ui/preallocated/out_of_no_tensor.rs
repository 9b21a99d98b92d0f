#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.point")]
struct Point;

fn none() -> TensorMetadata {
    TensorMetadata::new(DType::F32, [1])
}

#[tfrt_kernel("my.make", metadata = none)]
fn make(#[out] point: &mut Point) {}

fn main() {}

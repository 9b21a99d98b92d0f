#![allow(dead_code, unused_variables)]

use tfrt::core::metadata::same_as;
use tfrt::prelude::*;

fn of_two(x: &TensorMetadata, y: &TensorMetadata) -> f64 {
    1.0
}

#[tfrt_op("my.Two", metadata = same_as, cost = of_two)]
fn two(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn in_words(x: &TensorMetadata) -> &'static str {
    "long"
}

#[tfrt_op("my.Words", metadata = same_as, cost = in_words)]
fn words(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn main() {}

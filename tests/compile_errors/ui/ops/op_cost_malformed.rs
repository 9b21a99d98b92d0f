#![allow(dead_code, unused_imports, unused_variables)]

use tfrt::core::metadata::same_as;
use tfrt::prelude::*;

fn estimate(x: &TensorMetadata) -> f64 {
    1.0
}

#[tfrt_op("my.NoPath", metadata = same_as, cost)]
fn no_path(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Twice", metadata = same_as, cost = estimate, cost = estimate)]
fn twice(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Call", raw, cost = estimate)]
fn call(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Only", metadata_only, cost = estimate)]
fn only(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

fn main() {}

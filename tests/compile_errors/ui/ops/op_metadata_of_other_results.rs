#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn one(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

fn number(x: &TensorMetadata) -> usize {
    x.extents.len()
}

#[tfrt_op("my.Two", metadata = one)]
fn two(x: &DenseHostTensor) -> (DenseHostTensor, DenseHostTensor) {
    (x.clone(), x.clone())
}

#[tfrt_op("my.Some", metadata = one)]
fn some(x: &DenseHostTensor) -> Vec<DenseHostTensor> {
    vec![x.clone()]
}

#[tfrt_op("my.Number", metadata = number)]
fn one_result(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Out")]
fn out(x: &DenseHostTensor, #[out] y: &mut DenseHostTensor) {}

fn main() {}

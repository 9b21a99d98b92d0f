#![allow(dead_code, unused_variables)]

use tfrt::core::metadata::partial::{self, PartialMetadata};
use tfrt::core::metadata::same_as;
use tfrt::prelude::*;

#[tfrt_op("my.Known", metadata = same_as, partial = same_as)]
fn known(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Two", metadata = same_as, partial = partial::broadcast)]
fn two(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn answers_known(x: &PartialMetadata) -> TensorMetadata {
    TensorMetadata::new(DType::F32, [])
}

#[tfrt_op("my.Answer", metadata = same_as, partial = answers_known)]
fn answer(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn main() {}

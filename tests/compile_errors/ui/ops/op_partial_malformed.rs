#![allow(dead_code, unused_imports, unused_variables)]

use tfrt::core::metadata::partial;
use tfrt::core::metadata::same_as;
use tfrt::prelude::*;

#[tfrt_op("my.NoPath", metadata = same_as, partial)]
fn no_path(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Twice", metadata = same_as, partial = partial::same_as, partial = partial::same_as)]
fn twice(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Alone", partial = partial::same_as)]
fn alone(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Call", raw, partial = partial::same_as)]
fn call(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Only", metadata_only, partial = partial::same_as)]
fn only(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

fn main() {}

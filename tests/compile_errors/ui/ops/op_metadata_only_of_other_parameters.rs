#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Tensor", metadata_only)]
fn tensor(x: &DenseHostTensor) -> TensorMetadata {
    x.metadata()
}

#[tfrt_op("my.Nothing", metadata_only)]
fn nothing(x: &TensorMetadata) {}

#[tfrt_op("my.Effect", metadata_only, side_effecting)]
fn effect(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Other", metadata_only, metadata = other)]
fn other(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Later", metadata_only)]
async fn later(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Number", metadata_only)]
fn number(x: &TensorMetadata) -> usize {
    x.extents.len()
}

#[tfrt_op("my.Query", metadata_only)]
fn query(query: &OpQuery<'_>) -> TensorMetadata {
    TensorMetadata::new(DType::F32, [])
}

fn main() {}

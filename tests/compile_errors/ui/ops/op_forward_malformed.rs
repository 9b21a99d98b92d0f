#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Value", metadata = same, forward)]
fn value(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.Nothing", metadata = same, forward = [])]
fn nothing(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.Twice", metadata = same, forward = [x, x])]
fn twice(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.Again", metadata = same, forward = x, forward = x)]
fn again(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.Nowhere", metadata = same, forward = z)]
fn nowhere(x: &[f32], #[out] y: &mut [f32]) {}

#[tfrt_op("my.Elements", metadata = same, forward = x)]
fn elements(x: &[f32], #[out] y: &mut [f32]) {}

#[tfrt_op("my.Unsaid", metadata = same)]
fn unsaid(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.NoType", metadata = same, forward = x)]
fn no_type(x: Forwarded, #[out] y: &mut [f32]) {}

#[tfrt_op("my.NoResult", forward = x)]
fn no_result(x: Forwarded<'_, f32>) -> DenseHostTensor {
    todo!()
}

#[tfrt_op("my.Results", metadata = same, forward = x)]
fn results(x: Forwarded<'_, f32>, #[out] y: &mut [f32], #[out] z: &mut [f32]) {}

#[tfrt_op("my.Scalar", metadata = same, forward = x)]
fn scalar(x: Forwarded<'_, f32>, #[out] y: &mut ScalarHostTensor) {}

#[tfrt_op("my.Later", metadata = same, forward = x)]
async fn later(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}

#[tfrt_op("my.Call", raw, forward = x)]
fn call(call: &mut OpCall<'_>) {}

fn main() {}

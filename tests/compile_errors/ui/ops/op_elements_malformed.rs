#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Rankless")]
fn rankless(x: TensorView<'_, f32>) {}

#[tfrt_op("my.Written")]
fn written(x: TensorViewMut<'_, f32, 1>) {}

#[tfrt_op("my.Slice")]
fn slice(x: &mut [f32]) {}

#[tfrt_op("my.Lent")]
fn lent(x: &TensorView<'_, f32, 1>) {}

#[tfrt_op("my.Read", metadata = same)]
fn read(x: &[f32], #[out] y: TensorView<'_, f32, 1>) {}

#[tfrt_op("my.ReadSlice", metadata = same)]
fn read_slice(x: &[f32], #[out] y: &[f32]) {}

#[tfrt_op("my.Element")]
fn element(x: &[String]) {}

fn main() {}

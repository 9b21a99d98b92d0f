#![allow(dead_code)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add", pure,, results(sum))]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[tfrt_kernel(, "my.sub")]
fn sub(a: i32, b: i32) -> i32 {
    a - b
}

#[tfrt_kernel("my.twice", elementwise,,)]
fn twice(x: f32) -> f32 {
    x + x
}

#[tfrt_op("my.Op", metadata = same_as,,)]
fn op(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Relu.{T}", T = [f32,, i32])]
fn relu<T: Copy>(x: &[T]) -> Vec<T> {
    x.to_vec()
}

fn main() {}

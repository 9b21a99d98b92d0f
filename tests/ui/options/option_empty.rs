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

#[tfrt_op("my.Op", metadata = same_as(x),,)]
fn op(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn main() {}

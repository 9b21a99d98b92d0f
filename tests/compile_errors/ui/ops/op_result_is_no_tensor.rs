#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Number")]
fn number(x: &DenseHostTensor) -> i32 {
    1
}

#[tfrt_op("my.Text")]
fn text(x: &DenseHostTensor) -> Result<String> {
    Ok(String::new())
}

#[tfrt_op("my.Part")]
fn part(x: &DenseHostTensor) -> (DenseHostTensor, f32) {
    (x.clone(), 1.0)
}

#[tfrt_op("my.Later")]
fn later(x: &DenseHostTensor) -> AsyncValueRef<i64> {
    AsyncValueRef::available(1)
}

#[tfrt_op("my.Chain", side_effecting)]
fn chain(x: &DenseHostTensor) -> Chain {
    Chain
}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Struct")]
struct Struct;

#[tfrt_op("my.Twice")]
#[tfrt_kernel("my.twice")]
fn twice(x: &DenseHostTensor) {}

#[tfrt_op("my.First")]
#[tfrt_op("my.Second")]
fn second(x: &DenseHostTensor) {}

struct Type;

impl Type {
    #[tfrt_op("my.Method")]
    fn method(&self, x: &DenseHostTensor) {}
}

fn main() {}

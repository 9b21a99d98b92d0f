#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn one(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Two", metadata = one)]
fn two(x: &AnyRef, y: &AnyRef) -> DenseHostTensor {
    unreachable!()
}

#[tfrt_op("my.Attribute", metadata = one)]
fn attribute(x: &DenseHostTensor, #[attr] axis: i64) -> DenseHostTensor {
    unreachable!()
}

#[tfrt_op("my.Optional", metadata = one)]
fn optional(x: Option<&DenseHostTensor>) -> DenseHostTensor {
    unreachable!()
}

#[tfrt_op("my.Rest", metadata = one)]
fn rest(x: Operands<'_, DenseHostTensor>) -> DenseHostTensor {
    unreachable!()
}

#[tfrt_op("my.Filled", metadata = one)]
fn filled(x: &AnyRef, y: &dyn Tensor, #[out] z: &mut DenseHostTensor) {}

#[tfrt_op("my.Family", T = [f32], metadata = one)]
fn family<T: Element>(x: &[T], y: &[T], #[out] z: &mut [T]) {}

#[tfrt_op("my.Raw", raw, metadata = one)]
fn raw(call: &mut OpCall<'_>) {}

fn main() {}

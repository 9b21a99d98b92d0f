#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Unlisted", metadata = same)]
fn unlisted<T: Element>(x: &[T], #[out] y: &mut [T]) {}

#[tfrt_op("my.Nothing", T = [], metadata = same)]
fn nothing<T: Element>(x: &[T], #[out] y: &mut [T]) {}

#[tfrt_op("my.Untold", T = [f32], metadata = same)]
fn untold<T: Element>(x: &DenseHostTensor, #[out] y: &mut [T]) {}

#[tfrt_op("my.Optional", T = [f32])]
fn optional<T: Element>(x: Option<&[T]>) {}

#[tfrt_op("my.Attribute", T = [f32])]
fn attribute<T: Element>(x: &[T], #[attr] alpha: T) {}

#[tfrt_op("my.Other", T = [f32])]
fn other<T: Element>(x: &[T], y: Operands<'_, T>) {}

#[tfrt_op("my.Returned", T = [f32])]
fn returned<T: Element>(x: &[T]) -> Vec<T> {
    x.to_vec()
}

#[tfrt_op("my.Constant", N = [1, 2])]
fn constant<const N: usize>(x: TensorView<'_, f32, N>) {}

#[tfrt_op("my.NotGeneric", T = [f32])]
fn not_generic(x: &DenseHostTensor) {}

#[tfrt_op("my.Twice", T = [f32], T = [f64])]
fn twice<T: Element>(x: &[T]) {}

#[tfrt_op("my.Element", T = [f32, String])]
fn element<T: 'static>(x: &[T]) {}

#[tfrt_op("my.Bound", T = [i32, f32])]
fn bound<T: Element + Ord>(x: &[T]) {}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Value", function)]
fn value(x: &[f32]) {}

#[tfrt_op("my.Text", function = "call")]
fn text(x: &[f32]) {}

#[tfrt_op("my.Itself", function = itself)]
fn itself(x: &[f32]) {}

#[tfrt_op("my.Twice", function = one, function = two)]
fn twice(x: &[f32]) {}

#[tfrt_op("my.Each.{T}", T = [f32, i32], function = each_type)]
fn each<T: Element>(x: &[T]) {}

#[tfrt_op("my.Call", raw, function = call_it)]
fn call(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Told", metadata_only, function = tell)]
fn told(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_op("my.Dims", function = of_shape)]
fn of_dims(x: &[f32], #[attr] dims: ShapeView<'_>) {}

fn main() {}

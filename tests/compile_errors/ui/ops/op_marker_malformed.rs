#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Variable;

#[tfrt_op("my.OfAttribute")]
fn of_attribute(x: &[f32], #[host] #[attr] axis: i64) {}

#[tfrt_op("my.OfContext")]
fn of_context(x: &[f32], #[host] ctx: &ExecutionContext) {}

#[tfrt_op("my.Options")]
fn options(#[host(always)] x: &[f32]) {}

#[tfrt_op("my.Twice")]
fn twice(#[host] #[host] x: &[f32]) {}

#[tfrt_op("my.Both", side_effecting)]
fn both(#[resource] #[host] x: &Variable) {}

#[tfrt_op("my.ByValue", side_effecting)]
fn by_value(#[resource] x: Variable) {}

#[tfrt_op("my.ByMut", side_effecting)]
fn by_mut(#[resource] x: &mut Variable) {}

#[tfrt_op("my.Tensor", side_effecting)]
fn tensor(#[resource] x: &DenseHostTensor) {}

#[tfrt_op("my.Slice", side_effecting)]
fn slice(#[resource] x: &[f32]) {}

#[tfrt_op("my.Unordered")]
fn unordered(#[resource] x: &Variable) {}

#[tfrt_op("my.Call", raw)]
fn call(#[host] call: &mut OpCall<'_>) {}

#[tfrt_kernel("my.kernel")]
fn kernel(#[resource] x: &DenseHostTensor, #[host] y: &DenseHostTensor) {}

fn main() {}

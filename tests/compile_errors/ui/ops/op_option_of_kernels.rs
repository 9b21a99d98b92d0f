#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Sync", sync)]
fn sync(x: &DenseHostTensor) {}

#[tfrt_op("my.Twin", sync = "my_sync.Twin")]
fn twin(x: &DenseHostTensor) {}

#[tfrt_op("my.Format", format = "$x attr-dict")]
fn format(x: &DenseHostTensor) {}

#[tfrt_op("my.Set", kernel_set = Set)]
fn set(x: &DenseHostTensor) {}

#[tfrt_op("my.Early", non_strict)]
fn early(x: AnyRef) {}

#[tfrt_op("my.Unordered", side_effecting, chain = none)]
fn unordered(x: &DenseHostTensor) {}

#[tfrt_op("my.Free", attribute_names = free)]
fn free(#[attr] x: i32) {}

#[tfrt_op("my.Declared", operands(x: any), attrs(y: i32))]
fn declared(x: &DenseHostTensor) {}

#[tfrt_op("my.Called", call, symbols(f))]
fn called(x: &DenseHostTensor) {}

fn main() {}

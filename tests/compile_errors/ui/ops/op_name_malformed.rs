#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op]
fn nameless(x: &DenseHostTensor) {}

#[tfrt_op(accepts(scalar))]
fn options_only(x: &DenseHostTensor) {}

#[tfrt_op(my.Unquoted)]
fn unquoted(x: &DenseHostTensor) {}

#[tfrt_op(accepts(scalar), "my.Behind")]
fn behind(x: &DenseHostTensor) {}

#[tfrt_op("Op")]
fn no_dialect(x: &DenseHostTensor) {}

#[tfrt_op("my.{T}")]
fn not_generic(x: &DenseHostTensor) {}

#[tfrt_op("Raw", raw)]
fn raw(call: &mut OpCall<'_>) {}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Number")]
fn number(x: i32) {}

#[tfrt_op("my.Text")]
fn text(x: &str) {}

#[tfrt_op("my.String")]
fn string(x: String) {}

#[tfrt_op("my.Bytes")]
fn optional(x: Option<f32>) {}

#[tfrt_op("my.Rest")]
fn rest(x: Operands<'_, i32>) {}

#[tfrt_op("my.Later")]
fn later(x: AsyncValueRef<i64>) {}

#[tfrt_op("my.Default")]
fn default(#[operand(default = 1)] x: i32) {}

#[tfrt_op("my.Chain")]
fn chain(x: &DenseHostTensor, chain: Chain) {}

#[tfrt_op("my.Function")]
fn function(f: FunctionRef) {}

#[tfrt_op("my.Region")]
fn region(#[region] body: FunctionRef) {}

#[tfrt_op("my.All")]
fn all(attributes: Attributes<'_>) {}

#[tfrt_op("my.Frame")]
fn frame(frame: &mut KernelFrame<'_>) {}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Misspelled", side_efecting, acepts(scalar))]
fn misspelled(x: &DenseHostTensor) {}

#[tfrt_op("my.Kind", accepts(sclar))]
fn kind(x: &DenseHostTensor) {}

#[tfrt_op("my.Kinds", accepts)]
fn kinds(x: &DenseHostTensor) {}

#[tfrt_op("my.NoKind", accepts())]
fn no_kind(x: &DenseHostTensor) {}

#[tfrt_op("my.Twice", accepts(scalar, scalar))]
fn twice(x: &DenseHostTensor) {}

#[tfrt_op("my.Flag", raw = true)]
fn flag(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Path", metadata)]
fn path(x: &DenseHostTensor) {}

#[tfrt_op("my.Device", device = gpu)]
fn device(x: &DenseHostTensor) {}

#[tfrt_op("my.Word", device = "my gpu")]
fn word(x: &DenseHostTensor) {}

#[tfrt_op("my.Devices", device = "gpu", device = "tpu")]
fn devices(x: &DenseHostTensor) {}

#[tfrt_op("my.Unsupported", unsupported = "no {dtype}")]
fn unsupported(x: &DenseHostTensor) {}

#[tfrt_op("my.Pure", pure, side_effecting)]
fn pure(x: &DenseHostTensor) {}

fn main() {}

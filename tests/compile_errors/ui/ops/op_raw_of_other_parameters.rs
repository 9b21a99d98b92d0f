#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_op("my.Frame", raw)]
fn frame(frame: &mut KernelFrame<'_>) {}

#[tfrt_op("my.Shared", raw)]
fn shared(call: &OpCall<'_>) {}

#[tfrt_op("my.Nothing", raw)]
fn nothing() {}

#[tfrt_op("my.Two", raw)]
fn two(call: &mut OpCall<'_>, x: &DenseHostTensor) {}

#[tfrt_op("my.Value", raw)]
fn value(call: &mut OpCall<'_>) -> Result<DenseHostTensor> {
    Err(Error::new("nothing"))
}

#[tfrt_op("my.Async", raw)]
async fn later(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Blocking", raw, blocking)]
fn blocking(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Generic", raw)]
fn generic<T>(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Listed", raw, T = [f32])]
fn listed(call: &mut OpCall<'_>) {}

#[tfrt_op("my.Query", raw, metadata_only)]
fn query(call: &mut OpCall<'_>) -> TensorMetadata {
    TensorMetadata::new(DType::F32, [])
}

fn main() {}

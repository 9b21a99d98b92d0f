#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

fn none() -> TensorMetadata {
    TensorMetadata::new(DType::F32, [1])
}

#[tfrt_kernel("my.raw", raw, metadata = none)]
fn raw(frame: &mut KernelFrame<'_>) {}

fn main() {}

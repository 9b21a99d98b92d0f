#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.tensor", mutable)]
struct Tensor;

impl Shaped for Tensor {
    fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(DType::F32, [1])
    }
}

impl Preallocated for Tensor {
    fn allocate(_ctx: &ExecutionContext, _metadata: &TensorMetadata) -> Result<Self> {
        Ok(Tensor)
    }
}

fn by_value(x: TensorMetadata) -> TensorMetadata {
    x
}

#[tfrt_kernel("my.by_value", metadata = by_value)]
fn filled_by_value(x: &Tensor, #[out] y: &mut Tensor) {}

fn narrow(x: &TensorMetadata, axis: i32) -> TensorMetadata {
    x.clone()
}

#[tfrt_kernel("my.narrow", metadata = narrow)]
fn filled_narrow(x: &Tensor, #[attr] axis: i64, #[out] y: &mut Tensor) {}

fn with_number(number: f32, x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_kernel("my.with_number", metadata = with_number)]
fn filled_with_number(number: f32, x: &Tensor, #[out] y: &mut Tensor) {}

const ANSWER: i32 = 42;

#[tfrt_kernel("my.no_function", metadata = ANSWER)]
fn filled_by_no_function(x: &Tensor, #[out] y: &mut Tensor) {}

fn len(x: &TensorMetadata, axis: i32) -> usize {
    0
}

#[tfrt_kernel("my.workspace", workspace = len)]
fn with_workspace(x: &Tensor, #[workspace] scratch: &mut [f32]) {}

fn main() {}

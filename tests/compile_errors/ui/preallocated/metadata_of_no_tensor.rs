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

#[derive(Value)]
#[value("!my.point")]
struct Point;

fn second(point: &TensorMetadata, x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_kernel("my.relu", metadata = second)]
fn relu(point: &Point, x: &Tensor, #[out] y: &mut Tensor) {}

fn main() {}

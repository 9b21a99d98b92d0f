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

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[tfrt_kernel("my.relu", metadata = same, results(y))]
fn relu(x: &Tensor, #[out] y: &mut Tensor) {}

fn main() {}

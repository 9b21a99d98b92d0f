#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;
use tfrt_onnx::onnx_op;

#[onnx_op(domain = "com.example", since = 1)]
#[tfrt_op("my.Above")]
fn above(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Below")]
#[onnx_op(domain = "", name = "Below", sinc = 1)]
fn below(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("my.Missing")]
#[onnx_op(domain = "com.example", name = "Missing")]
fn missing(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[onnx_op(domain = "com.example", name = "Family", since = 1)]
#[tfrt_op("my.Family.{T}", T = [f32, f64], metadata = same)]
fn family<T: Element>(x: &[T], #[out] y: &mut [T]) {}

#[onnx_op(domain = "com.example", name = "Kernel", since = 1)]
#[tfrt_kernel("my.kernel")]
fn kernel(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn main() {}

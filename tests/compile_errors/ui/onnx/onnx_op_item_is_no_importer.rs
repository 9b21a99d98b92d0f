#![allow(dead_code, unused_variables)]

use tfrt_import::ImportError;
use tfrt_import::program::Value;
use tfrt_onnx::{OnnxCall, onnx_op};

#[onnx_op(domain = "com.example", name = "Struct", since = 1)]
struct Struct;

#[onnx_op(domain = "com.example", name = "Number", since = 1)]
fn number(call: &mut OnnxCall<'_>) -> i32 {
    3
}

#[onnx_op(domain = "com.example", name = "Later", since = 1)]
async fn later(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "com.example", name = "Generic", since = 1)]
fn generic<T>(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

struct Type;

impl Type {
    #[onnx_op(domain = "com.example", name = "Method", since = 1)]
    fn method(&self, call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
        Ok(Vec::new())
    }
}

fn main() {}

#![allow(dead_code, unused_variables)]

use tfrt_import::ImportError;
use tfrt_import::program::Value;
use tfrt_onnx::{OnnxCall, onnx_op};

#[onnx_op(domain = "com.example", since = 1)]
fn no_name(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op]
fn nothing(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "", name = "Frob", since = 1)]
fn empty_domain(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "ai.onnx", name = "", since = 0)]
fn wrong_in_every_way(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "com.example", name = "Frob", since = -1)]
fn negative_version(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "com.example", name = "Frob", version = 1)]
fn unknown_option(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domian = "com.example", name = "Frob", since = 1)]
fn misspelt_option(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "com.example", name, since = "1", since = 2)]
fn values_of_no_use(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op(domain = "com.example", name = "Fr\nob", name = "Frob", since = 1)]
fn twice(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

#[onnx_op("com.example", "Frob", 1)]
fn no_keys(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    Ok(Vec::new())
}

fn main() {}

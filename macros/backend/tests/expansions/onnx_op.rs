#[cfg(unix)]
#[onnx_op(domain = "com.example", name = "Frob", since = 3)]
fn import_frob(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    todo!()
}

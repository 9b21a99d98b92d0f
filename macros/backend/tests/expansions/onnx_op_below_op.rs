#[tfrt_op("my.Frob", raw)]
#[onnx_op(domain = "com.example", name = "Frob", since = 1)]
#[onnx_op(domain = "com.example", name = "Frobnicate", since = 2)]
fn frob(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}

#[onnx_op(domain = "com.example", name = "Frob", since = 1, crate = my::onnx)]
#[tfrt_op("my.Frob", raw)]
fn frob(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}

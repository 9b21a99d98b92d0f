#[tfrt_op("my.Frob", raw)]
fn frob(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}
const _: () = {
    my::onnx::__private::submit! {
        my::onnx::__private::OnnxOp { domain : "com.example", name : "Frob", since :
        1i64, lowering : my::onnx::__private::OnnxLowering::Op("my.Frob"), place :
        my::onnx::__private::SourcePlace { file : my::onnx::__private::file!(), line :
        my::onnx::__private::line!(), }, }
    }
};

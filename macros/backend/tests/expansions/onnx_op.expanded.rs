#[cfg(unix)]
fn import_frob(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    todo!()
}
#[cfg(unix)]
const _: () = {
    ::tfrt_onnx::__private::submit! {
        ::tfrt_onnx::__private::OnnxOp { domain : "com.example", name : "Frob", since :
        3i64, lowering : ::tfrt_onnx::__private::OnnxLowering::Function(import_frob),
        place : ::tfrt_onnx::__private::SourcePlace { file :
        ::tfrt_onnx::__private::file!(), line : ::tfrt_onnx::__private::line!(), }, }
    }
};

fn frob(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_frob
    const __OP0: __tfrt::OpRegistration = __tfrt::OpRegistration {
        flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
        implementation: __tfrt::Implementation::Function(|__call| __tfrt::finished(
            frob(__call),
        )),
        place: __tfrt::SourcePlace {
            file: __tfrt::file!(),
            line: __tfrt::line!(),
        },
        ..__tfrt::OpRegistration::new("my.Frob")
    };
    __tfrt::submit! {
        __OP0
    }
}
const _: () = {
    ::tfrt_onnx::__private::submit! {
        ::tfrt_onnx::__private::OnnxOp { domain : "com.example", name : "Frob", since :
        1i64, lowering : ::tfrt_onnx::__private::OnnxLowering::Op("my.Frob"), place :
        ::tfrt_onnx::__private::SourcePlace { file : ::tfrt_onnx::__private::file!(),
        line : ::tfrt_onnx::__private::line!(), }, }
    }
};
const _: () = {
    ::tfrt_onnx::__private::submit! {
        ::tfrt_onnx::__private::OnnxOp { domain : "com.example", name : "Frobnicate",
        since : 2i64, lowering : ::tfrt_onnx::__private::OnnxLowering::Op("my.Frob"),
        place : ::tfrt_onnx::__private::SourcePlace { file :
        ::tfrt_onnx::__private::file!(), line : ::tfrt_onnx::__private::line!(), }, }
    }
};

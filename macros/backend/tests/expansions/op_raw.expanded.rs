fn constant(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_constant
    const __OP0: __tfrt::OpRegistration = __tfrt::OpRegistration {
        flags: __tfrt::OpFlags::NONE
            .with(__tfrt::OpFlags::ACCEPTS_STRING)
            .with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
        implementation: __tfrt::Implementation::Function(|__call| __tfrt::finished(
            constant(__call),
        )),
        metadata: __tfrt::Some(|__query| __tfrt::result_metadata::<
            __tfrt::AnyResults,
        >(__tfrt::asked_with((__query,)).says(&constant))),
        place: __tfrt::SourcePlace {
            file: __tfrt::file!(),
            line: __tfrt::line!(),
        },
        ..__tfrt::OpRegistration::new("my.Const")
    };
    __tfrt::submit! {
        __OP0
    }
}

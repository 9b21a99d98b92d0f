fn raw(frame: &mut KernelFrame<'_>) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_raw
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::raw_operand(
                                "a",
                                __tfrt::exactly::<<i32 as __tfrt::IsValue>::This>(),
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "b",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::Optional,
                                false,
                                false,
                            ),
                        ],
                        results: &[
                            __tfrt::raw_result(
                                "c",
                                __tfrt::TypeConstraint::SameAs("a"),
                                __tfrt::Arity::One,
                                __tfrt::None,
                            ),
                        ],
                        traits: __tfrt::OpTraits::SYNC,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.raw")
                    }
                },
                raw,
            )
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

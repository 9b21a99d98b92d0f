fn cond(frame: &mut KernelFrame<'_>) -> Result<()> {
    run(frame)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_cond
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            const _: () = __tfrt::assert_default::<
                <i64 as __tfrt::IsAttribute>::This,
            >(&__tfrt::AttrDefault::Int(3));
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::raw_operand(
                                "cond",
                                __tfrt::exactly::<<bool as __tfrt::IsValue>::This>(),
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "args",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::Variadic,
                                false,
                                true,
                            ),
                        ],
                        attributes: &[
                            __tfrt::attribute::<
                                <i64 as __tfrt::IsAttribute>::This,
                            >("limit", __tfrt::Some(__tfrt::AttrDefault::Int(3))),
                        ],
                        functions: &[
                            __tfrt::FunctionDef {
                                name: "a_true_fn",
                                form: __tfrt::FunctionForm::Symbol,
                            },
                            __tfrt::FunctionDef {
                                name: "b_false_fn",
                                form: __tfrt::FunctionForm::Symbol,
                            },
                        ],
                        results: &[
                            __tfrt::raw_result(
                                "outputs",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::Variadic,
                                __tfrt::None,
                            ),
                        ],
                        traits: __tfrt::OpTraits::NON_STRICT,
                        verifier: __tfrt::Some(verify_cond),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.cond")
                    }
                },
                |__frame| {
                    if let __tfrt::Err(__error) = cond(__frame) {
                        __frame.report_error(__tfrt::From::from(__error));
                    }
                },
            )
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

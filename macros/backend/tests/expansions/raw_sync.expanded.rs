fn raw(frame: &mut KernelFrame<'_>) {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct raw {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for raw {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
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
            ),
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < raw > ()
}

fn split(text: &str, by: &str) -> Vec<String> {
    todo!()
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct split {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for split {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::Text<__tfrt::AsStr, 0usize>,
                            >("text"),
                            __tfrt::operand::<
                                __tfrt::OptionalText<__tfrt::AsStr, 1usize, true>,
                            >("by"),
                        ],
                        results: &[
                            __tfrt::result::<__tfrt::TextTail>("parts", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.split")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::Text<__tfrt::AsStr, 0usize>,
                        __tfrt::OptionalText<__tfrt::AsStr, 1usize, true>,
                    ),
                    __tfrt::TextTail,
                    _,
                >(|(__a0, __a1)| split(__a0, __a1.unwrap_or_else(|| " ")))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < split > ()
}

fn join(text: &str, owned: String, bytes: &[u8], end: Option<&str>) -> String {
    todo!()
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct join {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for join {
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
                                __tfrt::Text<__tfrt::AsString, 1usize>,
                            >("owned"),
                            __tfrt::operand::<
                                __tfrt::Text<__tfrt::AsBytes, 2usize>,
                            >("bytes"),
                            __tfrt::operand::<
                                __tfrt::OptionalText<__tfrt::AsStr, 3usize, true>,
                            >("end"),
                        ],
                        results: &[
                            __tfrt::result::<__tfrt::TextResult>("joined", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.join")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::Text<__tfrt::AsStr, 0usize>,
                        __tfrt::Text<__tfrt::AsString, 1usize>,
                        __tfrt::Text<__tfrt::AsBytes, 2usize>,
                        __tfrt::OptionalText<__tfrt::AsStr, 3usize, true>,
                    ),
                    __tfrt::TextResult,
                    _,
                >(|(__a0, __a1, __a2, __a3)| join(__a0, __a1, __a2, __a3))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < join > ()
}

fn add(a: i32) -> i32 {
    a
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct add {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for add {
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
                                __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.add")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,),
                    __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0,)| add(__a0))
            },
            {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("your.add")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,),
                    __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0,)| add(__a0))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < add > ()
}

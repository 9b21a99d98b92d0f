fn maybe(number: i64, last: Option<FunctionRef>) -> i64 {
    todo()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_maybe
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 0usize>,
                        >("number"),
                    ],
                    functions: &[
                        __tfrt::FunctionDef {
                            name: "last",
                            form: __tfrt::FunctionForm::OptionalSymbol,
                        },
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.maybe")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::OptionalFunction<0usize>,
                ),
                __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| maybe(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

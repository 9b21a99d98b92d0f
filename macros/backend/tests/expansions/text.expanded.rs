fn join(text: &str, owned: String, bytes: &[u8], end: Option<&str>) -> String {
    todo!()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_join
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 0usize>>("text"),
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsString, 1usize>>("owned"),
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsBytes, 2usize>>("bytes"),
                        __tfrt::operand::<
                            __tfrt::OptionalText<__tfrt::AsStr, 3usize, true>,
                        >("end"),
                    ],
                    results: &[__tfrt::result::<__tfrt::TextResult>("joined", __tfrt::None)],
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
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

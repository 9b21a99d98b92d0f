fn split(text: &str, by: &str) -> Vec<String> {
    todo!()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_split
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 0usize>>("text"),
                        __tfrt::operand::<
                            __tfrt::OptionalText<__tfrt::AsStr, 1usize, true>,
                        >("by"),
                    ],
                    results: &[__tfrt::result::<__tfrt::TextTail>("parts", __tfrt::None)],
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
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

fn scale(a: i32, b: i32) -> i32 {
    a * b
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_scale
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::Optional<<i32 as __tfrt::IsCopied>::This, 1usize, true>,
                        >("b"),
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
                    ..__tfrt::OpDef::new("my.scale")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::Optional<<i32 as __tfrt::IsCopied>::This, 1usize, true>,
                ),
                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| scale(__a0, __a1.unwrap_or_else(|| 2 * 5)))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

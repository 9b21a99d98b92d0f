fn div_s(a: i32, b: i32) -> Result<(i32, i32)> {
    divide(a, b)
}
renamed::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_div_s
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
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                        >("b"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result0", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result1", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::SYNC,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.div_s")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                ),
                __tfrt::Fallible<
                    __tfrt::Parts<
                        (
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        ),
                    >,
                    <Result<(i32, i32)> as __tfrt::IsFallible>::This,
                >,
                _,
            >(|(__a0, __a1)| div_s(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

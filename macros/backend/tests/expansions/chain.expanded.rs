fn order(number: i32, chain: Chain) -> (i32, Chain) {
    (number, chain)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_order
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("number"),
                        __tfrt::operand::<
                            __tfrt::ByValue<<Chain as __tfrt::IsCopied>::This, 1usize>,
                        >("chain"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result0", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<Chain as __tfrt::IsValue>::This>,
                        >("result1", __tfrt::None),
                    ],
                    effect: __tfrt::Effect::Ordered("random"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.order")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::ByValue<<Chain as __tfrt::IsCopied>::This, 1usize>,
                ),
                __tfrt::Parts<
                    (
                        __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        __tfrt::Payload<<Chain as __tfrt::IsValue>::This>,
                    ),
                >,
                _,
            >(|(__a0, __a1)| order(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

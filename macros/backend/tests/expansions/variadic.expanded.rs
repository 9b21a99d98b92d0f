fn sum_all(first: i32, rest: Operands<'_, i32>) -> i32 {
    first
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_sum_all
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("first"),
                        __tfrt::operand::<
                            __tfrt::Rest<<i32 as __tfrt::IsValue>::This, 1usize, true>,
                        >("rest"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Ordered("io"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.sum_all")
                };
            }
            const _: () = __tfrt::assert_not_mutable::<<i32 as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::Rest<<i32 as __tfrt::IsValue>::This, 1usize, true>,
                ),
                __tfrt::WithChain<__tfrt::Payload<<i32 as __tfrt::IsValue>::This>>,
                _,
            >(|(__a0, __a1)| sum_all(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

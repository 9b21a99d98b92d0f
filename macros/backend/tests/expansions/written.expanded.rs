fn push(log: &mut Log, number: i64) -> Result<i64> {
    Ok(1)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_push
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByMut<<Log as __tfrt::IsValue>::This, 0usize>,
                        >("log"),
                        __tfrt::operand::<
                            __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 1usize>,
                        >("number"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                        >("len", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.push")
                };
            }
            const _: () = __tfrt::assert_mutable::<<Log as __tfrt::IsValue>::This>();
            const _: () = __tfrt::assert_not_chain::<<Log as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByMut<<Log as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 1usize>,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<
                        __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                        <Result<i64> as __tfrt::IsFallible>::This,
                    >,
                >,
                _,
            >(|(__a0, __a1)| push(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

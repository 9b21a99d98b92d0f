async fn wait(a: i32, later: AsyncValueRef<i32>) -> (i32, Result<i32>) {
    (a, later.await)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_wait
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
                            __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 1usize>,
                        >("later"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result0", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result1", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN.with(__tfrt::OpTraits::ASYNC),
                    effect: __tfrt::Effect::Ordered("io"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.wait")
                };
            }
            __tfrt::KernelDescriptor::new_owned_async::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 1usize>,
                ),
                __tfrt::WithChain<
                    __tfrt::Parts<
                        (
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            __tfrt::FalliblePart<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                                <Result<i32> as __tfrt::IsFallible>::This,
                            >,
                        ),
                    >,
                >,
                _,
                _,
            >(|(__a0, __a1)| __tfrt::owned(wait(__a0, __a1)))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

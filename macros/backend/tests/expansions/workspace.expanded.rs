fn sort(x: &mut Tensor, scratch: &mut [u8]) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_sort
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByMut<<Tensor as __tfrt::IsValue>::This, 0usize>,
                        >("x"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[__tfrt::chain_result()],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    workspace: __tfrt::Some(|__query| {
                        __tfrt::answer_bytes(
                            __tfrt::workspace_len(
                                __tfrt::asked_with((__query.operand(0usize)?,))
                                    .says(&scratch_len),
                            )?,
                            __tfrt::size_of::<<u8 as __tfrt::IsElement>::This>(),
                        )
                    }),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.sort")
                };
            }
            const _: () = __tfrt::assert_mutable::<<Tensor as __tfrt::IsValue>::This>();
            const _: () = __tfrt::assert_not_chain::<<Tensor as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByMut<<Tensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Execution,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<__tfrt::Nothing, __tfrt::Result<(), __tfrt::Error>>,
                >,
                _,
            >(|(__a0, __ctx0)| {
                let __s0 = <<Tensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a0,
                );
                let mut __a1 = __tfrt::workspace::<
                    <u8 as __tfrt::IsElement>::This,
                >(
                    __ctx0,
                    __tfrt::workspace_len(__tfrt::asked_with((&__s0,)).says(&scratch_len))?,
                )?;
                __tfrt::Finished::finished(sort(__a0, &mut __a1))?;
                __tfrt::Ok(())
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

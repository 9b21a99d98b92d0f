async fn split(x: &Tensor, head: &mut Tensor, tail: &mut Tensor) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_split
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 0usize>,
                        >("x"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                        >("head", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                        >("tail", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN.with(__tfrt::OpTraits::ASYNC),
                    effect: __tfrt::Effect::Ordered("io"),
                    metadata: __tfrt::Some(|__query| __tfrt::answer(
                        __tfrt::metadata::<
                            2usize,
                        >(
                            __tfrt::asked_with((__query.operand(0usize)?,))
                                .says(&split_shape),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.split")
                };
            }
            const _: () = __tfrt::assert_not_chain::<<Tensor as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new_async::<
                __Declared,
                (
                    __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Execution,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<
                        __tfrt::Parts<
                            (
                                __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                                __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                            ),
                        >,
                        __tfrt::Result<
                            (
                                <Tensor as __tfrt::IsPreallocated>::This,
                                <Tensor as __tfrt::IsPreallocated>::This,
                            ),
                            __tfrt::Error,
                        >,
                    >,
                >,
                _,
            >(|_, (__a0, __ctx0)| __tfrt::PooledFuture::new(async move {
                let __s0 = <<Tensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a0,
                );
                let [__m0, __m1] = __tfrt::metadata::<
                    2usize,
                >(__tfrt::asked_with((&__s0,)).says(&split_shape))?;
                let mut __o0 = <<Tensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                let mut __o1 = <<Tensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m1,
                )?;
                __tfrt::Finished::finished(split(__a0, &mut __o0, &mut __o1).await)?;
                __tfrt::Ok((__o0, __o1))
            }))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

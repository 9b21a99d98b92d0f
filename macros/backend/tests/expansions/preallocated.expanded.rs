fn matmul(
    alpha: f32,
    a: &Tensor,
    b: &Tensor,
    transpose: bool,
    scratch: &mut [f32],
    c: &mut Tensor,
) -> Result<()> {
    Ok(())
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_matmul
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<f32 as __tfrt::IsCopied>::This, 0usize>,
                        >("alpha"),
                        __tfrt::operand::<
                            __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 1usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 2usize>,
                        >("b"),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <bool as __tfrt::IsAttribute>::This,
                        >("transpose", __tfrt::None),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                        >("c", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    metadata: __tfrt::Some(|__query| __tfrt::answer(
                        __tfrt::metadata::<
                            1usize,
                        >(
                            __tfrt::asked_with((
                                    __query.operand(1usize)?,
                                    __query.operand(2usize)?,
                                    __tfrt::queried::<
                                        <bool as __tfrt::IsAttribute>::This,
                                    >(__query, 0usize)?,
                                ))
                                .says(&shapes::matmul),
                        )?,
                    )),
                    workspace: __tfrt::Some(|__query| {
                        __tfrt::answer_bytes(
                            __tfrt::workspace_len(
                                __tfrt::asked_with((
                                        __query.operand(1usize)?,
                                        __query.operand(2usize)?,
                                        __tfrt::queried::<
                                            <bool as __tfrt::IsAttribute>::This,
                                        >(__query, 0usize)?,
                                    ))
                                    .says(&shapes::scratch),
                            )?,
                            __tfrt::size_of::<<f32 as __tfrt::IsElement>::This>(),
                        )
                    }),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.matmul")
                };
            }
            const _: () = __tfrt::assert_not_chain::<<Tensor as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<f32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 1usize>,
                    __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 2usize>,
                    __tfrt::Attribute<<bool as __tfrt::IsAttribute>::This, 0usize>,
                    __tfrt::Execution,
                ),
                __tfrt::Fallible<
                    __tfrt::Parts<
                        (__tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,),
                    >,
                    __tfrt::Result<
                        (<Tensor as __tfrt::IsPreallocated>::This,),
                        __tfrt::Error,
                    >,
                >,
                _,
            >(|(__a0, __a1, __a2, __a3, __ctx0)| {
                let __s1 = <<Tensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a1,
                );
                let __s2 = <<Tensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a2,
                );
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(
                    __tfrt::asked_with((&__s1, &__s2, __tfrt::Clone::clone(&__a3)))
                        .says(&shapes::matmul),
                )?;
                let mut __o0 = <<Tensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                let mut __a4 = __tfrt::workspace::<
                    <f32 as __tfrt::IsElement>::This,
                >(
                    __ctx0,
                    __tfrt::workspace_len(
                        __tfrt::asked_with((&__s1, &__s2, __tfrt::Clone::clone(&__a3)))
                            .says(&shapes::scratch),
                    )?,
                )?;
                __tfrt::Finished::finished(
                    matmul(__a0, __a1, __a2, __a3, &mut __a4, &mut __o0),
                )?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

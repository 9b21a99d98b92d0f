fn assign(
    variable: &mut DenseHostTensor,
    values: &dyn Tensor,
    rest: &[AnyRef],
    old: &mut DenseHostTensor,
) {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_assign
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByMut<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                        >("variable"),
                        __tfrt::operand::<
                            __tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 1usize>,
                        >("values"),
                        __tfrt::operand::<__tfrt::AnyRest<2usize, true>>("rest"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<
                                <DenseHostTensor as __tfrt::IsPreallocated>::This,
                            >,
                        >("old", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Ordered("variables"),
                    metadata: __tfrt::Some(|__query| __tfrt::answer(
                        __tfrt::metadata::<
                            1usize,
                        >(
                            __tfrt::asked_with((
                                    __query.operand(0usize)?,
                                    __query.operand(1usize)?,
                                    &__tfrt::told_of_rest(__query, 2usize)?[..],
                                ))
                                .says(&assigned),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Assign")
                };
            }
            const _: () = __tfrt::assert_mutable::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByMut<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 1usize>,
                    __tfrt::AnyRest<2usize, true>,
                    __tfrt::Execution,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<
                        __tfrt::Parts<
                            (
                                __tfrt::Payload<
                                    <DenseHostTensor as __tfrt::IsPreallocated>::This,
                                >,
                            ),
                        >,
                        __tfrt::Result<
                            (<DenseHostTensor as __tfrt::IsPreallocated>::This,),
                            __tfrt::Error,
                        >,
                    >,
                >,
                _,
            >(|(__a0, __a1, __a2, __ctx0)| {
                let __s0 = __tfrt::metadata_of(&*__a0);
                let __s1 = __tfrt::metadata_of(&*__a1);
                let __s2 = __tfrt::metadata_of_values(__a2)?;
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0, &__s1, &__s2[..])).says(&assigned))?;
                let mut __o0 = <<DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(assign(__a0, __a1, __a2, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        const _: () = __tfrt::assert_tensor::<dyn Tensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE,
            implementation: __tfrt::Implementation::Kernel("my.Assign"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Assign")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

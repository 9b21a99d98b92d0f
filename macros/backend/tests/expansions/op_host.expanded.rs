fn pad(
    x: &[f32],
    sizes: &[i64],
    rest: Operands<'_, DenseHostTensor>,
) -> Result<DenseHostTensor> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_pad
    #[allow(clippy::all, clippy::pedantic)]
    fn __pad_0(
        __p0: &__tfrt::DenseHostTensor,
        __p1: &__tfrt::DenseHostTensor,
        __p2: Operands<'_, DenseHostTensor>,
    ) -> __tfrt::Result<DenseHostTensor, __tfrt::Error> {
        let __v0 = __tfrt::elements::<f32>("my.Pad", "x", __p0)?;
        let __v1 = __tfrt::elements::<i64>("my.Pad", "sizes", __p1)?;
        __tfrt::Result::map_err(pad(&__v0, &__v1, __p2), __tfrt::IntoError::into_error)
    }
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("x"),
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                                1usize,
                            >,
                        >("sizes"),
                        __tfrt::operand::<
                            __tfrt::Rest<
                                <DenseHostTensor as __tfrt::IsValue>::This,
                                2usize,
                                true,
                            >,
                        >("rest"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Pad")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
            >();
            const _: () = __tfrt::assert_not_mutable::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<
                        <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                        0usize,
                    >,
                    __tfrt::ByRef<
                        <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                        1usize,
                    >,
                    __tfrt::Rest<<DenseHostTensor as __tfrt::IsValue>::This, 2usize, true>,
                ),
                __tfrt::Fallible<
                    __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                    <__tfrt::Result<
                        DenseHostTensor,
                        __tfrt::Error,
                    > as __tfrt::IsFallible>::This,
                >,
                _,
            >(|(__a0, __a1, __a2)| __pad_0(__a0, __a1, __a2))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Pad"),
            metadata: __tfrt::Some(|__query| {
                __tfrt::result_metadata::<
                    __tfrt::Results<1usize>,
                >(
                    __tfrt::asked_with((
                            __query.operand(0usize)?,
                            __query.operand(1usize)?,
                            __tfrt::operands_from(__query, 2usize),
                        ))
                        .says(&padded),
                )
            }),
            host_operands: __tfrt::OperandSet::NONE.with(1usize).with_all_from(2usize),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Pad")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

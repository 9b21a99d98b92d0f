/// Returns the tensor.
fn same(x: &DenseHostTensor, axis: i64) -> DenseHostTensor {
    x.clone()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_same
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the tensor.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                        >("x"),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <i64 as __tfrt::IsAttribute>::This,
                        >("axis", __tfrt::None),
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
                    ..__tfrt::OpDef::new("my.Same")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Attribute<<i64 as __tfrt::IsAttribute>::This, 0usize>,
                ),
                __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| same(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Same"),
            metadata: __tfrt::Some(|__query| {
                let __bound = __tfrt::attributes_of(__KERNELS[0usize].op(), __query)?;
                __tfrt::result_metadata::<
                    __tfrt::Results<1usize>,
                >(
                    __tfrt::asked_with((
                            __query.operand(0usize)?,
                            __bound.read::<<i64 as __tfrt::IsAttribute>::This>(0usize)?,
                        ))
                        .says(&same_as),
                )
            }),
            partial: __tfrt::Some(|__query| {
                let __bound = __tfrt::attributes_of(__KERNELS[0usize].op(), __query)?;
                __tfrt::partial_result_metadata::<
                    __tfrt::Results<1usize>,
                >(
                    __tfrt::asked_with((
                            __query.operand(0usize)?,
                            __bound.read::<<i64 as __tfrt::IsAttribute>::This>(0usize)?,
                        ))
                        .says(&partial::same_as),
                )
            }),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Same")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

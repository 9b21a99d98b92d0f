fn assign_add(variable: &Variable, value: &DenseHostTensor) -> Result<()> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_assign_add
    #[allow(clippy::all, clippy::pedantic)]
    fn __assign_add_0(
        __p0: &__tfrt::ResourceTensor,
        __p1: &DenseHostTensor,
    ) -> __tfrt::Result<(), __tfrt::Error> {
        __tfrt::Result::map_err(
            assign_add(
                __tfrt::resource::<Variable>("my.AssignAdd", "variable", __p0)?,
                __p1,
            ),
            __tfrt::IntoError::into_error,
        )
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
                                <__tfrt::ResourceTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("variable"),
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                        >("value"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[__tfrt::chain_result()],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Ordered("variables"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.AssignAdd")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <__tfrt::ResourceTensor as __tfrt::IsValue>::This,
            >();
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<__tfrt::ResourceTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<
                        __tfrt::Nothing,
                        <__tfrt::Result<(), __tfrt::Error> as __tfrt::IsFallible>::This,
                    >,
                >,
                _,
            >(|(__a0, __a1)| __assign_add_0(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::ACCEPTS_RESOURCE),
            implementation: __tfrt::Implementation::Kernel("my.AssignAdd"),
            resource_operands: __tfrt::OperandSet::NONE.with(0usize),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.AssignAdd")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

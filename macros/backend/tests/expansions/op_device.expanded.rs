#[cfg(feature = "gpu")]
fn add(a: &DenseHostTensor, b: &DenseHostTensor) -> DenseHostTensor {
    todo!()
}
# [cfg (feature = "gpu")]
facade::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_add
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                        >("b"),
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
                    ..__tfrt::OpDef::new("my.Add.gpu")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                ),
                __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| add(__a0, __a1))
        },
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                        >("b"),
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
                    ..__tfrt::OpDef::new("my.Plus.gpu")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 1usize>,
                ),
                __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| add(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            device_type: "gpu",
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Add.gpu"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Add")
        }
    };
    __tfrt::submit! {
        __OP0
    }
    const __OP1: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            device_type: "gpu",
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Plus.gpu"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Plus")
        }
    };
    __tfrt::submit! {
        __OP1
    }
}

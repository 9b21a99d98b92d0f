fn add<T: Add>(a: T, b: T) -> T {
    a + b
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_add
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            #[allow(dead_code)]
            type T = i32;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("b"),
                            __tfrt::chain_operand(),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                            __tfrt::chain_result(),
                        ],
                        traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                        effect: __tfrt::Effect::Ordered("io"),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.add.i32")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::WithChain<__tfrt::Payload<<T as __tfrt::IsValue>::This>>,
                    _,
                >(|(__a0, __a1)| add::<T>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = f32;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("b"),
                            __tfrt::chain_operand(),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                            __tfrt::chain_result(),
                        ],
                        traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                        effect: __tfrt::Effect::Ordered("io"),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.add.f32")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::WithChain<__tfrt::Payload<<T as __tfrt::IsValue>::This>>,
                    _,
                >(|(__a0, __a1)| add::<T>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = i32;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("b"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::SYNC,
                        effect: __tfrt::Effect::Ordered("io"),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my_sync.add.i32")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0, __a1)| add::<T>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = f32;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("b"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::SYNC,
                        effect: __tfrt::Effect::Ordered("io"),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my_sync.add.f32")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Payload<<T as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0, __a1)| add::<T>(__a0, __a1))
            };
            __KERNEL
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

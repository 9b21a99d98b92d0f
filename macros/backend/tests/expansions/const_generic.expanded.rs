fn fill<T: Value, const RANK: usize>(shape: &Shape<RANK>, value: T) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_fill
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            #[allow(dead_code)]
            type T = i32;
            #[allow(dead_code)]
            const RANK: usize = 0;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                            >("shape"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("value"),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.fill.i32.0")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Shape<RANK> as __tfrt::IsValue>::This,
                >();
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Nothing,
                    _,
                >(|(__a0, __a1)| fill::<T, RANK>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = i32;
            #[allow(dead_code)]
            const RANK: usize = 1;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                            >("shape"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("value"),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.fill.i32.1")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Shape<RANK> as __tfrt::IsValue>::This,
                >();
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Nothing,
                    _,
                >(|(__a0, __a1)| fill::<T, RANK>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = u32;
            #[allow(dead_code)]
            const RANK: usize = 0;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                            >("shape"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("value"),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.fill.ui32.0")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Shape<RANK> as __tfrt::IsValue>::This,
                >();
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Nothing,
                    _,
                >(|(__a0, __a1)| fill::<T, RANK>(__a0, __a1))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = u32;
            #[allow(dead_code)]
            const RANK: usize = 1;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                            >("shape"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                            >("value"),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.fill.ui32.1")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Shape<RANK> as __tfrt::IsValue>::This,
                >();
                const _: () = __tfrt::assert_not_chain::<<T as __tfrt::IsCopied>::This>();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Shape<RANK> as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Nothing,
                    _,
                >(|(__a0, __a1)| fill::<T, RANK>(__a0, __a1))
            };
            __KERNEL
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

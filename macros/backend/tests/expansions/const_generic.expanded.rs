fn fill<T: Value, const RANK: usize>(shape: &Shape<RANK>, value: T) {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct fill {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for fill {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
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
                                    __tfrt::ByRef<
                                        <Shape<RANK> as __tfrt::IsValue>::This,
                                        0usize,
                                    >,
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
                    __tfrt::KernelDescriptor::new::<
                        __Declared,
                        (
                            __tfrt::ByRef<
                                <Shape<RANK> as __tfrt::IsValue>::This,
                                0usize,
                            >,
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
                                    __tfrt::ByRef<
                                        <Shape<RANK> as __tfrt::IsValue>::This,
                                        0usize,
                                    >,
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
                    __tfrt::KernelDescriptor::new::<
                        __Declared,
                        (
                            __tfrt::ByRef<
                                <Shape<RANK> as __tfrt::IsValue>::This,
                                0usize,
                            >,
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
                                    __tfrt::ByRef<
                                        <Shape<RANK> as __tfrt::IsValue>::This,
                                        0usize,
                                    >,
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
                    __tfrt::KernelDescriptor::new::<
                        __Declared,
                        (
                            __tfrt::ByRef<
                                <Shape<RANK> as __tfrt::IsValue>::This,
                                0usize,
                            >,
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
                                    __tfrt::ByRef<
                                        <Shape<RANK> as __tfrt::IsValue>::This,
                                        0usize,
                                    >,
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
                    __tfrt::KernelDescriptor::new::<
                        __Declared,
                        (
                            __tfrt::ByRef<
                                <Shape<RANK> as __tfrt::IsValue>::This,
                                0usize,
                            >,
                            __tfrt::ByValue<<T as __tfrt::IsCopied>::This, 1usize>,
                        ),
                        __tfrt::Nothing,
                        _,
                    >(|(__a0, __a1)| fill::<T, RANK>(__a0, __a1))
                };
                __KERNEL
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < fill > ()
}

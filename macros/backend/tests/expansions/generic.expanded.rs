fn make<T: Value, const R: usize>(value: T) -> Result<Tensor<T, R>> {
    Tensor::make(value)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_make
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            #[allow(dead_code)]
            type T = i32;
            #[allow(dead_code)]
            const R: usize = 0;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        attributes: &[
                            __tfrt::attribute::<
                                <T as __tfrt::IsAttribute>::This,
                            >("value", __tfrt::None),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.make.i32.0")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Tensor<T, R> as __tfrt::IsValue>::This,
                >();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::Attribute<<T as __tfrt::IsAttribute>::This, 0usize>,),
                    __tfrt::Fallible<
                        __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                        <Result<Tensor<T, R>> as __tfrt::IsFallible>::This,
                    >,
                    _,
                >(|(__a0,)| make::<T, R>(__a0))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = i32;
            #[allow(dead_code)]
            const R: usize = 1;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        attributes: &[
                            __tfrt::attribute::<
                                <T as __tfrt::IsAttribute>::This,
                            >("value", __tfrt::None),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.make.i32.1")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Tensor<T, R> as __tfrt::IsValue>::This,
                >();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::Attribute<<T as __tfrt::IsAttribute>::This, 0usize>,),
                    __tfrt::Fallible<
                        __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                        <Result<Tensor<T, R>> as __tfrt::IsFallible>::This,
                    >,
                    _,
                >(|(__a0,)| make::<T, R>(__a0))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = u32;
            #[allow(dead_code)]
            const R: usize = 0;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        attributes: &[
                            __tfrt::attribute::<
                                <T as __tfrt::IsAttribute>::This,
                            >("value", __tfrt::None),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.make.ui32.0")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Tensor<T, R> as __tfrt::IsValue>::This,
                >();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::Attribute<<T as __tfrt::IsAttribute>::This, 0usize>,),
                    __tfrt::Fallible<
                        __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                        <Result<Tensor<T, R>> as __tfrt::IsFallible>::This,
                    >,
                    _,
                >(|(__a0,)| make::<T, R>(__a0))
            };
            __KERNEL
        },
        {
            #[allow(dead_code)]
            type T = u32;
            #[allow(dead_code)]
            const R: usize = 1;
            const __KERNEL: __tfrt::KernelDescriptor = {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        attributes: &[
                            __tfrt::attribute::<
                                <T as __tfrt::IsAttribute>::This,
                            >("value", __tfrt::None),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.make.ui32.1")
                    };
                }
                const _: () = __tfrt::assert_not_chain::<
                    <Tensor<T, R> as __tfrt::IsValue>::This,
                >();
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::Attribute<<T as __tfrt::IsAttribute>::This, 0usize>,),
                    __tfrt::Fallible<
                        __tfrt::Payload<<Tensor<T, R> as __tfrt::IsValue>::This>,
                        <Result<Tensor<T, R>> as __tfrt::IsFallible>::This,
                    >,
                    _,
                >(|(__a0,)| make::<T, R>(__a0))
            };
            __KERNEL
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

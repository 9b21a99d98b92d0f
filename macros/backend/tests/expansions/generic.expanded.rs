fn make<T: Value, const R: usize>(value: T) -> Result<Tensor<T, R>> {
    Tensor::make(value)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct make {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for make {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                #[allow(dead_code)]
                type T = i32;
                #[allow(dead_code)]
                const R: usize = 0;
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    attributes: &[__tfrt::attribute::<T>("value", __tfrt::None)],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<Tensor<T, R>>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.make.i32.0")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (__tfrt::Attribute<T, 0usize>,);
                    type Results = __tfrt::Fallible<
                        __tfrt::Payload<Tensor<T, R>>,
                        Result<Tensor<T, R>>,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0,) = __arguments;
                        make::<T, R>(__a0)
                    }
                }
                __tfrt::KernelDescriptor::of::<__Instance>()
            },
            {
                #[allow(dead_code)]
                type T = i32;
                #[allow(dead_code)]
                const R: usize = 1;
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    attributes: &[__tfrt::attribute::<T>("value", __tfrt::None)],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<Tensor<T, R>>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.make.i32.1")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (__tfrt::Attribute<T, 0usize>,);
                    type Results = __tfrt::Fallible<
                        __tfrt::Payload<Tensor<T, R>>,
                        Result<Tensor<T, R>>,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0,) = __arguments;
                        make::<T, R>(__a0)
                    }
                }
                __tfrt::KernelDescriptor::of::<__Instance>()
            },
            {
                #[allow(dead_code)]
                type T = u32;
                #[allow(dead_code)]
                const R: usize = 0;
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    attributes: &[__tfrt::attribute::<T>("value", __tfrt::None)],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<Tensor<T, R>>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.make.ui32.0")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (__tfrt::Attribute<T, 0usize>,);
                    type Results = __tfrt::Fallible<
                        __tfrt::Payload<Tensor<T, R>>,
                        Result<Tensor<T, R>>,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0,) = __arguments;
                        make::<T, R>(__a0)
                    }
                }
                __tfrt::KernelDescriptor::of::<__Instance>()
            },
            {
                #[allow(dead_code)]
                type T = u32;
                #[allow(dead_code)]
                const R: usize = 1;
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    attributes: &[__tfrt::attribute::<T>("value", __tfrt::None)],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<Tensor<T, R>>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.make.ui32.1")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (__tfrt::Attribute<T, 0usize>,);
                    type Results = __tfrt::Fallible<
                        __tfrt::Payload<Tensor<T, R>>,
                        Result<Tensor<T, R>>,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0,) = __arguments;
                        make::<T, R>(__a0)
                    }
                }
                __tfrt::KernelDescriptor::of::<__Instance>()
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < make > ()
}

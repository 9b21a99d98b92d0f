fn rank(tensor: &dyn Tensor) -> i64 {
    todo!()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_rank
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 0usize>,
                        >("tensor"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                        >("rank", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.rank")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (__tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 0usize>,),
                __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0,)| rank(__a0))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

fn pick(cond: bool, a: AsyncValueRef<i32>, b: &AnyRef, rest: &[AnyRef]) -> AnyRef {
    b.clone()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_pick
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<bool as __tfrt::IsCopied>::This, 0usize>,
                        >("cond"),
                        __tfrt::operand::<
                            __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 1usize>,
                        >("a"),
                        __tfrt::operand::<__tfrt::AnyOperand<2usize, true>>("b"),
                        __tfrt::operand::<__tfrt::AnyRest<3usize, false>>("rest"),
                    ],
                    results: &[__tfrt::result::<__tfrt::AnyResult>("result", __tfrt::None)],
                    traits: __tfrt::OpTraits::NON_STRICT,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.pick")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<bool as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 1usize>,
                    __tfrt::AnyOperand<2usize, true>,
                    __tfrt::AnyRest<3usize, false>,
                ),
                __tfrt::AnyResult,
                _,
            >(|(__a0, __a1, __a2, __a3)| pick(__a0, __a1, __a2, __a3))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

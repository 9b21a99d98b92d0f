fn join(a: &Point, b: &str) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_join
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<Point as __tfrt::IsValue>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 1usize>>("b"),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.join")
                };
            }
            const _: () = __tfrt::assert_not_chain::<<Point as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<Point as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Text<__tfrt::AsStr, 1usize>,
                ),
                __tfrt::Nothing,
                _,
            >(|(__a0, __a1)| join(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

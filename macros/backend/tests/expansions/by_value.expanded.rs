fn sum(a: i32, b: Point) -> Point {
    b
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_sum
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByValue<<Point as __tfrt::IsCopied>::This, 1usize>,
                        >("b"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<Point as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.sum")
                };
            }
            const _: () = __tfrt::assert_not_chain::<<Point as __tfrt::IsCopied>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::ByValue<<Point as __tfrt::IsCopied>::This, 1usize>,
                ),
                __tfrt::Payload<<Point as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| sum(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

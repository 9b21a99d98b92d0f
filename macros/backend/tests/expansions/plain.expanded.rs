/// Returns the sum of two numbers.
///
/// Wraps around.
pub fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_add
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the sum of two numbers.",
                    description: "Wraps around.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                        >("b"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::PURE.with(__tfrt::OpTraits::EXTRA_CHAIN),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.add.i32")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                ),
                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0, __a1)| add(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

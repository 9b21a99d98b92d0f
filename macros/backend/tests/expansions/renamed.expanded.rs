pub(crate) fn r#add(r#type: i32) -> i32 {
    r#type
}
crate::runtime::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_add
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("type"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.add")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (__tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,),
                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0,)| r#add(__a0))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

fn read(path: &str, max_bytes: i64) -> io::Result<String> {
    todo()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_read
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 0usize>>("path"),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <i64 as __tfrt::IsAttribute>::This,
                        >("max_bytes", __tfrt::None),
                    ],
                    results: &[__tfrt::result::<__tfrt::TextResult>("result", __tfrt::None)],
                    traits: __tfrt::OpTraits::BLOCKING.with(__tfrt::OpTraits::EXTRA_CHAIN),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.read")
                };
            }
            __tfrt::KernelDescriptor::new_blocking::<
                __Declared,
                (
                    __tfrt::Text<__tfrt::AsStr, 0usize>,
                    __tfrt::Attribute<<i64 as __tfrt::IsAttribute>::This, 0usize>,
                ),
                __tfrt::Fallible<
                    __tfrt::TextResult,
                    <io::Result<String> as __tfrt::IsFallible>::This,
                >,
                _,
            >(|(__a0, __a1)| read(__a0, __a1))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

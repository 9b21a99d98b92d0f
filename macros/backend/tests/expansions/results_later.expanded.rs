fn later() -> Vec<AsyncValueRef<i32>> {
    Vec::new()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_later
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    results: &[
                        __tfrt::result::<
                            __tfrt::LaterTail<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.later")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (),
                __tfrt::LaterTail<<i32 as __tfrt::IsValue>::This>,
                _,
            >(|()| later())
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

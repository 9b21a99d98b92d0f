fn flat(attributes: Attributes<'_>) -> i32 {
    1
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_flat
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN
                        .with(__tfrt::OpTraits::ANY_ATTRIBUTES),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.flat")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (__tfrt::AllAttributes,),
                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                _,
            >(|(__a0,)| flat(__a0))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

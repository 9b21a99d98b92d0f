fn partial() -> (i32, Result<Point>, AsyncValueRef<f32>, Vec<AnyRef>) {
    todo()
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_partial
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result0", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<Point as __tfrt::IsValue>::This>,
                        >("result1", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Later<<f32 as __tfrt::IsValue>::This>,
                        >("result2", __tfrt::None),
                        __tfrt::result::<__tfrt::AnyTail>("result3", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.partial")
                };
            }
            const _: () = __tfrt::assert_not_chain::<<Point as __tfrt::IsValue>::This>();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (),
                __tfrt::Parts<
                    (
                        __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        __tfrt::FalliblePart<
                            __tfrt::Payload<<Point as __tfrt::IsValue>::This>,
                            <Result<Point> as __tfrt::IsFallible>::This,
                        >,
                        __tfrt::Later<<f32 as __tfrt::IsValue>::This>,
                        __tfrt::AnyTail,
                    ),
                >,
                _,
            >(|()| partial())
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

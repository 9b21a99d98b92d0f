fn pad(mode: Padding, list: &[i64], other: Padding, view: DenseView<'_>) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_pad
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    attributes: &[
                        __tfrt::attribute::<
                            <[i64] as __tfrt::IsAttribute>::This,
                        >("axes", __tfrt::None),
                        __tfrt::attribute::<
                            <Padding as __tfrt::IsAttribute>::This,
                        >("mode", __tfrt::None),
                        __tfrt::attribute::<
                            <Padding as __tfrt::IsAttribute>::This,
                        >(
                            "other",
                            __tfrt::Some(
                                __tfrt::AttrDefault::Int({
                                    let value: Padding = Padding::Same;
                                    value as i128
                                }),
                            ),
                        ),
                        __tfrt::attribute::<
                            <DenseView<'static> as __tfrt::IsAttribute>::This,
                        >("view", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.pad")
                };
            }
            const _: () = __tfrt::assert_default::<
                <Padding as __tfrt::IsAttribute>::This,
            >(
                &__tfrt::AttrDefault::Int({
                    let value: Padding = Padding::Same;
                    value as i128
                }),
            );
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::Attribute<<Padding as __tfrt::IsAttribute>::This, 1usize>,
                    __tfrt::Attribute<<[i64] as __tfrt::IsAttribute>::This, 0usize>,
                    __tfrt::Attribute<<Padding as __tfrt::IsAttribute>::This, 2usize>,
                    __tfrt::Attribute<
                        <DenseView<'static> as __tfrt::IsAttribute>::This,
                        3usize,
                    >,
                ),
                __tfrt::Nothing,
                _,
            >(|(__a0, __a1, __a2, __a3)| pad(__a0, __a1, __a2, __a3))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

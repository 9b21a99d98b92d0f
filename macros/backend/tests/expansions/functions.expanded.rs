fn apply(
    f: Function<(i32,), (i32,)>,
    body: &Region<(), (f32, f32)>,
    rest: Vec<FunctionRef>,
) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_apply
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    functions: &[
                        __tfrt::FunctionDef {
                            name: "f",
                            form: __tfrt::FunctionForm::Symbol,
                        },
                        __tfrt::FunctionDef {
                            name: "rest",
                            form: __tfrt::FunctionForm::SymbolList,
                        },
                        __tfrt::FunctionDef {
                            name: "body",
                            form: __tfrt::FunctionForm::Region,
                        },
                    ],
                    signatures: &[
                        __tfrt::signature::<
                            <Function<(i32,), (i32,)> as __tfrt::IsCallable>::This,
                        >("f"),
                        __tfrt::signature::<
                            <Region<(), (f32, f32)> as __tfrt::IsCallable>::This,
                        >("body"),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.apply")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::TypedFunction<
                        <Function<(i32,), (i32,)> as __tfrt::IsCallable>::This,
                        0usize,
                        false,
                        false,
                    >,
                    __tfrt::TypedFunction<
                        <Region<(), (f32, f32)> as __tfrt::IsCallable>::This,
                        0usize,
                        true,
                        true,
                    >,
                    __tfrt::Functions<1usize, 1usize>,
                ),
                __tfrt::Nothing,
                _,
            >(|(__a0, __a1, __a2)| apply(__a0, __a1, __a2))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

fn look(ctx: &ExecutionContext, host: Arc<HostContext>, request: &RequestContext) {}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_look
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.look")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (__tfrt::Execution, __tfrt::OwnedHost, __tfrt::Request),
                __tfrt::Nothing,
                _,
            >(|(__a0, __a1, __a2)| look(__a0, __a1, __a2))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

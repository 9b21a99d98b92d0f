fn look(ctx: &ExecutionContext, host: Arc<HostContext>, request: &RequestContext) {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct look {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for look {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
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
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < look > ()
}

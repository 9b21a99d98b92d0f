fn later() -> Vec<AsyncValueRef<i32>> {
    Vec::new()
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct later {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for later {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
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
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < later > ()
}

fn flat(attributes: Attributes<'_>) -> i32 {
    1
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct flat {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for flat {
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
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::ANY_ATTRIBUTES
                            .with(__tfrt::OpTraits::EXTRA_CHAIN),
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
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < flat > ()
}

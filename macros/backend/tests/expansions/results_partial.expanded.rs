fn partial() -> (i32, Result<Point>, AsyncValueRef<f32>, Vec<AnyRef>) {
    todo()
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct partial {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for partial {
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
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < partial > ()
}

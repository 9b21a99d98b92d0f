fn scale(a: i32, b: i32) -> i32 {
    a * b
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct scale {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for scale {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<
                                __tfrt::Optional<
                                    <i32 as __tfrt::IsCopied>::This,
                                    1usize,
                                    true,
                                >,
                            >("b"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("result", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.scale")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::Optional<<i32 as __tfrt::IsCopied>::This, 1usize, true>,
                    ),
                    __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0, __a1)| scale(__a0, __a1.unwrap_or_else(|| 2 * 5)))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < scale > ()
}

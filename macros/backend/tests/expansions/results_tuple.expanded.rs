fn div(a: i32, b: i32) -> Result<(i32, i32), DivideByZero> {
    Ok((a / b, a % b))
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct div {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for div {
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
                                __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                            >("b"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("quotient", __tfrt::None),
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("remainder", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.div")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Fallible<
                        __tfrt::Parts<
                            (
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            ),
                        >,
                        <Result<(i32, i32), DivideByZero> as __tfrt::IsFallible>::This,
                    >,
                    _,
                >(|(__a0, __a1)| div(__a0, __a1))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < div > ()
}

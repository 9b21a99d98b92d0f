fn order(number: i32, chain: Chain) -> (i32, Chain) {
    (number, chain)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct order {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for order {
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
                            >("number"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<Chain as __tfrt::IsCopied>::This, 1usize>,
                            >("chain"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            >("result0", __tfrt::None),
                            __tfrt::result::<
                                __tfrt::Payload<<Chain as __tfrt::IsValue>::This>,
                            >("result1", __tfrt::None),
                        ],
                        effect: __tfrt::Effect::Ordered("random"),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.order")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        __tfrt::ByValue<<Chain as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::Parts<
                        (
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                            __tfrt::Payload<<Chain as __tfrt::IsValue>::This>,
                        ),
                    >,
                    _,
                >(|(__a0, __a1)| order(__a0, __a1))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < order > ()
}

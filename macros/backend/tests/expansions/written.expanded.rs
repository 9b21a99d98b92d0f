fn push(log: &mut Log, number: i64) -> Result<i64> {
    Ok(1)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct push {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for push {
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
                                __tfrt::ByMut<<Log as __tfrt::IsValue>::This, 0usize>,
                            >("log"),
                            __tfrt::operand::<
                                __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 1usize>,
                            >("number"),
                            __tfrt::chain_operand(),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                            >("len", __tfrt::None),
                            __tfrt::chain_result(),
                        ],
                        traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.push")
                    };
                }
                const { __tfrt::assert_mutable::<<Log as __tfrt::IsValue>::This>() };
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByMut<<Log as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::ByValue<<i64 as __tfrt::IsCopied>::This, 1usize>,
                    ),
                    __tfrt::WithChain<
                        __tfrt::Fallible<
                            __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                            <Result<i64> as __tfrt::IsFallible>::This,
                        >,
                    >,
                    _,
                >(|(__a0, __a1)| push(__a0, __a1))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < push > ()
}

fn join(a: &Point, b: &str) {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct join {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for join {
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
                                __tfrt::ByRef<<Point as __tfrt::IsValue>::This, 0usize>,
                            >("a"),
                            __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 1usize>>("b"),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.join")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Point as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::Text<__tfrt::AsStr, 1usize>,
                    ),
                    __tfrt::Nothing,
                    _,
                >(|(__a0, __a1)| join(__a0, __a1))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < join > ()
}

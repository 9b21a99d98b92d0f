fn rank(tensor: &dyn Tensor) -> i64 {
    todo!()
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct rank {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for rank {
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
                                __tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 0usize>,
                            >("tensor"),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                            >("rank", __tfrt::None),
                        ],
                        traits: __tfrt::OpTraits::EXTRA_CHAIN,
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.rank")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::Dyn<<dyn Tensor as __tfrt::IsObject>::This, 0usize>,),
                    __tfrt::Payload<<i64 as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0,)| rank(__a0))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < rank > ()
}

pub(crate) fn r#add(r#type: i32) -> i32 {
    r#type
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub(crate) struct r#add {}
#[automatically_derived]
impl crate::runtime::__private::KernelSet for r#add {
    const KERNELS: &'static [crate::runtime::__private::KernelDescriptor] = {
        use crate::runtime::__private as __tfrt;
        &[
            {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                            >("type"),
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
                        ..__tfrt::OpDef::new("my.add")
                    };
                }
                __tfrt::KernelDescriptor::new::<
                    __Declared,
                    (__tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,),
                    __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                    _,
                >(|(__a0,)| r#add(__a0))
            },
        ]
    };
}
crate::runtime::__private::submit! {
    crate ::runtime::__private::KernelRegistration::of:: < r#add > ()
}

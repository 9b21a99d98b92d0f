/// Returns what is in a slot.
pub fn look(slot: i32, fallback: Option<&str>) -> i32 {
    slot
}
/// The kernels of [`look`].
#[allow(dead_code, missing_debug_implementations)]
pub struct Look;
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_look
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns what is in a slot.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                        >("slot"),
                        __tfrt::chain_operand(),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            __tfrt::Option<<&'static str as __tfrt::IsAttribute>::This>,
                        >("fallback", __tfrt::Some(__tfrt::AttrDefault::Absent)),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<i32 as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Reads("slot"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.look")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByValue<<i32 as __tfrt::IsCopied>::This, 0usize>,
                    __tfrt::Attribute<
                        __tfrt::Option<<&'static str as __tfrt::IsAttribute>::This>,
                        0usize,
                    >,
                ),
                __tfrt::WithChain<__tfrt::Payload<<i32 as __tfrt::IsValue>::This>>,
                _,
            >(|(__a0, __a1)| look(__a0, __a1))
        },
    ];
    #[automatically_derived]
    #[allow(non_local_definitions)]
    impl __tfrt::KernelSet for Look {
        const KERNELS: &'static [__tfrt::KernelDescriptor] = __KERNELS;
    }
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

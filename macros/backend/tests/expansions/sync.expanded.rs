fn div_s(a: i32, b: i32) -> Result<(i32, i32)> {
    divide(a, b)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct div_s {}
#[automatically_derived]
impl renamed::tfrt::__private::KernelSet for div_s {
    const KERNELS: &'static [renamed::tfrt::__private::KernelDescriptor] = {
        use renamed::tfrt::__private as __tfrt;
        &[
            {
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<__tfrt::ByValue<i32, 0usize>>("a"),
                        __tfrt::operand::<__tfrt::ByValue<i32, 1usize>>("b"),
                    ],
                    results: &[
                        __tfrt::result::<__tfrt::Payload<i32>>("result0", __tfrt::None),
                        __tfrt::result::<__tfrt::Payload<i32>>("result1", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::SYNC,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.div_s")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (
                        __tfrt::ByValue<i32, 0usize>,
                        __tfrt::ByValue<i32, 1usize>,
                    );
                    type Results = __tfrt::Fallible<
                        __tfrt::Parts<(__tfrt::Payload<i32>, __tfrt::Payload<i32>)>,
                        Result<(i32, i32)>,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0, __a1) = __arguments;
                        div_s(__a0, __a1)
                    }
                }
                __tfrt::KernelDescriptor::sync::<__Instance>()
            },
        ]
    };
}
renamed::tfrt::__private::submit! {
    renamed::tfrt::__private::KernelRegistration::of:: < div_s > ()
}

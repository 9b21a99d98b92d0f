async fn wait(a: i32, later: AsyncValueRef<i32>) -> (i32, Result<i32>) {
    (a, later.await)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct wait {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for wait {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<__tfrt::ByValue<i32, 0usize>>("a"),
                        __tfrt::operand::<__tfrt::Reference<i32, 1usize>>("later"),
                        __tfrt::chain_operand(),
                    ],
                    results: &[
                        __tfrt::result::<__tfrt::Payload<i32>>("result0", __tfrt::None),
                        __tfrt::result::<__tfrt::Payload<i32>>("result1", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Ordered("io"),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.wait")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::AsyncKernel for __Instance {
                    type Params = (
                        __tfrt::ByValue<i32, 0usize>,
                        __tfrt::Reference<i32, 1usize>,
                    );
                    type Results = __tfrt::WithChain<
                        __tfrt::Parts<
                            (
                                __tfrt::Payload<i32>,
                                __tfrt::FalliblePart<__tfrt::Payload<i32>, Result<i32>>,
                            ),
                        >,
                    >;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> impl __tfrt::Future<
                        Output = __tfrt::Returned<Self::Results>,
                    > + __tfrt::Send {
                        let (__a0, __a1) = __arguments;
                        wait(__a0, __a1)
                    }
                }
                __tfrt::KernelDescriptor::future::<__Instance>()
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < wait > ()
}

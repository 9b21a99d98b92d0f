/// Returns the sum of two numbers.
///
/// Wraps around.
pub fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub struct add {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for add {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                const __OP: &__tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the sum of two numbers.",
                    description: "Wraps around.",
                    operands: &[
                        __tfrt::operand::<__tfrt::ByValue<i32, 0usize>>("a"),
                        __tfrt::operand::<__tfrt::ByValue<i32, 1usize>>("b"),
                    ],
                    results: &[
                        __tfrt::result::<__tfrt::Payload<i32>>("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::PURE.with(__tfrt::OpTraits::EXTRA_CHAIN),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.add.i32")
                };
                struct __Instance;
                #[automatically_derived]
                impl __tfrt::Kernel for __Instance {
                    type Params = (
                        __tfrt::ByValue<i32, 0usize>,
                        __tfrt::ByValue<i32, 1usize>,
                    );
                    type Results = __tfrt::Payload<i32>;
                    const OP: &'static __tfrt::OpDef = __OP;
                    fn call(
                        __arguments: __tfrt::Arguments<'_, '_, Self::Params>,
                    ) -> __tfrt::Returned<Self::Results> {
                        let (__a0, __a1) = __arguments;
                        add(__a0, __a1)
                    }
                }
                __tfrt::KernelDescriptor::of::<__Instance>()
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < add > ()
}

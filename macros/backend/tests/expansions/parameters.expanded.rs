#[cfg(unix)]
fn everything(
    buffer: &mut Buffer,
    text: &str,
    any: AnyRef,
    later: AsyncValueRef<i32>,
    first: i64,
    second: i32,
    callee: &FunctionRef,
    body: FunctionRef,
    branches: &[FunctionRef],
    ctx: &ExecutionContext,
    rest: Operands<'_, f32>,
) -> io::Result<(Buffer, Vec<AnyRef>)> {
    todo()
}
# [cfg (unix)]
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_everything
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByMut<<Buffer as __tfrt::IsValue>::This, 0usize>,
                        >("buffer"),
                        __tfrt::operand::<__tfrt::Text<__tfrt::AsStr, 1usize>>("text"),
                        __tfrt::operand::<__tfrt::AnyOperand<2usize, false>>("any"),
                        __tfrt::operand::<
                            __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 3usize>,
                        >("later"),
                        __tfrt::operand::<
                            __tfrt::Rest<<f32 as __tfrt::IsValue>::This, 4usize, true>,
                        >("rest"),
                        __tfrt::chain_operand(),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <i32 as __tfrt::IsAttribute>::This,
                        >("a", __tfrt::Some(__tfrt::AttrDefault::Int(-1))),
                        __tfrt::attribute::<
                            <i64 as __tfrt::IsAttribute>::This,
                        >("b", __tfrt::None),
                    ],
                    functions: &[
                        __tfrt::FunctionDef {
                            name: "branches",
                            form: __tfrt::FunctionForm::SymbolList,
                        },
                        __tfrt::FunctionDef {
                            name: "callee",
                            form: __tfrt::FunctionForm::Symbol,
                        },
                        __tfrt::FunctionDef {
                            name: "body",
                            form: __tfrt::FunctionForm::Region,
                        },
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<Buffer as __tfrt::IsValue>::This>,
                        >("same", __tfrt::Some("buffer")),
                        __tfrt::result::<__tfrt::AnyTail>("others", __tfrt::None),
                        __tfrt::chain_result(),
                    ],
                    traits: __tfrt::OpTraits::OPTIONAL_CHAIN,
                    effect: __tfrt::Effect::Ordered("files"),
                    assembly_format: __tfrt::Some(
                        "operands $callee $branches attr-dict `:` type-list($any, $others) region($body)",
                    ),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.everything")
                };
            }
            const _: () = __tfrt::assert_mutable::<<Buffer as __tfrt::IsValue>::This>();
            const _: () = __tfrt::assert_not_chain::<<Buffer as __tfrt::IsValue>::This>();
            const _: () = __tfrt::assert_not_mutable::<<f32 as __tfrt::IsValue>::This>();
            const _: () = __tfrt::assert_default::<
                <i32 as __tfrt::IsAttribute>::This,
            >(&__tfrt::AttrDefault::Int(-1));
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByMut<<Buffer as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::Text<__tfrt::AsStr, 1usize>,
                    __tfrt::AnyOperand<2usize, false>,
                    __tfrt::Reference<<i32 as __tfrt::IsValue>::This, 3usize>,
                    __tfrt::Attribute<<i64 as __tfrt::IsAttribute>::This, 1usize>,
                    __tfrt::Attribute<<i32 as __tfrt::IsAttribute>::This, 0usize>,
                    __tfrt::LentFunction<1usize, true>,
                    __tfrt::Function<0usize, true>,
                    __tfrt::LentFunctions<0usize, 2usize>,
                    __tfrt::Execution,
                    __tfrt::Rest<<f32 as __tfrt::IsValue>::This, 4usize, true>,
                ),
                __tfrt::WithChain<
                    __tfrt::Fallible<
                        __tfrt::Parts<
                            (
                                __tfrt::Payload<<Buffer as __tfrt::IsValue>::This>,
                                __tfrt::AnyTail,
                            ),
                        >,
                        <io::Result<(Buffer, Vec<AnyRef>)> as __tfrt::IsFallible>::This,
                    >,
                >,
                _,
            >(|(__a0, __a1, __a2, __a3, __a4, __a5, __a6, __a7, __a8, __a9, __a10)| everything(
                __a0,
                __a1,
                __a2,
                __a3,
                __a4,
                __a5,
                __a6,
                __a7,
                __a8,
                __a9,
                __a10,
            ))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

/// Returns `a * x + y`.
#[inline(always)]
#[allow(clippy::all, clippy::pedantic, unused_parens, unused_braces)]
fn axpy(a: f32, x: f32, y: f32) -> f32 {
    ::tfrt::device::__private::add(::tfrt::device::__private::mul(a, x), y)
}
#[doc(hidden)]
#[allow(dead_code, non_camel_case_types, missing_debug_implementations)]
struct axpy {}
#[automatically_derived]
impl ::tfrt::device::__private::DeviceFunction for axpy {
    const FUNCTION: &'static ::tfrt::device::__private::Function = {
        static FUNCTION: ::tfrt::device::__private::Function = ::tfrt::device::__private::Function {
            name: "axpy",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "a",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
                ::tfrt::device::__private::Parameter {
                    name: "x",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
                ::tfrt::device::__private::Parameter {
                    name: "y",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
            ],
            result: ::tfrt::device::__private::Scalar::F32,
            num_locals: 3u32,
            body: ::tfrt::device::__private::CodeBlock {
                statements: &[],
                value: ::tfrt::device::__private::Some(
                    &::tfrt::device::__private::Expr::Binary(
                        ::tfrt::device::__private::BinaryOp::Add,
                        &::tfrt::device::__private::Expr::Binary(
                            ::tfrt::device::__private::BinaryOp::Mul,
                            &::tfrt::device::__private::Expr::Local(0u32),
                            &::tfrt::device::__private::Expr::Local(1u32),
                        ),
                        &::tfrt::device::__private::Expr::Local(2u32),
                    ),
                ),
            },
        };
        &FUNCTION
    };
}
#[doc(hidden)]
#[allow(non_upper_case_globals)]
static __axpy_kernel: ::tfrt::device::__private::FunctionKernel = ::tfrt::device::__private::FunctionKernel {
    name: "my.axpy",
    form: ::tfrt::device::__private::KernelForm::Elementwise,
    function: <axpy as ::tfrt::device::__private::DeviceFunction>::FUNCTION,
};
:: tfrt :: device :: __private :: submit ! { :: tfrt :: device :: __private :: LinkedKernel (& __axpy_kernel) }
fn __axpy_metadata(
    a: &::tfrt::device::__private::TensorMetadata,
    x: &::tfrt::device::__private::TensorMetadata,
    y: &::tfrt::device::__private::TensorMetadata,
) -> ::tfrt::device::__private::Result<
    ::tfrt::device::__private::TensorMetadata,
    ::tfrt::device::__private::Error,
> {
    ::tfrt::device::__private::metadata(&__axpy_kernel, &[a, x, y])
}
#[doc(hidden)]
/// Returns `a * x + y`.
fn __axpy_cpu(
    a: &::tfrt::device::__private::DenseHostTensor,
    x: &::tfrt::device::__private::DenseHostTensor,
    y: &::tfrt::device::__private::DenseHostTensor,
    result: &mut ::tfrt::device::__private::DenseHostTensor,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::elementwise::<
        (f32, f32, f32),
        f32,
    >(&__axpy_kernel, &[a, x, y], result, #[inline(always)] |(a, x, y)| axpy(a, x, y))
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___axpy_cpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns `a * x + y`.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("a"),
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                1usize,
                            >,
                        >("x"),
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                2usize,
                            >,
                        >("y"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This,
                            >,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    metadata: __tfrt::Some(|__query| __tfrt::answer(
                        __tfrt::metadata::<
                            1usize,
                        >(
                            __tfrt::asked_with((
                                    __query.operand(0usize)?,
                                    __query.operand(1usize)?,
                                    __query.operand(2usize)?,
                                ))
                                .says(&__axpy_metadata),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.axpy")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<
                        <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                        0usize,
                    >,
                    __tfrt::ByRef<
                        <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                        1usize,
                    >,
                    __tfrt::ByRef<
                        <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                        2usize,
                    >,
                    __tfrt::Execution,
                ),
                __tfrt::Fallible<
                    __tfrt::Parts<
                        (
                            __tfrt::Payload<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This,
                            >,
                        ),
                    >,
                    __tfrt::Result<
                        (
                            <::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This,
                        ),
                        __tfrt::Error,
                    >,
                >,
                _,
            >(|(__a0, __a1, __a2, __ctx0)| {
                let __s0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a0,
                );
                let __s1 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a1,
                );
                let __s2 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a2,
                );
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0, &__s1, &__s2)).says(&__axpy_metadata))?;
                let mut __o0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(__axpy_cpu(__a0, __a1, __a2, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}
#[doc(hidden)]
/// Returns `a * x + y`.
fn __axpy_gpu(
    frame: &mut ::tfrt::device::__private::KernelFrame<'_>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::launch(&__axpy_kernel, frame)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___axpy_gpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "Returns `a * x + y`.",
                        operands: &[
                            __tfrt::raw_operand(
                                "stream",
                                __tfrt::TypeConstraint::Exact("!tfrt_gpu.stream"),
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "a",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "x",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "y",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "result",
                                __tfrt::TypeConstraint::Any,
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                            __tfrt::raw_operand(
                                "in_chain",
                                __tfrt::exactly::<
                                    <::tfrt::device::__private::Chain as __tfrt::IsValue>::This,
                                >(),
                                __tfrt::Arity::One,
                                false,
                                false,
                            ),
                        ],
                        results: &[
                            __tfrt::raw_result(
                                "out_chain",
                                __tfrt::exactly::<
                                    <::tfrt::device::__private::Chain as __tfrt::IsValue>::This,
                                >(),
                                __tfrt::Arity::One,
                                __tfrt::None,
                            ),
                        ],
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.axpy.gpu")
                    }
                },
                |__frame| {
                    if let __tfrt::Err(__error) = __axpy_gpu(__frame) {
                        __frame.report_error(__tfrt::From::from(__error));
                    }
                },
            )
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}

/// Returns the sums of the squares of the rows.
#[inline(always)]
#[allow(clippy::all, clippy::pedantic, unused_parens, unused_braces)]
fn squares(x: f32) -> f32 {
    ::tfrt::device::__private::mul(x, x)
}
#[doc(hidden)]
#[allow(dead_code, non_camel_case_types, missing_debug_implementations)]
struct squares {}
#[automatically_derived]
impl ::tfrt::device::__private::DeviceFunction for squares {
    const FUNCTION: &'static ::tfrt::device::__private::Function = {
        static FUNCTION: ::tfrt::device::__private::Function = ::tfrt::device::__private::Function {
            name: "squares",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "x",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
            ],
            result: ::tfrt::device::__private::Scalar::F32,
            num_locals: 1u32,
            body: ::tfrt::device::__private::CodeBlock {
                statements: &[],
                value: ::tfrt::device::__private::Some(
                    &::tfrt::device::__private::Expr::Binary(
                        ::tfrt::device::__private::BinaryOp::Mul,
                        &::tfrt::device::__private::Expr::Local(0u32),
                        &::tfrt::device::__private::Expr::Local(0u32),
                    ),
                ),
            },
        };
        &FUNCTION
    };
}
#[doc(hidden)]
#[allow(non_upper_case_globals)]
static __squares_kernel: ::tfrt::device::__private::FunctionKernel = ::tfrt::device::__private::FunctionKernel {
    name: "my.squares",
    form: ::tfrt::device::__private::KernelForm::ReduceAlong {
        identity: || {
            const IDENTITY: f32 = 0.0;
            ::tfrt::device::__private::ToValue::to_value(IDENTITY)
        },
        combine: &::tfrt::device::__private::Function {
            name: "add",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "a",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
                ::tfrt::device::__private::Parameter {
                    name: "b",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
            ],
            result: ::tfrt::device::__private::Scalar::F32,
            num_locals: 2,
            body: ::tfrt::device::__private::CodeBlock {
                statements: &[],
                value: ::tfrt::device::__private::Some(
                    &::tfrt::device::__private::Expr::Binary(
                        ::tfrt::device::__private::BinaryOp::Add,
                        &::tfrt::device::__private::Expr::Local(0),
                        &::tfrt::device::__private::Expr::Local(1),
                    ),
                ),
            },
        },
        axes: &::tfrt::device::__private::ReducedAxes {
            axes: &[-1i64],
            keep_dims: true,
        },
    },
    function: <squares as ::tfrt::device::__private::DeviceFunction>::FUNCTION,
};
:: tfrt :: device :: __private :: submit ! { :: tfrt :: device :: __private :: LinkedKernel (& __squares_kernel) }
fn __squares_metadata(
    x: &::tfrt::device::__private::TensorMetadata,
) -> ::tfrt::device::__private::Result<
    ::tfrt::device::__private::TensorMetadata,
    ::tfrt::device::__private::Error,
> {
    ::tfrt::device::__private::metadata(&__squares_kernel, &[x])
}
#[doc(hidden)]
/// Returns the sums of the squares of the rows.
fn __squares_cpu(
    x: &::tfrt::device::__private::DenseHostTensor,
    result: &mut ::tfrt::device::__private::DenseHostTensor,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::reduce_along::<
        (f32,),
        f32,
    >(
        &__squares_kernel,
        &[x],
        result,
        0.0,
        #[inline(always)]
        |(x,)| squares(x),
        #[inline(always)]
        |__a, __b| ::tfrt::device::__private::add(__a, __b),
    )
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___squares_cpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the sums of the squares of the rows.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("x"),
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
                            __tfrt::asked_with((__query.operand(0usize)?,))
                                .says(&__squares_metadata),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.squares")
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
            >(|(__a0, __ctx0)| {
                let __s0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a0,
                );
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0,)).says(&__squares_metadata))?;
                let mut __o0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(__squares_cpu(__a0, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}
#[doc(hidden)]
/// Returns the sums of the squares of the rows.
fn __squares_gpu(
    frame: &mut ::tfrt::device::__private::KernelFrame<'_>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::launch(&__squares_kernel, frame)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___squares_gpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "Returns the sums of the squares of the rows.",
                        operands: &[
                            __tfrt::raw_operand(
                                "stream",
                                __tfrt::TypeConstraint::Exact("!tfrt_gpu.stream"),
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
                        ..__tfrt::OpDef::new("my.squares.gpu")
                    }
                },
                |__frame| {
                    if let __tfrt::Err(__error) = __squares_gpu(__frame) {
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

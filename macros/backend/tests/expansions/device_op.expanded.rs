/// Returns the number of positive elements.
#[inline(always)]
#[allow(clippy::all, clippy::pedantic, unused_parens, unused_braces)]
fn one_if_positive(x: f32) -> i64 {
    (((x > 0.0)) as i64)
}
#[doc(hidden)]
#[allow(dead_code, non_camel_case_types, missing_debug_implementations)]
struct one_if_positive {}
#[automatically_derived]
impl ::tfrt::device::__private::DeviceFunction for one_if_positive {
    const FUNCTION: &'static ::tfrt::device::__private::Function = {
        static FUNCTION: ::tfrt::device::__private::Function = ::tfrt::device::__private::Function {
            name: "one_if_positive",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "x",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
            ],
            result: ::tfrt::device::__private::Scalar::I64,
            num_locals: 1u32,
            body: ::tfrt::device::__private::CodeBlock {
                statements: &[],
                value: ::tfrt::device::__private::Some(
                    &::tfrt::device::__private::Expr::Cast(
                        &::tfrt::device::__private::Expr::Binary(
                            ::tfrt::device::__private::BinaryOp::Gt,
                            &::tfrt::device::__private::Expr::Local(0u32),
                            &::tfrt::device::__private::Expr::Float(
                                "0.0",
                                ::tfrt::device::__private::None,
                            ),
                        ),
                        ::tfrt::device::__private::Scalar::I64,
                    ),
                ),
            },
        };
        &FUNCTION
    };
}
#[doc(hidden)]
#[allow(non_upper_case_globals)]
static __one_if_positive_kernel: ::tfrt::device::__private::FunctionKernel = ::tfrt::device::__private::FunctionKernel {
    name: "my.CountPositive",
    form: ::tfrt::device::__private::KernelForm::Reduce {
        identity: || {
            const IDENTITY: i64 = 0;
            ::tfrt::device::__private::ToValue::to_value(IDENTITY)
        },
        combine: &::tfrt::device::__private::Function {
            name: "add",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "a",
                    ty: ::tfrt::device::__private::Scalar::I64,
                },
                ::tfrt::device::__private::Parameter {
                    name: "b",
                    ty: ::tfrt::device::__private::Scalar::I64,
                },
            ],
            result: ::tfrt::device::__private::Scalar::I64,
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
    },
    function: <one_if_positive as ::tfrt::device::__private::DeviceFunction>::FUNCTION,
};
:: tfrt :: device :: __private :: submit ! { :: tfrt :: device :: __private :: LinkedKernel (& __one_if_positive_kernel) }
fn __one_if_positive_metadata(
    x: &::tfrt::device::__private::TensorMetadata,
) -> ::tfrt::device::__private::Result<
    ::tfrt::device::__private::TensorMetadata,
    ::tfrt::device::__private::Error,
> {
    ::tfrt::device::__private::metadata(&__one_if_positive_kernel, &[x])
}
#[doc(hidden)]
/// Returns the number of positive elements.
fn __one_if_positive_cpu(
    x: &::tfrt::device::__private::DenseHostTensor,
    result: &mut ::tfrt::device::__private::DenseHostTensor,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::reduce::<
        (f32,),
        i64,
    >(
        &__one_if_positive_kernel,
        &[x],
        result,
        0,
        #[inline(always)]
        |(x,)| one_if_positive(x),
        #[inline(always)]
        |__a, __b| ::tfrt::device::__private::add(__a, __b),
    )
}
/// Returns the number of positive elements.
#[track_caller]
#[allow(dead_code, clippy::too_many_arguments)]
fn count_positive(
    eager: &::tfrt::core::__private::Arc<::tfrt::core::EagerContext>,
    x: &::tfrt::core::TensorHandle,
) -> ::tfrt::core::__private::Result<
    ::tfrt::core::TensorHandle,
    ::tfrt::core::__private::Error,
> {
    let mut call = ::tfrt::core::__private::TypedCall::new(eager, "my.CountPositive")?;
    call.operand(x);
    call.one()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf___one_if_positive_cpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the number of positive elements.",
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
                                .says(&__one_if_positive_metadata),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.CountPositive")
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
                let __s0 = __tfrt::metadata_of(&*__a0);
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0,)).says(&__one_if_positive_metadata))?;
                let mut __o0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(__one_if_positive_cpu(__a0, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<::tfrt::device::__private::DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.CountPositive"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.CountPositive")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}
#[doc(hidden)]
/// Returns the number of positive elements.
fn __one_if_positive_gpu(
    frame: &mut ::tfrt::device::__private::KernelFrame<'_>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::launch(&__one_if_positive_kernel, frame)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___one_if_positive_gpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "Returns the number of positive elements.",
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
                        ..__tfrt::OpDef::new("my.CountPositive.gpu")
                    }
                },
                |__frame| {
                    if let __tfrt::Err(__error) = __one_if_positive_gpu(__frame) {
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
#[doc(hidden)]
fn __one_if_positive_op(
    call: &mut ::tfrt::device::__private::OpCall<'_>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::launch_op(&__one_if_positive_kernel, call)
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf___one_if_positive_op
    const __OP0: __tfrt::OpRegistration = __tfrt::OpRegistration {
        device_type: "gpu",
        flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
        implementation: __tfrt::Implementation::Function(|__call| __tfrt::finished(
            __one_if_positive_op(__call),
        )),
        place: __tfrt::SourcePlace {
            file: __tfrt::file!(),
            line: __tfrt::line!(),
        },
        ..__tfrt::OpRegistration::new("my.CountPositive")
    };
    __tfrt::submit! {
        __OP0
    }
}

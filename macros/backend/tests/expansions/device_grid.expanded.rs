#[allow(
    clippy::all,
    clippy::pedantic,
    redundant_semicolons,
    unused_assignments,
    unused_braces,
    unused_mut,
    unused_parens,
    unused_variables
)]
fn __pairs_block(
    __grid: &Grid,
    x: &View<f32, 1>,
    scale: f32,
    row: &mut Shared<f32, 64>,
    result: &mut OutView<f32, 1>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Fault> {
    #[allow(dead_code)]
    const __THREADS: usize = 64usize;
    let __grid = *__grid;
    let mut __kept2 = [::tfrt::device::__private::Default::default(); __THREADS];
    let mut __kept3 = [::tfrt::device::__private::Default::default(); __THREADS];
    for __grid in ::tfrt::device::__private::threads(&__grid) {
        let __lane = ::tfrt::device::__private::Grid::lane(&__grid);
        let at = ::tfrt::device::__private::Grid::index(&__grid, 0usize);
        let mut sum = 0.0;
        if (at < ::tfrt::device::__private::extent_of(&*x, 0usize)) {
            sum = ::tfrt::device::__private::mul(
                (::tfrt::device::__private::load(&__grid, &*x, [at])?),
                scale,
            );
        }
        __kept2[__lane] = at;
        __kept3[__lane] = sum;
    }
    for step in (0)..(2) {
        for __grid in ::tfrt::device::__private::threads(&__grid) {
            let __lane = ::tfrt::device::__private::Grid::lane(&__grid);
            let mut sum = __kept3[__lane];
            {
                let __at: [u32; 1usize] = [
                    ::tfrt::device::__private::Grid::thread(&__grid, 0usize),
                ];
                let __value: f32 = sum;
                let __new = __value;
                ::tfrt::device::__private::store(&__grid, &mut *row, __at, __new)?;
            };
            __kept3[__lane] = sum;
        }
        for __grid in ::tfrt::device::__private::threads(&__grid) {
            let __lane = ::tfrt::device::__private::Grid::lane(&__grid);
            let mut sum = __kept3[__lane];
            sum = ::tfrt::device::__private::add(
                sum,
                (::tfrt::device::__private::load(
                    &__grid,
                    &*row,
                    [(::tfrt::device::__private::Grid::thread(&__grid, 0usize) ^ 1)],
                )?),
            );
            __kept3[__lane] = sum;
        }
        for __grid in ::tfrt::device::__private::threads(&__grid) {
            {
                let __at: [u32; 1usize] = [
                    ::tfrt::device::__private::Grid::thread(&__grid, 0usize),
                ];
                let __value: f32 = (step as f32);
                let __new = ::tfrt::device::__private::sub(
                    ::tfrt::device::__private::load(&__grid, &*row, __at)?,
                    __value,
                );
                ::tfrt::device::__private::store(&__grid, &mut *row, __at, __new)?;
            };
        }
    }
    for __grid in ::tfrt::device::__private::threads(&__grid) {
        let __lane = ::tfrt::device::__private::Grid::lane(&__grid);
        let at = __kept2[__lane];
        let mut sum = __kept3[__lane];
        if (at < ::tfrt::device::__private::extent_of(&*result, 0usize)) {
            {
                let __at: [u32; 1usize] = [at];
                let __value: f32 = sum;
                let __new = __value;
                ::tfrt::device::__private::store(&__grid, &mut *result, __at, __new)?;
            }
        }
        __kept3[__lane] = sum;
    }
    ::tfrt::device::__private::Result::Ok(())
}
#[doc(hidden)]
#[allow(non_upper_case_globals)]
static __pairs_tree: ::tfrt::device::__private::Function = ::tfrt::device::__private::Function {
    name: "pairs",
    parameters: &[
        ::tfrt::device::__private::Parameter {
            name: "x",
            ty: ::tfrt::device::__private::Scalar::F32,
        },
        ::tfrt::device::__private::Parameter {
            name: "scale",
            ty: ::tfrt::device::__private::Scalar::F32,
        },
    ],
    result: ::tfrt::device::__private::Scalar::F32,
    num_locals: 5u32,
    body: ::tfrt::device::__private::CodeBlock {
        statements: &[
            ::tfrt::device::__private::Statement::Let {
                local: 2u32,
                ty: ::tfrt::device::__private::None,
                value: &::tfrt::device::__private::Expr::Position(
                    ::tfrt::device::__private::GridPosition::Index,
                    0u32,
                ),
            },
            ::tfrt::device::__private::Statement::Let {
                local: 3u32,
                ty: ::tfrt::device::__private::None,
                value: &::tfrt::device::__private::Expr::Float(
                    "0.0",
                    ::tfrt::device::__private::None,
                ),
            },
            ::tfrt::device::__private::Statement::Expr(
                &::tfrt::device::__private::Expr::If(
                    &::tfrt::device::__private::Expr::Binary(
                        ::tfrt::device::__private::BinaryOp::Lt,
                        &::tfrt::device::__private::Expr::Local(2u32),
                        &::tfrt::device::__private::Expr::Extent(
                            ::tfrt::device::__private::GridArray::Operand(0u32),
                            0u32,
                        ),
                    ),
                    ::tfrt::device::__private::CodeBlock {
                        statements: &[
                            ::tfrt::device::__private::Statement::Assign {
                                local: 3u32,
                                value: &::tfrt::device::__private::Expr::Binary(
                                    ::tfrt::device::__private::BinaryOp::Mul,
                                    &::tfrt::device::__private::Expr::Load(
                                        ::tfrt::device::__private::GridArray::Operand(0u32),
                                        ::tfrt::device::__private::Scalar::F32,
                                        &[::tfrt::device::__private::Expr::Local(2u32)],
                                    ),
                                    &::tfrt::device::__private::Expr::Local(1u32),
                                ),
                            },
                        ],
                        value: ::tfrt::device::__private::None,
                    },
                    ::tfrt::device::__private::None,
                ),
            ),
            ::tfrt::device::__private::Statement::For {
                local: 4u32,
                start: &::tfrt::device::__private::Expr::Int(
                    0u64,
                    ::tfrt::device::__private::None,
                ),
                end: &::tfrt::device::__private::Expr::Int(
                    2u64,
                    ::tfrt::device::__private::None,
                ),
                is_inclusive: false,
                body: ::tfrt::device::__private::CodeBlock {
                    statements: &[
                        ::tfrt::device::__private::Statement::Store {
                            memory: ::tfrt::device::__private::GridArray::Shared(0u32),
                            ty: ::tfrt::device::__private::Scalar::F32,
                            index: &[
                                ::tfrt::device::__private::Expr::Position(
                                    ::tfrt::device::__private::GridPosition::Thread,
                                    0u32,
                                ),
                            ],
                            op: ::tfrt::device::__private::None,
                            value: &::tfrt::device::__private::Expr::Local(3u32),
                        },
                        ::tfrt::device::__private::Statement::Barrier,
                        ::tfrt::device::__private::Statement::Assign {
                            local: 3u32,
                            value: &::tfrt::device::__private::Expr::Binary(
                                ::tfrt::device::__private::BinaryOp::Add,
                                &::tfrt::device::__private::Expr::Local(3u32),
                                &::tfrt::device::__private::Expr::Load(
                                    ::tfrt::device::__private::GridArray::Shared(0u32),
                                    ::tfrt::device::__private::Scalar::F32,
                                    &[
                                        ::tfrt::device::__private::Expr::Binary(
                                            ::tfrt::device::__private::BinaryOp::BitXor,
                                            &::tfrt::device::__private::Expr::Position(
                                                ::tfrt::device::__private::GridPosition::Thread,
                                                0u32,
                                            ),
                                            &::tfrt::device::__private::Expr::Int(
                                                1u64,
                                                ::tfrt::device::__private::None,
                                            ),
                                        ),
                                    ],
                                ),
                            ),
                        },
                        ::tfrt::device::__private::Statement::Barrier,
                        ::tfrt::device::__private::Statement::Store {
                            memory: ::tfrt::device::__private::GridArray::Shared(0u32),
                            ty: ::tfrt::device::__private::Scalar::F32,
                            index: &[
                                ::tfrt::device::__private::Expr::Position(
                                    ::tfrt::device::__private::GridPosition::Thread,
                                    0u32,
                                ),
                            ],
                            op: ::tfrt::device::__private::Some(
                                ::tfrt::device::__private::BinaryOp::Sub,
                            ),
                            value: &::tfrt::device::__private::Expr::Cast(
                                &::tfrt::device::__private::Expr::Local(4u32),
                                ::tfrt::device::__private::Scalar::F32,
                            ),
                        },
                    ],
                    value: ::tfrt::device::__private::None,
                },
            },
            ::tfrt::device::__private::Statement::Expr(
                &::tfrt::device::__private::Expr::If(
                    &::tfrt::device::__private::Expr::Binary(
                        ::tfrt::device::__private::BinaryOp::Lt,
                        &::tfrt::device::__private::Expr::Local(2u32),
                        &::tfrt::device::__private::Expr::Extent(
                            ::tfrt::device::__private::GridArray::Result,
                            0u32,
                        ),
                    ),
                    ::tfrt::device::__private::CodeBlock {
                        statements: &[
                            ::tfrt::device::__private::Statement::Store {
                                memory: ::tfrt::device::__private::GridArray::Result,
                                ty: ::tfrt::device::__private::Scalar::F32,
                                index: &[::tfrt::device::__private::Expr::Local(2u32)],
                                op: ::tfrt::device::__private::None,
                                value: &::tfrt::device::__private::Expr::Local(3u32),
                            },
                        ],
                        value: ::tfrt::device::__private::None,
                    },
                    ::tfrt::device::__private::None,
                ),
            ),
        ],
        value: ::tfrt::device::__private::None,
    },
};
#[doc(hidden)]
#[allow(non_upper_case_globals)]
static __pairs_kernel: ::tfrt::device::__private::FunctionKernel = ::tfrt::device::__private::FunctionKernel {
    name: "my.pairs",
    form: ::tfrt::device::__private::KernelForm::Grid({
        #[allow(clippy::all, clippy::pedantic, unused_braces, unused_parens)]
        static RULES: ::tfrt::device::__private::GridRules = ::tfrt::device::__private::GridRules {
            threads: [64u32, 1u32, 1u32],
            axes: 1usize,
            ranks: &[
                ::tfrt::device::__private::Some(1usize),
                ::tfrt::device::__private::None,
            ],
            result_rank: 1usize,
            extents: |__shapes| ::tfrt::device::__private::Vec::<
                i64,
            >::from([::tfrt::device::__private::extent(__shapes, 0usize, 0usize)]),
            blocks: ::tfrt::device::__private::Some(|__shapes| ::tfrt::device::__private::Vec::<
                i64,
            >::from({
                let __numbers: [i64; 1usize] = [
                    ::tfrt::device::__private::div(
                        (::tfrt::device::__private::add(
                            ::tfrt::device::__private::extent(__shapes, 0usize, 0usize),
                            63,
                        )),
                        64,
                    ),
                ];
                __numbers
            })),
            shared: const {
                &::tfrt::device::__private::SharedArray::all([
                    ::tfrt::device::__private::SharedArray::new(
                        "row",
                        ::tfrt::device::__private::Scalar::F32,
                        64,
                    ),
                ])
            },
            initial: ::tfrt::device::__private::Some(|| {
                const INITIAL: f32 = 0.0;
                ::tfrt::device::__private::ToValue::to_value(INITIAL)
            }),
        };
        &RULES
    }),
    function: &__pairs_tree,
};
:: tfrt :: device :: __private :: submit ! { :: tfrt :: device :: __private :: LinkedKernel (& __pairs_kernel) }
fn __pairs_metadata(
    x: &::tfrt::device::__private::TensorMetadata,
    scale: &::tfrt::device::__private::TensorMetadata,
) -> ::tfrt::device::__private::Result<
    ::tfrt::device::__private::TensorMetadata,
    ::tfrt::device::__private::Error,
> {
    ::tfrt::device::__private::metadata(&__pairs_kernel, &[x, scale])
}
/// Returns the sums of neighbours.
pub fn pairs(
    x: &::tfrt::device::__private::DenseHostTensor,
    scale: &::tfrt::device::__private::DenseHostTensor,
    result: &mut ::tfrt::device::__private::DenseHostTensor,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    let __launch = ::tfrt::device::__private::grid_plan(
        &__pairs_kernel,
        &[x, scale],
        result,
    )?;
    let __e1 = x
        .elements::<<f32 as ::tfrt::device::__private::DeviceNumber>::Element>()?;
    let __a1 = __launch.view::<f32, 1usize>("x", x, &__e1)?;
    let __a2 = ::tfrt::device::__private::number::<f32>(scale)?;
    #[allow(unused_braces)]
    let mut __a3 = ::tfrt::device::__private::Shared::<f32, 64>::new("row");
    let mut __e4 = result
        .elements_mut::<<f32 as ::tfrt::device::__private::DeviceNumber>::Element>()?;
    let mut __a4 = __launch
        .out::<
            f32,
            1usize,
        >(
            "result",
            ::tfrt::device::__private::Some({
                const INITIAL: f32 = 0.0;
                INITIAL
            }),
            &mut __e4,
        )?;
    __launch
        .run(|__grid| {
            __a3.clear();
            __pairs_block(__grid, &__a1, __a2, &mut __a3, &mut __a4)
        })
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf_pairs
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Returns the sums of neighbours.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("x"),
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <::tfrt::device::__private::DenseHostTensor as __tfrt::IsValue>::This,
                                1usize,
                            >,
                        >("scale"),
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
                                ))
                                .says(&__pairs_metadata),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.pairs")
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
            >(|(__a0, __a1, __ctx0)| {
                let __s0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a0,
                );
                let __s1 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                    &*__a1,
                );
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0, &__s1)).says(&__pairs_metadata))?;
                let mut __o0 = <<::tfrt::device::__private::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(pairs(__a0, __a1, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
}
#[doc(hidden)]
/// Returns the sums of neighbours.
fn __pairs_gpu(
    frame: &mut ::tfrt::device::__private::KernelFrame<'_>,
) -> ::tfrt::device::__private::Result<(), ::tfrt::device::__private::Error> {
    ::tfrt::device::__private::launch(&__pairs_kernel, frame)
}
::tfrt::__private::kernels_of_a_free_function! {
    __TfrtKernelsOf___pairs_gpu
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            __tfrt::KernelDescriptor::raw(
                const {
                    &__tfrt::OpDef {
                        summary: "Returns the sums of neighbours.",
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
                                "scale",
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
                        ..__tfrt::OpDef::new("my.pairs.gpu")
                    }
                },
                |__frame| {
                    if let __tfrt::Err(__error) = __pairs_gpu(__frame) {
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

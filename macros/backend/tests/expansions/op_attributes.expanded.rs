/// Says what it does.
fn scale(x: &AnyRef, factor: f32, axes: Option<&[i64]>) -> Result<DenseHostTensor> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_scale
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Says what it does.",
                    operands: &[__tfrt::operand::<__tfrt::AnyOperand<0usize, true>>("x")],
                    attributes: &[
                        __tfrt::attribute::<
                            __tfrt::Option<<&'static [i64] as __tfrt::IsAttribute>::This>,
                        >("axes", __tfrt::Some(__tfrt::AttrDefault::Absent)),
                        __tfrt::attribute::<
                            <f32 as __tfrt::IsAttribute>::This,
                        >("factor", __tfrt::Some(__tfrt::AttrDefault::Float(1.0))),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                        >("result", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Scale")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            const _: () = __tfrt::assert_default::<
                <f32 as __tfrt::IsAttribute>::This,
            >(&__tfrt::AttrDefault::Float(1.0));
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::AnyOperand<0usize, true>,
                    __tfrt::Attribute<<f32 as __tfrt::IsAttribute>::This, 1usize>,
                    __tfrt::Attribute<
                        __tfrt::Option<<&'static [i64] as __tfrt::IsAttribute>::This>,
                        0usize,
                    >,
                ),
                __tfrt::Fallible<
                    __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                    <Result<DenseHostTensor> as __tfrt::IsFallible>::This,
                >,
                _,
            >(|(__a0, __a1, __a2)| scale(__a0, __a1, __a2))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE
                .with(__tfrt::OpFlags::ACCEPTS_SCALAR)
                .with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Scale"),
            metadata: __tfrt::Some(|__query| {
                let __bound = __tfrt::attributes_of(__KERNELS[0usize].op(), __query)?;
                __tfrt::result_metadata::<
                    __tfrt::Results<1usize>,
                >(
                    __tfrt::asked_with((
                            __query.operand(0usize)?,
                            __bound.read::<<f32 as __tfrt::IsAttribute>::This>(1usize)?,
                            __bound
                                .read::<
                                    __tfrt::Option<
                                        <&'static [i64] as __tfrt::IsAttribute>::This,
                                    >,
                                >(0usize)?,
                        ))
                        .says(&shapes::same),
                )
            }),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Scale")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

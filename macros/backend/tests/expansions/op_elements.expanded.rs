fn bias(
    x: TensorView<'_, f32, 2>,
    bias: Option<&[f32]>,
    mut y: TensorViewMut<'_, f32, 2>,
) -> Result<()> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_bias
    #[allow(clippy::all, clippy::pedantic)]
    fn __bias_0(
        __p0: &__tfrt::DenseHostTensor,
        __p1: __tfrt::Option<&__tfrt::DenseHostTensor>,
        __p2: &mut __tfrt::DenseHostTensor,
    ) -> __tfrt::Result<(), __tfrt::Error> {
        let __v0 = __tfrt::view::<f32, 2>("my.Bias", "x", __p0)?;
        let __v1 = match __p1 {
            __tfrt::Some(__given) => {
                __tfrt::Some(__tfrt::elements::<f32>("my.Bias", "bias", __given)?)
            }
            __tfrt::None => __tfrt::None,
        };
        let __v2 = __tfrt::view_mut::<f32, 2>("my.Bias", "y", __p2)?;
        __tfrt::Result::map_err(
            bias(__v0, __tfrt::Option::as_deref(&__v1), __v2),
            __tfrt::IntoError::into_error,
        )
    }
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<
                                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                                0usize,
                            >,
                        >("x"),
                        __tfrt::operand::<
                            __tfrt::OptionalRef<
                                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                                1usize,
                                true,
                            >,
                        >("bias"),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<
                                <__tfrt::DenseHostTensor as __tfrt::IsPreallocated>::This,
                            >,
                        >("y", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    metadata: __tfrt::Some(|__query| __tfrt::answer(
                        __tfrt::metadata::<
                            1usize,
                        >(
                            __tfrt::asked_with((
                                    __query.operand(0usize)?,
                                    __tfrt::operand_if_given(__query, 1usize)?,
                                ))
                                .says(&shapes::bias),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Bias")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<
                        <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                        0usize,
                    >,
                    __tfrt::OptionalRef<
                        <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                        1usize,
                        true,
                    >,
                    __tfrt::Execution,
                ),
                __tfrt::Fallible<
                    __tfrt::Parts<
                        (
                            __tfrt::Payload<
                                <__tfrt::DenseHostTensor as __tfrt::IsPreallocated>::This,
                            >,
                        ),
                    >,
                    __tfrt::Result<
                        (<__tfrt::DenseHostTensor as __tfrt::IsPreallocated>::This,),
                        __tfrt::Error,
                    >,
                >,
                _,
            >(|(__a0, __a1, __ctx0)| {
                let __s0 = __tfrt::metadata_of(&*__a0);
                let __s1 = __a1.map(__tfrt::metadata_of);
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0, __s1.as_ref())).says(&shapes::bias))?;
                let mut __o0 = <<__tfrt::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(__bias_0(__a0, __a1, &mut __o0))?;
                __tfrt::Ok((__o0,))
            })
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Bias"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Bias")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

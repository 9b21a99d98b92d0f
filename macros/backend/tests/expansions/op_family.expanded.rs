fn relu<T: Number>(x: &[T], bound: i64, y: &mut [T]) {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_relu
    #[allow(clippy::all, clippy::pedantic)]
    fn __relu_0(
        __p0: &__tfrt::DenseHostTensor,
        __p1: i64,
        __p2: &mut __tfrt::DenseHostTensor,
    ) -> __tfrt::Result<(), __tfrt::Error> {
        let __dtype0 = __tfrt::dtype_of(__p0);
        if __dtype0 == <f32 as __tfrt::Element>::DTYPE {
            let __v0 = __tfrt::elements::<f32>("my.Relu", "x", __p0)?;
            let mut __v2 = __tfrt::elements_mut::<f32>("my.Relu", "y", __p2)?;
            __tfrt::Ok(relu::<f32>(&__v0, __p1, &mut __v2))
        } else if __dtype0 == <i32 as __tfrt::Element>::DTYPE {
            let __v0 = __tfrt::elements::<i32>("my.Relu", "x", __p0)?;
            let mut __v2 = __tfrt::elements_mut::<i32>("my.Relu", "y", __p2)?;
            __tfrt::Ok(relu::<i32>(&__v0, __p1, &mut __v2))
        } else {
            __tfrt::Err(__tfrt::unsupported_because("no relu of {dtype}", __dtype0))
        }
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
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <i64 as __tfrt::IsAttribute>::This,
                        >("bound", __tfrt::None),
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
                                    __tfrt::queried::<
                                        <i64 as __tfrt::IsAttribute>::This,
                                    >(__query, 0usize)?,
                                ))
                                .says(&same),
                        )?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Relu")
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
                    __tfrt::Attribute<<i64 as __tfrt::IsAttribute>::This, 0usize>,
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
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0, __tfrt::Clone::clone(&__a1))).says(&same))?;
                let mut __o0 = <<__tfrt::DenseHostTensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                    __ctx0,
                    &__m0,
                )?;
                __tfrt::Finished::finished(__relu_0(__a0, __a1, &mut __o0))?;
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
            implementation: __tfrt::Implementation::Kernel("my.Relu"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Relu")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

fn relu<T: Number>(x: Forwarded<'_, T>, y: &mut [T]) {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_relu
    #[allow(clippy::all, clippy::pedantic)]
    fn __relu_0(
        __p0: &__tfrt::AnyRef,
        __p1: &mut __tfrt::DenseHostTensor,
    ) -> __tfrt::Result<(), __tfrt::Error> {
        let __g0 = __tfrt::dense_of("my.Relu", "x", __p0)?;
        let __dtype0 = __tfrt::dtype_of(&__g0);
        if __dtype0 == <f32 as __tfrt::Element>::DTYPE {
            let __v0 = __tfrt::forwarded::<f32>("my.Relu", "x", &__g0, &*__p1)?;
            let mut __v1 = __tfrt::elements_mut::<f32>("my.Relu", "y", __p1)?;
            __tfrt::Ok(
                relu::<
                    f32,
                >(__tfrt::Forwarded::of(__tfrt::Option::as_deref(&__v0)), &mut __v1),
            )
        } else if __dtype0 == <i32 as __tfrt::Element>::DTYPE {
            let __v0 = __tfrt::forwarded::<i32>("my.Relu", "x", &__g0, &*__p1)?;
            let mut __v1 = __tfrt::elements_mut::<i32>("my.Relu", "y", __p1)?;
            __tfrt::Ok(
                relu::<
                    i32,
                >(__tfrt::Forwarded::of(__tfrt::Option::as_deref(&__v0)), &mut __v1),
            )
        } else {
            __tfrt::Err(
                __tfrt::unsupported(
                    "my.Relu",
                    __dtype0,
                    &[<f32 as __tfrt::Element>::DTYPE, <i32 as __tfrt::Element>::DTYPE],
                ),
            )
        }
    }
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "",
                    operands: &[__tfrt::operand::<__tfrt::AnyOperand<0usize, true>>("x")],
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
                        >(__tfrt::asked_with((__query.operand(0usize)?,)).says(&same))?,
                    )),
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Relu")
                };
            }
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (__tfrt::AnyOperand<0usize, true>, __tfrt::Execution),
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
            >(|(__a0, __ctx0)| {
                let __s0 = __tfrt::metadata_of_value(__a0)?;
                let [__m0] = __tfrt::metadata::<
                    1usize,
                >(__tfrt::asked_with((&__s0,)).says(&same))?;
                let mut __o0 = __tfrt::forwarded_or_allocated(__ctx0, &__m0, &[__a0])?;
                __tfrt::Finished::finished(__relu_0(__a0, &mut __o0))?;
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

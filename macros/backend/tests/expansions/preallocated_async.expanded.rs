async fn split(x: &Tensor, head: &mut Tensor, tail: &mut Tensor) {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct split {}
#[automatically_derived]
impl ::tfrt::__private::KernelSet for split {
    const KERNELS: &'static [::tfrt::__private::KernelDescriptor] = {
        use ::tfrt::__private as __tfrt;
        &[
            {
                struct __Declared;
                impl __tfrt::Declared for __Declared {
                    const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                        summary: "",
                        operands: &[
                            __tfrt::operand::<
                                __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 0usize>,
                            >("x"),
                            __tfrt::chain_operand(),
                        ],
                        results: &[
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                            >("head", __tfrt::None),
                            __tfrt::result::<
                                __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                            >("tail", __tfrt::None),
                            __tfrt::chain_result(),
                        ],
                        traits: __tfrt::OpTraits::ASYNC
                            .with(__tfrt::OpTraits::OPTIONAL_CHAIN),
                        effect: __tfrt::Effect::Ordered("io"),
                        metadata: __tfrt::Some(|__query| __tfrt::answer(
                            __tfrt::metadata::<
                                2usize,
                            >(split_shape(__query.operand(0usize)?))?,
                        )),
                        place: __tfrt::SourcePlace {
                            file: __tfrt::file!(),
                            line: __tfrt::line!(),
                        },
                        ..__tfrt::OpDef::new("my.split")
                    };
                }
                __tfrt::KernelDescriptor::new_async::<
                    __Declared,
                    (
                        __tfrt::ByRef<<Tensor as __tfrt::IsValue>::This, 0usize>,
                        __tfrt::Execution,
                    ),
                    __tfrt::WithChain<
                        __tfrt::Fallible<
                            __tfrt::Parts<
                                (
                                    __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                                    __tfrt::Payload<<Tensor as __tfrt::IsPreallocated>::This>,
                                ),
                            >,
                            __tfrt::Result<
                                (
                                    <Tensor as __tfrt::IsPreallocated>::This,
                                    <Tensor as __tfrt::IsPreallocated>::This,
                                ),
                                __tfrt::Error,
                            >,
                        >,
                    >,
                    _,
                >(|_, (__a0, __ctx0)| __tfrt::Box::pin(async move {
                    let __s0 = <<Tensor as __tfrt::IsShaped>::This as __tfrt::Shaped>::metadata(
                        &*__a0,
                    );
                    let [__m0, __m1] = __tfrt::metadata::<2usize>(split_shape(&__s0))?;
                    let mut __o0 = <<Tensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                        __ctx0,
                        &__m0,
                    )?;
                    let mut __o1 = <<Tensor as __tfrt::IsPreallocated>::This as __tfrt::Preallocated>::allocate(
                        __ctx0,
                        &__m1,
                    )?;
                    __tfrt::Finished::finished(split(__a0, &mut __o0, &mut __o1).await)?;
                    __tfrt::Ok((__o0, __o1))
                }))
            },
        ]
    };
}
::tfrt::__private::submit! {
    ::tfrt::__private::KernelRegistration::of:: < split > ()
}

/// Joins tensors.
pub fn joined<'a>(
    first: &DenseHostTensor,
    last: Option<&DenseHostTensor>,
    axis: i64,
    dims: Option<&'a [i64]>,
) -> (DenseHostTensor, DenseHostTensor) {
    todo!()
}
/// Joins tensors.
#[track_caller]
#[allow(dead_code, clippy::too_many_arguments)]
pub fn concat(
    eager: &::tfrt::core::__private::Arc<::tfrt::core::EagerContext>,
    first: &::tfrt::core::TensorHandle,
    last: ::tfrt::core::__private::Option<&::tfrt::core::TensorHandle>,
    axis: i64,
    dims: Option<&[i64]>,
) -> ::tfrt::core::__private::Result<
    [::tfrt::core::TensorHandle; 2usize],
    ::tfrt::core::__private::Error,
> {
    let mut call = ::tfrt::core::__private::TypedCall::new(eager, "my.Concat")?;
    call.operand(first);
    call.operand_if_given(last);
    call.attribute("axis", axis)?;
    call.attribute_if_given("shape", dims)?;
    call.several()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_joined
    const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &__tfrt::OpDef {
                    summary: "Joins tensors.",
                    operands: &[
                        __tfrt::operand::<
                            __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                        >("first"),
                        __tfrt::operand::<
                            __tfrt::OptionalRef<
                                <DenseHostTensor as __tfrt::IsValue>::This,
                                1usize,
                                true,
                            >,
                        >("last"),
                    ],
                    attributes: &[
                        __tfrt::attribute::<
                            <i64 as __tfrt::IsAttribute>::This,
                        >("axis", __tfrt::None),
                        __tfrt::attribute::<
                            __tfrt::Option<<&'static [i64] as __tfrt::IsAttribute>::This>,
                        >("shape", __tfrt::Some(__tfrt::AttrDefault::Absent)),
                    ],
                    results: &[
                        __tfrt::result::<
                            __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                        >("result0", __tfrt::None),
                        __tfrt::result::<
                            __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                        >("result1", __tfrt::None),
                    ],
                    traits: __tfrt::OpTraits::EXTRA_CHAIN,
                    place: __tfrt::SourcePlace {
                        file: __tfrt::file!(),
                        line: __tfrt::line!(),
                    },
                    ..__tfrt::OpDef::new("my.Concat")
                };
            }
            const _: () = __tfrt::assert_not_chain::<
                <DenseHostTensor as __tfrt::IsValue>::This,
            >();
            __tfrt::KernelDescriptor::new::<
                __Declared,
                (
                    __tfrt::ByRef<<DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                    __tfrt::OptionalRef<
                        <DenseHostTensor as __tfrt::IsValue>::This,
                        1usize,
                        true,
                    >,
                    __tfrt::Attribute<<i64 as __tfrt::IsAttribute>::This, 0usize>,
                    __tfrt::Attribute<
                        __tfrt::Option<<&'static [i64] as __tfrt::IsAttribute>::This>,
                        1usize,
                    >,
                ),
                __tfrt::Parts<
                    (
                        __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                        __tfrt::Payload<<DenseHostTensor as __tfrt::IsValue>::This>,
                    ),
                >,
                _,
            >(|(__a0, __a1, __a2, __a3)| joined(__a0, __a1, __a2, __a3))
        },
    ];
    __tfrt::submit! {
        __tfrt::KernelRegistration::new(__KERNELS)
    }
    const __OP0: __tfrt::OpRegistration = {
        const _: () = __tfrt::assert_tensor::<DenseHostTensor>();
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::Kernel("my.Concat"),
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpRegistration::new("my.Concat")
        }
    };
    __tfrt::submit! {
        __OP0
    }
}

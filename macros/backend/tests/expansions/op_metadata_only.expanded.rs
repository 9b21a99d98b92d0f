fn concat(
    first: &TensorMetadata,
    rest: &[TensorMetadata],
    axis: i64,
) -> Result<TensorMetadata> {
    todo!()
}
::tfrt::core::__private::ops_of_a_free_function! {
    __TfrtOpsOf_concat
    const __OP0: __tfrt::OpRegistration = {
        const __DECLARED: &'static __tfrt::OpDef = &__tfrt::OpDef {
            summary: "",
            operands: &[
                __tfrt::operand::<
                    __tfrt::ByRef<<__tfrt::DenseHostTensor as __tfrt::IsValue>::This, 0usize>,
                >("first"),
                __tfrt::operand::<
                    __tfrt::Rest<
                        <__tfrt::DenseHostTensor as __tfrt::IsValue>::This,
                        1usize,
                        true,
                    >,
                >("rest"),
            ],
            attributes: &[
                __tfrt::attribute::<<i64 as __tfrt::IsAttribute>::This>("axis", __tfrt::None),
            ],
            traits: __tfrt::OpTraits::EXTRA_CHAIN,
            place: __tfrt::SourcePlace {
                file: __tfrt::file!(),
                line: __tfrt::line!(),
            },
            ..__tfrt::OpDef::new("my.Concat")
        };
        __tfrt::OpRegistration {
            flags: __tfrt::OpFlags::NONE.with(__tfrt::OpFlags::NO_SIDE_EFFECTS),
            implementation: __tfrt::Implementation::None,
            metadata: __tfrt::Some(|__query| {
                let __bound = __tfrt::attributes_of(__DECLARED, __query)?;
                __tfrt::result_metadata::<
                    __tfrt::AnyResults,
                >(
                    __tfrt::asked_with((
                            __query.operand(0usize)?,
                            __tfrt::operands_from(__query, 1usize),
                            __bound.read::<<i64 as __tfrt::IsAttribute>::This>(0usize)?,
                        ))
                        .says(&concat),
                )
            }),
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

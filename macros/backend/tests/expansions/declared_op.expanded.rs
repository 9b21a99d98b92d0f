#[cfg(feature = "network")]
const _: () = {
    use ::tfrt::__private as __tfrt;
    const _: () = __tfrt::assert_default::<
        <String as __tfrt::IsAttribute>::This,
    >(&__tfrt::AttrDefault::String("here"));
    const __OP: __tfrt::OpDef = __tfrt::OpDef {
        summary: "Sends a matrix.",
        description: "To a machine.",
        operands: &[
            __tfrt::raw_operand(
                "matrix",
                __tfrt::TypeConstraint::Exact("!my.matrix"),
                __tfrt::Arity::One,
                false,
                false,
            ),
            __tfrt::raw_operand(
                "number",
                __tfrt::TypeConstraint::OneOf(&["i32", "i64"]),
                __tfrt::Arity::One,
                false,
                false,
            ),
            __tfrt::raw_operand(
                "rest",
                __tfrt::TypeConstraint::SameAs("number"),
                __tfrt::Arity::Variadic,
                false,
                false,
            ),
        ],
        attributes: &[
            __tfrt::attribute::<
                <String as __tfrt::IsAttribute>::This,
            >("to", __tfrt::Some(__tfrt::AttrDefault::String("here"))),
            __tfrt::AttrDef::new("value", __tfrt::AttrKind::Any),
            __tfrt::AttrDef::new(
                "values",
                __tfrt::AttrKind::Array(&__tfrt::AttrKind::Any),
            ),
        ],
        functions: &[
            __tfrt::FunctionDef {
                name: "callee",
                form: __tfrt::FunctionForm::Symbol,
            },
        ],
        results: &[
            __tfrt::raw_result(
                "sent",
                __tfrt::TypeConstraint::Exact("!my.matrix"),
                __tfrt::Arity::One,
                __tfrt::Some("matrix"),
            ),
            __tfrt::raw_result(
                "chain",
                __tfrt::exactly::<<Chain as __tfrt::IsValue>::This>(),
                __tfrt::Arity::One,
                __tfrt::None,
            ),
        ],
        traits: __tfrt::OpTraits::NAMED_RESULTS,
        effect: __tfrt::Effect::Ordered("network"),
        assembly_format: __tfrt::Some("operands attr-dict `:` type($number)"),
        place: __tfrt::SourcePlace {
            file: __tfrt::file!(),
            line: __tfrt::line!(),
        },
        ..__tfrt::OpDef::new("")
    };
    const __OPS: &[&__tfrt::OpDef] = &[
        &__tfrt::OpDef {
            name: "my.send.f32",
            ..__OP
        },
        &__tfrt::OpDef {
            name: "my.send.ui8",
            ..__OP
        },
        &__tfrt::OpDef {
            name: "my.post.f32",
            ..__OP
        },
        &__tfrt::OpDef {
            name: "my.post.ui8",
            ..__OP
        },
    ];
    __tfrt::submit! {
        __tfrt::DeclaredOps(__OPS)
    }
};

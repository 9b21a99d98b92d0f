/// Returns the sum of powers.
#[must_use]
#[inline(always)]
#[allow(clippy::all, clippy::pedantic, unused_parens, unused_braces)]
pub fn powers(x: f32, n: i32) -> f32 {
    let mut sum = 0.0;
    let mut power = 1.0_f32;
    for k in (0)..(::tfrt::device::__private::min(n, LIMIT)) {
        if (::tfrt::device::__private::is_infinite(power)
            || ((k == 7) && (!((x > 2.0)))))
        {
            break;
        }
        power = ::tfrt::device::__private::mul(power, x);
        sum = ::tfrt::device::__private::add(
            sum,
            if (sum < 0.0) {
                power
            } else {
                (::tfrt::device::__private::neg(math::half(power)) as f32)
            },
        );
    }
    ::tfrt::device::__private::max(
        ::tfrt::device::__private::is::<f32>(sum),
        ::tfrt::device::__private::f32_from_bits(0x3f800000),
    )
}
#[doc(hidden)]
#[allow(dead_code, non_camel_case_types, missing_debug_implementations)]
pub struct powers {}
#[automatically_derived]
impl ::tfrt::device::__private::DeviceFunction for powers {
    const FUNCTION: &'static ::tfrt::device::__private::Function = {
        static FUNCTION: ::tfrt::device::__private::Function = ::tfrt::device::__private::Function {
            name: "powers",
            parameters: &[
                ::tfrt::device::__private::Parameter {
                    name: "x",
                    ty: ::tfrt::device::__private::Scalar::F32,
                },
                ::tfrt::device::__private::Parameter {
                    name: "n",
                    ty: ::tfrt::device::__private::Scalar::I32,
                },
            ],
            result: ::tfrt::device::__private::Scalar::F32,
            num_locals: 5u32,
            body: ::tfrt::device::__private::CodeBlock {
                statements: &[
                    ::tfrt::device::__private::Statement::Let {
                        local: 2u32,
                        ty: ::tfrt::device::__private::None,
                        value: &::tfrt::device::__private::Expr::Float(
                            "0.0",
                            ::tfrt::device::__private::None,
                        ),
                    },
                    ::tfrt::device::__private::Statement::Let {
                        local: 3u32,
                        ty: ::tfrt::device::__private::None,
                        value: &::tfrt::device::__private::Expr::Float(
                            "1.0",
                            ::tfrt::device::__private::Some(
                                ::tfrt::device::__private::Scalar::F32,
                            ),
                        ),
                    },
                    ::tfrt::device::__private::Statement::For {
                        local: 4u32,
                        start: &::tfrt::device::__private::Expr::Int(
                            0u64,
                            ::tfrt::device::__private::None,
                        ),
                        end: &::tfrt::device::__private::Expr::Method(
                            ::tfrt::device::__private::NumberMethod::Min,
                            &[
                                ::tfrt::device::__private::Expr::Local(1u32),
                                ::tfrt::device::__private::Expr::Constant(|| ::tfrt::device::__private::ToValue::to_value(
                                    LIMIT,
                                )),
                            ],
                        ),
                        is_inclusive: false,
                        body: ::tfrt::device::__private::CodeBlock {
                            statements: &[
                                ::tfrt::device::__private::Statement::Expr(
                                    &::tfrt::device::__private::Expr::If(
                                        &::tfrt::device::__private::Expr::Binary(
                                            ::tfrt::device::__private::BinaryOp::Or,
                                            &::tfrt::device::__private::Expr::Method(
                                                ::tfrt::device::__private::NumberMethod::IsInfinite,
                                                &[::tfrt::device::__private::Expr::Local(3u32)],
                                            ),
                                            &::tfrt::device::__private::Expr::Binary(
                                                ::tfrt::device::__private::BinaryOp::And,
                                                &::tfrt::device::__private::Expr::Binary(
                                                    ::tfrt::device::__private::BinaryOp::Eq,
                                                    &::tfrt::device::__private::Expr::Local(4u32),
                                                    &::tfrt::device::__private::Expr::Int(
                                                        7u64,
                                                        ::tfrt::device::__private::None,
                                                    ),
                                                ),
                                                &::tfrt::device::__private::Expr::Unary(
                                                    ::tfrt::device::__private::UnaryOp::Not,
                                                    &::tfrt::device::__private::Expr::Binary(
                                                        ::tfrt::device::__private::BinaryOp::Gt,
                                                        &::tfrt::device::__private::Expr::Local(0u32),
                                                        &::tfrt::device::__private::Expr::Float(
                                                            "2.0",
                                                            ::tfrt::device::__private::None,
                                                        ),
                                                    ),
                                                ),
                                            ),
                                        ),
                                        ::tfrt::device::__private::CodeBlock {
                                            statements: &[::tfrt::device::__private::Statement::Break],
                                            value: ::tfrt::device::__private::None,
                                        },
                                        ::tfrt::device::__private::None,
                                    ),
                                ),
                                ::tfrt::device::__private::Statement::Assign {
                                    local: 3u32,
                                    value: &::tfrt::device::__private::Expr::Binary(
                                        ::tfrt::device::__private::BinaryOp::Mul,
                                        &::tfrt::device::__private::Expr::Local(3u32),
                                        &::tfrt::device::__private::Expr::Local(0u32),
                                    ),
                                },
                                ::tfrt::device::__private::Statement::Assign {
                                    local: 2u32,
                                    value: &::tfrt::device::__private::Expr::Binary(
                                        ::tfrt::device::__private::BinaryOp::Add,
                                        &::tfrt::device::__private::Expr::Local(2u32),
                                        &::tfrt::device::__private::Expr::If(
                                            &::tfrt::device::__private::Expr::Binary(
                                                ::tfrt::device::__private::BinaryOp::Lt,
                                                &::tfrt::device::__private::Expr::Local(2u32),
                                                &::tfrt::device::__private::Expr::Float(
                                                    "0.0",
                                                    ::tfrt::device::__private::None,
                                                ),
                                            ),
                                            ::tfrt::device::__private::CodeBlock {
                                                statements: &[],
                                                value: ::tfrt::device::__private::Some(
                                                    &::tfrt::device::__private::Expr::Local(3u32),
                                                ),
                                            },
                                            ::tfrt::device::__private::Some(::tfrt::device::__private::CodeBlock {
                                                statements: &[],
                                                value: ::tfrt::device::__private::Some(
                                                    &::tfrt::device::__private::Expr::Cast(
                                                        &::tfrt::device::__private::Expr::Unary(
                                                            ::tfrt::device::__private::UnaryOp::Neg,
                                                            &::tfrt::device::__private::Expr::Call(
                                                                <math::half as ::tfrt::device::__private::DeviceFunction>::FUNCTION,
                                                                &[::tfrt::device::__private::Expr::Local(3u32)],
                                                            ),
                                                        ),
                                                        ::tfrt::device::__private::Scalar::F32,
                                                    ),
                                                ),
                                            }),
                                        ),
                                    ),
                                },
                            ],
                            value: ::tfrt::device::__private::None,
                        },
                    },
                ],
                value: ::tfrt::device::__private::Some(
                    &::tfrt::device::__private::Expr::Method(
                        ::tfrt::device::__private::NumberMethod::Max,
                        &[
                            ::tfrt::device::__private::Expr::Typed(
                                &::tfrt::device::__private::Expr::Local(2u32),
                                ::tfrt::device::__private::Scalar::F32,
                            ),
                            ::tfrt::device::__private::Expr::Typed(
                                &::tfrt::device::__private::Expr::Method(
                                    ::tfrt::device::__private::NumberMethod::FromBits,
                                    &[
                                        ::tfrt::device::__private::Expr::Int(
                                            1065353216u64,
                                            ::tfrt::device::__private::None,
                                        ),
                                    ],
                                ),
                                ::tfrt::device::__private::Scalar::F32,
                            ),
                        ],
                    ),
                ),
            },
        };
        &FUNCTION
    };
}

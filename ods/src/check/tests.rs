//! Each rule for declarations, violated once.

use crate::check::DeclarationPart;
use crate::constraint::{AttrKind, CHAIN_TYPE, EnumCase, EnumDef, TypeConstraint};
use crate::effect::Effect;
use crate::op::OpDef;
use crate::op::{
    AttrDef, AttrDefault, FunctionDef, FunctionForm, FunctionSignature, OperandDef, ResultDef,
};
use crate::traits::OpTraits;

const ANY: TypeConstraint = TypeConstraint::Any;
const CHAIN: TypeConstraint = TypeConstraint::Exact(CHAIN_TYPE);
const OP: OpDef = OpDef::new("t.op");

#[track_caller]
fn check(def: OpDef, expected: &str) {
    let found = def
        .check()
        .map_or_else(|error| error.to_string(), |()| "fine".into());
    assert_eq!(found, expected);
}

#[test]
fn a_name_is_a_dialect_and_what_the_op_is_called_there() {
    check(OpDef::new("t.create_tensor.i32.$0"), "fine");
    for name in ["t", "1t.op"] {
        check(
            OpDef::new(name),
            "a name consists of a dialect, a dot, and the name of the op in it",
        );
    }
    for name in [".op", "t.", "t..op"] {
        check(OpDef::new(name), "a part of the name is empty");
    }
    for name in ["t.a-b", "t.a b", "t.ä"] {
        check(
            OpDef::new(name),
            "a name has letters, digits, underscores, dollar signs and dots",
        );
    }
}

#[test]
fn parts_have_names_that_tell_them_apart() {
    const A: OperandDef = OperandDef::new("a", ANY);
    const R: ResultDef = ResultDef::new("r", ANY);
    check(
        OpDef {
            operands: const { &[OperandDef::new("a b", ANY)] },
            ..OP
        },
        "the name of operand `a b` is not an identifier",
    );
    check(
        OpDef {
            operands: &[A, A],
            ..OP
        },
        "two operands have the name `a`",
    );
    check(
        OpDef {
            results: const { &[ResultDef::new("", ANY)] },
            ..OP
        },
        "the name of result `` is not an identifier",
    );
    check(
        OpDef {
            results: &[R, R],
            ..OP
        },
        "two results have the name `r`",
    );
    const TWICE: OpDef = OpDef {
        operands: &[A],
        results: &[ResultDef::new("a", TypeConstraint::SameAs("a"))],
        ..OP
    };
    check(TWICE, "fine");
    check(
        OpDef {
            assembly_format: Some("$a attr-dict `:` type($a)"),
            ..TWICE
        },
        "an operand and a result have the name `a`",
    );
    const ATTRIBUTE: OpDef = OpDef {
        operands: &[A],
        attributes: &[AttrDef::new("a", AttrKind::I32)],
        assembly_format: Some("$a attr-dict `:` type($a)"),
        ..OP
    };
    check(ATTRIBUTE, "an operand and an attribute have the name `a`");
    const FUNCTION: &[FunctionDef] = &[FunctionDef {
        name: "a",
        form: FunctionForm::Region,
    }];
    check(
        OpDef {
            attributes: &[],
            functions: FUNCTION,
            ..ATTRIBUTE
        },
        "an operand and a function have the name `a`",
    );
    check(
        OpDef {
            operands: &[],
            functions: FUNCTION,
            ..ATTRIBUTE
        },
        "an attribute and a function have the name `a`",
    );
}

#[test]
fn one_operand_and_one_result_may_be_open() {
    const TWO: OpDef = OpDef {
        operands: &[
            OperandDef::optional("a", ANY),
            OperandDef::variadic("b", ANY),
        ],
        ..OP
    };
    check(
        TWO,
        "operands `a` and `b` are both optional or variadic: only one can be",
    );
    const RESULTS: OpDef = OpDef {
        results: &[ResultDef::variadic("a", ANY), ResultDef::optional("b", ANY)],
        ..OP
    };
    check(
        RESULTS,
        "results `a` and `b` are both optional or variadic: only one can be",
    );
}

#[test]
fn types_and_memory_are_those_of_operands_that_are_there() {
    const SAME: OpDef = OpDef {
        operands: &[
            OperandDef::new("a", ANY),
            OperandDef::new("b", TypeConstraint::SameAs("a")),
            OperandDef::new("c", TypeConstraint::SameAs("b")),
        ],
        ..OP
    };
    check(
        SAME,
        "operand `c` has the type of `b`, whose type follows from another one",
    );
    check(
        OpDef {
            results: const { &[ResultDef::new("r", TypeConstraint::SameAs("x"))] },
            ..OP
        },
        "result `r` has the type of `x`, which is not an operand",
    );
    const ALIAS: OpDef = OpDef {
        results: &[ResultDef {
            alias_of: Some("x"),
            ..ResultDef::new("r", ANY)
        }],
        ..OP
    };
    check(
        ALIAS,
        "result `r` shares memory with `x`, which is not an operand",
    );
    check(
        OpDef {
            operands: const { &[OperandDef::new("a", TypeConstraint::OneOf(&[]))] },
            ..OP
        },
        "operand `a` has no type",
    );
    check(
        OpDef {
            results: const { &[ResultDef::new("r", TypeConstraint::Exact(""))] },
            ..OP
        },
        "result `r` has a type without a spelling",
    );
}

#[test]
fn attributes_and_functions_are_in_order() {
    const B_A: OpDef = OpDef {
        attributes: &[
            AttrDef::new("b", AttrKind::I32),
            AttrDef::new("a", AttrKind::I32),
        ],
        ..OP
    };
    check(
        B_A,
        "attribute `a` follows `b`: attributes are sorted by the bytes of their names",
    );
    const fn function(name: &'static str, form: FunctionForm) -> FunctionDef {
        FunctionDef { name, form }
    }
    const SYMBOLS: OpDef = OpDef {
        functions: &[
            function("g", FunctionForm::Symbol),
            function("f", FunctionForm::SymbolList),
        ],
        ..OP
    };
    check(
        SYMBOLS,
        "function `f` follows `g`: functions are sorted by the bytes of their names",
    );
    const REGION_FIRST: OpDef = OpDef {
        functions: &[
            function("a", FunctionForm::Region),
            function("b", FunctionForm::Symbol),
        ],
        ..OP
    };
    check(
        REGION_FIRST,
        "function `b` follows a region: regions come last",
    );
    const OPTIONAL: OpDef = OpDef {
        functions: &[
            function("a", FunctionForm::Symbol),
            function("b", FunctionForm::OptionalSymbol),
            function("c", FunctionForm::OptionalSymbol),
        ],
        ..OP
    };
    check(OPTIONAL, "fine");
    const OPTIONAL_FIRST: &[FunctionDef] = &[
        function("a", FunctionForm::OptionalSymbol),
        function("b", FunctionForm::Symbol),
    ];
    const OPTIONAL_WITH_LIST: &[FunctionDef] = &[
        function("a", FunctionForm::SymbolList),
        function("b", FunctionForm::OptionalSymbol),
    ];
    const OPTIONAL_WITH_REGION: &[FunctionDef] = &[
        function("a", FunctionForm::OptionalSymbol),
        function("b", FunctionForm::Region),
    ];
    for functions in [OPTIONAL_FIRST, OPTIONAL_WITH_LIST, OPTIONAL_WITH_REGION] {
        check(
            OpDef { functions, ..OP },
            "optional functions must be the last ones in the order of names, without a list or \
             regions: a file has the functions without their names",
        );
    }
    const TWICE: OpDef = OpDef {
        functions: &[
            function("b", FunctionForm::Region),
            function("b", FunctionForm::Region),
        ],
        ..OP
    };
    check(TWICE, "two functions have the name `b`");
    const SIGNATURE: OpDef = OpDef {
        signatures: &[FunctionSignature {
            function: "f",
            arguments: &[],
            results: &[],
        }],
        ..OP
    };
    check(
        SIGNATURE,
        "there is a signature, but no function, named `f`",
    );
}

#[test]
fn defaults_are_values_that_attributes_can_have() {
    for (kind, default, fits) in [
        (AttrKind::BOOL, AttrDefault::Bool(true), true),
        (AttrKind::BOOL, AttrDefault::Int(1), false),
        (
            AttrKind::Int {
                width: 8,
                is_unsigned: false,
            },
            AttrDefault::Int(-128),
            true,
        ),
        (
            AttrKind::Int {
                width: 8,
                is_unsigned: false,
            },
            AttrDefault::Int(128),
            false,
        ),
        (
            AttrKind::Int {
                width: 8,
                is_unsigned: true,
            },
            AttrDefault::Int(255),
            true,
        ),
        (
            AttrKind::Int {
                width: 8,
                is_unsigned: true,
            },
            AttrDefault::Int(-1),
            false,
        ),
        (
            AttrKind::Int {
                width: 64,
                is_unsigned: true,
            },
            AttrDefault::Int(1 << 64),
            false,
        ),
        (AttrKind::F32, AttrDefault::Float(0.5), true),
        (AttrKind::F32, AttrDefault::Int(1), false),
        (AttrKind::String, AttrDefault::String("x"), true),
        (AttrKind::Aggregate, AttrDefault::EmptyArray, true),
        (AttrKind::Shape, AttrDefault::EmptyArray, false),
        (AttrKind::Enum(&MODE), AttrDefault::Int(3), true),
        (AttrKind::Enum(&MODE), AttrDefault::Int(2), false),
    ] {
        let attribute = AttrDef {
            default: Some(default),
            ..AttrDef::new("a", kind)
        };
        let attributes: &'static [AttrDef] = vec![attribute].leak();
        let expected = if fits {
            "fine"
        } else {
            "attribute `a` has a default of the wrong type"
        };
        check(OpDef { attributes, ..OP }, expected);
    }
}

static MODE: EnumDef = EnumDef {
    width: 8,
    cases: &[EnumCase {
        keyword: "max",
        value: 3,
    }],
    ..EnumDef::new("Mode")
};

#[test]
fn kinds_of_attributes_exist() {
    const ONE: EnumCase = EnumCase {
        keyword: "one",
        value: 1,
    };
    let of_enum = |def: EnumDef| AttrKind::Enum(Box::leak(Box::new(def)));
    let of_cases = |cases: &'static [EnumCase]| of_enum(EnumDef { cases, ..MODE });
    for (kind, expected) in [
        (
            AttrKind::Int {
                width: 1,
                is_unsigned: true,
            },
            "attribute `a` is a boolean, which cannot be unsigned",
        ),
        (
            AttrKind::Array(&AttrKind::Int {
                width: 7,
                is_unsigned: false,
            }),
            "attribute `a`: expected an integer of 1, 8, 16, 32 or 64 bits, found 7 bits",
        ),
        (
            of_enum(EnumDef {
                name: "a-b",
                ..MODE
            }),
            "the enum of attribute `a` has the name `a-b`, which is not an identifier",
        ),
        (
            of_enum(EnumDef { width: 1, ..MODE }),
            "the enum of attribute `a` has 1 bits, expected 8, 16, 32 or 64",
        ),
        (of_cases(&[]), "the enum of attribute `a` has no cases"),
        (
            of_cases(
                const {
                    &[EnumCase {
                        keyword: "a b",
                        value: 0,
                    }]
                },
            ),
            "the enum of attribute `a` has the case `a b`, which is not an identifier",
        ),
        (
            of_cases(
                const {
                    &[EnumCase {
                        keyword: "big",
                        value: 128,
                    }]
                },
            ),
            "the enum of attribute `a` has the case `big`, whose value is out of range",
        ),
        (
            of_cases(const { &[ONE, ONE] }),
            "the enum of attribute `a` has the case `one` twice",
        ),
    ] {
        let attributes: &'static [AttrDef] = vec![AttrDef::new("a", kind)].leak();
        check(OpDef { attributes, ..OP }, expected);
    }
}

#[test]
fn traits_do_not_contradict_each_other() {
    for (one, other, expected) in [
        (
            OpTraits::SYNC,
            OpTraits::ASYNC,
            "`sync` cannot be combined with `async`: a future runs on the work queue, not in the \
             interpreter",
        ),
        (
            OpTraits::SYNC,
            OpTraits::BLOCKING,
            "`sync` cannot be combined with `blocking`: the interpreter runs a synchronous op and \
             waits for it",
        ),
        (
            OpTraits::SYNC,
            OpTraits::NON_STRICT,
            "`sync` cannot be combined with `non_strict`: operands of a synchronous op are always \
             available",
        ),
        (
            OpTraits::ASYNC,
            OpTraits::BLOCKING,
            "`blocking` cannot be combined with `async`: a future runs on the work queue, not on \
             the blocking pool",
        ),
        (
            OpTraits::EXTRA_CHAIN,
            OpTraits::OPTIONAL_CHAIN,
            "`extra_chain` cannot be combined with `optional_chain`: only one chain can come last",
        ),
    ] {
        check(
            OpDef {
                traits: one | other,
                ..OP
            },
            expected,
        );
    }
    const PURE: OpDef = OpDef {
        traits: OpTraits::PURE,
        effect: Effect::IO,
        ..OP
    };
    check(PURE, "an op with an effect cannot be pure");
    check(
        OpDef {
            traits: OpTraits::EFFECT_FREE,
            ..PURE
        },
        "an op with an effect cannot be free of effects",
    );
    check(
        OpDef {
            effect: Effect::Ordered(""),
            ..OP
        },
        "the name of the effect class is empty",
    );
    const RETURN: OpDef = OpDef {
        traits: OpTraits::TERMINATOR,
        results: &[ResultDef::new("r", ANY)],
        ..OP
    };
    check(RETURN, "an op that ends its block cannot have results");
    check(
        OpDef {
            traits: OpTraits::PURE | OpTraits::CONSTANT,
            ..OP
        },
        "a constant must be pure, take no operands, and have one attribute and one result",
    );
    check(
        OpDef {
            traits: OpTraits::FORWARDS | OpTraits::CHOOSES,
            ..OP
        },
        "an op that chooses must pass its operands to one of two functions, depending on the \
         first operand",
    );
}

#[test]
fn chains_are_where_their_parts_in_programs_need_them() {
    const GIVES: OpDef = OpDef {
        results: &[ResultDef::new("chain", CHAIN)],
        ..OP
    };
    const SOURCE: OpDef = OpDef {
        traits: OpTraits::CHAIN_SOURCE,
        ..GIVES
    };
    check(SOURCE, "fine");
    check(
        OpDef {
            operands: const { &[OperandDef::new("a", ANY)] },
            ..SOURCE
        },
        "a chain source must take no operands and return a chain",
    );
    const MERGE: OpDef = OpDef {
        operands: &[OperandDef::variadic("values", ANY)],
        traits: OpTraits::CHAIN_MERGE,
        ..GIVES
    };
    check(MERGE, "fine");
    check(
        OpDef {
            operands: const { &[OperandDef::variadic("values", CHAIN)] },
            ..MERGE
        },
        "a chain merge must take any number of values of any type and return a chain",
    );
    const SENDS: OpDef = OpDef {
        operands: &[
            OperandDef::new("a", ANY),
            OperandDef::new("in_chain", CHAIN),
        ],
        traits: OpTraits::OPTIONAL_CHAIN,
        ..GIVES
    };
    check(SENDS, "fine");
    for wrong in [
        OpDef {
            operands: &[],
            ..SENDS
        },
        OpDef {
            operands: const { &[OperandDef::new("a", ANY)] },
            ..SENDS
        },
        OpDef {
            results: &[],
            ..SENDS
        },
    ] {
        check(
            wrong,
            "an optional chain must be the last operand and the last result",
        );
    }
}

#[test]
fn attributes_under_free_names_are_told_apart_by_their_number() {
    const FREE: OpDef = OpDef {
        attributes: &[AttrDef::new("a", AttrKind::I32)],
        traits: OpTraits::FREE_ATTRIBUTE_NAMES,
        ..OP
    };
    check(FREE, "fine");
    check(
        OpDef {
            assembly_format: Some("$a attr-dict"),
            ..FREE
        },
        "an op with an assembly format must have attributes of fixed names",
    );
    check(
        OpDef {
            attributes: const {
                &[AttrDef {
                    default: Some(AttrDefault::Int(1)),
                    ..AttrDef::new("a", AttrKind::I32)
                }]
            },
            ..FREE
        },
        "attribute `a` has a default but no fixed name, so its absence is ambiguous",
    );
    check(
        OpDef {
            traits: OpTraits::ANY_ATTRIBUTES,
            ..FREE
        },
        "an op that takes any attributes cannot declare attributes",
    );
}

#[test]
fn formats_fit() {
    check(
        OpDef {
            assembly_format: Some("$x attr-dict"),
            ..OP
        },
        "there is no operand, attribute or function named `x` at byte 0",
    );
    check(
        OpDef {
            operands: const { &[OperandDef::new("a", ANY)] },
            assembly_format: Some("$a attr-dict"),
            ..OP
        },
        "no element determines the type of operand `a`",
    );
}

#[test]
fn an_error_says_which_part_it_is_about() {
    let place = |def: OpDef| def.check().map_err(|error| error.place());
    const A: OperandDef = OperandDef::new("a", ANY);
    let part = Err(DeclarationPart::Part("a"));
    let operands: &[OperandDef] = &[A, A];
    assert_eq!(place(OpDef { operands, ..OP }), part);
    let shown = |format| OpDef {
        operands: &[A],
        assembly_format: Some(format),
        ..OP
    };
    assert_eq!(
        place(shown("attr-dict")),
        Err(DeclarationPart::Format(None))
    );
    assert_eq!(
        place(shown("$a attr-dict $x")),
        Err(DeclarationPart::Format(Some(13)))
    );
    assert_eq!(place(OpDef::new("t")), Err(DeclarationPart::Op));
}

//! Declarations with everything that a declaration can have.

use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
use tfrt_ods::{
    AttrDef, AttrDefault, AttrKind, DialectDef, Effect, EnumCase, EnumDef, EnumSign, FloatKind,
    FunctionDef, FunctionForm, FunctionSignature, OpDef, OpTraits, OperandDef, ResultDef,
    SourcePlace, TypeConstraint, UnknownTypes,
};

const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");
const MATRIX: TypeConstraint = TypeConstraint::Exact("!algebra.matrix");

pub fn catalogue() -> Catalogue<'static> {
    Catalogue::new(DIALECTS.iter().copied(), entries())
}

/// The same, collected in another order.
pub fn reversed_catalogue() -> Catalogue<'static> {
    let entries: Vec<_> = entries().collect();
    Catalogue::new(DIALECTS.iter().rev().copied(), entries.into_iter().rev())
}

fn entries() -> impl Iterator<Item = CatalogueEntry<'static>> {
    let kernels = KERNELS.iter().map(CatalogueEntry::kernel);
    kernels.chain(DECLARATIONS.iter().map(CatalogueEntry::declaration))
}

const DIALECTS: &[DialectDef] = &[
    DialectDef {
        summary: "Matrices & what one does with them.",
        description: "A text with \"quotes\", a \\ and the end of a block: }].",
        types: &["matrix", "unused.type"],
        unknown_types: UnknownTypes::Rejected("unknown algebra: "),
        allows_unknown_ops: false,
        shape_attribute: Some("shape"),
        ..DialectDef::new("algebra")
    },
    DialectDef {
        types: &["chain"],
        allows_inlining: true,
        ..DialectDef::new("tfrt")
    },
    // MLIR has it itself.
    DialectDef::new("builtin"),
];

const KERNELS: &[OpDef] = &[
    ADD_F32, ADD_I32, SCALE, CHOOSE, REPEAT, CONVERT, ATTRIBUTES, SEND, LOG, AWAIT, SYNC_ADD, POLL,
    START, JOIN, NAMES, GROUPS, CASES, SAME_NAME, OTHER_NAME, PAIRS,
];

const DECLARATIONS: &[OpDef] = &[RETURN, CONSTANT, OPAQUE];

const ADD_F32: OpDef = OpDef {
    summary: "Returns the sum of two numbers.",
    description: "# Errors\nNever.\n\n```text\n# no heading\n```",
    operands: &[
        OperandDef::new("a", TypeConstraint::Exact("f32")),
        OperandDef::new("b", TypeConstraint::Exact("f32")),
    ],
    results: &[ResultDef::new("sum", TypeConstraint::Exact("f32"))],
    traits: OpTraits::PURE,
    assembly_format: Some("operands attr-dict"),
    place: SourcePlace {
        file: "src/add.rs",
        line: 7,
    },
    ..OpDef::new("algebra.add.f32")
};

const ADD_I32: OpDef = OpDef {
    name: "algebra.add.i32",
    operands: &[
        OperandDef::new("a", TypeConstraint::Exact("i32")),
        OperandDef::new("b", TypeConstraint::Exact("i32")),
    ],
    results: &[ResultDef::new("sum", TypeConstraint::Exact("i32"))],
    ..ADD_F32
};

const SCALE: OpDef = OpDef {
    summary: "Scales a matrix in place.",
    operands: &[
        OperandDef {
            is_mutated: true,
            ..OperandDef::new("matrix", MATRIX)
        },
        OperandDef::optional(
            "by",
            TypeConstraint::OneOf(&["f32", "complex<f64>", "bf16"]),
        ),
        OperandDef::new("in_chain", CHAIN),
    ],
    results: &[
        ResultDef {
            alias_of: Some("matrix"),
            ..ResultDef::new("scaled", TypeConstraint::SameAs("matrix"))
        },
        ResultDef::new("out_chain", CHAIN),
    ],
    metadata: Some(|query| Ok(vec![query.operand(0)?.clone()])),
    workspace: Some(|_| Ok(64)),
    ..OpDef::new("algebra.scale")
};

const CHOOSE: OpDef = OpDef {
    summary: "Returns one of two values, without waiting for the other one.",
    operands: &[
        OperandDef::new("condition", TypeConstraint::Exact("i1")),
        OperandDef {
            is_reference: true,
            ..OperandDef::new("a", TypeConstraint::Any)
        },
        OperandDef {
            is_reference: true,
            ..OperandDef::new("b", TypeConstraint::SameAs("a"))
        },
    ],
    results: &[ResultDef::new("chosen", TypeConstraint::SameAs("a"))],
    traits: OpTraits::NON_STRICT.with(OpTraits::PURE),
    assembly_format: Some("$condition `?` $a `:` $b attr-dict `->` type($a)"),
    ..OpDef::new("algebra.choose")
};

const REPEAT: OpDef = OpDef {
    summary: "Runs a region again and again.",
    operands: &[
        OperandDef::new("count", TypeConstraint::Exact("index")),
        OperandDef::variadic("arguments", TypeConstraint::Any),
    ],
    functions: &[
        FunctionDef {
            name: "callee",
            form: FunctionForm::Symbol,
        },
        FunctionDef {
            name: "others",
            form: FunctionForm::SymbolList,
        },
        FunctionDef {
            name: "body",
            form: FunctionForm::Region,
        },
        FunctionDef {
            name: "last",
            form: FunctionForm::Region,
        },
    ],
    signatures: &[FunctionSignature {
        function: "callee",
        arguments: &["i32"],
        results: &["!tfrt.chain"],
    }],
    results: &[ResultDef::variadic("values", TypeConstraint::Any)],
    traits: OpTraits::CALL.with(OpTraits::NAMED_RESULTS),
    assembly_format: Some(
        "operands $callee $others attr-dict-with-keyword `:` functional-type($arguments, $values) \
         regions",
    ),
    verifier: Some(|_, _| ()),
    ..OpDef::new("algebra.repeat")
};

const CONVERT: OpDef = OpDef {
    summary: "Takes the first values | returns as many of the type of the last one.",
    operands: &[
        OperandDef::variadic("values", TypeConstraint::Exact("memref<4xf32>")),
        OperandDef::new("like", TypeConstraint::Any),
    ],
    results: &[ResultDef::variadic("out", TypeConstraint::SameAs("like"))],
    traits: OpTraits::CHEAP,
    ..OpDef::new("algebra.convert")
};

static PADDING: EnumDef = EnumDef {
    cases: &[
        EnumCase {
            keyword: "same",
            value: 0,
        },
        EnumCase {
            keyword: "valid_only",
            value: -3,
        },
    ],
    ..EnumDef::new("padding")
};

static MODE: EnumDef = EnumDef {
    width: 8,
    cases: &[EnumCase {
        keyword: "max",
        value: 1,
    }],
    sign: EnumSign::Signed,
    ..EnumDef::new("mode")
};

const fn with_default(name: &'static str, kind: AttrKind, default: AttrDefault) -> AttrDef {
    AttrDef {
        default: Some(default),
        ..AttrDef::new(name, kind)
    }
}

const ATTRIBUTES: OpDef = OpDef {
    summary: "Has an attribute of every kind.",
    attributes: &[
        AttrDef::new("a_bool", AttrKind::BOOL),
        with_default("b_bool", AttrKind::BOOL, AttrDefault::Bool(true)),
        AttrDef::new(
            "c_i16",
            AttrKind::Int {
                width: 16,
                is_unsigned: false,
            },
        ),
        with_default(
            "d_ui64",
            AttrKind::Int {
                width: 64,
                is_unsigned: true,
            },
            AttrDefault::Int(u64::MAX as i128),
        ),
        with_default("e_i32", AttrKind::I32, AttrDefault::Int(-1)),
        AttrDef::new("f_bf16", AttrKind::Float(FloatKind::Bf16)),
        AttrDef::new("g_f16", AttrKind::Float(FloatKind::F16)),
        with_default("h_f32", AttrKind::F32, AttrDefault::Float(1e-5)),
        with_default(
            "i_f64",
            AttrKind::F64,
            AttrDefault::Float(f64::NEG_INFINITY),
        ),
        with_default(
            "j_text",
            AttrKind::String,
            AttrDefault::String("a \"b\" \\ c\n"),
        ),
        AttrDef::new("k_type", AttrKind::Type),
        with_default(
            "l_list",
            AttrKind::Array(&AttrKind::I64),
            AttrDefault::EmptyArray,
        ),
        AttrDef::new(
            "m_lists",
            AttrKind::Array(&AttrKind::Array(&AttrKind::String)),
        ),
        AttrDef::new("n_aggregate", AttrKind::Aggregate),
        AttrDef::new("o_dense", AttrKind::Dense),
        AttrDef::new("p_shape", AttrKind::Shape),
        AttrDef::new("q_unit", AttrKind::CompilationUnit),
        with_default("r_enum", AttrKind::Enum(&PADDING), AttrDefault::Int(-3)),
        AttrDef::new("s_small_enum", AttrKind::Enum(&MODE)),
        AttrDef::new("t_any", AttrKind::Any),
        AttrDef::optional("u_optional", AttrKind::I64),
    ],
    ..OpDef::new("algebra.attributes")
};

const SEND: OpDef = OpDef {
    summary: "Sends a matrix.",
    operands: &[
        OperandDef::new("matrix", MATRIX),
        OperandDef::new("in_chain", CHAIN),
    ],
    results: &[ResultDef::new("out_chain", CHAIN)],
    traits: OpTraits::BLOCKING.with(OpTraits::OPTIONAL_CHAIN),
    effect: Effect::Ordered("network"),
    ..OpDef::new("algebra.send")
};

const POLL: OpDef = OpDef {
    summary: "Counts what was sent.",
    operands: &[OperandDef::new("in_chain", CHAIN)],
    results: &[
        ResultDef::new("count", TypeConstraint::Exact("i64")),
        ResultDef::new("out_chain", CHAIN),
    ],
    traits: OpTraits::OPTIONAL_CHAIN,
    effect: Effect::Reads("network"),
    ..OpDef::new("algebra.poll")
};

const LOG: OpDef = OpDef {
    summary: "Logs.",
    traits: OpTraits::EXTRA_CHAIN,
    effect: Effect::IO,
    ..OpDef::new("algebra.log")
};

const AWAIT: OpDef = OpDef {
    summary: "Waits for a matrix.",
    operands: &[OperandDef::new("matrix", MATRIX)],
    traits: OpTraits::ASYNC.with(OpTraits::COST_ATTRIBUTE),
    ..OpDef::new("algebra.await")
};

const SYNC_ADD: OpDef = OpDef {
    name: "algebra_sync.add",
    traits: OpTraits::SYNC,
    place: SourcePlace::UNKNOWN,
    ..ADD_I32
};

const START: OpDef = OpDef {
    summary: "Starts a chain.",
    results: &[ResultDef::new("chain", CHAIN)],
    traits: OpTraits::PURE.with(OpTraits::CHAIN_SOURCE),
    assembly_format: Some("attr-dict"),
    ..OpDef::new("tfrt.start")
};

const JOIN: OpDef = OpDef {
    summary: "Joins chains.",
    operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
    results: &[ResultDef::new("chain", CHAIN)],
    traits: OpTraits::PURE.with(OpTraits::CHAIN_MERGE),
    assembly_format: Some("operands attr-dict `:` type(operands)"),
    ..OpDef::new("tfrt.join")
};

const NAMES: OpDef = OpDef {
    summary: "Has names that C++ keeps for itself, and one name twice.",
    operands: &[
        OperandDef::new("class", TypeConstraint::Exact("ui8")),
        OperandDef::new("value", TypeConstraint::Exact("si4")),
    ],
    attributes: &[AttrDef::new("value_", AttrKind::I32)],
    functions: &[FunctionDef {
        name: "while",
        form: FunctionForm::Region,
    }],
    results: &[
        ResultDef::new("value", TypeConstraint::Exact("none")),
        ResultDef::new("class", TypeConstraint::Exact("!new.while")),
    ],
    traits: OpTraits::ISOLATED,
    ..OpDef::new("algebra.names")
};

const GROUPS: OpDef = OpDef {
    summary: "Is written in groups.",
    operands: &[
        OperandDef::optional("other", TypeConstraint::Exact("i64")),
        OperandDef::new("one", TypeConstraint::Exact("i64")),
    ],
    attributes: &[with_default("times", AttrKind::I32, AttrDefault::Int(1))],
    results: &[ResultDef::new("sum", TypeConstraint::Exact("i64"))],
    assembly_format: Some(
        "$one `` `[` (`plus` $other^) : (`alone`)? `]` (`times` $times^)? attr-dict",
    ),
    ..OpDef::new("algebra.groups")
};

const CASES: OpDef = OpDef {
    summary: "Pads.",
    operands: &[OperandDef::new("matrix", MATRIX)],
    attributes: &[
        AttrDef::new("padding", AttrKind::Enum(&PADDING)),
        AttrDef::new("sizes", AttrKind::Array(&AttrKind::I64)),
    ],
    results: &[ResultDef::new("padded", MATRIX)],
    assembly_format: Some("$matrix $padding typed($sizes)"),
    ..OpDef::new("algebra.pad")
};

/// Two ops whose names differ in what C++ does not see.
const SAME_NAME: OpDef = OpDef::new("algebra.same.name_2");
const OTHER_NAME: OpDef = OpDef::new("algebra.same_name.2");

const PAIRS: OpDef = OpDef {
    summary: "Is written as no format of MLIR can.",
    operands: &[OperandDef::variadic("arguments", TypeConstraint::Any)],
    attributes: &[
        AttrDef::new("count", AttrKind::I32),
        AttrDef::new("options", AttrKind::Aggregate),
        with_default("times", AttrKind::I32, AttrDefault::Int(1)),
    ],
    functions: &[FunctionDef {
        name: "body",
        form: FunctionForm::Region,
    }],
    results: &[ResultDef::variadic("out", TypeConstraint::Exact("i1"))],
    assembly_format: Some(
        "`(` typed-operands($arguments) `)` pairs($options) key-values($count, $times) \
         attr-dict-or-keyword (`:` result-count($out))? (`in` region($body, $arguments) | \
         empty-region($body, \"tfrt.return\"))",
    ),
    ..OpDef::new("algebra.pairs")
};

const RETURN: OpDef = OpDef {
    summary: "Ends a function.",
    operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
    traits: OpTraits::TERMINATOR,
    assembly_format: Some("($values^ `:` type($values))? attr-dict"),
    ..OpDef::new("tfrt.return")
};

const CONSTANT: OpDef = OpDef {
    summary: "Returns a number.",
    attributes: &[AttrDef::new("value", AttrKind::F64)],
    results: &[ResultDef::new("number", TypeConstraint::Exact("f64"))],
    traits: OpTraits::PURE.with(OpTraits::CONSTANT),
    assembly_format: Some("$value"),
    folder: Some(|_| None),
    place: SourcePlace {
        file: "src/dialects.rs",
        line: 3,
    },
    ..OpDef::new("algebra.constant.f64")
};

/// Nothing is known of it.
const OPAQUE: OpDef = OpDef::new("other.opaque");

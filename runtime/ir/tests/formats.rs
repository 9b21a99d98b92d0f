//! Every element of the assembly format language, read and printed.
//!
//! An op in its custom form is printed as it was read, and its generic form is printed as the same
//! custom form.

use std::sync::Arc;

use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, VerifyOptions, parse, print, verify};
use tfrt_ods::{
    AttrDef, AttrDefault, AttrKind, EnumCase, EnumDef, EnumOperandTypes, FunctionDef, FunctionForm,
    OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint,
};

const I32: TypeConstraint = TypeConstraint::Exact("i32");

static RETURN: OpDef = OpDef {
    operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
    traits: OpTraits::TERMINATOR,
    ..OpDef::new("t.return")
};

const A: OperandDef = OperandDef::new("a", I32);
const B: OperandDef = OperandDef::new("b", TypeConstraint::Exact("i64"));
const REST: OperandDef = OperandDef::variadic("rest", TypeConstraint::Any);
const OTHER: OperandDef = OperandDef::optional("other", TypeConstraint::Exact("i64"));
const OUT: ResultDef = ResultDef::variadic("out", TypeConstraint::Any);

const fn region(name: &'static str) -> FunctionDef {
    FunctionDef {
        name,
        form: FunctionForm::Region,
    }
}

fn registry(def: OpDef) -> Arc<Registry> {
    def.check().expect("the declaration keeps the rules");
    let def: &'static OpDef = Box::leak(Box::new(def));
    Arc::new(Registry::new([&RETURN, def], []).expect("the declarations fit together"))
}

fn read(registry: &Arc<Registry>, text: &str) -> Result<Module, String> {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let module = parse(text, "f", registry, &options).map_err(|errors| errors[0].to_string())?;
    let breaches = verify(&module, &VerifyOptions::default());
    match breaches.first() {
        None => Ok(module),
        Some(breach) => Err(breach.to_string()),
    }
}

/// A program with one op.
fn program(op: &str) -> String {
    format!(
        "func @f(%arg0: i32, %arg1: i64, %arg2: f32) {{\n  {op}\n  \"t.return\"() : () -> ()\n}}\n"
    )
}

/// What is printed of the op in `text`, in its custom form.
fn printed(registry: &Arc<Registry>, text: &str, generic: bool) -> String {
    let module = read(registry, text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let options = PrintOptions {
        generic,
        ..PrintOptions::default()
    };
    print(&module, &options)
}

/// Each op, without its name `t.op`, is printed as it is written.
#[track_caller]
fn check(def: OpDef, format: &'static str, ops: &[&str]) {
    let registry = registry(OpDef {
        assembly_format: Some(format),
        ..def
    });
    for op in ops {
        let expected = body(&printed(&registry, &program(op), false));
        assert_eq!(expected, body(&program(op)), "{format}");
        let generic = printed(&registry, &program(op), true);
        assert!(generic.contains("\"t.op\""), "{generic}");
        assert_eq!(
            body(&printed(&registry, &generic, false)),
            expected,
            "{format}\n{generic}"
        );
    }
}

/// The op is printed as another one is written.
#[track_caller]
fn check_printed_as(def: OpDef, format: &'static str, op: &str, expected: &str) {
    let registry = registry(OpDef {
        assembly_format: Some(format),
        ..def
    });
    assert_eq!(
        body(&printed(&registry, &program(op), false)),
        body(&program(expected))
    );
}

#[track_caller]
fn check_error(def: OpDef, format: &'static str, op: &str, expected: &str) {
    let registry = registry(OpDef {
        assembly_format: Some(format),
        ..def
    });
    match read(&registry, &program(op)) {
        Ok(module) => panic!("read as {}", print(&module, &PrintOptions::default())),
        Err(found) => assert_eq!(found, expected),
    }
}

/// What is between the braces of the function, without blank lines or indentation.
fn body(text: &str) -> String {
    let (_, function) = text.split_once("func @f").expect("there is a function");
    let (_, body) = function.split_once("{\n").expect("the function has a body");
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let body = lines.collect::<Vec<_>>().join("\n");
    body.trim_end_matches(['}', '\n']).to_owned()
}

const DEF: OpDef = OpDef::new("t.op");

#[test]
fn literals_are_keywords_and_punctuation() {
    let def = OpDef {
        operands: const { &[A, B] },
        ..DEF
    };
    check(
        def,
        "`from` $a `to` `<` $b `>` `->` `(` `)` `{` `}` `[` `]` `=` attr-dict",
        &["t.op from %arg0 to<%arg1> -> () {} [] ="],
    );
    check_error(
        def,
        "`from` $a `to` $b attr-dict",
        "t.op from %arg0 until %arg1",
        "f:2:19: error: custom op 't.op' expected 'to'",
    );
}

#[test]
fn blanks_are_where_the_format_wants_them() {
    let def = OpDef {
        operands: const { &[A, B] },
        ..DEF
    };
    check(
        def,
        "$a `->` `` $b ` ` `,` attr-dict",
        &["t.op %arg0 ->%arg1 ,"],
    );
    check_printed_as(
        def,
        "$a `` `:` `` $b attr-dict",
        "t.op %arg0 : %arg1",
        "t.op %arg0:%arg1",
    );
}

#[test]
fn operands_are_written_alone_or_in_lists() {
    let def = OpDef {
        operands: const { &[A, B] },
        ..DEF
    };
    check(def, "operands attr-dict", &["t.op %arg0, %arg1"]);
    check(def, "operands($b, $a) attr-dict", &["t.op %arg1, %arg0"]);
    check(def, "$b $a attr-dict", &["t.op %arg1 %arg0"]);
    let def = OpDef {
        operands: const { &[A, REST] },
        ..DEF
    };
    check(
        def,
        "operands attr-dict `:` type($rest)",
        &["t.op %arg0, %arg1, %arg2 : i64, f32", "t.op %arg0 :"],
    );
    check(
        def,
        "typed-operands($rest) `by` $a attr-dict",
        &["t.op %arg1 : i64, %arg2 : f32 by %arg0", "t.op by %arg0"],
    );
}

#[test]
fn an_optional_operand_is_there_once_or_not_at_all() {
    let def = OpDef {
        operands: const { &[A, OTHER] },
        ..DEF
    };
    check(
        def,
        "operands attr-dict",
        &["t.op %arg0, %arg1", "t.op %arg0"],
    );
    check(
        def,
        "$a (`[` $other^ `]`)? attr-dict",
        &["t.op %arg0[%arg1]", "t.op %arg0"],
    );
    check(
        def,
        "$a (`plus` $other^) : (`alone`)? attr-dict",
        &["t.op %arg0 plus %arg1", "t.op %arg0 alone"],
    );
    let first = OpDef {
        operands: const { &[OTHER, A] },
        ..DEF
    };
    check(
        first,
        "operands attr-dict",
        &["t.op %arg1, %arg0", "t.op %arg0"],
    );
    check_error(
        def,
        "operands attr-dict",
        "t.op %arg0, %arg1, %arg1",
        "f:2:8: error: custom op 't.op' 3 operands present, but expected 2",
    );
    let generic = "\"t.op\"(%arg0, %arg1, %arg1) : (i32, i64, i64) -> ()";
    check_error(
        def,
        "operands attr-dict",
        generic,
        "f:2:3: error: 't.op' op operand group starting at #1 requires 0 or 1 element, but found 2",
    );
}

#[test]
fn an_optional_result_is_there_once_or_not_at_all() {
    let def = OpDef {
        operands: const { &[A] },
        results: const { &[ResultDef::optional("sum", TypeConstraint::Any)] },
        ..DEF
    };
    check(
        def,
        "$a (`->` type($sum)^)? attr-dict",
        &["%0 = t.op %arg0 -> i64", "t.op %arg0"],
    );
}

#[test]
fn attributes_are_written_without_the_type_that_the_declaration_fixes() {
    let kinds: [(AttrKind, &[&str]); 8] = [
        (AttrKind::BOOL, &["t.op true", "t.op false"]),
        (AttrKind::I32, &["t.op -7"]),
        (
            AttrKind::Int {
                width: 8,
                is_unsigned: true,
            },
            &["t.op 255"],
        ),
        (AttrKind::F32, &["t.op 1.500000e+00"]),
        (AttrKind::String, &["t.op \"a \\22b\\22\""]),
        (AttrKind::Array(&AttrKind::I64), &["t.op [1, 2]", "t.op []"]),
        (AttrKind::Dense, &["t.op dense<[1, 2]> : tensor<2xi32>"]),
        (AttrKind::Type, &["t.op f32"]),
    ];
    for (kind, ops) in kinds {
        let attributes: &'static [AttrDef] = vec![AttrDef::new("value", kind)].leak();
        check(OpDef { attributes, ..DEF }, "$value attr-dict", ops);
    }
    let def = OpDef {
        attributes: const { &[AttrDef::new("value", AttrKind::Any)] },
        ..DEF
    };
    check(
        def,
        "typed($value)",
        &["t.op 7 : i8", "t.op @f", "t.op {a = 1 : i32}"],
    );
}

static PADDING: EnumDef = EnumDef {
    cases: &[
        EnumCase {
            keyword: "same",
            value: 0,
        },
        EnumCase {
            keyword: "valid",
            value: -2,
        },
    ],
    ..EnumDef::new("Padding")
};

const PADDED: OpDef = OpDef {
    operands: const { &[A] },
    attributes: const {
        &[AttrDef {
            default: Some(AttrDefault::Int(0)),
            ..AttrDef::new("padding", AttrKind::Enum(&PADDING))
        }]
    },
    ..DEF
};

#[test]
fn a_case_is_written_as_its_keyword() {
    check(
        PADDED,
        "$a $padding attr-dict",
        &["t.op %arg0 same", "t.op %arg0 valid"],
    );
    check(
        PADDED,
        "$a typed($padding) attr-dict",
        &["t.op %arg0 -2 : i32"],
    );
    check_error(
        PADDED,
        "$a $padding attr-dict",
        "t.op %arg0 full",
        "f:2:14: error: custom op 't.op' expected one of 'same', 'valid'",
    );
    check_error(
        PADDED,
        "$a $padding attr-dict",
        "\"t.op\"(%arg0) {padding = 1 : i32} : (i32) -> ()",
        "f:2:3: error: 't.op' op attribute 'padding' failed to satisfy constraint: allowed 32-bit \
         signless integer cases: 0, -2",
    );
}

#[test]
fn a_group_is_written_if_its_anchor_is_not_the_default() {
    let format = "$a (`pad` $padding^)? attr-dict";
    check(PADDED, format, &["t.op %arg0", "t.op %arg0 pad valid"]);
    check_printed_as(PADDED, format, "t.op %arg0 pad same", "t.op %arg0");
    let optional_first = "$a ($padding^)? attr-dict";
    check(PADDED, optional_first, &["t.op %arg0", "t.op %arg0 valid"]);
    for (kind, default, ops) in [
        (
            AttrKind::F32,
            AttrDefault::Float(0.5),
            ["t.op", "t.op with 1.500000e+00"],
        ),
        (
            AttrKind::String,
            AttrDefault::String("x"),
            ["t.op", "t.op with \"y\""],
        ),
        (
            AttrKind::BOOL,
            AttrDefault::Bool(false),
            ["t.op", "t.op with true"],
        ),
        (
            AttrKind::Array(&AttrKind::I64),
            AttrDefault::EmptyArray,
            ["t.op", "t.op with [1]"],
        ),
    ] {
        let attribute = AttrDef {
            default: Some(default),
            ..AttrDef::new("value", kind)
        };
        let attributes: &'static [AttrDef] = vec![attribute].leak();
        check(
            OpDef { attributes, ..DEF },
            "(`with` $value^)? attr-dict",
            &ops,
        );
    }
}

#[test]
fn groups_without_an_anchor_are_written_if_anything_in_them_is() {
    let def = OpDef {
        operands: const { &[A, REST] },
        ..DEF
    };
    let format = "$a (`with` $rest `:` type($rest))? attr-dict";
    check(
        def,
        format,
        &["t.op %arg0", "t.op %arg0 with %arg1, %arg2 : i64, f32"],
    );
    let format = "$a (`with` $rest `:` type($rest) | `alone`) attr-dict";
    check(
        def,
        format,
        &["t.op %arg0 alone", "t.op %arg0 with %arg1 : i64"],
    );
}

#[test]
fn functions_are_named_by_symbols() {
    let def = OpDef {
        functions: const {
            &[
                FunctionDef {
                    name: "f",
                    form: FunctionForm::Symbol,
                },
                FunctionDef {
                    name: "g",
                    form: FunctionForm::SymbolList,
                },
            ]
        },
        ..DEF
    };
    check(def, "$f `else` $g attr-dict", &["t.op @f else [@g, @h]"]);
    check(def, "$g attr-dict", &["t.op [@g] {f = @f}"]);
}

#[test]
fn dictionaries_show_what_no_other_element_does() {
    let def = OpDef {
        operands: const { &[A] },
        attributes: const {
            &[
                AttrDef::new("n", AttrKind::I64),
                AttrDef::new("s", AttrKind::String),
            ]
        },
        ..DEF
    };
    check(
        def,
        "$a $n attr-dict",
        &["t.op %arg0 7 {s = \"x\"}", "t.op %arg0 7 {more, s = \"x\"}"],
    );
    check(
        def,
        "$a attr-dict-with-keyword `end`",
        &["t.op %arg0 attributes {n = 7 : i64, s = \"x\"} end"],
    );
    check_printed_as(
        def,
        "$a $n $s attr-dict-or-keyword `:`",
        "t.op %arg0 7 \"x\" attributes {more} :",
        "t.op %arg0 7 \"x\" {more} :",
    );
    // Without a dictionary, other attributes are written generically.
    let generic = "\"t.op\"(%arg0) {more, n = 7 : i64, s = \"x\"} : (i32) -> ()";
    check_printed_as(def, "$a $n $s", generic, generic);
}

#[test]
fn key_values_are_read_in_any_order() {
    let def = OpDef {
        attributes: const {
            &[
                AttrDef::new("m", AttrKind::I32),
                AttrDef::new("n", AttrKind::I64),
            ]
        },
        ..DEF
    };
    check(def, "key-values($m, $n)", &["t.op m = 1, n = 2"]);
    check_printed_as(
        def,
        "key-values($m, $n)",
        "t.op n = 2, m = 1",
        "t.op m = 1, n = 2",
    );
    let def = OpDef {
        attributes: const { &[AttrDef::new("options", AttrKind::Aggregate)] },
        ..DEF
    };
    check(
        def,
        "pairs($options)",
        &["t.op {k = 1 : i32, l = \"x\"}", "t.op"],
    );
}

#[test]
fn types_are_written_by_group_or_as_a_function_type() {
    let def = OpDef {
        operands: const { &[OperandDef::new("x", TypeConstraint::Any), REST] },
        results: const { &[OUT] },
        ..DEF
    };
    check(
        def,
        "operands attr-dict `:` type($x) `,` `(` type($rest) `)` `->` type($out)",
        &["%0 = t.op %arg0, %arg1 : i32, (i64) -> f32"],
    );
    check(
        def,
        "operands attr-dict `:` functional-type(operands, results)",
        &[
            "%0 = t.op %arg0, %arg1 : (i32, i64) -> f32",
            "%0:2 = t.op %arg0 : (i32) -> (f32, i1)",
            "t.op %arg0 : (i32) -> ()",
        ],
    );
    check(
        def,
        "operands attr-dict `:` signature(operands, $out)",
        &[
            "%0 = t.op %arg0 : (i32) -> (f32)",
            "t.op %arg0 : (i32) -> ()",
        ],
    );
    check(
        def,
        "operands attr-dict `:` type($x) `->` type-list($rest, $out)",
        &["%0:2 = t.op %arg0, %arg1, %arg2 : i32 -> i64, f32"],
    );
    let def = OpDef {
        results: const { &[ResultDef::variadic("out", I32)] },
        ..DEF
    };
    check(
        def,
        "attr-dict (`:` result-count($out))?",
        &["%0:3 = t.op : 3", "t.op"],
    );
}

#[test]
fn regions_show_the_arguments_of_their_blocks() {
    let def = OpDef {
        operands: const { &[A] },
        functions: const { &[region("body")] },
        ..DEF
    };
    let ops = [
        "t.op %arg0 {\n\"t.return\"() : () -> ()\n}",
        "t.op %arg0 {\n^bb0(%arg3: i64):\n\"t.return\"(%arg3) : (i64) -> ()\n}",
    ];
    check(def, "$a attr-dict-with-keyword $body", &ops);
    check(
        def,
        "$a attr-dict-or-keyword regions `,`",
        &ops.map(|op| String::leak(format!("{op},")) as &str),
    );
    let def = OpDef {
        functions: const { &[region("first"), region("second")] },
        ..DEF
    };
    check(
        def,
        "attr-dict-with-keyword regions",
        &[
            "t.op {\n\"t.return\"() : () -> ()\n} {\n^bb0(%arg3: f32):\n\"t.return\"() : () -> ()\n}",
        ],
    );
}

#[test]
fn regions_may_take_the_names_of_operands() {
    let def = OpDef {
        operands: const { &[A, B] },
        functions: const { &[region("body"), region("otherwise")] },
        ..DEF
    };
    check(
        def,
        "operands attr-dict-with-keyword region($body, $b) (`else` region($otherwise) | \
         empty-region($otherwise, $a, \"t.return\"))",
        &[
            "t.op %arg0, %arg1 {\n\"t.return\"(%arg1) : (i64) -> ()\n} else {\n\"t.return\"() : () -> ()\n}",
        ],
    );
}

#[test]
fn a_missing_operand_is_called_by_what_it_is() {
    let def = OpDef {
        operands: const { &[REST] },
        ..DEF
    };
    check_error(
        def,
        "operands expect($rest, \"condition\") attr-dict `:` type($rest)",
        "t.op : i32",
        "f:2:8: error: custom op 't.op' expected condition",
    );
}

/// A declaration that nobody checked: the op is refused where it is read, and printed in its
/// generic form.
#[test]
fn a_malformed_format_is_reported_where_the_op_is_used() {
    static BROKEN: OpDef = OpDef {
        assembly_format: Some("$nothing attr-dict"),
        ..OpDef::new("t.op")
    };
    let registry = Arc::new(Registry::new([&RETURN, &BROKEN], []).expect("the names differ"));
    let error = read(&registry, &program("t.op")).expect_err("there is no format to read it by");
    assert!(
        error.starts_with("f:2:3: error: the assembly format of `t.op` is malformed: "),
        "{error}"
    );
    let text = program("\"t.op\"() : () -> ()");
    assert!(printed(&registry, &text, false).contains("\"t.op\"() : () -> ()"));
}

#[test]
fn known_types_are_those_of_values_before_the_op() {
    const X: OperandDef = OperandDef::new("x", TypeConstraint::OneOf(&["i32", "i64"]));
    let def = OpDef {
        operands: &[X],
        ..OpDef::new("t.op")
    };
    check(def, "$x known($x)", &["t.op %arg0", "t.op %arg1"]);
    check_error(
        def,
        "$x known($x)",
        "t.op %arg2",
        "f:2:3: error: 't.op' op operand #0 must be 32-bit signless integer or 64-bit signless \
         integer, but got 'f32'",
    );
    check_error(
        def,
        "$x known($x)",
        "t.op %later",
        "f:3:3: error: custom op 't.op' use of undeclared value '%later'",
    );
}

#[test]
fn a_last_type_may_follow_the_types_of_all() {
    let def = OpDef {
        operands: const { &[A, OperandDef::new("x", TypeConstraint::Any)] },
        ..OpDef::new("t.op")
    };
    let format = "operands `:` last-type($a, $x)";
    check(def, format, &["t.op %arg0, %arg2 : f32"]);
    check_printed_as(
        def,
        format,
        "t.op %arg0, %arg1 : i32, i64",
        "t.op %arg0, %arg1 : i64",
    );
    check_error(
        def,
        format,
        "t.op %arg0, %arg1 : i32, i64, i64",
        "f:2:23: error: custom op 't.op' expected 1 or 2 types, found 3",
    );
}

#[test]
fn an_attribute_and_a_result_share_a_type() {
    let def = OpDef {
        attributes: const { &[AttrDef::new("type", AttrKind::Type)] },
        results: const { &[ResultDef::new("out", TypeConstraint::Any)] },
        ..OpDef::new("t.op")
    };
    check(def, "`:` shared-type($type, $out)", &["%0 = t.op : f32"]);
    // Different types have no custom form.
    let registry = registry(OpDef {
        assembly_format: Some("`:` shared-type($type, $out)"),
        ..def
    });
    let text = printed(
        &registry,
        &program("%0 = \"t.op\"() {type = i1} : () -> f32"),
        false,
    );
    assert!(text.contains("\"t.op\"()"), "{text}");
}

#[test]
fn keywords_of_one_value_are_read_and_the_first_one_is_printed() {
    static MODE: EnumDef = EnumDef {
        cases: &[
            EnumCase {
                keyword: "int32",
                value: 2,
            },
            EnumCase {
                keyword: "int",
                value: 2,
            },
        ],
        ..EnumDef::new("Mode")
    };
    let def = OpDef {
        attributes: const { &[AttrDef::new("mode", AttrKind::Enum(&MODE))] },
        ..OpDef::new("t.op")
    };
    check_printed_as(def, "$mode", "t.op int", "t.op int32");
    let signed = "\"t.op\"() {mode = 2 : si32} : () -> ()";
    check_printed_as(def, "$mode", signed, "t.op int32");
}

#[test]
fn a_group_leaves_out_an_attribute_that_is_not_there() {
    static MODE: EnumDef = EnumDef {
        cases: &[EnumCase {
            keyword: "fast",
            value: 2,
        }],
        ..EnumDef::new("Mode")
    };
    let def = OpDef {
        attributes: const { &[AttrDef::optional("mode", AttrKind::Enum(&MODE))] },
        operands: &[A],
        ..OpDef::new("t.op")
    };
    let format = "($mode^ `,`)? $a";
    check(def, format, &["t.op fast, %arg0", "t.op %arg0"]);
}

/// An enumeration that determines the type of a scalar.
static PRECISION: EnumDef = EnumDef {
    cases: &[
        EnumCase {
            keyword: "single",
            value: 0,
        },
        EnumCase {
            keyword: "exact",
            value: 1,
        },
        EnumCase {
            keyword: "vague",
            value: 2,
        },
    ],
    refusals: &["Unknown precision: "],
    operand_types: Some(EnumOperandTypes {
        of_cases: &[("single", &["f32"]), ("exact", &["si32", "i32"])],
        refusal: "no type of scalars",
    }),
    ..EnumDef::new("Precision")
};

const SCALED: OpDef = OpDef {
    attributes: const { &[AttrDef::optional("precision", AttrKind::Enum(&PRECISION))] },
    operands: &[OperandDef::new("a", TypeConstraint::Any)],
    ..OpDef::new("t.op")
};

const SCALED_FORMAT: &str = "$a (`as` $precision^)? known($a by $precision)";

#[test]
fn a_case_determines_the_types_of_operands() {
    let ops = ["t.op %arg0 as exact", "t.op %arg2 as single", "t.op %arg0"];
    check(SCALED, SCALED_FORMAT, &ops);
    let expected = "f:2:8: error: use of value '%arg0' expects different type than prior uses: \
                    'f32' vs 'i32'";
    check_error(SCALED, SCALED_FORMAT, "t.op %arg0 as single", expected);
    let expected = "f:2:8: error: use of value '%arg2' expects different type than prior uses: \
                    'i32' vs 'f32'";
    check_error(SCALED, SCALED_FORMAT, "t.op %arg2 as exact", expected);
    let expected = "f:3:3: error: custom op 't.op' could not infer type from vague";
    check_error(SCALED, SCALED_FORMAT, "t.op %arg0 as vague", expected);
    let expected = "f:2:17: error: custom op 't.op' Unknown precision: loose\nno type of scalars";
    check_error(SCALED, SCALED_FORMAT, "t.op %arg0 as loose", expected);
}

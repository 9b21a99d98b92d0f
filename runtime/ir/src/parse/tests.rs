//! Corner cases of the grammar that no golden program covers, and malicious texts.

use std::sync::Arc;

use tfrt_ods::{
    AttrDef, AttrDefault, AttrKind, OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint,
};

use super::*;
use crate::print::{PrintOptions, print};

const I32: TypeConstraint = TypeConstraint::Exact("i32");

static DECLARED: [&OpDef; 5] = [
    &OpDef {
        operands: &[
            OperandDef::new("a", TypeConstraint::Any),
            OperandDef::new("b", TypeConstraint::SameAs("a")),
        ],
        results: &[ResultDef::new("sum", TypeConstraint::SameAs("a"))],
        assembly_format: Some("$a `plus` $b attr-dict `:` type($a)"),
        ..OpDef::new("t.add")
    },
    &OpDef {
        attributes: &[
            AttrDef {
                default: Some(AttrDefault::Float(0.5)),
                ..AttrDef::new("eps", AttrKind::F32)
            },
            AttrDef {
                default: Some(AttrDefault::EmptyArray),
                ..AttrDef::new("list", AttrKind::Aggregate)
            },
        ],
        assembly_format: Some("attr-dict"),
        ..OpDef::new("t.defaults")
    },
    &OpDef {
        attributes: &[
            AttrDef::new("a", AttrKind::Aggregate),
            AttrDef::new("b", AttrKind::Aggregate),
        ],
        assembly_format: Some("pairs($a) pairs($b)"),
        ..OpDef::new("t.pairs")
    },
    &OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        traits: OpTraits::TERMINATOR,
        assembly_format: Some("(operands `:` type-list(operands))?"),
        ..OpDef::new("t.return")
    },
    &OpDef {
        operands: &[OperandDef::new("a", I32)],
        ..OpDef::new("t.generic")
    },
];

fn registry() -> Arc<Registry> {
    Arc::new(Registry::new(DECLARED, []).expect("the declarations fit together"))
}

fn read(source: &str) -> Result<Module, Diagnostics> {
    parse(
        source,
        "f",
        &registry(),
        &ParseOptions {
            allow_unregistered_dialects: true,
        },
    )
}

fn check_error(source: &str, expected: &str) {
    match read(source) {
        Ok(module) => panic!("read as:\n{}", print(&module, &PrintOptions::default())),
        Err(errors) => assert_eq!(errors[0].to_string(), expected),
    }
}

/// Checks that the text is printed as `expected`, which is printed as itself.
fn check_print(source: &str, expected: &str) {
    for text in [source, expected] {
        let module = read(text).unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert_eq!(print(&module, &PrintOptions::default()), expected);
    }
}

#[test]
fn a_compiled_module_may_hold_syntax_that_nobody_here_knows() {
    let text = "module {\n  module @m attributes {tfrt.compiled} { x.y <z {\"}\"}> ? }\n  func private @f()\n}\n";
    check_print(text, text);
    check_error(
        "module { module @m attributes {tfrt.compiled} { x.y",
        "f:1:52: error: expected '}' to end a module",
    );
    check_error(
        "module { module @m { x.y } }",
        "f:1:22: error: custom op 'x.y' is unknown",
    );
    // Errors in known syntax remain errors.
    check_error(
        "module { module @m attributes {tfrt.compiled} { func @f( } }",
        "f:1:58: error: expected non-function type",
    );
}

#[test]
fn functions_of_other_dialects_end_in_their_own_returns() {
    for (func, end) in [
        ("func", "\"std.return\"(%arg0) : (f32) -> ()"),
        ("builtin.func", "\"std.return\"(%arg0) : (f32) -> ()"),
        ("func.func", "func.return %arg0 : f32"),
    ] {
        check_print(
            &format!("module {{ module @m attributes {{tfrt.compiled}} {{ {func} @k(%x: f32) -> \
                      f32 {{ return %x : f32 }} }} }}"),
            &format!("module {{\n  module @m attributes {{tfrt.compiled}} {{\n    func @k(%arg0: f32) -> f32 {{\n      \
                      {end}\n    }}\n  }}\n}}\n").replace("      \n", ""),
        );
    }
    for func in ["func", "func.func"] {
        check_print(
            &format!(
                "{func} @f(%x: f32, %y: i1) -> (f32, i1) {{ return %x, %y : f32, i1 }} {func} @g() {{ return }}"
            ),
            "module {\n  func @f(%arg0: f32, %arg1: i1) -> (f32, i1) {\n    \
             func.return %arg0, %arg1 : f32, i1\n  }\n  func @g() {\n    func.return\n  }\n}\n",
        );
    }
    check_error(
        "func @f(%x: f32) -> f32 { return %x : i32 }",
        "f:1:34: error: use of value '%x' expects different type than prior uses: 'i32' vs 'f32'",
    );
    // Nothing else ends in it.
    check_error(
        "return",
        "f:1:1: error: custom op 'return' is unknown; did you mean `t.return`?",
    );
}

#[test]
fn functions_are_read_under_their_later_name_and_printed_under_it_if_that_is_asked_for() {
    let custom = "func.func private @g(i32) -> i32\nfunc.func @f(%x: i32) \
                  { %y = func.call @g(%x) : (i32) -> i32 func.return }";
    let generic = "\"func.func\"() ({}) {function_type = (i32) -> i32, sym_name = \"g\", sym_visibility = \"private\"} : () -> ()\n\
                   \"func.func\"() ({\n^bb0(%x: i32):\n%y = \"func.call\"(%x) {callee = @g} : (i32) -> i32\n\"func.return\"() : () -> ()\n\
                   }) {function_type = (i32) -> (), sym_name = \"f\"} : () -> ()";
    let later = |generic| PrintOptions {
        func_dialect: true,
        generic,
        ..PrintOptions::default()
    };
    for source in [custom, generic] {
        let module = read(source).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let printed = print(&module, &PrintOptions::default());
        assert!(
            printed
                .starts_with("module {\n  func private @g(i32) -> i32\n  func @f(%arg0: i32) {\n"),
            "{printed}"
        );
        let printed = print(&module, &later(false));
        assert!(
            printed.starts_with(
                "module {\n  func.func private @g(i32) -> i32\n  func.func @f(%arg0: i32) {\n"
            ),
            "{printed}"
        );
        let printed = print(&module, &later(true));
        let first = "  \"func.func\"() ({\n  }) {function_type = (i32) -> i32, sym_name = \"g\", sym_visibility = \"private\"} : () -> ()\n";
        assert!(printed.contains(first), "{printed}");
        assert_eq!(print(&read(&printed).unwrap(), &later(true)), printed);
    }
}

#[test]
fn an_operand_may_have_the_type_of_another() {
    check_print(
        "func @f(%x: f32) { %y = t.add %x plus %x {n} : f32 t.return %y : f32 }",
        "module {\n  func @f(%arg0: f32) {\n    %0 = t.add %arg0 plus %arg0 {n} : f32\n    t.return %0 : f32\n  }\n}\n",
    );
    check_error(
        "func @f(%x: f32) { %y = t.add %x and %x : f32 }",
        "f:1:34: error: custom op 't.add' expected 'plus'",
    );
}

#[test]
fn attributes_that_the_text_leaves_out_have_their_default() {
    let expected = "module {\n  t.defaults {eps = 5.000000e-01 : f32, list = []}\n}\n";
    check_print("t.defaults", expected);
    check_print("\"t.defaults\"() : () -> ()", expected);
}

#[test]
fn an_empty_dictionary_is_not_printed() {
    // The reference also omits it before another one, which is then parsed as the first.
    check_print(
        "t.pairs {} {a = 1 : i32}",
        "module {\n  t.pairs {a = 1 : i32}\n}\n",
    );
    check_print("t.pairs", "module {\n  t.pairs\n}\n");
    // Pairs that a dictionary cannot represent are printed generically.
    let generic =
        "module {\n  \"t.pairs\"() {a = [[\"k\", 1], [\"k\", 2]], b = []} : () -> ()\n}\n";
    check_print(generic, generic);
}

#[test]
fn an_op_without_custom_form_says_so() {
    check_error(
        "t.generic",
        "f:1:1: error: custom op 't.generic' has no custom assembly form",
    );
    check_error(
        "t.nothing",
        "f:1:1: error: custom op 't.nothing' is unknown",
    );
}

#[test]
fn an_unknown_op_is_compared_with_those_that_are_known() {
    check_error(
        "t.generik",
        "f:1:1: error: custom op 't.generik' is unknown; did you mean `t.generic`?",
    );
    check_error(
        "fun @f() {}",
        "f:1:1: error: custom op 'fun' is unknown; did you mean `func`?",
    );
}

#[test]
fn a_byte_order_mark_is_called_by_its_name() {
    check_error(
        "\u{FEFF}t.generic",
        "f:1:1: error: unexpected character: a byte order mark; save the file as UTF-8 without a \
         byte order mark",
    );
}

#[test]
fn attributes_of_arguments_and_results_are_kept() {
    check_print(
        "func private @f(i32 {a = 1 : i32}, i64) -> (f32, f64 {b})",
        "module {\n  func private @f(i32 {a = 1 : i32}, i64) -> (f32, f64 {b})\n}\n",
    );
}

#[test]
fn long_lists_of_elements_are_printed_as_digits() {
    let values: Vec<String> = (0..101).map(|value| value.to_string()).collect();
    let source = format!(
        "\"a\"() {{v = dense<[{}]> : tensor<101xi8>}} : () -> ()",
        values.join(", ")
    );
    let digits: String = (0..101).map(|value| format!("{value:02X}")).collect();
    let expected = format!(
        "module {{\n  \"a\"() {{v = dense<\"0x{digits}\"> : tensor<101xi8>}} : () -> ()\n}}\n"
    );
    check_print(&source, &expected);
}

#[test]
fn truth_values_are_packed_in_digits() {
    let values: Vec<&str> = (0..104)
        .map(|index| if index % 8 < 2 { "true" } else { "false" })
        .collect();
    let source = format!(
        "\"a\"() {{v = dense<[{}]> : tensor<104xi1>}} : () -> ()",
        values.join(", ")
    );
    let expected = format!(
        "module {{\n  \"a\"() {{v = dense<\"0x{}\"> : tensor<104xi1>}} : () -> ()\n}}\n",
        "03".repeat(13)
    );
    check_print(&source, &expected);
}

#[test]
fn nested_lists_roll_over_at_every_dimension() {
    let source = "module {\n  \"a\"() {v = dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>} : () -> ()\n}\n";
    check_print(source, source);
}

#[test]
fn every_kind_of_attribute_and_type_is_printed_as_it_is_read() {
    for text in [
        "-170141183460469231731687303715884105728 : i128",
        "-1 : index",
        "@\"a b\"::@c",
        "loc(fused<1 : i32>[\"f\":1:2, \"n\"])",
        "#other.thing<[\"x\", {>}]>",
        "sparse<[[0, 0]], [1.5]> : tensor<3x4xf32>",
        "opaque<\"d\", \"0xFF\"> : tensor<2xi8>",
        "dense<[(1,-2), (3,4)]> : tensor<2xcomplex<i16>>",
        "vector<2x3xindex>",
        "memref<*xf32>",
        "tuple<tensor<0xf32>, memref<?x4xi32, 3>>",
        "memref<4x8xf32, strided<[?, 1], offset: 4>, 1>",
        "memref<?x?xf32, affine_map<(d0, d1)[s0, s1] -> (d0 * s1 + d1 + s0)>>",
        "{\"odd name\" = unit, b = {}}",
    ] {
        let source = format!("module {{\n  \"a\"() {{v = {text}}} : () -> ()\n}}\n");
        if text.contains("{>}") {
            check_error(
                &source,
                "f:2:34: error: unbalanced '>' character in pretty dialect name",
            );
        } else if text.contains("unit") {
            check_print(
                &source,
                &source.replace("{\"odd name\" = unit, b = {}}", "{b = {}, \"odd name\"}"),
            );
        } else {
            check_print(&source, &source);
        }
    }
}

#[test]
fn layouts_are_printed_in_their_shortest_form() {
    for (text, printed) in [
        (
            "affine_map<(i, j) -> (j, i)>",
            "affine_map<(d0, d1) -> (d1, d0)>",
        ),
        (
            "affine_map<()[n] -> (n - 1)>",
            "affine_map<()[s0] -> (s0 - 1)>",
        ),
        (
            "affine_map<(i, j) -> (2 + i * 3 - j * 4, -(i + j))>",
            "affine_map<(d0, d1) -> (d0 * 3 + 2 - d1 * 4, -(d0 + d1))>",
        ),
        (
            "affine_map<(i) -> (((i) floordiv 8) mod 4, 2 * (i + 1) ceildiv 3, 6 * 7 - 2)>",
            "affine_map<(d0) -> ((d0 floordiv 8) mod 4, ((d0 + 1) * 2) ceildiv 3, 40)>",
        ),
        (
            "memref<4x2xf32, affine_map<(i, j) -> (i, j)>, 1>",
            "memref<4x2xf32, 1>",
        ),
        (
            "memref<4xf32, strided<[1], offset: 0>>",
            "memref<4xf32, strided<[1]>>",
        ),
        (
            "memref<4xf32, strided<[-2], offset: ?>>",
            "memref<4xf32, strided<[-2], offset: ?>>",
        ),
    ] {
        let source = |text| format!("module {{\n  \"a\"() {{v = {text}}} : () -> ()\n}}\n");
        check_print(&source(text), &source(printed));
        check_print(&source(printed), &source(printed));
    }
    let long = format!("affine_map<(i) -> (i{})>", " + i".repeat(100_000));
    for (text, expected) in [
        (
            "affine_map<(i, i) -> (i)>",
            "redefinition of identifier 'i'",
        ),
        ("affine_map<(i) -> (j)>", "use of undeclared identifier"),
        (
            "affine_map<(i) -> (i * 9223372036854775808)>",
            "constant too large for index",
        ),
        (&*long, "affine map is too long"),
        (
            "strided<[99999999999999999999]>",
            "expected a 64-bit signed integer or '?'",
        ),
        (
            "memref<4xf32, strided<[4, 1]>>",
            "memref layout mismatch between rank and affine map: 1 != 2",
        ),
        (
            "memref<*xf32, strided<[1]>>",
            "unranked memref has no layout",
        ),
        (
            "memref<4xf32, strided<[1]>, strided<[1]>>",
            "expected one layout in memref type",
        ),
    ] {
        let errors = read(&format!("\"a\"() {{v = {text}}} : () -> ()")).err();
        let found = errors
            .map(|errors| errors[0].to_string())
            .unwrap_or_default();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn integers_are_in_range_by_their_type() {
    for (text, is_fine) in [
        ("255 : i8", true),
        ("256 : i8", false),
        ("-128 : si8", true),
        ("-129 : si8", false),
        ("0 : i0", true),
        ("1 : i0", false),
        ("-1 : i1", true),
        ("18446744073709551615 : ui64", true),
        ("18446744073709551616 : ui64", false),
        ("9223372036854775808 : index", false),
        ("999999999999999999999999999999999999999999", false),
    ] {
        let source = format!("\"a\"() {{v = {text}}} : () -> ()");
        assert_eq!(read(&source).is_ok(), is_fine, "{text}");
    }
}

#[test]
fn forward_references_are_resolved() {
    let source = "\"a\"() ({\n  \"b\"()[^x, ^y] : () -> ()\n^x:\n  \"use\"(%v) : (i32) -> ()\n^y:\n  %v = \"make\"() : () -> i32\n}) : () -> ()";
    let module = read(source).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let text = print(&module, &PrintOptions::default());
    assert!(
        text.contains("\"use\"(%0)") && text.contains("%0 = \"make\""),
        "{text}"
    );
    check_error(
        "func @f() { \"u\"(%v) : (i32) -> () %v = \"m\"() : () -> i64 }",
        "f:1:35: error: definition of SSA value '%v#0' has type 'i64'",
    );
}

#[test]
fn every_undeclared_value_is_reported() {
    let errors = read("\"a\"(%x, %y) : (i32, i32) -> ()")
        .map(|_| ())
        .unwrap_err();
    assert_eq!(errors.len(), 2);
    assert_eq!(
        errors[1].to_string(),
        "f:1:9: error: use of undeclared SSA value name"
    );
}

#[test]
fn uses_are_listed_newest_first() {
    let module =
        read("func @f(%x: i32) { \"a\"(%x, %x) : (i32, i32) -> () \"b\"(%x) : (i32) -> () }")
            .unwrap_or_else(|errors| panic!("{}", errors[0]));
    let func = module.functions(module.root()).next().unwrap();
    let block = module.entry_block(func).unwrap();
    let uses: Vec<(&str, usize)> = module
        .uses(module.block_arguments(block)[0])
        .map(|use_| (module.op_name(use_.op), use_.operand))
        .collect();
    assert_eq!(uses, [("b", 0), ("a", 1), ("a", 0)]);
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let depth = 20_000;
    for (open, close) in [
        ("\"a\"() ({ ", ""),
        ("\"a\"() {v = ", ""),
        ("\"a\"() {v = [", ""),
        ("\"a\"() : (", ""),
        ("\"a\"() {v = tuple<", ""),
        ("\"a\"() : () -> () loc(", ""),
    ] {
        let repeated = match open {
            "\"a\"() ({ " => open.repeat(depth),
            "\"a\"() {v = " => format!("{open}{}", "{v = ".repeat(depth)),
            "\"a\"() {v = [" => format!("{open}{}", "[".repeat(depth)),
            "\"a\"() : (" => format!("{open}{}", "(".repeat(depth)),
            "\"a\"() {v = tuple<" => format!("{open}{}", "tuple<".repeat(depth)),
            _ => format!("{open}{}", "fused[".repeat(depth)),
        };
        let errors = read(&(repeated + close)).map(|_| ()).unwrap_err();
        assert_eq!(
            errors[0].message, "expected at most 128 levels of nesting",
            "{open}"
        );
    }
    let dense = format!("\"a\"() {{v = dense<{}", "[".repeat(depth));
    assert!(read(&dense).is_err());
    let complex = format!("\"a\"() {{v = dense<{}", "(".repeat(depth));
    assert!(read(&complex).is_err());
}

#[test]
fn nesting_up_to_the_limit_is_printed_and_verified() {
    // The innermost op has a type, and the printed text has an additional module around everything.
    let depth = MAX_NESTING - 2;
    let source = format!(
        "{}{}",
        "\"a\"() ({ ".repeat(depth),
        "}) : () -> ()".repeat(depth)
    );
    let module = read(&source).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(crate::verify(&module, &crate::VerifyOptions::default()), []);
    let again = read(&print(&module, &PrintOptions::default()))
        .unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(
        print(&again, &PrintOptions::default()),
        print(&module, &PrintOptions::default())
    );
}

#[test]
fn aliases_do_not_grow_without_bound() {
    let mut types = "!t0 = type tuple<i32, i32>\n".to_owned();
    let mut attributes = "#a0 = [1, 2]\n".to_owned();
    for level in 1..64 {
        let before = level - 1;
        types.push_str(&format!("!t{level} = type tuple<!t{before}, !t{before}>\n"));
        attributes.push_str(&format!("#a{level} = [#a{before}, #a{before}]\n"));
    }
    assert_eq!(
        read(&types).map(|_| ()).unwrap_err()[0].message,
        "type is too long"
    );
    assert_eq!(
        read(&attributes).map(|_| ()).unwrap_err()[0].message,
        "attribute is too large"
    );
}

#[test]
fn large_numbers_ask_for_no_memory() {
    check_error(
        "%a:4000000000 = \"a\"() : () -> i32",
        "f:1:1: error: operation defines 1 results but was provided 4000000000 to bind",
    );
    check_error(
        "\"a\"(%a#4000000000) : (i32) -> ()",
        "f:1:5: error: use of undeclared SSA value name",
    );
    assert!(read("\"a\"() {v = dense<1> : tensor<4000000000x4000000000xi64>} : () -> ()").is_ok());
}

#[test]
fn one_type_or_attribute_is_read_alone() {
    let mut module = Module::new(registry());
    let ty = parse_type(&mut module, "tensor<2x?x!my.t<1>>").unwrap();
    assert_eq!(module.type_spelling(ty), "tensor<2x?x!my.t<1>>");
    assert_eq!(parse_type(&mut module, "i32 x"), None);
    let attribute = parse_attribute(&mut module, "[1 : i32, \"x\"]").unwrap();
    assert!(
        matches!(module.attribute(attribute), crate::Attribute::Array(elements) if elements.len() == 2)
    );
    assert_eq!(parse_attribute(&mut module, "[1"), None);
}

mod soup {
    //! Random sequences of words never make the parser panic, and the resulting programs
    //! round-trip.

    use proptest::prelude::*;

    use super::*;

    const WORDS: &[&str] = &[
        "func",
        "func.func @g() {",
        "module attributes {tfrt.compiled} {",
        "return",
        "@f",
        "@\"x y\"",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ":",
        ",",
        "=",
        "->",
        "-",
        "%a",
        "%b",
        "%a#1",
        "^bb",
        "i32",
        "f32",
        "i1",
        "tensor<2xi32>",
        "tensor",
        "!t.x",
        "!x",
        "#a",
        "#d.e<1>",
        "1",
        "2.5",
        "0x1F",
        "-1",
        "\"s\"",
        "\"t.op\"",
        "t.add",
        "t.return",
        "t.defaults",
        "t.pairs",
        "plus",
        "loc",
        "unknown",
        "dense",
        "true",
        "unit",
        "attributes",
        "private",
        "module",
        "type",
        "x",
        "?",
        "*",
        "// c\n",
        "\n",
        "complex",
        "tuple",
        "memref",
        "() -> ()",
        "() : () -> ()",
        "\"a\"() : () -> ()",
        "{a = 1}",
        "func @g() {",
        "func @h(%a: i32) {",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::default() })]

        #[test]
        fn no_sequence_of_words_panics(picks in proptest::collection::vec(0..WORDS.len(), 0..24)) {
            let source = picks.iter().map(|pick| WORDS[*pick]).collect::<Vec<_>>().join(" ");
            if let Ok(module) = read(&source) {
                let _ = crate::verify(&module, &crate::VerifyOptions { stops_at_first: false, ..Default::default() });
                let text = print(&module, &PrintOptions { generic: true, ..PrintOptions::default() });
                if crate::verify(&module, &crate::VerifyOptions::default()).is_empty() {
                    let again = read(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
                    prop_assert_eq!(print(&again, &PrintOptions { generic: true, ..PrintOptions::default() }), text);
                }
            }
        }

        #[test]
        fn no_bytes_panic(source in "[ -~\n\\x80-\\xFF]{0,60}") {
            let _ = read(&source);
        }
    }
}

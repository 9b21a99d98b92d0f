//! Programs that files cannot hold: each error is reported at its op, and no bytes are written.

use crate::support::{encode_text, golden_text, lines};
use tfrt_ir::split_input_file;

/// Encodes `source`, which must fail, and compares the errors, one a line, and their notes.
fn check(source: &str, expected: &[&str]) {
    let errors = encode_text(source, "f.mlir").expect_err("the program has a mistake");
    assert_eq!(lines(&errors).lines().collect::<Vec<_>>(), expected);
}

/// Returns the diagnostics recorded for a golden program: the lines that have a severity.
fn check_golden(program: &str) {
    let file_name = format!("{program}.mlir");
    let errors =
        encode_text(&golden_text(&file_name), &file_name).expect_err("the program has a mistake");
    let mut found = String::new();
    for error in &errors {
        found.push_str(&format!("{error}\n"));
        error
            .notes
            .iter()
            .for_each(|note| found.push_str(&format!("{note}\n")));
    }
    let recorded = golden_text(&format!("{program}.translate.err.txt"));
    // The tool adds source lines and carets; a note may span several lines.
    let mut expected = String::new();
    let mut lines = recorded.lines().peekable();
    while let Some(line) = lines.next() {
        expected.push_str(&format!("{line}\n"));
        if line.contains(": error: ") {
            lines.next();
            lines.next();
        }
    }
    assert_eq!(found, expected, "{program}");
}

#[test]
fn golden_mistakes_are_reported_as_recorded() {
    for program in [
        "67-bad-attribute-kind",
        "68-bad-outer-value",
        "69-bad-undefined-function",
        "71-bad-sync-returns",
        "72-bad-blocks",
    ] {
        check_golden(program);
    }
}

#[test]
fn mistakes_that_the_reference_lets_through_are_reported() {
    let source = golden_text("74-bad-unchecked.mlir");
    let expected = [
        (
            6,
            3,
            "BEF files cannot contain modules, except at the top level and with the attribute \
             `tfrt.compiled`",
        ),
        (6, 5, "all regions need to have a tfrt.return"),
        (
            6,
            5,
            "BEF executor only supports references to kernels within the current region",
        ),
        (5, 3, "BEF files cannot encode the 'a' attribute"),
        (5, 3, "BEF files cannot encode the 'a' attribute"),
        (5, 3, "BEF files cannot encode the 'a' attribute"),
        (5, 3, "function @nowhere not defined"),
    ];
    // The parts of the file after these are for verifiers of ops, except for the last one.
    let pieces = split_input_file(&source, "74-bad-unchecked.mlir");
    let last = (
        4,
        1,
        "BEF files cannot contain a kernel outside of functions",
    );
    let of_last = pieces.last().map(|piece| (piece, last));
    for (piece, (line, column, message)) in pieces.iter().zip(expected).chain(of_last) {
        let errors = encode_text(piece.text, &piece.name).expect_err("the piece has a mistake");
        assert_eq!(
            lines(&errors),
            format!("{}:{line}:{column}: error: {message}\n", piece.name)
        );
    }
}

#[test]
fn an_unsupported_attribute_is_reported_only_if_nothing_is_wrong_before() {
    check(
        "func private @f()\nfunc @g() {\n  \"my.op\"() {a} : () -> ()\n  tfrt.return\n}\nfunc private @h()\n",
        &[
            "f.mlir:1:1: error: external functions are not allowed",
            "f.mlir:6:1: error: external functions are not allowed",
        ],
    );
    check(
        "func @g() {\n  \"my.op\"() {a} : () -> ()\n  tfrt.return\n}\nfunc private @h()\n",
        &[
            "f.mlir:2:3: error: BEF files cannot encode the 'a' attribute",
            "f.mlir:5:1: error: external functions are not allowed",
        ],
    );
}

#[test]
fn a_function_that_is_not_defined_is_reported_only_if_nothing_else_is_wrong() {
    let call = "func @g() {\n  \"my.op\"() {a = @a::@b, b = @f} : () -> ()\n  tfrt.return\n}\n";
    check(call, &["f.mlir:2:3: error: function @a::@b not defined"]);
    check(
        &format!("func private @h()\n{call}"),
        &["f.mlir:1:1: error: external functions are not allowed"],
    );
}

#[test]
fn regions_have_one_block() {
    check(
        "func @f() {\n  \"my.op\"() ({\n    tfrt.return\n  ^bb1:\n    tfrt.return\n  }) : () -> ()\n  \"my.op\"() ({\n  }) : () -> ()\n  tfrt.return\n}\n",
        &[
            "f.mlir:2:3: error: multi-block regions cannot be emitted to BEF files",
            "f.mlir:7:3: error: multi-block regions cannot be emitted to BEF files",
        ],
    );
    check(
        "func @f() {\n  tfrt.return\n^bb1:\n  tfrt.return\n}\n",
        &["f.mlir:1:1: error: multi-block regions cannot be emitted to BEF files"],
    );
}

#[test]
fn returns_come_last() {
    check(
        "func @f() {\n  tfrt.return\n  tfrt.return\n}\n",
        &["f.mlir:2:3: error: return op must be at the end of its block"],
    );
}

#[test]
fn native_functions_have_no_body() {
    check(
        "func @f() attributes {tfrt.native} {\n  tfrt.return\n}\n",
        &["f.mlir:1:1: error: native functions cannot have a body"],
    );
}

#[test]
fn the_non_strict_mark_has_no_value() {
    check(
        "func @f() {\n  \"my.op\"() {bef.nonstrict = 1 : i32} : () -> ()\n  tfrt.return\n}\n",
        &["f.mlir:2:3: error: BEF files cannot encode the 'bef.nonstrict' attribute"],
    );
}

#[test]
fn names_hold_no_zero_bytes() {
    check(
        "func @f() {\n  \"my.op\"() {\"a\\00b\" = 1 : i32} : () -> ()\n  tfrt.return\n}\n",
        &["f.mlir:2:3: error: BEF files cannot contain the name \"a\\0b\", which has a zero byte"],
    );
}

#[test]
fn functions_have_names() {
    check(
        "func @\"\"() {\n  tfrt.return\n}\n",
        &["f.mlir:1:1: error: BEF files cannot contain a function with an empty name"],
    );
}

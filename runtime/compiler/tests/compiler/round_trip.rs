//! From text to a file and back: what declarations restore, and what our own extensions keep.

use crate::support::{decode_text, encode_text, lines, normal_blanks};

/// Encodes `source`, decodes it again, and compares the texts.
fn check(source: &str, expected: &str) {
    let bytes = encode_text(source, "f.mlir").unwrap_or_else(|errors| panic!("{}", lines(&errors)));
    let text = decode_text(&bytes, "f.bef");
    assert_eq!(normal_blanks(&text), normal_blanks(expected));
    let again = encode_text(&text, "f.mlir").unwrap_or_else(|errors| panic!("{}", lines(&errors)));
    assert_eq!(decode_text(&again, "f.bef"), text);
}

#[test]
fn nothing_of_a_compiled_program_is_in_the_file() {
    let program = "module attributes {tfrt.compiled} {
  func @k(%a: f32) {
    tfrt.return
  }
  module @m {
  }
}
";
    check(program, "module {\n}\n");
}

#[test]
fn functions_get_their_declared_names_and_groups_back() {
    let program = "module {
  func @f() {
    tfrt.return
  }
  func @g() {
    %0 = \"declared.functions\"() ({
      tfrt.return
    }) {head = @f, tail = [@g, @f, @g], value = 1 : i32} : () -> i32
    tfrt.return
  }
}
";
    check(program, program);
}

#[test]
fn functions_of_unknown_ops_get_distinct_names() {
    let program = |attributes: &str| {
        format!(
            "module {{
  func @f() {{
    tfrt.return
  }}
  func @g() {{
    \"my.op\"() {{{attributes}}} : () -> ()
    tfrt.return
  }}
}}
"
        )
    };
    check(
        &program("a = @f, b = [@g, @f]"),
        &program("callee = @f, callee_1 = @g, callee_2 = @f"),
    );
    check(
        &program("a = @f, callee = 2 : i32"),
        &program("callee = 2 : i32, callee_ = @f"),
    );
}

#[test]
fn the_non_strict_mark_is_kept() {
    let program = "module {
  func @f(%arg0: i32) {
    \"declared.non_strict\"(%arg0) {bef.nonstrict, value = 1 : i32} : (i32) -> ()
    \"declared.non_strict\"(%arg0) {value = 1 : i32} : (i32) -> ()
    tfrt.return
  }
}
";
    check(program, program);
}

#[test]
fn the_non_strict_mark_adds_one_section_and_nothing_else() {
    let program = |mark: &str| {
        format!(
            "func @f(%a: i32) {{\n  \"my.op\"(%a) {{{mark}a = 1 : i32}} : (i32) -> ()\n  tfrt.return\n}}\n"
        )
    };
    let encode = |source: &str| {
        encode_text(source, "f.mlir").unwrap_or_else(|errors| panic!("{}", lines(&errors)))
    };
    let (marked, plain) = (encode(&program("bef.nonstrict, ")), encode(&program("")));
    // One function, number 0, with one entry: kernel 1 is not strict.
    assert_eq!(marked, [plain, vec![64, 5 << 1, 1, 0, 1, 1, 1]].concat());
}

#[test]
fn a_forgotten_cost_does_not_fail() {
    let program = |cost: u32| {
        format!(
            "module {{
  func @f(%arg0: i32) {{
    %0 = tfrt_test.test_cost %arg0 {{_tfrt_cost = {cost} : i64, id = 2 : i64}} : i32
    tfrt.return
  }}
}}
"
        )
    };
    check(&program(9), &program(1));
}

#[test]
fn functions_keep_their_kinds() {
    check(
        "func private @n(i32) -> i64 attributes {tfrt.native}
func private @s() attributes {tfrt.sync = false, other} {
  tfrt.return
}
",
        "module {
  func private @n(i32) -> i64 attributes {tfrt.native}
  func @s() attributes {tfrt.sync} {
    tfrt.return
  }
}
",
    );
}

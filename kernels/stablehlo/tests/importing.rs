//! Tests the errors of imports, and imports of hostile texts.

use tfrt_import::{Limit, Limits};
use tfrt_ir::split_input_file;
use tfrt_stablehlo::HloModel;
use tfrt_stablehlo::import::{HloImportFailure, Options};

fn import_with(text: &str, limits: Limits) -> Result<String, String> {
    let model = HloModel::from_text(text, "f").map_err(|error| error.to_string())?;
    let mut options = Options::default();
    options.limits = limits;
    options.has_checks = true;
    match model.import(&options) {
        Ok(imported) => Ok(imported.program.text),
        Err(failure) => Err(failure.to_string()),
    }
}

fn check_error(text: &str, expected: &str) {
    let error = import_with(text, Limits::default()).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

/// Returns a function that applies an op to `%x` and returns its result `%y`.
fn of(op: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xf32>, %i: tensor<i32>) -> tensor<2xf32> {{\n  %y = {op}\n  return %y : tensor<2xf32>\n}}\n"
    )
}

#[test]
fn calls_are_inlined() {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
";
    let program = import_with(text, Limits::default()).unwrap();
    assert!(program.contains("\"tf.AddV2\"(%v0, %v0)"), "{program}");
}

#[test]
fn what_calls_itself_or_nothing_is_refused() {
    let call = |name: &str| {
        format!(
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n  %y = call @{name}(%x) : (tensor<f32>) -> tensor<f32>\n  return %y : tensor<f32>\n}}\n"
        )
    };
    check_error(
        &call("main"),
        "f:2:8: `func.call`: the function `@main` calls itself",
    );
    check_error(
        &call("other"),
        "f:2:8: `func.call`: there is no function `@other` with a body",
    );
    check_error(
        "func.func @mein() {\n  return\n}\n",
        "no function `@main`; did you mean `mein`?",
    );
    check_error(
        "func.func private @main()\n",
        "the function `@main` has no body",
    );
    check_error(
        "func.func @main() {\n  %x = stablehlo.constant dense<1> : tensor<i8>\n}\n",
        "f:2:8: expected a return at the end of a block, found `stablehlo.constant`",
    );
}

#[test]
fn functions_that_call_functions_end_at_a_limit() {
    let mut text = String::from(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %y = call @f0(%x) : (tensor<f32>) -> tensor<f32>\n  return %y : tensor<f32>\n}\n",
    );
    for level in 0..12 {
        text.push_str(&format!(
            "func.func private @f{level}(%x: tensor<f32>) -> tensor<f32> {{\n"
        ));
        let callee = format!("call @f{}", level + 1);
        let op = if level == 11 {
            "stablehlo.abs"
        } else {
            &*callee
        };
        for at in 0..10 {
            let from = if at == 0 {
                "x".to_owned()
            } else {
                format!("y{}", at - 1)
            };
            let line = match level {
                11 => format!("  %y{at} = {op} %{from} : tensor<f32>\n"),
                _ => format!("  %y{at} = {op}(%{from}) : (tensor<f32>) -> tensor<f32>\n"),
            };
            text.push_str(&line);
        }
        text.push_str("  return %y9 : tensor<f32>\n}\n");
    }
    let limits = Limits::default().with(Limit::Nodes, 2000);
    let error = import_with(&text, limits).unwrap_err();
    assert!(
        error.contains("expected at most 2000 nodes, found 2001"),
        "{error}"
    );
    let limits = Limits::default().with(Limit::Subgraphs, 5);
    let error = import_with(&text, limits).unwrap_err();
    assert!(
        error.contains("`--max-subgraphs` raises the limit"),
        "{error}"
    );
}

#[test]
fn attributes_that_are_wrong_are_named() {
    let check = |op: &str, expected: &str| check_error(&of(op), &format!("f:2:8: {expected}"));
    check(
        "\"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>",
        "`stablehlo.transpose`: the attribute `permutation` is missing",
    );
    check(
        "\"stablehlo.transpose\"(%x) {permutation = \"a\"} : (tensor<2xf32>) -> tensor<2xf32>",
        "`stablehlo.transpose`: attribute `permutation`: expected a list of integers",
    );
    check(
        "\"stablehlo.gather\"(%x, %i) {dimension_numbers = 1 : i32, slice_sizes = array<i64: 1>} : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>",
        "`stablehlo.gather`: expected `#stablehlo.gather<…>` as attribute `dimension_numbers`",
    );
    check(
        "\"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [a]>, slice_sizes = array<i64: 1>} : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>",
        "`stablehlo.gather`: attribute `dimension_numbers`: expected a list of integers as `offset_dims`",
    );
    check(
        "\"stablehlo.add\"(%x) : (tensor<2xf32>) -> tensor<2xf32>",
        "`stablehlo.add`: expected 2 operands, found 1",
    );
    check(
        "stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
        "`stablehlo.dot_general`: dimension 1 is repeated or out of range for a tensor of rank 1",
    );
    check(
        "\"stablehlo.reduce\"(%x, %x) ({}) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
        "`stablehlo.reduce`: expected a region of one block, found 0",
    );
}

#[test]
fn everything_that_is_not_supported_is_told() {
    let text = "func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>, %y: tensor<2xf80>) -> tensor<2xf32> {
  %a = \"stablehlo.frob\"(%x) : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<2xf32>
  %b = stablehlo.abs %a : tensor<2xf32>
  %c = \"stablehlo.frob\"(%b) : (tensor<2xf32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}
";
    let model = HloModel::from_text(text, "f").unwrap();
    let Err(HloImportFailure::Unsupported(unsupported)) = model.import(&Options::default()) else {
        panic!("it is supported");
    };
    let found = unsupported.iter();
    let found: Vec<(&str, usize)> = found
        .map(|feature| (feature.what, feature.nodes.len()))
        .collect();
    assert_eq!(
        found,
        [
            ("stablehlo.frob", 2),
            ("values of type tensor<2xf80>", 1),
            ("values of type tensor<?xf32, #stablehlo.bounds<4>>", 1)
        ]
    );
}

#[test]
fn what_follows_an_unsupported_op_in_a_region_is_not_told() {
    let text = r#"func.func @main(%x: tensor<2xf32>) {
  %y = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %b = "stablehlo.frob"(%a) : (tensor<f32>) -> tensor<f32>
    %c = stablehlo.abs %b : tensor<f32>
    %d = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
"#;
    let error = import_with(text, Limits::default()).unwrap_err();
    let expected =
        "1 operator form is not supported\n  stablehlo.frob: within a region\t1 node: f:4:10";
    assert_eq!(error, expected);
}

#[test]
fn a_function_that_uses_a_value_from_outside_the_region_is_told() {
    let text = r#"func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) {
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = func.call @less(%a, %s) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func private @less(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %c : tensor<i1>
}
"#;
    check_error(
        text,
        "1 operator form is not supported\n  stablehlo.compare: within a region, on values captured from outside it\t1 node: f:10:8",
    );
}

#[test]
fn what_ops_lack_is_told() {
    let check = |body: &str, expected: &str| {
        let text = format!(
            "func.func @main(%x: tensor<2xcomplex<f32>>, %d: tensor<?x2xf32>) {{\n  {body}\n  return\n}}\n"
        );
        check_error(&text, expected);
    };
    check(
        "%y = stablehlo.floor %x : tensor<2xcomplex<f32>>",
        "stablehlo.floor: on complex numbers",
    );
    check(
        "%y = stablehlo.compare LT, %x, %x : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>",
        "stablehlo.compare: on complex numbers",
    );
    check(
        "%s = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y = \"stablehlo.batch_norm_inference\"(%d, %s, %s, %s, %s) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2xf32>",
        "stablehlo.batch_norm_inference: on tensors of dynamic shape",
    );
    check(
        "%s = stablehlo.constant dense<1.0> : tensor<2xf8E5M2>
  %y = stablehlo.bitcast_convert %s : (tensor<2xf8E5M2>) -> tensor<2xi8>",
        "stablehlo.bitcast_convert: on floating point numbers of up to 8 bits",
    );
    check(
        "check.expect_serialized_eq %d, probe_id = \"a\" : tensor<?x2xf32>",
        "check.expect_serialized_eq: with a tensor in a file",
    );
    check(
        "%n = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.set_dimension_size %d, %n, dim = 0 : (tensor<?x2xf32>, tensor<i32>) -> tensor<?x2xf32>",
        "stablehlo.set_dimension_size: with a bound",
    );
    check(
        "%t = stablehlo.tuple %d, %d : tuple<tensor<?x2xf32>, tensor<?x2xf32>>
  %u = stablehlo.optimization_barrier %t : tuple<tensor<?x2xf32>, tensor<?x2xf32>>",
        "stablehlo.optimization_barrier: on tuples",
    );
    check(
        "%y = stablehlo.custom_call @lapack_sgetrf_ffi(%d) : (tensor<?x2xf32>) -> tensor<?x2xf32>",
        "stablehlo.custom_call: to `@lapack_sgetrf_ffi`",
    );
}

#[test]
fn hostile_texts_are_errors_or_programs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    // A random number generator with a fixed seed.
    let mut state = 1_u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let words = [
        "-1",
        "9223372036854775807",
        "[",
        "]",
        "f64",
        "i1",
        "%arg0",
        "0",
        "x",
        "tensor<0xf32>",
        "",
    ];
    let mut num_imported = 0;
    for name in [
        "complexes",
        "control",
        "dynamic",
        "moves",
        "places",
        "products",
        "reductions",
    ] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.mlir")).unwrap();
        let parts = split_input_file(&text, "f");
        for part in parts.iter().step_by(5) {
            for _ in 0..20 {
                let mut text = part.text.to_owned();
                for _ in 0..=next(2) {
                    let spans: Vec<(usize, usize)> = text
                        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                        .filter(|word| !word.is_empty() && word.len() < 12)
                        .map(|word| {
                            let start = word.as_ptr() as usize - text.as_ptr() as usize;
                            (start, start + word.len())
                        })
                        .collect();
                    let (start, end) = spans[next(spans.len())];
                    text.replace_range(start..end, words[next(words.len())]);
                }
                num_imported += usize::from(import_with(&text, Limits::default()).is_ok());
            }
            let cut = next(part.text.len());
            let _ = import_with(&part.text[..cut], Limits::default());
        }
    }
    assert!(num_imported > 20, "{num_imported}");
}

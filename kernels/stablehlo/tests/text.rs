//! Tests that StableHLO texts round-trip, and that errors name their places.

use tfrt_ir::split_input_file;
use tfrt_stablehlo::HloModel;

fn model(text: &str) -> HloModel {
    HloModel::from_text(text, "f").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Checks that the ops in the body of a function print as they are written.
fn check(ops: &str) {
    let text = format!(
        "module {{\n  func.func @f(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<f32>, \
         %arg3: tensor<3x2xf32>, %arg4: tensor<1x4x4x2xf32>, %arg5: tensor<3x3x2x2xf32>) {{\n{ops}\n    \
         func.return\n  }}\n}}\n"
    );
    let read = model(&text);
    assert_eq!(read.to_text(false), text);
    // The generic form parses to the same program.
    assert_eq!(model(&read.to_text(true)).to_text(false), text);
}

#[test]
fn plain_ops_are_printed_as_they_are_written() {
    for op in [
        "stablehlo.add %arg0, %arg0 : tensor<2x3xf32>",
        "stablehlo.abs %arg0 {a = 1 : i32} : tensor<2x3xf32>",
        "stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi8>",
        "stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>",
        "stablehlo.broadcast %arg0, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>",
        "stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>",
        "stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
        "stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>",
        "stablehlo.iota dim = 1 : tensor<2x3xf32>",
        "stablehlo.pad %arg0, %arg2, low = [0, -1], high = [1, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>",
        "stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>",
        "stablehlo.slice %arg0 [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>",
        "stablehlo.compare LT, %arg0, %arg0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
        "stablehlo.compare EQ, %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
        "stablehlo.constant dense<1.000000e+00> : tensor<2xf32>",
        "stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2x3xf32>",
        "stablehlo.custom_call @mine(%arg0, %arg1) {has_side_effect = true} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xf32>",
        "stablehlo.composite \"lib.op\" %arg0 {decomposition = @f} : (tensor<2x3xf32>) -> tensor<2xf32>",
        "stablehlo.rng %arg2, %arg2, %arg1, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<i32>) -> tensor<2xf32>",
        "stablehlo.complex %arg0, %arg0 : tensor<2x3xcomplex<f32>>",
        "stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>",
        "chlo.erf_inv %arg0 : tensor<2x3xf32>",
        "chlo.broadcast_add %arg0, %arg2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
        "chlo.constant dense<1> : tensor<i32>",
        "stablehlo.tuple %arg0, %arg1 : tuple<tensor<2x3xf32>, tensor<i32>>",
        "stablehlo.create_token : !stablehlo.token",
        "interpreter.probe %arg0, probe_id = \"a/b\" : tensor<2x3xf32>",
    ] {
        check(&format!("    %0 = {op}"));
    }
    check(
        "    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)"
            .replace("%values, %indices", "%0:2")
            .as_str(),
    );
    check(
        "    %0 = stablehlo.tuple %arg1, %arg2 : tuple<tensor<i32>, tensor<f32>>\n    \
         %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tensor<f32>>) -> tensor<f32>",
    );
    check("    check.expect_eq %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>");
    check("    check.expect_eq_const %arg1, dense<1> : tensor<i32>");
    check(
        "    check.expect_almost_eq %arg0, %arg0, tolerance = 1.000000e-01 : tensor<2x3xf32>, tensor<2x3xf32>",
    );
    check(
        "    check.expect_close %arg0, %arg0, max_ulp_difference = 3 : tensor<2x3xf32>, tensor<2x3xf32>",
    );
    check(
        "    check.expect_almost_eq_const %arg2, dense<1.000000e+00> : tensor<f32>, tolerance = 1.000000e-01",
    );
    check("    check.expect_serialized_eq %arg0, probe_id = \"a\", iter = 1 : tensor<2x3xf32>");
}

#[test]
fn products_are_printed_as_they_are_written() {
    for op in [
        "stablehlo.dot_general %arg0, %arg3, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        "stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
        "stablehlo.dot_general %arg0, %arg3, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, num_primitive_operations = 1> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        "stablehlo.dot %arg0, %arg3, precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        "stablehlo.dynamic_conv(%arg4, %arg5, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2]} {batch_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x2xf32>, tensor<i32>) -> tensor<1x4x2x2xf32>",
        "stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x4x2x2xf32>",
    ] {
        check(&format!("    %0 = {op}"));
    }
}

#[test]
fn regions_are_printed_as_they_are_written() {
    check(
        "    %0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
    );
    check(
        "    %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg0 init: %arg2) across dimensions = [0] : \
         (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) \
         reducer(%arg6: tensor<f32>, %arg8: tensor<f32>) (%arg7: tensor<f32>, %arg9: tensor<f32>) {\n      \
         %1 = stablehlo.add %arg6, %arg8 : tensor<f32>\n      \
         stablehlo.return %1, %arg9 : tensor<f32>, tensor<f32>\n    }",
    );
    check(
        "    %0:2 = chlo.scan(%arg0) inits(%arg2) dimension = 0 attributes {is_reverse = true} {\n    \
         ^bb0(%arg6: tensor<3xf32>, %arg7: tensor<f32>):\n      \
         stablehlo.return %arg6, %arg7 : tensor<3xf32>, tensor<f32>\n    } : \
         (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>)",
    );
    check(
        "    %0:2 = stablehlo.while(%arg6 = %arg1, %arg7 = %arg0) : tensor<i32>, tensor<2x3xf32> cond {\n      \
         %1 = stablehlo.compare LT, %arg6, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n      \
         stablehlo.return %1 : tensor<i1>\n    } do {\n      \
         stablehlo.return %arg6, %arg7 : tensor<i32>, tensor<2x3xf32>\n    }",
    );
}

#[test]
fn recorded_programs_are_printed_and_read_again_as_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut num_programs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in split_input_file(&text, "f") {
            let read = model(part.text);
            let (printed, generic) = (read.to_text(false), read.to_text(true));
            assert_eq!(model(&printed).to_text(false), printed);
            assert_eq!(model(&printed).to_text(true), generic);
            assert_eq!(model(&generic).to_text(false), printed);
            num_programs += 1;
        }
    }
    assert!(num_programs > 250, "{num_programs}");
}

#[test]
fn errors_in_the_text_have_a_place() {
    let check = |op: &str, expected: &str| {
        let text = format!("func.func @f(%x: tensor<2xf32>) {{\n  %y = {op}\n  return\n}}\n");
        let error = HloModel::from_text(&text, "f").unwrap_err();
        assert_eq!(error.to_string(), format!("f:2:{expected}"));
    };
    check(
        "stablehlo.add %x, %z : tensor<2xf32>",
        "26: use of undeclared SSA value name",
    );
    check(
        "stablehlo.pad %x, %x, low = [0, x] : tensor<2xf32>",
        "40: custom op 'stablehlo.pad' expected an integer",
    );
    check(
        "stablehlo.add %x, dim = 0 : tensor<2xf32>",
        "26: custom op 'stablehlo.add' expected an operand",
    );
    check(
        "stablehlo.frob %x : tensor<2xf32>",
        "8: custom op 'stablehlo.frob' is unknown",
    );
    check(
        "stablehlo.constant 1.0 : f32",
        "8: custom op 'stablehlo.constant' expected an elements attribute",
    );
    check(
        "stablehlo.reduce_precision %x, format = e5 : tensor<2xf32>",
        "51: custom op 'stablehlo.reduce_precision' expected a format such as `e5m10`",
    );
    check(
        "stablehlo.add %x, %x : (tensor<2xf32>) -> tensor<2xf32>",
        "8: custom op 'stablehlo.add' expected 2 operand types, found 1",
    );
}

//! Imports and runs programs that the recorded cases do not cover.

use std::sync::Arc;

use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_import::{Limits, Session};
use tfrt_ir::split_input_file;
use tfrt_stablehlo::HloModel;
use tfrt_stablehlo::import::Options;
use tfrt_tensor::{DenseHostTensor, Element};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn host() -> Arc<HostContext> {
    let registry = KernelRegistry::from_link().expect("the kernels fit together");
    HostContext::builder().registry(Arc::new(registry)).build()
}

fn run(text: &str, host: &Arc<HostContext>) -> Result<Vec<DenseHostTensor>, String> {
    let model = HloModel::from_text(text, "f").map_err(|error| error.to_string())?;
    let mut options = Options::default();
    options.limits = Limits::default();
    options.has_checks = true;
    let imported = model
        .import(&options)
        .map_err(|failure| failure.to_string())?;
    let session = Session::load(imported.program, "f", host).map_err(|error| error.to_string())?;
    session.run(&[]).map_err(|error| error.to_string())
}

/// Runs a function of a program.
fn run_function(
    model: &HloModel,
    name: &str,
    inputs: &[DenseHostTensor],
    host: &Arc<HostContext>,
) -> Result<Vec<DenseHostTensor>, String> {
    let mut options = Options::default();
    name.clone_into(&mut options.function);
    let imported = model
        .import(&options)
        .map_err(|failure| failure.to_string())?;
    let session = Session::load(imported.program, "f", host).map_err(|error| error.to_string())?;
    let names: Vec<String> = (0..inputs.len())
        .map(|index| format!("arg{index}"))
        .collect();
    let named = names.iter().map(String::as_str).zip(inputs.iter().cloned());
    let named: Vec<(&str, DenseHostTensor)> = named.collect();
    session.run(&named).map_err(|error| error.to_string())
}

/// Checks the result of a function without arguments that has this body.
fn check<T: Element + PartialEq + std::fmt::Debug>(ty: &str, body: &str, expected: &[T]) {
    let text = format!("func.func @main() -> {ty} {{\n{body}\n  return %y : {ty}\n}}\n");
    let found = run(&text, &host()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&*found[0].elements::<T>().unwrap(), expected);
}

#[test]
fn the_forms_of_older_texts_are_read() {
    check::<f32>(
        "tensor<2x2xf32>",
        r#"  %x = "stablehlo.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x2xf32>"#,
        &[1.0, 2.0, 1.0, 2.0],
    );
    check::<i32>(
        "tensor<2xi32>",
        r#"  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %y = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%c) : (tensor<i32>) -> ()
  }) {dimensions = dense<0> : tensor<1xi64>} : (tensor<2x2xi32>, tensor<i32>) -> tensor<2xi32>"#,
        &[4, 6],
    );
}

#[test]
fn constants_may_stand_at_the_end_of_the_text() {
    let text = "func.func @main() -> tensor<2xi8> {
  %y = stablehlo.constant dense_resource<w> : tensor<2xi8>
  return %y : tensor<2xi8>
}
{-# dialect_resources: { builtin: { w: \"0x0100000005FF\" } } #-}
";
    let found = run(text, &host()).unwrap();
    assert_eq!(&*found[0].elements::<i8>().unwrap(), [5, -1]);
    let error = run(&text.replace("<w>", "<v>"), &host()).unwrap_err();
    assert!(error.contains("there is no resource `v`"), "{error}");
}

#[test]
fn regions_may_use_constants_from_outside_and_call_functions() {
    check::<i32>(
        "tensor<3xi32>",
        r#"  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %y = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %b = stablehlo.multiply %a, %ten : tensor<i32>
    %c = func.call @next(%b) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}
func.func private @next(%x: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.add %x, %one : tensor<i32>
  return %z : tensor<i32>
}
func.func private @unused() -> tensor<3xi32> {
  %y = stablehlo.constant dense<0> : tensor<3xi32>"#,
        &[11, 21, 31],
    );
}

#[test]
fn a_function_need_not_use_what_a_region_passes_it() {
    check::<i32>(
        "tensor<i32>",
        r#"  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reshape %z : (tensor<i32>) -> tensor<i32>
  %y = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = func.call @sum(%n, %x, %a, %b) : (tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  return %y : tensor<i32>
}
func.func private @sum(%n: tensor<i32>, %m: tensor<3xi32>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.add %a, %b : tensor<i32>
  return %c : tensor<i32>
}
func.func private @unused(%y: tensor<i32>) -> tensor<i32> {"#,
        &[6],
    );
}

#[test]
fn the_region_of_a_map_may_use_scalars_from_outside() {
    check::<i32>(
        "tensor<2xi32>",
        r#"  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %z = stablehlo.constant dense<10> : tensor<i32>
  %n = stablehlo.negate %z : tensor<i32>
  %y = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %b = stablehlo.multiply %n, %a : tensor<i32>
    %c = stablehlo.add %b, %n : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>"#,
        &[-20, -30],
    );
}

#[test]
fn regions_compare_the_bits_of_numbers() {
    check::<f64>(
        "tensor<4xf64>",
        r#"  %x = stablehlo.constant dense<[2.0, -0.0, 0.0, -3.0]> : tensor<4xf64>
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.bitcast_convert %a : (tensor<f64>) -> tensor<ui64>
    %d = stablehlo.bitcast_convert %b : (tensor<f64>) -> tensor<ui64>
    %e = stablehlo.compare LT, %c, %d : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<4xf64>) -> tensor<4xf64>"#,
        &[0.0, 2.0, -0.0, -3.0],
    );
}

#[test]
fn the_number_of_selected_elements_may_be_known_only_at_run_time() {
    // The results of the call, and what follows the tensors and initial values among its operands.
    let selected = |function: &str, config: &str, operands: &str, types: &str| {
        format!(
            "  %x = stablehlo.constant dense<[[1.0, 5.0, 3.0], [9.0, 7.0, 8.0]]> : tensor<2x3xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %a = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %b = stablehlo.constant dense<-1> : tensor<i32>
  %k = stablehlo.constant dense<2> : tensor<i32>
  %s = stablehlo.constant dense<2> : tensor<2xi32>
  %u, %y = stablehlo.custom_call @{function}(%x, %i, %a, %b{operands}) {{called_computations = [@greater], {config}}} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>{types}) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  return %y : tensor<?x?xi32>
}}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {{
  %e = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %e : tensor<i1>
}}
func.func private @unused(%y: tensor<?x?xi32>) -> tensor<?x?xi32> {{"
        )
    };
    check::<i32>(
        "tensor<?x?xi32>",
        &selected(
            "ApproxTopK",
            "indices_of_shape_operands = dense<[4, 5]> : tensor<2xi64>, mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 2 : i64}",
            ", %s, %s",
            ", tensor<2xi32>, tensor<2xi32>",
        ),
        &[1, 2, 0, 2],
    );
    check::<i32>(
        "tensor<?x?xi32>",
        &selected(
            "stablehlo.dynamic_approx_top_k",
            "mhlo.backend_config = {reduction_dim = 1 : i64}",
            ", %k",
            ", tensor<i32>",
        ),
        &[1, 2, 0, 2],
    );
}

#[test]
fn digits_of_narrow_integers_have_a_sign() {
    let constant =
        |ty: &str| format!("  %y = stablehlo.constant dense<\"0x0F01F2\"> : tensor<3x{ty}>");
    check::<i8>("tensor<3xi4>", &constant("i4"), &[-1, 1, 2]);
    check::<u8>("tensor<3xui4>", &constant("ui4"), &[15, 1, 2]);
    check::<i8>("tensor<3xi2>", &constant("i2"), &[-1, 1, -2]);
}

#[test]
fn bits_of_narrow_elements_follow_each_other() {
    check::<u16>(
        "tensor<2xui16>",
        "  %x = stablehlo.constant dense<[[1, 2, 3, 4], [15, 14, 0, 8]]> : tensor<2x4xui4>
  %y = stablehlo.bitcast_convert %x : (tensor<2x4xui4>) -> tensor<2xui16>",
        &[0x4321, 0x80EF],
    );
    check::<i8>(
        "tensor<2xi4>",
        "  %x = stablehlo.constant dense<0x7E> : tensor<ui8>
  %y = stablehlo.bitcast_convert %x : (tensor<ui8>) -> tensor<2xi4>",
        &[-2, 7],
    );
    check::<i8>(
        "tensor<i8>",
        "  %x = stablehlo.constant dense<[true, false, false, true, false, false, false, true]> : tensor<8xi1>
  %y = stablehlo.bitcast_convert %x : (tensor<8xi1>) -> tensor<i8>",
        &[0x89_u8 as i8],
    );
    check::<tfrt_tensor::I1>(
        "tensor<2x4xi1>",
        "  %x = stablehlo.constant dense<[5, -2]> : tensor<2xi4>
  %y = stablehlo.bitcast_convert %x : (tensor<2xi4>) -> tensor<2x4xi1>",
        &[true, false, true, false, false, true, true, true].map(tfrt_tensor::I1::from),
    );
}

#[test]
fn a_complex_number_is_true_if_its_real_part_is_not_zero() {
    check::<tfrt_tensor::I1>(
        "tensor<4xi1>",
        "  %x = stablehlo.constant dense<[(0.0, 2.5), (-3.5, 0.0), (0.0, 0.0), (0.5, 7.0)]> : tensor<4xcomplex<f64>>
  %y = stablehlo.convert %x : (tensor<4xcomplex<f64>>) -> tensor<4xi1>",
        &[false, true, false, true].map(tfrt_tensor::I1::from),
    );
}

#[test]
fn complex_numbers_are_clamped_in_the_order_of_their_parts() {
    let parts = |part: &str| {
        format!(
            "  %a = stablehlo.constant dense<(3.0, 2.0)> : tensor<complex<f64>>
  %b = stablehlo.constant dense<(5.0, 5.0)> : tensor<complex<f64>>
  %x = stablehlo.constant dense<[(1.0, 9.0), (3.0, 1.0), (3.0, 8.0), (5.0, 6.0)]> : tensor<4xcomplex<f64>>
  %c = stablehlo.clamp %a, %x, %b : (tensor<complex<f64>>, tensor<4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  %y = stablehlo.{part} %c : (tensor<4xcomplex<f64>>) -> tensor<4xf64>"
        )
    };
    check::<f64>("tensor<4xf64>", &parts("real"), &[3.0, 3.0, 3.0, 5.0]);
    check::<f64>("tensor<4xf64>", &parts("imag"), &[2.0, 2.0, 8.0, 5.0]);
}

#[test]
fn there_is_one_device() {
    check::<u32>(
        "tensor<ui32>",
        "  %a = stablehlo.partition_id : tensor<ui32>
  %b = stablehlo.replica_id : tensor<ui32>
  %y = stablehlo.add %a, %b : tensor<ui32>",
        &[0],
    );
}

#[test]
fn comparisons_may_have_results() {
    let constants = "  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %z = stablehlo.constant dense<[[1, 2], [3, 5]]> : tensor<2x2xi64>
  %c = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>";
    for (function, operands, ty, expected) in [
        ("check.eq", "%x, %x", "2x2xi64", true),
        ("check.eq", "%x, %z", "2x2xi64", false),
        ("check.eq", "%c, %c", "complex<f32>", true),
        ("check.expect_close", "%x, %x", "2x2xi64", true),
    ] {
        check::<tfrt_tensor::I1>(
            "tensor<i1>",
            &format!(
                "{constants}
  %y = stablehlo.custom_call @{function}({operands}) : (tensor<{ty}>, tensor<{ty}>) -> tensor<i1>"
            ),
            &[tfrt_tensor::I1::from(expected)],
        );
    }
}

#[test]
fn a_tensor_is_compared_with_that_of_a_probe() {
    let text = |name: &str| {
        format!(
            "func.func @main() {{
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %z = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %y = interpreter.probe %x, probe_id = \"a\" : tensor<2xi32>
  check.expect_serialized_eq %z, probe_id = \"{name}\" : tensor<2xi32>
  return
}}
"
        )
    };
    let found = run(&text("a"), &host()).unwrap();
    let found = [&found[0], &found[1]].map(|tensor| tensor.elements::<i32>().unwrap().to_vec());
    assert_eq!(found, [[3, 4], [1, 2]]);
    let error = run(&text("b"), &host()).unwrap_err();
    assert!(error.contains("with a tensor in a file"), "{error}");
}

#[test]
fn broadcasting_adds_dimensions_in_front() {
    check::<i32>(
        "tensor<2x2x1xi32>",
        "  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %y = stablehlo.broadcast %x, sizes = [2] : (tensor<2x1xi32>) -> tensor<2x2x1xi32>",
        &[1, 2, 1, 2],
    );
}

#[test]
fn functions_of_blas_and_lapack_solve_triangular_systems() {
    let matrices = "  %a = stablehlo.constant dense<[[2.0, 9.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[2.0], [9.0]]> : tensor<2x1xf64>";
    let types = "tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>";
    let letters = |transposed: char| {
        let [diag, side, transposed, uplo] = ['N', 'L', transposed, 'L'].map(u32::from);
        format!(
            "{matrices}
  %y = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {{mhlo.backend_config = {{diag = {diag} : ui8, side = {side} : ui8, trans_x = {transposed} : ui8, uplo = {uplo} : ui8}}}} : ({types}"
        )
    };
    check::<f64>("tensor<2x1xf64>", &letters('N'), &[1.0, 2.0]);
    check::<f64>("tensor<2x1xf64>", &letters('T'), &[-0.125, 2.25]);
    let scalars = "tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<f64>";
    let numbers = format!(
        "{matrices}
  %n = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.constant dense<1> : tensor<i32>
  %f = stablehlo.constant dense<1.0> : tensor<f64>
  %y = stablehlo.custom_call @blas_dtrsm(%p, %p, %p, %n, %p, %p, %p, %f, %a, %b) : ({scalars}, {types}"
    );
    check::<f64>("tensor<2x1xf64>", &numbers, &[-0.125, 2.25]);
    let shaped = numbers.replace(
        "%a, %b)",
        "%a, %b, %s) {indices_of_shape_operands = dense<10> : tensor<1xi64>}",
    );
    let shaped = shaped.replace(
        "tensor<2x1xf64>) -> tensor<2x1xf64>",
        "tensor<2x1xf64>, tensor<2xi32>) -> tensor<?x?xf64>",
    );
    let shaped = format!("  %s = stablehlo.constant dense<[2, 1]> : tensor<2xi32>\n{shaped}");
    check::<f64>("tensor<?x?xf64>", &shaped, &[-0.125, 2.25]);
    let text = format!("func.func @main() {{\n{numbers}\n  return\n}}\n");
    let error = run(&text.replace("dense<1.0>", "dense<2.0>"), &host()).unwrap_err();
    assert!(error.contains("to `@blas_dtrsm`, with a factor"), "{error}");
}

#[test]
fn floating_point_numbers_of_up_to_eight_bits_are_rounded() {
    check::<f32>(
        "tensor<5xf8E4M3FN>",
        "  %y = stablehlo.constant dense<[1.0, 0.3, 0x7E, 0x01, -0.0]> : tensor<5xf8E4M3FN>",
        &[1.0, 0.3125, 448.0, 2_f32.powi(-9), -0.0],
    );
    check::<f32>(
        "tensor<4xf32>",
        "  %x = stablehlo.constant dense<[1.0625, 0.3, -1.0e6, 0.0]> : tensor<4xf32>
  %z = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %y = stablehlo.convert %z : (tensor<4xf8E5M2>) -> tensor<4xf32>",
        &[1.0, 0.3125, f32::NEG_INFINITY, 0.0],
    );
    check::<f32>(
        "tensor<3xf4E2M1FN>",
        "  %x = stablehlo.constant dense<[1.5, 6.0, -0.5]> : tensor<3xf4E2M1FN>
  %z = stablehlo.constant dense<[1.5, -6.0, 0.5]> : tensor<3xf4E2M1FN>
  %y = stablehlo.multiply %x, %z : tensor<3xf4E2M1FN>",
        &[2.0, -6.0, -0.0],
    );
    check::<f32>(
        "tensor<f8E3M4>",
        "  %x = stablehlo.constant dense<\"0x3132\"> : tensor<2xf8E3M4>
  %y = stablehlo.dot %x, %x : (tensor<2xf8E3M4>, tensor<2xf8E3M4>) -> tensor<f8E3M4>",
        &[2.375],
    );
}

#[test]
fn tuples_are_taken_apart_and_tokens_order_nothing() {
    check::<i32>(
        "tensor<i32>",
        "  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<2> : tensor<i32>
  %s = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %s, %s : !stablehlo.token
  %t = stablehlo.tuple %a, %b : tuple<tensor<i32>, tensor<i32>>
  %y = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>",
        &[2],
    );
}

#[test]
fn tuples_may_be_elements_of_tuples() {
    check::<i32>(
        "tensor<i32>",
        "  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<2> : tensor<i32>
  %t = stablehlo.tuple %a, %b : tuple<tensor<i32>, tensor<i32>>
  %u = stablehlo.tuple %a, %t : tuple<tensor<i32>, tuple<tensor<i32>, tensor<i32>>>
  %v = stablehlo.get_tuple_element %u[1] : (tuple<tensor<i32>, tuple<tensor<i32>, tensor<i32>>>) -> tuple<tensor<i32>, tensor<i32>>
  %y = stablehlo.get_tuple_element %v[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>",
        &[2],
    );
}

#[test]
fn scans_carry_values_along_a_dimension() {
    let sums = |attributes: &str| {
        format!(
            "  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<0> : tensor<2xi32>
  %y, %s = chlo.scan(%x) inits(%z) dimension=1{attributes} {{
  ^bb0(%a: tensor<2xi32>, %c: tensor<2xi32>):
    %d = stablehlo.add %a, %c : tensor<2xi32>
    stablehlo.return %d, %d : tensor<2xi32>, tensor<2xi32>
  }} : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %s, dense<[6, 15]> : tensor<2xi32>"
        )
    };
    check::<i32>("tensor<2x3xi32>", &sums(""), &[1, 3, 6, 4, 9, 15]);
    check::<i32>(
        "tensor<2x3xi32>",
        &sums(" attributes {is_reverse = true}"),
        &[6, 5, 3, 15, 11, 6],
    );
}

#[test]
fn a_scalar_is_one_window() {
    check::<i32>(
        "tensor<i32>",
        r#"  %x = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<4> : tensor<i32>
  %y = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<i32>, tensor<i32>) -> tensor<i32>"#,
        &[7],
    );
}

#[test]
fn products_of_integers_may_be_floating_point_numbers() {
    check::<f32>(
        "tensor<f32>",
        "  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi16>
  %b = stablehlo.constant dense<[3, -4]> : tensor<2xi16>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xi16>, tensor<2xi16>) -> tensor<f32>",
        &[-5.0],
    );
}

#[test]
fn updates_out_of_range_are_dropped_element_by_element() {
    check::<i32>(
        "tensor<4xi32>",
        r#"  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[2]> : tensor<1xi32>
  %u = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>"#,
        &[1, 2, 10, 20],
    );
}

#[test]
fn regions_compute_with_wider_types_than_their_operands() {
    let sum = "({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  })";
    let constants = "  %x = stablehlo.constant dense<[100, 101, 102]> : tensor<3xi8>
  %z = stablehlo.constant dense<0> : tensor<i8>
  %i = stablehlo.constant dense<[[1]]> : tensor<1x1xi64>
  %u = stablehlo.constant dense<[100]> : tensor<1xi8>
  %v = stablehlo.constant dense<[100, 103]> : tensor<2xi8>";
    check::<i32>(
        "tensor<i32>",
        &format!(
            "{constants}
  %y = \"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 0>}}> {sum} : (tensor<3xi8>, tensor<i8>) -> tensor<i32>"
        ),
        &[303],
    );
    check::<i32>(
        "tensor<2xi32>",
        &format!(
            "{constants}
  %y = \"stablehlo.reduce_window\"(%x, %z) <{{window_dimensions = array<i64: 2>}}> {sum} : (tensor<3xi8>, tensor<i8>) -> tensor<2xi32>"
        ),
        &[201, 203],
    );
    check::<i32>(
        "tensor<3xi32>",
        &format!(
            "{constants}
  %y = \"stablehlo.scatter\"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {sum} : (tensor<3xi8>, tensor<1x1xi64>, tensor<1xi8>) -> tensor<3xi32>"
        ),
        &[100, 201, 102],
    );
    let sum = sum.trim_start_matches('(');
    check::<i32>(
        "tensor<3xi32>",
        &format!(
            "{constants}
  %y = \"stablehlo.select_and_scatter\"(%x, %v, %z) <{{window_dimensions = array<i64: 2>}}> ({{
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {sum} : (tensor<3xi8>, tensor<2xi8>, tensor<i8>) -> tensor<3xi32>"
        ),
        &[0, 100, 103],
    );
}

#[test]
fn batch_normalization_is_that_of_the_specification() {
    let operands = "  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf64>
  %s = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %o = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
";
    check::<f64>(
        "tensor<2x2xf64>",
        &format!(
            "{operands}  %y, %m, %v = \"stablehlo.batch_norm_training\"(%x, %s, %o) <{{epsilon = 0.0 : f32, feature_index = 1 : i64}}> : (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)"
        ),
        &[-1.0, -1.0, 1.0, 3.0],
    );
    check::<f64>(
        "tensor<2xf64>",
        &format!(
            "{operands}  %z, %m, %y = \"stablehlo.batch_norm_training\"(%x, %s, %o) <{{epsilon = 0.0 : f32, feature_index = 1 : i64}}> : (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)"
        ),
        &[1.0, 4.0],
    );
    // The gradient of the sum of the outputs is 0 with respect to the inputs, and the number of
    // rows with respect to the offset.
    let gradients = "  %m = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf64>
  %v = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %g = stablehlo.constant dense<1.0> : tensor<2x2xf64>
";
    let call = |results: &str| {
        format!(
            "{operands}{gradients}  {results} = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %v, %g) <{{epsilon = 0.0 : f32, feature_index = 1 : i64}}> : (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)"
        )
    };
    check::<f64>("tensor<2x2xf64>", &call("%y, %a, %b"), &[0.0; 4]);
    check::<f64>("tensor<2xf64>", &call("%a, %y, %b"), &[0.0; 2]);
    check::<f64>("tensor<2xf64>", &call("%a, %b, %y"), &[2.0; 2]);
}

#[test]
fn programs_with_symbolic_shapes_run_on_tensors_of_several_shapes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dynamic.mlir");
    let text = std::fs::read_to_string(path).unwrap();
    let host = host();
    let mut num_runs = 0;
    for part in split_input_file(&text, "f") {
        let model = HloModel::from_text(part.text, &part.name).unwrap();
        for number in 0..2 {
            let data = |name: &str| run_function(&model, &format!("{name}{number}"), &[], &host);
            let (inputs, expected) = (data("inputs").unwrap(), data("expected").unwrap());
            let found = run_function(&model, "main", &inputs, &host);
            let found = found.unwrap_or_else(|error| panic!("{error}\n{}", part.text));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.metadata(), expected.metadata(), "{}", part.text);
                match (found.elements::<f32>(), expected.elements::<f32>()) {
                    (Ok(found), Ok(expected)) => {
                        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
                        assert!(found.iter().zip(&*expected).all(near), "{}", part.text);
                    }
                    _ => assert_eq!(
                        found.elements_text().unwrap(),
                        expected.elements_text().unwrap()
                    ),
                }
            }
            num_runs += 1;
        }
    }
    assert_eq!(num_runs, 22);
}

#[test]
fn an_assertion_about_shapes_fails_the_run() {
    let text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%c, %n, %two) {error_message = \"found {0}, wanted {1}\", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %y = call @pair(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func private @pair(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = stablehlo.slice %x [0:2] : (tensor<?xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
";
    let model = HloModel::from_text(text, "f").unwrap();
    let host = host();
    let run = |elements: &[f32]| {
        let input = DenseHostTensor::vector(elements).unwrap();
        run_function(&model, "main", &[input], &host)
    };
    let found = run(&[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(&*found[0].elements::<f32>().unwrap(), [1.0, 2.0]);
    // The slice would fail, too, but the assertion comes first.
    let error = run(&[1.0]).unwrap_err();
    assert!(error.contains("found 1, wanted 2"), "{error}");
}

#[test]
fn an_assertion_in_a_branch_fails_only_if_the_branch_is_taken() {
    let text = "func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %y = \"stablehlo.if\"(%p) ({
    %f = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.custom_call @shape_assertion(%f) {error_message = \"not here\", has_side_effect = true} : (tensor<i1>) -> ()
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %y : tensor<f32>
}
";
    let model = HloModel::from_text(text, "f").unwrap();
    let host = host();
    let run = |condition: bool| {
        let allocator: Arc<dyn tfrt::host::allocator::HostAllocator> =
            Arc::new(tfrt::host::allocator::Malloc);
        let scalar = tfrt_tensor::Shape::scalar;
        let flag = [tfrt_tensor::I1::from(condition)];
        let flag = DenseHostTensor::from_elements(&allocator, scalar(), &flag).unwrap();
        let x = DenseHostTensor::from_elements(&allocator, scalar(), &[3_f32]).unwrap();
        run_function(&model, "main", &[flag, x], &host)
    };
    assert_eq!(run(false).unwrap()[0].to_scalar::<f32>().unwrap(), 3.0);
    let error = run(true).unwrap_err();
    assert!(error.contains("not here"), "{error}");
}

#[test]
fn ops_of_chlo_broadcast_their_operands() {
    check::<f32>(
        "tensor<2x2xf32>",
        "  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %y = chlo.broadcast_subtract %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>",
        &[0.0, 1.0, -2.0, -1.0],
    );
    check::<f32>(
        "tensor<2x3xf32>",
        "  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %y = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        &[2.0, 2.0, 2.0, 3.0, 3.0, 3.0],
    );
    check::<f64>(
        "tensor<2xf64>",
        "  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %y = chlo.constant_like %a {value = 3.5 : f64} : tensor<2xf64>",
        &[3.5, 3.5],
    );
}

#[test]
fn random_numbers_are_within_their_bounds() {
    let drawn = |distribution: &str, ty: &str, bounds: [&str; 2]| {
        let [low, high] = bounds;
        let text = format!(
            "func.func @main() -> tensor<100x{ty}> {{
  %a = stablehlo.constant dense<{low}> : tensor<{ty}>
  %b = stablehlo.constant dense<{high}> : tensor<{ty}>
  %n = stablehlo.constant dense<[100]> : tensor<1xi64>
  %y = stablehlo.rng %a, %b, %n, distribution = {distribution} : (tensor<{ty}>, tensor<{ty}>, tensor<1xi64>) -> tensor<100x{ty}>
  return %y : tensor<100x{ty}>
}}
"
        );
        run(&text, &host()).unwrap().remove(0)
    };
    let found = drawn("UNIFORM", "f32", ["-1.0", "3.0"]);
    let found = found.elements::<f32>().unwrap();
    assert!(found.iter().all(|x| (-1.0..=3.0).contains(x)) && found.iter().any(|&x| x > 1.0));
    let found = drawn("UNIFORM", "i32", ["2", "5"]);
    let found = found.elements::<i32>().unwrap();
    assert!((2..5).all(|wanted| found.contains(&wanted)));
    assert!(found.iter().all(|x| (2..5).contains(x)));
    let found = drawn("NORMAL", "f64", ["10.0", "0.5"]);
    let found = found.elements::<f64>().unwrap();
    let mean = found.iter().sum::<f64>() / 100.0;
    assert!((mean - 10.0).abs() < 0.5, "{mean}");
}

#[test]
fn what_a_kernel_refuses_names_the_place() {
    let text = "func.func @main() -> tensor<9xf32> {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.slice %x [0:9] : (tensor<2xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}
";
    let error = run(text, &host()).unwrap_err();
    assert!(
        error.contains("cannot slice 0:9:1 from 2 elements along axis 0"),
        "{error}"
    );
}

#[test]
fn hostile_programs_end_in_a_result_or_an_error() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let host = host();
    // A random number generator with a fixed seed.
    let mut state = 2_u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let words = [
        "-1",
        "9223372036854775807",
        "0",
        "3",
        "2",
        "7",
        "tensor<0xf32>",
    ];
    let (mut num_results, mut num_errors) = (0, 0);
    // Loops are left out, because a mutated loop may never end.
    for name in ["complexes", "moves", "places", "products", "reductions"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.mlir")).unwrap();
        for part in split_input_file(&text, "f").iter().step_by(3) {
            for _ in 0..6 {
                let mut text = part.text.to_owned();
                let numbers: Vec<(usize, usize)> = text
                    .split(|c: char| !c.is_ascii_digit() && c != '-')
                    .filter(|word| !word.is_empty() && word.len() < 4)
                    .map(|word| {
                        let start = word.as_ptr() as usize - text.as_ptr() as usize;
                        (start, start + word.len())
                    })
                    .collect();
                let (start, end) = numbers[next(numbers.len())];
                text.replace_range(start..end, words[next(words.len())]);
                match run(&text, &host) {
                    Ok(_) => num_results += 1,
                    Err(error) => {
                        assert!(!error.contains("panicked"), "{error}\n{text}");
                        num_errors += 1;
                    }
                }
            }
        }
    }
    assert!(
        num_results > 20 && num_errors > 20,
        "{num_results} {num_errors}"
    );
}

//! Larger ops: recurrent layers, grids, sums of products, losses, transforms, random numbers.

use super::*;
use tfrt_onnx::proto::attribute_proto::AttributeType;

#[test]
fn recurrent_layers_give_states_of_every_step_and_the_last() {
    let x = tensor(&[2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let inputs = [
        ("a", x),
        ("b", tensor(&[1, 2, 2], &[0.5_f32; 4])),
        ("c", tensor(&[1, 2, 2], &[0.0_f32; 4])),
    ];
    let layer = with(
        node("RNN", &["a", "b", "c"], &["y", "h"]),
        &[
            int("hidden_size", 2),
            AttributeProto {
                name: Some("activations".into()),
                r#type: Some(AttributeType::Strings as i32),
                strings: vec![b"Affine".to_vec().into()],
                ..Default::default()
            },
            AttributeProto {
                name: Some("activation_alpha".into()),
                r#type: Some(AttributeType::Floats as i32),
                floats: vec![2.0],
                ..Default::default()
            },
        ],
    );
    let expected = [
        "f32 [2, 1, 1, 2] [3.0, 3.0, 7.0, 7.0]",
        "f32 [1, 1, 2] [7.0, 7.0]",
    ];
    check(layer.clone(), &inputs, &expected);
    // From the end: the last state is that of the first step.
    let reverse = with(
        layer.clone(),
        &[&layer.attribute[..], &[text("direction", "reverse")]].concat(),
    );
    let expected = [
        "f32 [2, 1, 1, 2] [3.0, 3.0, 7.0, 7.0]",
        "f32 [1, 1, 2] [3.0, 3.0]",
    ];
    check(reverse, &inputs, &expected);
}

#[test]
fn grids_name_the_last_dimension_first_and_halves_of_pixels() {
    let x = tensor(&[1, 1, 2, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let grid = tensor(&[1, 1, 3, 2], &[0.0_f32, 0.0, 1.0, -1.0, -3.0, 0.0]);
    let inputs = [("a", x), ("b", grid)];
    let sample = with(
        node("GridSample", &["a", "b"], &["y"]),
        &[int("align_corners", 1)],
    );
    check(
        sample.clone(),
        &inputs,
        &["f32 [1, 1, 1, 3] [2.5, 2.0, 0.0]"],
    );
    let border = [&sample.attribute[..], &[text("padding_mode", "border")]].concat();
    check(
        with(sample, &border),
        &inputs,
        &["f32 [1, 1, 1, 3] [2.5, 2.0, 2.0]"],
    );
}

#[test]
fn sums_of_products_follow_their_letters() {
    let a = || ("a", tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]));
    let b = || ("b", tensor(&[2, 2], &[10.0_f32, 20.0, 30.0, 40.0]));
    let einsum = |inputs: &[&str], equation: &str| {
        with(
            node("Einsum", inputs, &["y"]),
            &[text("equation", equation)],
        )
    };
    check(
        einsum(&["a", "b"], "ij, jk -> ki"),
        &[a(), b()],
        &["f32 [2, 2] [70.0, 150.0, 100.0, 220.0]"],
    );
    check(einsum(&["a"], "ii"), &[a()], &["f32 [] [5.0]"]);
    check(einsum(&["a"], "...j->..."), &[a()], &["f32 [2] [3.0, 7.0]"]);
    check(
        einsum(&["a", "b", "c"], "ij,jk,k"),
        &[a(), b(), ("c", tensor(&[2], &[1.0_f32, 0.0]))],
        &["f32 [2] [70.0, 150.0]"],
    );
    for (equation, message) in [
        (
            "ij,jk",
            "`nn.Einsum`: expected 2 operands for `ij,jk`, found 1",
        ),
        (
            "ijk",
            "`nn.Einsum`: `ijk` of `ijk` does not match a tensor of rank 2",
        ),
        (
            "ij->ik",
            "`nn.Einsum`: expected distinct letters of operands in the result of `ij->ik`",
        ),
        (
            "i->i->i",
            "`nn.Einsum`: `i` of `i->i->i` does not match a tensor of rank 2",
        ),
    ] {
        assert_eq!(run(einsum(&["a"], equation), &[a()]).unwrap_err(), message);
    }
}

#[test]
fn losses_leave_out_classes_that_are_ignored() {
    let inputs = [
        (
            "a",
            tensor(&[3, 2], &[-1.0_f32, -2.0, -3.0, -4.0, -5.0, -6.0]),
        ),
        ("b", tensor(&[3], &[0_i64, 7, 1])),
        ("c", tensor(&[2], &[1.0_f32, 3.0])),
    ];
    let loss = with(
        node("NegativeLogLikelihoodLoss", &["a", "b", "c"], &["y"]),
        &[int("ignore_index", 7)],
    );
    check(loss, &inputs, &["f32 [] [4.75]"]);
    let error = run(
        node("NegativeLogLikelihoodLoss", &["a", "b", "c"], &["y"]),
        &inputs,
    );
    assert_eq!(
        error.unwrap_err(),
        "`nn.NegativeLogLikelihood`: expected a class below 2, found 7"
    );
}

#[test]
fn unique_elements_are_sorted_or_in_order() {
    let x = || [("a", tensor(&[5], &[3.0_f32, 1.0, 3.0, 2.0, 1.0]))];
    let unique = || node("Unique", &["a"], &["y", "first", "of", "count"]);
    let sorted = [
        "f32 [3] [1.0, 2.0, 3.0]",
        "i64 [3] [1.0, 3.0, 0.0]",
        "i64 [5] [2.0, 0.0, 2.0, 1.0, 0.0]",
        "i64 [3] [2.0, 1.0, 2.0]",
    ];
    check(unique(), &x(), &sorted);
    let in_order = [
        "f32 [3] [3.0, 1.0, 2.0]",
        "i64 [3] [0.0, 1.0, 3.0]",
        "i64 [5] [0.0, 1.0, 0.0, 2.0, 1.0]",
        "i64 [3] [2.0, 2.0, 1.0]",
    ];
    check(with(unique(), &[int("sorted", 0)]), &x(), &in_order);
}

#[test]
fn transforms_of_one_side_go_back_to_real_numbers() {
    let x = tensor(&[1, 4, 1], &[1.0_f64, 2.0, 3.0, 4.0]);
    let forward = with(node("DFT", &["x"], &["half"]), &[int("onesided", 1)]);
    let halves = graph(&["x"], vec![forward.clone()], &["half"]);
    let found = run_model(&newest(halves), &[("x", x.clone())]).unwrap();
    assert!(
        found[0].starts_with("f64 [1, 3, 2] [10.0, 0.0, -2.0, 2.0, -2.0, "),
        "{}",
        found[0]
    );
    let back = with(
        node("DFT", &["half"], &["y"]),
        &[int("onesided", 1), int("inverse", 1)],
    );
    let both = graph(&["x"], vec![forward, back], &["y"]);
    let found = run_model(&newest(both), &[("x", x)]).unwrap();
    assert_eq!(found, ["f64 [1, 4, 1] [1.0, 2.0, 3.0, 4.0]"]);
}

#[test]
fn seeds_make_random_numbers_repeat() {
    let make = || {
        let shape = ints("shape", &[64]);
        let seed = float("seed", 7.0);
        let normal = with(node("RandomNormal", &[], &["y"]), &[shape, seed]);
        run_model(&newest(graph(&[], vec![normal], &["y"])), &[]).unwrap()
    };
    assert_eq!(make(), make());
    let x = tensor(&[64], &[1.0_f32; 64]);
    let drop = node("Dropout", &["a", "b", "c"], &["y"]);
    let inputs = [
        ("a", x),
        ("b", tensor(&[], &[0.5_f32])),
        ("c", tensor(&[], &[tfrt_tensor::I1::from(true)])),
    ];
    let found = run(drop, &inputs).unwrap();
    assert!(
        found[0].contains("0.0") && found[0].contains("2.0"),
        "{}",
        found[0]
    );
}

#[test]
fn selections_are_along_any_axis_and_of_any_number() {
    let x = || tensor(&[2, 3], &[1.0_f32, f32::NAN, 3.0, 1.0, 5.0, -2.0]);
    let top =
        |attributes: &[AttributeProto]| with(node("TopK", &["a", "b"], &["y", "i"]), attributes);
    let run_top = |k: i64, attributes: &[AttributeProto]| {
        let inputs = [("a", x()), ("b", tensor(&[1], &[k]))];
        run(top(attributes), &inputs).unwrap()
    };
    let found = run_top(3, &[]);
    let expected = [
        "f32 [2, 3] [NaN, 3.0, 1.0, 5.0, 1.0, -2.0]",
        "i64 [2, 3] [1.0, 2.0, 0.0, 1.0, 0.0, 2.0]",
    ];
    assert_eq!(found, expected);
    let found = run_top(1, &[int("axis", 0), int("largest", 0)]);
    let expected = ["f32 [1, 3] [1.0, 5.0, -2.0]", "i64 [1, 3] [0.0, 1.0, 1.0]"];
    assert_eq!(found, expected);
    let found = run_top(0, &[int("axis", 0)]);
    assert_eq!(found, ["f32 [0, 3] []", "i64 [0, 3] []"]);
}

#[test]
fn sums_of_half_precision_are_rounded_once() {
    use tfrt_tensor::half::f16;
    let small = f16::from_f32(0.00048);
    let [a, b, c] = [f16::ONE, small, small].map(|number| tensor(&[1], &[number]));
    let inputs = [("a", a), ("b", b), ("c", c)];
    let sum = node("Sum", &["a", "b", "c"], &["y"]);
    let wide = with(node("Cast", &["y"], &["z"]), &[int("to", 1)]);
    // Each of the small numbers alone is lost.
    let expected = ["f32 [1] [1.0009765625]"];
    let mut model = newest(graph(&["a", "b", "c"], vec![sum, wide], &["z"]));
    assert_eq!(run_model(&model, &inputs).unwrap(), expected);
    for input in &mut model.graph.as_mut().unwrap().input {
        let of_half = type_proto::Tensor {
            elem_type: Some(10),
            shape: None,
        };
        input.r#type = Some(TypeProto {
            value: Some(type_proto::Value::TensorType(of_half)),
            ..Default::default()
        });
    }
    assert_eq!(run_model(&model, &inputs).unwrap(), expected);
}

#[test]
fn sums_of_several_tensors_are_broadcast() {
    let inputs = [
        ("a", tensor(&[2, 1], &[1_i64, 2])),
        ("b", tensor(&[2], &[10_i64, 20])),
        ("c", tensor(&[], &[100_i64])),
    ];
    let sum = node("Sum", &["a", "b", "c"], &["y"]);
    check(sum, &inputs, &["i64 [2, 2] [111.0, 121.0, 112.0, 122.0]"]);
}

#[test]
fn einsum_multiplies_any_number_of_operands() {
    let names: Vec<&str> = std::iter::repeat_n("a", 400).collect();
    let terms = ["ij", "jk", "kl", "li"];
    let terms: Vec<&str> = (0..400).map(|at| terms[at % 4]).collect();
    let a = || [("a", tensor(&[2, 2], &[1.0_f32, 0.0, 0.0, 1.0]))];
    for result in ["->i", "->"] {
        let equation = text("equation", &(terms.join(",") + result));
        let einsum = with(node("Einsum", &names, &["y"]), &[equation]);
        let expected = match result {
            "->i" => "f32 [2] [1.0, 1.0]",
            _ => "f32 [] [2.0]",
        };
        let model = newest(graph(&["a"], vec![einsum], &["y"]));
        assert_eq!(run_model(&model, &a()).unwrap(), [expected]);
    }
}

#[test]
fn shrink_takes_integers_and_unique_and_eye_take_booleans() {
    let shrink = with(
        node("Shrink", &["x"], &["y"]),
        &[float("bias", 1.0), float("lambd", 1.5)],
    );
    let x = [("x", tensor(&[5], &[-3_i8, -1, 0, 1, 2]))];
    check(shrink, &x, &["i8 [5] [-2.0, 0.0, 0.0, 0.0, 1.0]"]);
    let truths = [true, false, true].map(tfrt_tensor::I1::from);
    check(
        node("Unique", &["x"], &["y", "at", "group", "count"]),
        &[("x", tensor(&[3], &truths))],
        &[
            "i1 [2] [0.0, 1.0]",
            "i64 [2] [1.0, 0.0]",
            "i64 [3] [1.0, 0.0, 1.0]",
            "i64 [2] [1.0, 2.0]",
        ],
    );
    check(
        with(node("EyeLike", &["x"], &["y"]), &[int("dtype", 9)]),
        &[("x", tensor(&[2, 2], &[0.0_f32; 4]))],
        &["i1 [2, 2] [1.0, 0.0, 0.0, 1.0]"],
    );
}

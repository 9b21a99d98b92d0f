//! What ops meant in older versions.

use super::*;

#[test]
fn every_op_of_two_operands_laid_the_second_at_an_axis() {
    let numbers = [
        ("a", tensor(&[2, 2], &[6.0_f32, 2.0, 8.0, 3.0])),
        ("b", tensor(&[2], &[2.0_f32, 4.0])),
    ];
    let flag = |flag: bool| tfrt_tensor::I1::from(flag);
    let flags = [
        ("a", tensor(&[2, 2], &[true, false, true, false].map(flag))),
        ("b", tensor(&[2], &[true, false].map(flag))),
    ];
    let cases: [(&str, &str); 11] = [
        ("Add", "f32 [2, 2] [8.0, 4.0, 12.0, 7.0]"),
        ("Sub", "f32 [2, 2] [4.0, 0.0, 4.0, -1.0]"),
        ("Mul", "f32 [2, 2] [12.0, 4.0, 32.0, 12.0]"),
        ("Div", "f32 [2, 2] [3.0, 1.0, 2.0, 0.75]"),
        ("Pow", "f32 [2, 2] [36.0, 4.0, 4096.0, 81.0]"),
        ("Greater", "i1 [2, 2] [1.0, 0.0, 1.0, 0.0]"),
        ("Less", "i1 [2, 2] [0.0, 0.0, 0.0, 1.0]"),
        ("Equal", "i1 [2, 2] [0.0, 1.0, 0.0, 0.0]"),
        ("And", "i1 [2, 2] [1.0, 0.0, 0.0, 0.0]"),
        ("Or", "i1 [2, 2] [1.0, 1.0, 1.0, 0.0]"),
        ("Xor", "i1 [2, 2] [0.0, 1.0, 1.0, 0.0]"),
    ];
    for (op, expected) in cases {
        let inputs = match op {
            "And" | "Or" | "Xor" => &flags,
            // The first versions compared integers alone.
            "Equal" => &[
                ("a", tensor(&[2, 2], &[6_i32, 2, 8, 3])),
                ("b", tensor(&[2], &[2_i32, 4])),
            ],
            _ => &numbers,
        };
        let binary =
            |attributes: &[AttributeProto]| with(node(op, &["a", "b"], &["y"]), attributes);
        for opset in [1, 6] {
            let rows = binary(&[int("broadcast", 1), int("axis", 0)]);
            let found = run_old(opset, rows, inputs);
            assert_eq!(found.unwrap(), [expected], "{op} of opset {opset}");
        }
    }
    // Without an axis, and at the last one, it lies at the end.
    for attributes in [
        &[int("broadcast", 1)][..],
        &[int("broadcast", 1), int("axis", 1)],
    ] {
        let sum = with(node("Add", &["a", "b"], &["y"]), attributes);
        let found = run_old(6, sum, &numbers);
        assert_eq!(found.unwrap(), ["f32 [2, 2] [8.0, 6.0, 10.0, 7.0]"]);
    }
}

#[test]
fn slopes_were_those_of_channels_before_opset_7() {
    let prelu = || node("PRelu", &["x", "s"], &["y"]);
    let x = tensor(&[1, 2, 2], &[-1.0_f32, 1.0, -2.0, 2.0]);
    let of_channels = [("x", x.clone()), ("s", tensor(&[2], &[10.0_f32, 100.0]))];
    for opset in [1, 6] {
        let found = run_old(opset, prelu(), &of_channels);
        assert_eq!(found.unwrap(), ["f32 [1, 2, 2] [-10.0, 1.0, -200.0, 2.0]"]);
    }
    // From then on, they are broadcast as other operands are.
    let found = run_old(7, prelu(), &of_channels);
    assert_eq!(found.unwrap(), ["f32 [1, 2, 2] [-10.0, 1.0, -20.0, 2.0]"]);
    let of_all = [("x", x), ("s", tensor(&[1], &[10.0_f32]))];
    for opset in [6, 7] {
        let found = run_old(opset, prelu(), &of_all);
        assert_eq!(found.unwrap(), ["f32 [1, 2, 2] [-10.0, 1.0, -20.0, 2.0]"]);
    }
}

#[test]
fn the_third_operand_of_gemm_was_broadcast_if_an_attribute_said_so() {
    let gemm = with(
        node("Gemm", &["a", "b", "c"], &["y"]),
        &[int("broadcast", 1), float("alpha", 2.0), int("transB", 1)],
    );
    let inputs = [
        ("a", tensor(&[1, 2], &[1.0_f32, 2.0])),
        ("b", tensor(&[2, 2], &[1.0_f32, 0.0, 0.0, 1.0])),
        ("c", tensor(&[2], &[10.0_f32, 20.0])),
    ];
    for opset in [1, 6] {
        let found = run_old(opset, gemm.clone(), &inputs);
        assert_eq!(found.unwrap(), ["f32 [1, 2] [12.0, 24.0]"]);
    }
    // The attribute is one of these versions alone.
    let error = run_old(7, gemm, &inputs).unwrap_err();
    assert!(error.contains("broadcast"), "{error}");
}

#[test]
fn types_of_casts_were_texts_before_opset_6() {
    let inputs = [("x", tensor(&[3], &[1.75_f32, -1.75, 0.0]))];
    let cast = |to: AttributeProto| with(node("Cast", &["x"], &["y"]), &[to]);
    for (name, expected) in [
        ("FLOAT", "f32 [3] [1.75, -1.75, 0.0]"),
        ("DOUBLE", "f64 [3] [1.75, -1.75, 0.0]"),
        ("INT32", "i32 [3] [1.0, -1.0, 0.0]"),
        ("INT64", "i64 [3] [1.0, -1.0, 0.0]"),
        ("BOOL", "i1 [3] [1.0, 1.0, 0.0]"),
    ] {
        for opset in [1, 5] {
            let found = run_old(opset, cast(text("to", name)), &inputs);
            assert_eq!(found.unwrap(), [expected], "{name}");
        }
    }
    let error = run_old(5, cast(text("to", "WIDE")), &inputs).unwrap_err();
    assert!(error.contains("WIDE"), "{error}");
    let found = run_old(6, cast(int("to", 7)), &inputs);
    assert_eq!(found.unwrap(), ["i64 [3] [1.0, -1.0, 0.0]"]);
}

#[test]
fn concat_had_an_axis_by_default_before_opset_4() {
    let inputs = [
        ("a", tensor(&[1, 1], &[1.0_f32])),
        ("b", tensor(&[1, 2], &[2.0_f32, 3.0])),
    ];
    let concat = || node("Concat", &["a", "b"], &["y"]);
    for opset in [1, 3] {
        let found = run_old(opset, concat(), &inputs);
        assert_eq!(found.unwrap(), ["f32 [1, 3] [1.0, 2.0, 3.0]"]);
    }
    let error = run_old(4, concat(), &inputs).unwrap_err();
    assert!(error.contains("axis"), "{error}");
}

#[test]
fn rows_of_softmax_were_all_dimensions_from_an_axis_on_before_opset_13() {
    let x = [("x", tensor(&[1, 2, 2], &[1.0_f32; 4]))];
    let quarter = -(4.0_f32.ln());
    let half = -(2.0_f32.ln());
    for opset in [1, 11, 12] {
        // The axis is the first one after that of the batch.
        for (op, of_all, of_last) in [
            ("Softmax", [0.25; 4], [0.5; 4]),
            ("LogSoftmax", [quarter; 4], [half; 4]),
            // The first of equal elements is the greatest.
            ("Hardmax", [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]),
        ] {
            let found = run_old(opset, node(op, &["x"], &["y"]), &x).unwrap();
            assert_near(&found[0], "f32 [1, 2, 2]", &of_all, op);
            let last = with(node(op, &["x"], &["y"]), &[int("axis", 2)]);
            let found = run_old(opset, last, &x).unwrap();
            assert_near(&found[0], "f32 [1, 2, 2]", &of_last, op);
        }
    }
    // From then on, a row is the last dimension.
    let found = run_old(13, node("Softmax", &["x"], &["y"]), &x).unwrap();
    assert_near(&found[0], "f32 [1, 2, 2]", &[0.5; 4], "Softmax");
}

/// Returns a batch of two examples of two channels, and the operands of a batch normalization.
fn batch() -> [(&'static str, DenseHostTensor); 5] {
    [
        ("x", tensor(&[2, 2, 1], &[1.0_f32, 10.0, 3.0, 30.0])),
        ("scale", tensor(&[2], &[2.0_f32, 1.0])),
        ("bias", tensor(&[2], &[0.0_f32, 5.0])),
        ("mean", tensor(&[2], &[1.0_f32, 10.0])),
        ("variance", tensor(&[2], &[4.0_f32, 100.0])),
    ]
}

fn batch_norm(outputs: &[&str], attributes: &[AttributeProto]) -> NodeProto {
    let operands = ["x", "scale", "bias", "mean", "variance"];
    let epsilon = [float("epsilon", 0.0)];
    let node = node("BatchNormalization", &operands, outputs);
    with(node, &[&epsilon, attributes].concat())
}

#[test]
fn batch_norm_of_inference_is_the_same_in_every_version() {
    let expected = ["f32 [2, 2, 1] [0.0, 5.0, 2.0, 7.0]"];
    let leftover = ints("consumed_inputs", &[0, 0, 0, 1, 1]);
    let first = batch_norm(&["y"], &[int("is_test", 1), leftover]);
    assert_eq!(run_old(1, first, &batch()).unwrap(), expected);
    let sixth = batch_norm(&["y"], &[int("is_test", 1), int("spatial", 1)]);
    assert_eq!(run_old(6, sixth, &batch()).unwrap(), expected);
    for opset in [7, 9, 14, 15] {
        let found = run_old(opset, batch_norm(&["y"], &[]), &batch());
        assert_eq!(found.unwrap(), expected, "opset {opset}");
    }
}

#[test]
fn batch_norm_of_training_had_more_results_before_opset_14() {
    let run = |opset: i64, outputs: &[&str], attributes: &[AttributeProto]| {
        let inputs = batch();
        let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
        let node = batch_norm(outputs, attributes);
        let mut old = model(graph(&names, vec![node], outputs));
        old.opset_import[0].version = Some(opset);
        run_model(&old, &inputs)
    };
    // The means of the batch are 2 and 20, the variances 1 and 100.
    let expected = [
        "f32 [2, 2, 1] [-2.0, 4.0, 2.0, 6.0]",
        "f32 [2] [1.5, 15.0]",
        "f32 [2] [2.5, 100.0]",
    ];
    let (three, half) = (["y", "m", "v"], float("momentum", 0.5));
    for opset in [6, 7, 9, 13] {
        let found = run(opset, &three, std::slice::from_ref(&half));
        assert_eq!(found.unwrap(), expected, "opset {opset}");
    }
    let found = run(14, &three, &[half.clone(), int("training_mode", 1)]);
    assert_eq!(found.unwrap(), expected);
    // The backward pass takes the statistics of the batch.
    let all = ["y", "m", "v", "saved_m", "saved_v"];
    let saved = ["f32 [2] [2.0, 20.0]", "f32 [2] [1.0, 100.0]"].map(str::to_owned);
    for opset in [6, 7, 9, 13] {
        let found = run(opset, &all, std::slice::from_ref(&half)).unwrap();
        assert_eq!(
            (&found[..3], &found[3..]),
            (&expected.map(str::to_owned)[..], &saved[..])
        );
    }
}

#[test]
fn batch_norm_could_have_statistics_of_each_place_before_opset_9() {
    let inputs = [
        ("x", tensor(&[2, 1, 2], &[1.0_f32, 10.0, 3.0, 30.0])),
        ("scale", tensor(&[1, 2], &[2.0_f32, 1.0])),
        ("bias", tensor(&[1, 2], &[0.0_f32, 5.0])),
        ("mean", tensor(&[1, 2], &[1.0_f32, 10.0])),
        ("variance", tensor(&[1, 2], &[4.0_f32, 100.0])),
    ];
    for opset in [6, 7] {
        let node = batch_norm(&["y"], &[int("spatial", 0)]);
        let found = run_old(opset, node, &inputs);
        assert_eq!(found.unwrap(), ["f32 [2, 1, 2] [0.0, 5.0, 2.0, 7.0]"]);
    }
}

#[test]
fn means_of_windows_never_counted_padding_before_opset_7() {
    let inputs = [("x", tensor(&[1, 1, 3], &[2.0_f32, 4.0, 6.0]))];
    let pool = |attributes: &[AttributeProto]| {
        let required = [ints("kernel_shape", &[2]), ints("pads", &[1, 0])];
        with(
            node("AveragePool", &["x"], &["y"]),
            &[&required, attributes].concat(),
        )
    };
    for opset in [1, 6, 7] {
        let found = run_old(opset, pool(&[]), &inputs);
        assert_eq!(found.unwrap(), ["f32 [1, 1, 3] [2.0, 3.0, 5.0]"]);
    }
    let counted = pool(&[int("count_include_pad", 1)]);
    let found = run_old(7, counted.clone(), &inputs);
    assert_eq!(found.unwrap(), ["f32 [1, 1, 3] [1.0, 3.0, 5.0]"]);
    let error = run_old(6, counted, &inputs).unwrap_err();
    assert!(error.contains("count_include_pad"), "{error}");
    // Maxima had no places before version 8.
    let max = with(
        node("MaxPool", &["x"], &["y"]),
        &[ints("kernel_shape", &[2])],
    );
    let found = run_old(1, max, &inputs);
    assert_eq!(found.unwrap(), ["f32 [1, 1, 2] [4.0, 6.0]"]);
}

#[test]
fn resize_took_the_pixel_at_a_corner_in_opset_10() {
    let run = |opset: i64, resize: NodeProto| {
        let mut old = model(graph(&["x"], vec![resize], &["y"]));
        old.opset_import[0].version = Some(opset);
        let factors = floats("s", &[1.0, 1.0, 1.0, 1.5]);
        old.graph.as_mut().unwrap().initializer = vec![factors];
        let x = tensor(&[1, 1, 1, 4], &[1.0_f32, 2.0, 3.0, 4.0]);
        run_model(&old, &[("x", x)]).unwrap()
    };
    let old = node("Resize", &["x", "s"], &["y"]);
    // Places 0, 2/3, 4/3, 2, 8/3, 10/3, rounded down.
    let expected = "f32 [1, 1, 1, 6] [1.0, 1.0, 2.0, 3.0, 3.0, 4.0]";
    assert_eq!(run(10, old.clone()), [expected]);
    let linear = run(10, with(old, &[text("mode", "linear")]));
    let expected = [1.0, 5.0 / 3.0, 7.0 / 3.0, 3.0, 11.0 / 3.0, 4.0];
    assert_near(&linear[0], "f32 [1, 1, 1, 6]", &expected, "linear");
    // Later, the middles of pixels: places -1/6, 1/2, 7/6, 11/6, 5/2, 19/6, rounded.
    let expected = "f32 [1, 1, 1, 6] [1.0, 1.0, 2.0, 3.0, 3.0, 4.0]";
    assert_eq!(run(11, node("Resize", &["x", "", "s"], &["y"])), [expected]);
    let linear = with(
        node("Resize", &["x", "", "s"], &["y"]),
        &[text("mode", "linear")],
    );
    let expected = [1.0, 1.5, 13.0 / 6.0, 17.0 / 6.0, 3.5, 4.0];
    assert_near(&run(11, linear)[0], "f32 [1, 1, 1, 6]", &expected, "linear");
}

#[test]
fn scatter_is_the_older_name_of_scatter_elements() {
    let inputs = [
        ("x", tensor(&[3], &[1.0_f32, 2.0, 3.0])),
        ("at", tensor(&[2], &[2_i64, 0])),
        ("with", tensor(&[2], &[30.0_f32, 10.0])),
    ];
    for (opset, op) in [(9, "Scatter"), (10, "Scatter"), (11, "ScatterElements")] {
        let found = run_old(opset, node(op, &["x", "at", "with"], &["y"]), &inputs);
        assert_eq!(found.unwrap(), ["f32 [3] [10.0, 2.0, 30.0]"]);
    }
}

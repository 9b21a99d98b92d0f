//! Operands whose shapes or numbers do not fit: each is an error that says what would.

use tfrt_tensor::I1;

use super::*;

/// Runs a node on inputs, and checks the end of the error.
#[track_caller]
fn refuse(node: NodeProto, inputs: &[(&str, DenseHostTensor)], expected: &str) {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let outputs: Vec<String> = node.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let error = run_model(&newest(graph(&names, vec![node], &outputs)), inputs).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn tensors_have_at_most_32_dimensions() {
    let x = || ("x", tensor(&[1], &[7.0_f32]));
    let numbers = |len: usize, first: i64| {
        let numbers: Vec<i64> = (0..len as i64).map(|at| first + at).collect();
        ("n", tensor(&[len], &numbers))
    };
    let ones = |len: usize| ("n", tensor(&[len], &vec![1_i64; len]));
    let node = |op: &str| node(op, &["x", "n"], &["y"]);
    let limit = |rank: usize| format!("expected a tensor of at most 32 dimensions, found {rank}");
    refuse(node("Unsqueeze"), &[x(), numbers(32, 0)], &limit(33));
    refuse(
        node("Unsqueeze"),
        &[x(), numbers(200_000, 0)],
        &limit(200_000),
    );
    for op in ["Reshape", "Expand"] {
        refuse(node(op), &[x(), ones(33)], &limit(33));
        let found = run_model(
            &newest(graph(&["x", "n"], vec![node(op)], &["y"])),
            &[x(), ones(32)],
        );
        assert!(found.unwrap()[0].ends_with("[7.0]"), "{op}");
    }
    let fill = super::node("ConstantOfShape", &["n"], &["y"]);
    refuse(fill, &[ones(33)], &limit(33));
    // What the sizes of the operands make.
    let wide = |name| (name, tensor(&[1; 17], &[0_i64]));
    let gather = super::node("Gather", &["a", "b"], &["y"]);
    refuse(gather, &[wide("a"), wide("b")], &limit(33));
    // Each dimension may be repeated.
    let tile = super::node("Tile", &["x", "n"], &["y"]);
    let repeats = [&[2_i64][..], &[1; 31]].concat();
    let inputs = [
        ("x", tensor(&[1; 32], &[7.0_f32])),
        ("n", tensor(&[32], &repeats)),
    ];
    let found = run_model(&newest(graph(&["x", "n"], vec![tile], &["y"])), &inputs);
    assert!(found.unwrap()[0].ends_with("[7.0, 7.0]"));
}

#[test]
fn an_axis_is_given_once() {
    let axes = ("n", tensor(&[2], &[0_i64, -3]));
    refuse(
        node("Unsqueeze", &["x", "n"], &["y"]),
        &[("x", tensor(&[1], &[7.0_f32])), axes],
        "axis 0 is given twice",
    );
}

#[test]
fn shapes_are_lists() {
    let x = ("x", tensor(&[1], &[7.0_f32]));
    refuse(
        node("Reshape", &["x", "n"], &["y"]),
        &[x, ("n", tensor(&[1, 1], &[1_i64]))],
        "expected `shape` to be a list, found [1, 1]",
    );
}

#[test]
fn single_numbers_are_single() {
    let x = || ("x", tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]));
    let two = || ("n", tensor(&[2], &[0_i64, 1]));
    let top = || node("TopK", &["x", "n"], &["y", "at"]);
    refuse(
        top(),
        &[x(), two()],
        "expected `k` with a single element, found 2",
    );
    let none = ("n", tensor::<i64>(&[0], &[]));
    refuse(
        top(),
        &[x(), none],
        "expected `k` with a single element, found 0",
    );
    refuse(
        node("CumSum", &["x", "n"], &["y"]),
        &[x(), two()],
        "expected `axis` with a single element, found 2",
    );
    // A list of one number is a single one.
    let one = ("n", tensor(&[1], &[1_i64]));
    let sums = newest(graph(
        &["x", "n"],
        vec![node("CumSum", &["x", "n"], &["y"])],
        &["y"],
    ));
    let found = run_model(&sums, &[x(), one]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, 3.0, 3.0, 7.0]"]);
    let inputs = [
        ("i", tensor(&[1], &[0_i64])),
        ("d", tensor(&[], &[f32::NAN])),
        ("v", tensor(&[2], &[0.0_f32, 1.0])),
    ];
    let one_hot = node("OneHot", &["i", "d", "v"], &["y"]);
    refuse(
        one_hot,
        &inputs,
        "expected a depth that is a number, found NaN",
    );
}

#[test]
fn conditions_and_updates_have_the_shapes_that_indices_say() {
    let x = || ("x", tensor(&[2, 3], &[0.0_f32; 6]));
    let compress = with(node("Compress", &["x", "c"], &["y"]), &[int("axis", 0)]);
    let condition = ("c", tensor(&[1, 1], &[I1::from(true)]));
    refuse(
        compress,
        &[x(), condition],
        "expected the condition to be a list, found [1, 1]",
    );
    let inputs = [
        x(),
        ("i", tensor(&[1, 1], &[1_i64])),
        ("u", tensor(&[3], &[1.0_f32; 3])),
    ];
    refuse(
        node("ScatterND", &["x", "i", "u"], &["y"]),
        &inputs,
        "expected updates of [1, 3], found [3]",
    );
}

#[test]
fn a_transposed_convolution_has_an_output_shape_for_each_dimension() {
    let inputs = || {
        [
            ("x", tensor(&[1, 1, 2, 2], &[1.0_f32; 4])),
            ("w", tensor(&[1, 1, 1, 1], &[1.0_f32])),
        ]
    };
    let conv = |shape: &[i64]| {
        let conv = node("ConvTranspose", &["x", "w"], &["y"]);
        with(conv, &[ints("output_shape", shape)])
    };
    for shape in [&[2][..], &[1, 2, 2], &[1, 1, 1, 2, 2], &[-2, 2]] {
        refuse(
            conv(shape),
            &inputs(),
            "expected `output_shape` with 2 numbers of at least 0, found",
        );
    }
    for shape in [&[2, 2][..], &[1, 1, 2, 2]] {
        let found = run(conv(shape), &inputs()).unwrap();
        assert_eq!(found, ["f32 [1, 1, 2, 2] [1.0, 1.0, 1.0, 1.0]"]);
    }
}

#[test]
fn a_resize_has_factors_or_sizes_and_the_region_that_it_needs() {
    let x = ("x", tensor(&[1, 1, 2, 2], &[1.0_f32; 4]));
    let factors = ("f", tensor(&[4], &[1.0_f32, 1.0, 2.0, 2.0]));
    let sizes = ("s", tensor(&[4], &[1_i64, 1, 4, 4]));
    refuse(
        node("Resize", &["x", "", "f", "s"], &["y"]),
        &[x.clone(), factors.clone(), sizes],
        "expected either factors or sizes, found both",
    );
    let crop = text("coordinate_transformation_mode", "tf_crop_and_resize");
    refuse(
        with(node("Resize", &["x", "", "f"], &["y"]), &[crop]),
        &[x, factors],
        "the coordinates `tf_crop_and_resize` need a region, found none",
    );
}

#[test]
fn a_constant_has_one_value() {
    let node = with(
        node("Constant", &[], &["y"]),
        &[int("value_int", 3), float("value_float", 2.0)],
    );
    let error = imported(&model(graph(&[], vec![node], &["y"])));
    let error = error.map(drop).unwrap_err();
    let expected = "expected one value, found the attributes `value_float` and `value_int`";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn operands_of_a_scan_have_one_length() {
    let body = || {
        let add = node("Add", &["step", "other"], &["sum"]);
        graph(&["step", "other"], vec![add], &["sum"])
    };
    let scan = |axes: &[i64]| {
        let attributes = [
            graph_attribute("body", body()),
            int("num_scan_inputs", 2),
            ints("scan_input_axes", axes),
        ];
        with(node("Scan", &["a", "b"], &["y"]), &attributes)
    };
    let inputs = [
        ("a", tensor(&[2], &[1.0_f32, 2.0])),
        ("b", tensor(&[3], &[1.0_f32, 2.0, 3.0])),
    ];
    refuse(
        scan(&[0, 0]),
        &inputs,
        "expected operands of one length, found 2 for operand 0 and 3 for operand 1",
    );
    refuse(scan(&[0, 1]), &inputs, "axis 1 is out of range");
}

#[test]
fn the_examples_of_a_scan_of_opset_8_have_one_length() {
    let body = graph(
        &["step", "other"],
        vec![node("Add", &["step", "other"], &["sum"])],
        &["sum"],
    );
    let attributes = [graph_attribute("body", body), int("num_scan_inputs", 2)];
    let scan = with(node("Scan", &["", "a", "b"], &["y"]), &attributes);
    let mut old = model(graph(&["a", "b"], vec![scan], &["y"]));
    old.opset_import[0].version = Some(8);
    let run = |dims: [usize; 2]| {
        let b = tensor(&dims, &vec![1.0_f32; dims[0] * dims[1]]);
        run_model(&old, &[("a", tensor(&[1, 2], &[1.0_f32, 2.0])), ("b", b)])
    };
    assert_eq!(run([1, 2]).unwrap(), ["f32 [1, 2] [2.0, 3.0]"]);
    for dims in [[1, 3], [2, 2]] {
        let error = run(dims).unwrap_err();
        assert!(error.contains("expected operands of one length"), "{error}");
    }
}

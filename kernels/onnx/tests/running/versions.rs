//! Older versions of ops.

mod meanings;
mod operands;
mod recurrent;

use super::*;

#[test]
fn attributes_of_older_versions_become_operands() {
    let x = tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let old = |opset: i64, node: NodeProto| ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(opset),
            ..Default::default()
        }],
        ..model(graph(&["x"], vec![node], &["y"]))
    };
    let check = |opset: i64, node: NodeProto, expected: &str| {
        let found = run_model(&old(opset, node), &[("x", x.clone())]);
        assert_eq!(found.unwrap(), [expected]);
    };
    let unary = |op: &str| node(op, &["x"], &["y"]);
    check(
        1,
        with(unary("Reshape"), &[ints("shape", &[4])]),
        "f32 [4] [1.0, 2.0, 3.0, 4.0]",
    );
    check(
        11,
        with(unary("ReduceSum"), &[ints("axes", &[0])]),
        "f32 [1, 2] [4.0, 6.0]",
    );
    check(
        9,
        with(unary("Slice"), &[ints("starts", &[1]), ints("ends", &[9])]),
        "f32 [1, 2] [3.0, 4.0]",
    );
    check(
        11,
        with(unary("Unsqueeze"), &[ints("axes", &[0])]),
        "f32 [1, 2, 2] [1.0, 2.0, 3.0, 4.0]",
    );
    // Before version 13, softmax took all dimensions from the axis on as one.
    let softmax = old(12, with(unary("Softmax"), &[int("axis", 0)]));
    let found = run_model(&softmax, &[("x", tensor(&[2, 2], &[1.0_f32; 4]))]);
    assert_eq!(found.unwrap(), ["f32 [2, 2] [0.25, 0.25, 0.25, 0.25]"]);
}

/// Runs one node of an old opset, whose operands are inputs in the order of their names.
fn run_old(
    opset: i64,
    node: NodeProto,
    inputs: &[(&str, DenseHostTensor)],
) -> Result<Vec<String>, String> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let model = ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(opset),
            ..Default::default()
        }],
        ..model(graph(&names, vec![node], &["y"]))
    };
    run_model(&model, inputs)
}

/// Checks that a result, as text, has a type and numbers, within rounding.
#[track_caller]
fn assert_near(found: &str, metadata: &str, expected: &[f32], what: &str) {
    let numbers = found.strip_prefix(metadata).map(str::trim);
    let numbers = numbers.and_then(|text| text.strip_prefix('[')?.strip_suffix(']'));
    let Some(numbers) = numbers else {
        panic!("{what}: expected {metadata}, found {found}");
    };
    let numbers: Vec<f32> = numbers
        .split(", ")
        .map(|text| text.parse().unwrap())
        .collect();
    let is_near = |(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-5;
    let are_near = numbers.len() == expected.len() && numbers.iter().zip(expected).all(is_near);
    assert!(are_near, "{what}: expected {expected:?}, found {numbers:?}");
}

#[test]
fn second_operands_lay_at_an_axis_before_version_7() {
    let x = tensor(&[1, 2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let inputs = [("a", x.clone()), ("b", tensor(&[2], &[10.0_f32, 20.0]))];
    let at = |op: &str, axis| {
        let attributes = [int("broadcast", 1), int("axis", axis)];
        with(node(op, &["a", "b"], &["y"]), &attributes)
    };
    let sum = "f32 [1, 2, 3] [11.0, 12.0, 13.0, 24.0, 25.0, 26.0]";
    for (opset, axis) in [(1, 1), (6, 1), (6, -2)] {
        let found = run_old(opset, at("Add", axis), &inputs);
        assert_eq!(found.unwrap(), [sum], "opset {opset}, axis {axis}");
    }
    let power = [("a", x.clone()), ("b", tensor(&[2], &[1.0_f32, 2.0]))];
    assert_eq!(
        run_old(6, at("Pow", 1), &power).unwrap(),
        ["f32 [1, 2, 3] [1.0, 2.0, 3.0, 16.0, 25.0, 36.0]"]
    );
    // There are not enough dimensions from the axis on.
    assert!(run_old(6, at("Add", 3), &inputs).is_err());
}

#[test]
fn the_first_versions_of_tile_and_upsample_have_other_operands() {
    let x = tensor(&[1, 1, 1, 2], &[1.0_f32, 2.0]);
    let inputs = [
        ("x", x.clone()),
        ("tiles", tensor(&[], &[2.0_f32])),
        ("axis", tensor(&[], &[3.0_f32])),
    ];
    let tile = node("Tile", &["x", "tiles", "axis"], &["y"]);
    let expected = ["f32 [1, 1, 1, 4] [1.0, 2.0, 1.0, 2.0]"];
    assert_eq!(run_old(1, tile.clone(), &inputs).unwrap(), expected);
    // Their types are known, if they are part of the model.
    let constants = GraphProto {
        initializer: vec![floats("tiles", &[2.0]), floats("axis", &[3.0])],
        ..graph(&["x"], vec![tile], &["y"])
    };
    let old = ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(1),
            ..Default::default()
        }],
        ..model(constants)
    };
    assert_eq!(run_model(&old, &inputs[..1]).unwrap(), expected);
    let scales = [float("height_scale", 2.0), float("width_scale", 1.0)];
    let upsample = with(node("Upsample", &["x"], &["y"]), &scales);
    assert_eq!(
        run_old(1, upsample, &[("x", x)]).unwrap(),
        ["f32 [1, 1, 2, 2] [1.0, 2.0, 1.0, 2.0]"]
    );
}

#[test]
fn groups_had_one_scale_each_before_opset_21() {
    let group = with(
        node("GroupNormalization", &["x", "s", "b"], &["y"]),
        &[int("num_groups", 2), float("epsilon", 0.0)],
    );
    let inputs = [
        ("x", tensor(&[1, 4, 1], &[-1.0_f32, 1.0, 3.0, 5.0])),
        ("s", tensor(&[2], &[1.0_f32, 2.0])),
        ("b", tensor(&[2], &[0.0_f32, 10.0])),
    ];
    let expected = ["f32 [1, 4, 1] [-1.0, 1.0, 8.0, 12.0]"];
    for opset in [18, 20] {
        assert_eq!(run_old(opset, group.clone(), &inputs).unwrap(), expected);
    }
}

/// Returns a scan of opset 8 that adds numbers to a sum, and returns all sums.
fn batched_scan(lengths: &str, attributes: &[AttributeProto]) -> NodeProto {
    let body = graph(
        &["sum", "step"],
        vec![
            node("Add", &["sum", "step"], &["next"]),
            node("Identity", &["next"], &["copy"]),
        ],
        &["next", "copy"],
    );
    let required = [graph_attribute("body", body), int("num_scan_inputs", 1)];
    let node = node("Scan", &[lengths, "s", "x"], &["last", "all"]);
    with(node, &[&required, attributes].concat())
}

#[test]
fn scans_of_opset_8_read_each_example_of_a_batch() {
    let run = |node: NodeProto, inputs: &[(&str, DenseHostTensor)]| {
        let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
        let mut model = model(graph(&names, vec![node], &["last", "all"]));
        model.opset_import[0].version = Some(8);
        run_model(&model, inputs)
    };
    let lengths = tensor(&[2], &[3_i64, 1]);
    let states = tensor(&[2, 1], &[0.0_f32, 100.0]);
    let x = tensor(&[2, 3, 1], &[1.0_f32, 2.0, 3.0, 10.0, 20.0, 30.0]);
    let whole = [("s", states.clone()), ("x", x.clone())];
    assert_eq!(
        run(batched_scan("", &[]), &whole).unwrap(),
        [
            "f32 [2, 1] [6.0, 160.0]",
            "f32 [2, 3, 1] [1.0, 3.0, 6.0, 110.0, 130.0, 160.0]"
        ]
    );
    let cut = [("n", lengths), ("s", states), ("x", x)];
    assert_eq!(
        run(batched_scan("n", &[]), &cut).unwrap(),
        [
            "f32 [2, 1] [6.0, 110.0]",
            "f32 [2, 3, 1] [1.0, 3.0, 6.0, 110.0, 0.0, 0.0]"
        ]
    );
    // What is read backwards begins at the last part of the example.
    assert_eq!(
        run(batched_scan("n", &[ints("directions", &[1])]), &cut).unwrap(),
        [
            "f32 [2, 1] [6.0, 110.0]",
            "f32 [2, 3, 1] [3.0, 5.0, 6.0, 110.0, 0.0, 0.0]"
        ]
    );
    let error = run(batched_scan("", &[ints("directions", &[7])]), &whole).unwrap_err();
    assert!(error.contains("0 or 1, found 7"), "{error}");
}

#[test]
fn masks_of_dropout_were_numbers_before_version_10() {
    let run = |opset: i64, nodes: Vec<NodeProto>, outputs: &[&str]| {
        let old = ModelProto {
            opset_import: vec![OperatorSetIdProto {
                version: Some(opset),
                ..Default::default()
            }],
            ..model(graph(&["x"], nodes, outputs))
        };
        run_model(&old, &[("x", tensor(&[2], &[1.5_f32, 2.5]))]).unwrap()
    };
    let dropout = node("Dropout", &["x"], &["y", "mask"]);
    let (both, y) = (["y", "mask"], "f32 [2] [1.5, 2.5]");
    let numbers = [y, "f32 [2] [1.0, 1.0]"];
    assert_eq!(run(9, vec![dropout.clone()], &both), numbers);
    assert_eq!(
        run(10, vec![dropout.clone()], &both),
        [y, "i1 [2] [1.0, 1.0]"]
    );
    // A ratio of 0 keeps every number in training, too.
    let training = with(dropout.clone(), &[int("is_test", 0), float("ratio", 0.0)]);
    assert_eq!(run(6, vec![training], &both), numbers);
    // The nodes that use a mask know its type.
    let sum = node("Add", &["y", "mask"], &["sum"]);
    let found = run(9, vec![dropout, sum], &["sum"]);
    assert_eq!(found, ["f32 [2] [2.5, 3.5]"]);
}

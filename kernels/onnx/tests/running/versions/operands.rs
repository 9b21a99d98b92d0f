//! Operands that were attributes.

use super::*;

/// Checks one node that takes `x`.
#[track_caller]
fn check_old(opset: i64, node: NodeProto, x: &DenseHostTensor, expected: &[&str]) {
    let outputs = node.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let mut old = model(graph(&["x"], vec![node], &outputs));
    old.opset_import[0].version = Some(opset);
    let found = run_model(&old, &[("x", x.clone())]);
    assert_eq!(found.unwrap(), expected, "opset {opset}");
}

fn unary(op: &str, attributes: &[AttributeProto]) -> NodeProto {
    with(node(op, &["x"], &["y"]), attributes)
}

#[test]
fn bounds_of_clip_were_attributes_before_opset_11() {
    let x = tensor(&[4], &[-2.0_f32, 0.5, 2.0, 9.0]);
    let (min, max) = (float("min", -1.0), float("max", 3.0));
    for opset in [1, 6, 10] {
        let both = unary("Clip", &[min.clone(), max.clone()]);
        check_old(opset, both, &x, &["f32 [4] [-1.0, 0.5, 2.0, 3.0]"]);
        let least = unary("Clip", std::slice::from_ref(&min));
        check_old(opset, least, &x, &["f32 [4] [-1.0, 0.5, 2.0, 9.0]"]);
        let greatest = unary("Clip", std::slice::from_ref(&max));
        check_old(opset, greatest, &x, &["f32 [4] [-2.0, 0.5, 2.0, 3.0]"]);
        check_old(
            opset,
            unary("Clip", &[]),
            &x,
            &["f32 [4] [-2.0, 0.5, 2.0, 9.0]"],
        );
    }
    // The attributes are numbers of single precision, whatever the operand is.
    let double = tensor(&[2], &[-2.0_f64, 9.0]);
    let both = unary("Clip", &[min, max]);
    check_old(6, both, &double, &["f64 [2] [-1.0, 3.0]"]);
}

#[test]
fn pads_were_attributes_before_opset_11() {
    let x = tensor(&[1, 2], &[1.0_f32, 2.0]);
    let around = [0, 1, 0, 2];
    let filled = ["f32 [1, 5] [7.0, 1.0, 2.0, 7.0, 7.0]"];
    let value = float("value", 7.0);
    let first = unary("Pad", &[ints("paddings", &around), value.clone()]);
    check_old(1, first, &x, &filled);
    let second = unary("Pad", &[ints("pads", &around), value.clone()]);
    check_old(2, second.clone(), &x, &filled);
    check_old(10, second.clone(), &x, &filled);
    let zeros = unary("Pad", &[ints("pads", &around)]);
    check_old(10, zeros, &x, &["f32 [1, 5] [0.0, 1.0, 2.0, 0.0, 0.0]"]);
    let edge = unary("Pad", &[ints("pads", &around), text("mode", "edge")]);
    check_old(10, edge, &x, &["f32 [1, 5] [1.0, 1.0, 2.0, 2.0, 2.0]"]);
    let double = tensor(&[1, 2], &[1.0_f64, 2.0]);
    check_old(
        10,
        second,
        &double,
        &["f64 [1, 5] [7.0, 1.0, 2.0, 7.0, 7.0]"],
    );
}

#[test]
fn the_number_of_the_greatest_was_an_attribute_before_opset_10() {
    let x = tensor(&[2, 3], &[1.0_f32, 3.0, 2.0, 6.0, 4.0, 5.0]);
    let top = |attributes: &[AttributeProto]| with(node("TopK", &["x"], &["y", "at"]), attributes);
    let expected = [
        "f32 [2, 2] [3.0, 2.0, 6.0, 5.0]",
        "i64 [2, 2] [1.0, 2.0, 0.0, 2.0]",
    ];
    check_old(1, top(&[int("k", 2)]), &x, &expected);
    check_old(9, top(&[int("k", 2)]), &x, &expected);
    let expected = ["f32 [1, 3] [6.0, 4.0, 5.0]", "i64 [1, 3] [1.0, 1.0, 1.0]"];
    check_old(9, top(&[int("k", 1), int("axis", 0)]), &x, &expected);
}

#[test]
fn axes_of_squeeze_and_unsqueeze_were_attributes_before_opset_13() {
    let x = tensor(&[1, 2, 1], &[1.0_f32, 2.0]);
    for opset in [1, 11, 12] {
        let first = unary("Squeeze", &[ints("axes", &[0])]);
        check_old(opset, first, &x, &["f32 [2, 1] [1.0, 2.0]"]);
        check_old(opset, unary("Squeeze", &[]), &x, &["f32 [2] [1.0, 2.0]"]);
        let twice = unary("Unsqueeze", &[ints("axes", &[4, 0])]);
        check_old(opset, twice, &x, &["f32 [1, 1, 2, 1, 1] [1.0, 2.0]"]);
    }
    // Version 11 counts axes from the end, too.
    let last = unary("Squeeze", &[ints("axes", &[-1])]);
    check_old(11, last, &x, &["f32 [1, 2] [1.0, 2.0]"]);
}

#[test]
fn the_parts_of_split_were_an_attribute_before_opset_13() {
    let x = tensor(&[4], &[1.0_f32, 2.0, 3.0, 4.0]);
    let split =
        |attributes: &[AttributeProto]| with(node("Split", &["x"], &["y", "z"]), attributes);
    for opset in [1, 2, 12] {
        let uneven = split(&[ints("split", &[1, 3])]);
        check_old(
            opset,
            uneven,
            &x,
            &["f32 [1] [1.0]", "f32 [3] [2.0, 3.0, 4.0]"],
        );
        // Without it, the parts have one size.
        check_old(
            opset,
            split(&[]),
            &x,
            &["f32 [2] [1.0, 2.0]", "f32 [2] [3.0, 4.0]"],
        );
    }
    let x = tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let columns = split(&[ints("split", &[1, 1]), int("axis", 1)]);
    check_old(
        12,
        columns,
        &x,
        &["f32 [2, 1] [1.0, 3.0]", "f32 [2, 1] [2.0, 4.0]"],
    );
    // In version 1 alone, the parts could be an operand as well.
    let mut old = model(graph(
        &["x"],
        vec![node("Split", &["x", "parts"], &["y", "z"])],
        &["y", "z"],
    ));
    old.opset_import[0].version = Some(1);
    old.graph.as_mut().unwrap().initializer = vec![floats("parts", &[1.0, 3.0])];
    let found = run_model(&old, &[("x", tensor(&[4], &[1.0_f32, 2.0, 3.0, 4.0]))]);
    assert_eq!(found.unwrap(), ["f32 [1] [1.0]", "f32 [3] [2.0, 3.0, 4.0]"]);
}

#[test]
fn axes_of_reductions_were_attributes() {
    let x = tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let log = |x: f32| x.ln();
    let cases: [(&str, [f32; 2], f32); 10] = [
        ("ReduceSum", [3.0, 7.0], 10.0),
        ("ReduceMean", [1.5, 3.5], 2.5),
        ("ReduceMax", [2.0, 4.0], 4.0),
        ("ReduceMin", [1.0, 3.0], 1.0),
        ("ReduceProd", [2.0, 12.0], 24.0),
        ("ReduceL1", [3.0, 7.0], 10.0),
        ("ReduceL2", [5.0_f32.sqrt(), 5.0], 30.0_f32.sqrt()),
        ("ReduceLogSum", [log(3.0), log(7.0)], log(10.0)),
        ("ReduceSumSquare", [5.0, 25.0], 30.0),
        ("ReduceLogSumExp", [2.313_261_7, 4.313_261_7], 4.440_19),
    ];
    for (op, of_rows, of_all) in cases {
        // The version before the one with the operand.
        let newest = if op == "ReduceSum" { 12 } else { 17 };
        for opset in [1, 11, newest] {
            let rows = unary(op, &[ints("axes", &[1])]);
            let found = run_old(opset, rows, &[("x", x.clone())]).unwrap();
            assert_near(&found[0], "f32 [2, 1]", &of_rows, op);
            let flat = unary(op, &[ints("axes", &[1]), int("keepdims", 0)]);
            let found = run_old(opset, flat, &[("x", x.clone())]).unwrap();
            assert_near(&found[0], "f32 [2]", &of_rows, op);
            let all = unary(op, &[]);
            let found = run_old(opset, all, &[("x", x.clone())]).unwrap();
            assert_near(&found[0], "f32 [1, 1]", &[of_all], op);
        }
        let last = unary(op, &[ints("axes", &[-1])]);
        let found = run_old(newest, last, &[("x", x.clone())]).unwrap();
        assert_near(&found[0], "f32 [2, 1]", &of_rows, op);
    }
}

#[test]
fn the_ratio_of_dropout_was_an_attribute_before_opset_12() {
    let x = tensor(&[2], &[1.5_f32, 2.5]);
    for opset in [1, 6, 7, 10, 11] {
        let mut dropout = unary("Dropout", &[float("ratio", 0.75)]);
        // Until version 6 the file says whether it is one of training.
        if opset < 7 {
            dropout.attribute.push(int("is_test", 1));
        }
        check_old(opset, dropout, &x, &["f32 [2] [1.5, 2.5]"]);
    }
}

#[test]
fn factors_of_upsample_were_attributes_before_opset_9() {
    let x = tensor(&[1, 1, 1, 2], &[1.0_f32, 3.0]);
    let scales = AttributeProto {
        name: Some("scales".into()),
        r#type: Some(attribute_proto::AttributeType::Floats as i32),
        floats: vec![1.0, 1.0, 1.0, 2.0],
        ..Default::default()
    };
    let nearest = ["f32 [1, 1, 1, 4] [1.0, 1.0, 3.0, 3.0]"];
    let linear = ["f32 [1, 1, 1, 4] [1.0, 2.0, 3.0, 3.0]"];
    for opset in [7, 8] {
        check_old(
            opset,
            unary("Upsample", std::slice::from_ref(&scales)),
            &x,
            &nearest,
        );
        let attributes = [scales.clone(), text("mode", "linear")];
        check_old(opset, unary("Upsample", &attributes), &x, &linear);
    }
    for (mode, expected) in [("nearest", nearest), ("linear", linear)] {
        let upsample = with(node("Upsample", &["x", "s"], &["y"]), &[text("mode", mode)]);
        let mut old = model(graph(&["x"], vec![upsample], &["y"]));
        old.opset_import[0].version = Some(9);
        let factors = floats("s", &[1.0, 1.0, 1.0, 2.0]);
        old.graph.as_mut().unwrap().initializer = vec![factors];
        let found = run_model(&old, &[("x", x.clone())]);
        assert_eq!(found.unwrap(), expected, "{mode}");
    }
}

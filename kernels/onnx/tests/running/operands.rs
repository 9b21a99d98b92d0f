//! Shapes, omitted operands, and values that kernels refuse.

use super::*;

#[test]
fn products_stretch_batches_and_take_vectors() {
    let a = tensor(&[2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let b = tensor(&[2], &[10.0_f32, 1.0]);
    check(
        node("MatMul", &["a", "b"], &["y"]),
        &[("a", a), ("b", b)],
        &["f32 [2, 1] [12.0, 34.0]"],
    );
    let empty = [
        ("a", tensor::<f32>(&[2, 0], &[])),
        ("b", tensor::<f32>(&[0, 1], &[])),
    ];
    check(
        node("MatMul", &["a", "b"], &["y"]),
        &empty,
        &["f32 [2, 1] [0.0, 0.0]"],
    );
}

#[test]
fn operands_may_be_left_out_before_others() {
    let inputs = [
        ("a", tensor(&[3], &[1.0_f32, 5.0, 9.0])),
        ("b", tensor(&[], &[6.0_f32])),
    ];
    let clip = node("Clip", &["a", "", "b"], &["y"]);
    check(clip, &inputs, &["f32 [3] [1.0, 5.0, 6.0]"]);
}

#[test]
fn slices_count_from_the_end_and_go_backwards() {
    let inputs = [
        ("a", tensor(&[4], &[0.0_f32, 1.0, 2.0, 3.0])),
        ("b", tensor(&[1], &[-1_i64])),
        ("c", tensor(&[1], &[i64::MIN])),
        ("d", tensor(&[1], &[0_i64])),
        ("e", tensor(&[1], &[-2_i64])),
    ];
    let slice = node("Slice", &["a", "b", "c", "d", "e"], &["y"]);
    check(slice, &inputs, &["f32 [2] [3.0, 1.0]"]);
}

#[test]
fn reductions_of_nothing_are_neutral() {
    let x = tensor::<f32>(&[0, 2], &[]);
    let sum = with(node("ReduceSum", &["x"], &["y"]), &[int("keepdims", 0)]);
    check(sum, &[("x", x.clone())], &["f32 [] [0.0]"]);
    let max = with(node("ReduceMax", &["x"], &["y"]), &[int("keepdims", 0)]);
    check(max, &[("x", x)], &["f32 [] [-inf]"]);
}

#[test]
fn indices_out_of_range_are_errors() {
    let inputs = [
        ("a", tensor(&[2], &[1.0_f32, 2.0])),
        ("b", tensor(&[1], &[2_i64])),
    ];
    let error = run(node("Gather", &["a", "b"], &["y"]), &inputs).unwrap_err();
    assert_eq!(
        error,
        "`nn.Gather`: index 2 is out of range for a dimension of size 2"
    );
    let inputs = [
        ("a", tensor(&[2], &[1.0_f32, 2.0])),
        ("b", tensor(&[1], &[-2_i64])),
    ];
    check(
        node("Gather", &["a", "b"], &["y"]),
        &inputs,
        &["f32 [1] [1.0]"],
    );
}

#[test]
fn integers_divided_by_zero_are_errors_and_the_least_one_wraps() {
    let of = |a: i64, b: i64| [("a", tensor(&[1], &[a])), ("b", tensor(&[1], &[b]))];
    let div = || node("Div", &["a", "b"], &["y"]);
    check(div(), &of(-7, 2), &["i64 [1] [-3.0]"]);
    check(
        div(),
        &of(i64::MIN, -1),
        &["i64 [1] [-9.223372036854776e18]"],
    );
    let error = run(div(), &of(1, 0)).unwrap_err();
    assert_eq!(error, "`nn.Div`: integer division by zero");
}

#[test]
fn resizing_takes_memory_before_it_works() {
    let resize = |attributes: &[AttributeProto]| {
        let resize = node("Resize", &["x", "", "", "z"], &["y"]);
        with(resize, attributes)
    };
    let run = |dims: &[usize], sizes: &[i64]| {
        let len = dims.iter().product();
        let numbers: Vec<f32> = (0..len).map(|at: usize| at as f32).collect();
        let inputs = [
            ("x", tensor(dims, &numbers)),
            ("z", tensor(&[sizes.len()], sizes)),
        ];
        let attributes = [
            text("coordinate_transformation_mode", "asymmetric"),
            text("nearest_mode", "floor"),
        ];
        run(resize(&attributes), &inputs)
    };
    let huge = run(&[1, 1, 2, 2], &[1, 1, 1 << 40, 1 << 40]);
    assert!(huge.unwrap_err().contains("too many elements"));
    // Nothing of these results is computed.
    let empty = run(&[1, 1, 2, 2], &[1, 1, 1 << 40, 0]);
    let expected = "its other dimensions are too large";
    assert!(empty.unwrap_err().contains(expected));
    let empty = run(&[0, 1, 2, 2], &[0, 1, 4, 4]);
    assert_eq!(empty.unwrap(), ["f32 [0, 1, 4, 4] []"]);
    // Sources are found for some thousands of places at a time.
    let numbers: Vec<f64> = (0..2)
        .flat_map(|row| (0..10_000).map(move |at| f64::from(row * 5_000 + at / 2)))
        .collect();
    assert_eq!(
        run(&[2, 5_000], &[2, 10_000]).unwrap(),
        [format!("f32 [2, 10000] {numbers:?}")]
    );
}

#[test]
fn places_outside_of_a_region_get_the_value_for_extrapolation() {
    let resize = with(
        node("Resize", &["x", "r", "", "z"], &["y"]),
        &[
            text("mode", "linear"),
            text("coordinate_transformation_mode", "tf_crop_and_resize"),
            float("extrapolation_value", 9.0),
        ],
    );
    let inputs = [
        ("x", tensor(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0])),
        ("r", tensor(&[4], &[0.0_f32, -1.0, 1.0, 1.0])),
        ("z", tensor(&[2], &[2_i64, 3])),
    ];
    let names = ["x", "r", "z"];
    let found = run_model(&model(graph(&names, vec![resize], &["y"])), &inputs);
    assert_eq!(
        found.unwrap(),
        ["f32 [2, 3] [9.0, 1.0, 2.0, 9.0, 3.0, 4.0]"]
    );
}

#[test]
fn attention_needs_less_memory_than_its_scores() {
    // 4 MB of scores in a request of 1 MB.
    let limits = tfrt::host::Limits {
        max_request_bytes: 1 << 20,
        ..tfrt::host::Limits::default()
    };
    let attention = node("Attention", &["x", "x", "x"], &["y"]);
    let program = imported(&newest(graph(&["x"], vec![attention], &["y"]))).unwrap();
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder()
        .registry(kernels)
        .limits(limits)
        .build();
    let session = Session::load(program, "model.onnx", &host).unwrap();
    let x = tensor(&[1, 1, 1_000, 1], &[2.0_f32; 1_000]);
    let outputs = session.run(&[("x", x)]).unwrap();
    let y = outputs[0].elements::<f32>().unwrap();
    // A sum of 1,000 products with the total 2 is off by 2 · 1000 · 2⁻²⁴ = 1.2e-4 at most in single
    // precision. The rest is for the error of the softmax.
    assert!(y.iter().all(|&y| (y - 2.0).abs() < 2e-4));
}

#[test]
fn a_mask_of_least_numbers_hides_all_keys_alike() {
    let q = tensor(&[1, 1, 2, 1], &[1.0_f32, 2.0]);
    let k = tensor(&[1, 1, 2, 1], &[3.0_f32, 5.0]);
    let v = tensor(&[1, 1, 2, 1], &[1.0_f32, 3.0]);
    // The second row hides one key: with infinity, as usual.
    let rows = [f64::MIN, f64::MIN, 0.0, f64::NEG_INFINITY];
    let inputs = [("k", k), ("m", tensor(&[2, 2], &rows)), ("q", q), ("v", v)];
    let attention = node("Attention", &["q", "k", "v", "m"], &["y"]);
    let names = ["k", "m", "q", "v"];
    let found = run_model(&newest(graph(&names, vec![attention], &["y"])), &inputs);
    assert_eq!(found.unwrap(), ["f32 [1, 1, 2, 1] [2.0, 1.0]"]);
}

#[test]
fn attention_keeps_its_scores_only_if_they_are_wanted() {
    let q = tensor(&[1, 2, 2, 1], &[1.0_f32, 0.0, 0.0, 1.0]);
    let k = tensor(&[1, 1, 2, 1], &[0.0_f32, 0.0]);
    let v = tensor(&[1, 1, 2, 1], &[1.0_f32, 3.0]);
    let mask = tensor(&[2, 1, 2], &[0.0_f32, 0.0, 0.0, f32::NEG_INFINITY]);
    let inputs = [("k", k), ("m", mask), ("q", q), ("v", v)];
    let run = |outputs: &[&str]| {
        let attention = node("Attention", &["q", "k", "v", "m"], outputs);
        let wanted: Vec<&str> = outputs
            .iter()
            .copied()
            .filter(|name| !name.is_empty())
            .collect();
        let names = ["k", "m", "q", "v"];
        run_model(&newest(graph(&names, vec![attention], &wanted)), &inputs).unwrap()
    };
    let y = "f32 [1, 2, 2, 1] [2.0, 2.0, 1.0, 1.0]";
    assert_eq!(run(&["y"]), [y]);
    let scores = "f32 [1, 2, 2, 2] [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]";
    assert_eq!(run(&["y", "", "", "s"]), [y, scores]);
}

#[test]
fn brain_floats_are_added_and_compared() {
    use tfrt_tensor::half::bf16;
    let numbers = |numbers: &[f32]| {
        let numbers: Vec<bf16> = numbers.iter().map(|&x| bf16::from_f32(x)).collect();
        tensor(&[numbers.len()], &numbers)
    };
    let inputs = [("a", numbers(&[1.0, 2.0])), ("b", numbers(&[3.0, 0.5]))];
    for (op, to, expected) in [
        ("Add", 1, "f32 [2] [4.0, 2.5]"),
        ("Sub", 1, "f32 [2] [-2.0, 1.5]"),
        ("Mul", 1, "f32 [2] [3.0, 1.0]"),
        ("Sum", 1, "f32 [2] [4.0, 2.5]"),
        ("Less", 7, "i64 [2] [1.0, 0.0]"),
        ("GreaterOrEqual", 7, "i64 [2] [0.0, 1.0]"),
    ] {
        let nodes = vec![
            node(op, &["a", "b"], &["c"]),
            with(node("Cast", &["c"], &["y"]), &[int("to", to)]),
        ];
        let found = run_model(&model(graph(&["a", "b"], nodes, &["y"])), &inputs);
        assert_eq!(found.unwrap(), [expected], "{op}");
    }
}

#[test]
fn operands_that_must_be_there_are_not_left_out() {
    let error = imported(&model(graph(
        &["a", "c"],
        vec![node("Gemm", &["a", "", "c"], &["y"])],
        &["y"],
    )));
    assert_eq!(
        error.map(drop).unwrap_err(),
        "node #0 (Gemm) that makes 'y': operand 1 is missing"
    );
    let x = [("x", tensor(&[1], &[-1.0_f32]))];
    check(node("Relu", &["x", ""], &["y"]), &x, &["f32 [1] [0.0]"]);
}

#[test]
fn nan_and_extremes_are_as_defined() {
    let of = |op: &str, a: f32, b: f32| {
        let inputs = [("a", tensor(&[1], &[a])), ("b", tensor(&[1], &[b]))];
        run(node(op, &["a", "b"], &["y"]), &inputs).unwrap()[0].clone()
    };
    for op in ["Min", "Max"] {
        assert_eq!(of(op, 1.0, f32::NAN), "f32 [1] [NaN]");
        assert_eq!(of(op, f32::NAN, 1.0), "f32 [1] [NaN]");
    }
    assert_eq!(of("Min", 1.0, 2.0), "f32 [1] [1.0]");
    let celu = node("Celu", &["a"], &["y"]);
    check(
        celu,
        &[("a", tensor(&[1], &[f32::NAN]))],
        &["f32 [1] [NaN]"],
    );
    let gelu = run(
        node("Gelu", &["a"], &["y"]),
        &[("a", tensor(&[1], &[-10.0_f32]))],
    )
    .unwrap();
    assert!(gelu[0].contains("e-23"), "{}", gelu[0]);
    let whole = |numbers: [i64; 3]| {
        let [a, b, c] = numbers.map(|number| tensor(&[], &[number]));
        run(
            node("Range", &["a", "b", "c"], &["y"]),
            &[("a", a), ("b", b), ("c", c)],
        )
        .unwrap()
    };
    let far = 1_i64 << 60;
    assert!(whole([far, far + 3, 1])[0].starts_with("i64 [3]"));
    assert_eq!(whole([5, 0, -2]), ["i64 [3] [5.0, 3.0, 1.0]"]);
}

#[test]
fn slices_that_start_before_the_beginning_go_backwards_from_there() {
    let inputs = [
        ("a", tensor(&[4], &[7.0_f32, 1.0, 2.0, 3.0])),
        ("b", tensor(&[1], &[-100_i64])),
        ("c", tensor(&[1], &[i64::MIN])),
        ("d", tensor(&[1], &[0_i64])),
        ("e", tensor(&[1], &[-1_i64])),
    ];
    let slice = node("Slice", &["a", "b", "c", "d", "e"], &["y"]);
    check(slice, &inputs, &["f32 [1] [7.0]"]);
}

#[test]
fn slices_backwards_end_at_the_beginning_for_the_greatest_ends() {
    let slice = || node("Slice", &["a", "b", "c", "d", "e"], &["y"]);
    for (end, expected) in [
        (i64::MAX, "[3] [2.0, 1.0, 0.0]"),
        (i32::MAX.into(), "[3] [2.0, 1.0, 0.0]"),
        (i64::MIN, "[3] [2.0, 1.0, 0.0]"),
        (100, "[0] []"),
    ] {
        let inputs = [
            ("a", tensor(&[3], &[0.0_f32, 1.0, 2.0])),
            ("b", tensor(&[1], &[-1_i64])),
            ("c", tensor(&[1], &[end])),
            ("d", tensor(&[1], &[0_i64])),
            ("e", tensor(&[1], &[-1_i64])),
        ];
        check(slice(), &inputs, &[&format!("f32 {expected}")]);
    }
}

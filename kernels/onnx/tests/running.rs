//! Models that are imported and run: what each op does with shapes, types and operands that are
//! omitted.

mod common;

use std::sync::Arc;

use common::*;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::attribute_proto::AttributeType;
use tfrt_onnx::proto::*;
use tfrt_tensor::{DenseHostTensor, Element};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn imported(model: &ModelProto) -> Result<tfrt_import::program::Program, String> {
    let model = Model::from_bytes(prost::Message::encode_to_vec(model), &Limits::default());
    let model = model.map_err(|error| error.to_string())?;
    let program = model.import(&Options::default());
    program.map_err(|failure| failure.to_string())
}

fn run_model(
    model: &ModelProto,
    inputs: &[(&str, DenseHostTensor)],
) -> Result<Vec<String>, String> {
    let program = imported(model)?;
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(program, "model.onnx", &host).map_err(|error| error.to_string())?;
    let outputs = session
        .run(inputs)
        .map_err(|error| error.message().to_owned())?;
    let shown = outputs.iter().map(|output| {
        let numbers: Vec<f64> = match output.dtype() {
            tfrt::prelude::DType::F32 => output
                .elements::<f32>()
                .unwrap()
                .iter()
                .map(|&x| x.into())
                .collect(),
            tfrt::prelude::DType::I64 => output
                .elements::<i64>()
                .unwrap()
                .iter()
                .map(|&x| x as f64)
                .collect(),
            tfrt::prelude::DType::Ui8 => numbers_of::<u8>(output),
            tfrt::prelude::DType::I32 => numbers_of::<i32>(output),
            tfrt::prelude::DType::F64 => numbers_of::<f64>(output),
            other => panic!("{other}"),
        };
        format!("{} {numbers:?}", output.metadata())
    });
    Ok(shown.collect())
}

fn numbers_of<T: Element + Into<f64>>(tensor: &DenseHostTensor) -> Vec<f64> {
    let elements = tensor.elements::<T>().unwrap();
    elements.iter().map(|&x| x.into()).collect()
}

/// Runs one node, whose operands are inputs in the order of their names.
fn run(node: NodeProto, inputs: &[(&str, DenseHostTensor)]) -> Result<Vec<String>, String> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let outputs: Vec<String> = node.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    run_model(&model(graph(&names, vec![node], &outputs)), inputs)
}

#[track_caller]
fn check(node: NodeProto, inputs: &[(&str, DenseHostTensor)], expected: &[&str]) {
    assert_eq!(run(node, inputs).unwrap(), expected);
}

#[test]
fn convolutions_pad_and_stride() {
    let x = tensor(
        &[1, 1, 3, 3],
        &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    );
    let w = tensor(&[1, 1, 2, 2], &[1.0_f32; 4]);
    let conv = || node("Conv", &["w", "x"], &["y"]);
    let conv = |attributes: &[AttributeProto]| {
        let mut node = with(conv(), attributes);
        node.input.reverse();
        node
    };
    let inputs = [("w", w), ("x", x)];
    check(
        conv(&[]),
        &inputs,
        &["f32 [1, 1, 2, 2] [12.0, 16.0, 24.0, 28.0]"],
    );
    let padded = conv(&[ints("pads", &[1, 1, 0, 0]), ints("strides", &[2, 2])]);
    check(
        padded,
        &inputs,
        &["f32 [1, 1, 2, 2] [1.0, 5.0, 11.0, 28.0]"],
    );
}

#[test]
fn a_convolution_that_does_not_fit_says_why() {
    let inputs = [
        ("w", tensor(&[4, 64, 1, 1], &[0.0_f32; 256])),
        ("x", tensor(&[1, 3, 1, 1], &[0.0_f32; 3])),
    ];
    let error = run(node("Conv", &["x", "w"], &["y"]), &inputs).unwrap_err();
    assert_eq!(
        error,
        "`nn.Conv`: operand 1 `w` has 64 channels per group, but the input has 3 and `group` is 1"
    );
}

#[test]
fn pooling_rounds_up_only_to_windows_that_start_inside() {
    let x = tensor(&[1, 1, 1, 4], &[1.0_f32, 2.0, 3.0, 4.0]);
    let pool = with(
        node("MaxPool", &["x"], &["y"]),
        &[
            ints("kernel_shape", &[1, 1]),
            ints("strides", &[1, 3]),
            int("ceil_mode", 1),
        ],
    );
    check(pool, &[("x", x)], &["f32 [1, 1, 1, 2] [1.0, 4.0]"]);
}

#[test]
fn windows_in_padding_are_not_walked_through() {
    let x = tensor(&[1, 1, 1, 1], &[5.0_f32]);
    let far = (1_i64 << 31) - 1;
    let pool = with(
        node("MaxPool", &["x"], &["y"]),
        &[
            ints("kernel_shape", &[2 * far + 1, 2 * far + 1]),
            ints("pads", &[far; 4]),
        ],
    );
    check(pool, &[("x", x)], &["f32 [1, 1, 1, 1] [5.0]"]);
}

#[test]
fn means_count_padding_only_if_asked() {
    let x = || [("x", tensor(&[1, 1, 2], &[2.0_f32, 4.0]))];
    let pool = |attributes: &[AttributeProto]| {
        let all = [
            &[ints("kernel_shape", &[2]), ints("pads", &[1, 0])],
            attributes,
        ]
        .concat();
        with(node("AveragePool", &["x"], &["y"]), &all)
    };
    check(pool(&[]), &x(), &["f32 [1, 1, 2] [2.0, 3.0]"]);
    let counted = pool(&[int("count_include_pad", 1)]);
    check(counted, &x(), &["f32 [1, 1, 2] [1.0, 3.0]"]);
}

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
    assert_eq!(
        run_old(1, tile, &inputs).unwrap(),
        ["f32 [1, 1, 1, 4] [1.0, 2.0, 1.0, 2.0]"]
    );
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
    assert_eq!(empty.unwrap(), ["f32 [1, 1, 1099511627776, 0] []"]);
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
    assert!(y.iter().all(|&y| (y - 2.0).abs() < 1e-6));
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
fn a_model_without_outputs_computes_nothing() {
    let nodes = vec![node("Relu", &["x"], &["y"])];
    let found = run_model(
        &model(graph(&["x"], nodes, &[])),
        &[("x", tensor(&[1], &[1.0_f32]))],
    );
    assert_eq!(found.unwrap(), Vec::<String>::new());
}

#[test]
fn outputs_are_what_the_model_declares() {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let run = |elem_type: i32, dims: &[i64]| {
        let dim = dims.iter().map(|&extent| Dimension {
            value: Some(Value::DimValue(extent)),
            ..Default::default()
        });
        let shape = TensorShapeProto { dim: dim.collect() };
        let tensor_type = type_proto::Tensor {
            elem_type: Some(elem_type),
            shape: Some(shape),
        };
        let mut model = model(graph(&["x"], vec![node("Relu", &["x"], &["y"])], &["y"]));
        if let Some(graph) = &mut model.graph {
            graph.output[0].r#type = Some(TypeProto {
                value: Some(type_proto::Value::TensorType(tensor_type)),
                ..Default::default()
            });
        }
        run_model(&model, &[("x", tensor(&[2, 1], &[1.0_f32, 2.0]))])
    };
    assert_eq!(run(1, &[2, 1]).unwrap(), ["f32 [2, 1] [1.0, 2.0]"]);
    assert_eq!(
        run(7, &[2, 1]).unwrap_err(),
        "output `y`: the model declares i64 [2, 1], but computes f32 [2, 1]"
    );
    for dims in [&[5][..], &[2, 2]] {
        assert!(run(1, dims).is_err(), "{dims:?}");
    }
}

#[test]
fn attributes_that_contradict_themselves_are_errors() {
    let refused = |node: NodeProto, expected: &str| {
        let mut model = model(graph(&["x"], vec![node], &["y"]));
        if let Some(graph) = &mut model.graph {
            let mut weights = floats("w", &[1.0; 4]);
            weights.dims = vec![1, 1, 2, 2];
            graph.initializer.push(weights);
        }
        let error = imported(&model).map(drop).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    let conv = |attribute| with(node("Conv", &["x", "w"], &["y"]), &[attribute]);
    refused(conv(text("auto_pad", "FOO")), "auto_pad");
    refused(
        conv(ints("kernel_shape", &[3, 3])),
        "attribute `kernel_shape`: expected [2, 2] as in the weights, found [3, 3]",
    );
    let gru = node("GRU", &["x", "x", "w"], &["y"]);
    refused(
        with(gru, &[int("hidden_size", -1)]),
        "attribute `hidden_size`: expected 2 as in the weights, found -1",
    );
    let modulo = node("Mod", &["x", "x"], &["y"]);
    refused(
        with(modulo, &[int("fmod", -2)]),
        "attribute `fmod`: expected 0 or 1, found -2",
    );
    let split = node("Split", &["x"], &["y"]);
    refused(
        with(split, &[int("num_outputs", 1 << 40)]),
        "attribute `num_outputs`: expected 1, the number of results, found 1099511627776",
    );
}

#[test]
fn a_domain_has_one_version() {
    let import = |domain: &str, version| OperatorSetIdProto {
        domain: Some(domain.into()),
        version: Some(version),
    };
    let model = |imports: &[OperatorSetIdProto]| ModelProto {
        opset_import: imports.to_vec(),
        ..model(graph(&["x"], vec![node("Relu", &["x"], &["y"])], &["y"]))
    };
    assert!(imported(&model(&[import("", 17), import("ai.onnx", 17)])).is_ok());
    assert_eq!(
        imported(&model(&[import("", 17), import("ai.onnx", 13)]))
            .map(drop)
            .unwrap_err(),
        "expected one version of domain `ai.onnx`, found 17 and 13"
    );
}

#[test]
fn functions_of_the_model_are_inlined_with_their_attributes() {
    let body = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("axis".into()),
            ref_attr_name: Some("where".into()),
            r#type: Some(AttributeType::Int as i32),
            ..Default::default()
        }],
        ..node("Flatten", &["a"], &["b"])
    };
    let function = FunctionProto {
        name: Some("Flat".into()),
        domain: Some("my".into()),
        input: vec!["a".into()],
        output: vec!["b".into()],
        attribute: vec!["where".into()],
        node: vec![body],
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        ..Default::default()
    };
    let call = NodeProto {
        domain: Some("my".into()),
        ..with(node("Flat", &["x"], &["y"]), &[int("where", 2)])
    };
    let mut flat = model(graph(&["x"], vec![call], &["y"]));
    flat.functions = vec![function];
    let x = tensor(&[2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0]);
    let found = run_model(&flat, &[("x", x)]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, 2.0, 3.0, 4.0]"]);

    flat.functions[0].node[0] = NodeProto {
        domain: Some("my".into()),
        ..node("Flat", &["a"], &["b"])
    };
    let error = imported(&flat).map(drop).unwrap_err();
    assert!(error.ends_with("the function calls itself"), "{error}");
}

#[test]
fn everything_that_is_missing_is_told_at_once() {
    let nodes = vec![
        node("ImageDecoder", &["x"], &["a"]),
        node("Relu", &["a"], &["b"]),
        NodeProto {
            domain: Some("com.microsoft".into()),
            name: Some("/act".into()),
            ..node("QuickGelu", &["b"], &["c"])
        },
        node("Rellu", &["x"], &["d"]),
    ];
    let error = imported(&model(graph(&["x"], nodes, &["c", "d"]))).map(drop);
    let error = error.unwrap_err();
    for part in [
        "3 operators or types are not supported",
        "ImageDecoder (version 20)\t1 node: node #0 (ImageDecoder) that makes 'a'",
        "com.microsoft.QuickGelu\t1 node: /act",
        "Rellu\t1 node: node #3 (Rellu) that makes 'd'\n    no operator of this name; did you \
         mean `Relu`",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn nodes_that_break_the_rules_of_their_op_are_errors() {
    let error = |node: NodeProto| {
        imported(&model(graph(&["x"], vec![node], &["y"])))
            .map(drop)
            .unwrap_err()
    };
    assert_eq!(
        error(node("Relu", &["x", "x"], &["y"])),
        "node #0 (Relu) that makes 'y': expected 1 operands, found 2"
    );
    assert_eq!(
        error(with(node("Concat", &["x"], &["y"]), &[])),
        "node #0 (Concat) that makes 'y': the attribute `axis` is missing"
    );
    assert_eq!(
        error(with(node("Concat", &["x"], &["y"]), &[ints("axis", &[1])])),
        "node #0 (Concat) that makes 'y': attribute `axis`: expected an integer, found a list of \
         integers"
    );
    assert_eq!(
        error(with(node("Flatten", &["x"], &["y"]), &[int("axes", 1)])),
        "node #0 (Flatten) that makes 'y': unknown attribute `axes`; did you mean `axis`?"
    );
}

#[test]
fn missing_and_unknown_inputs_are_told_by_name() {
    let relu = || node("Relu", &["image"], &["y"]);
    let relu = model(graph(&["image"], vec![relu()], &["y"]));
    let x = tensor(&[1], &[1.0_f32]);
    assert_eq!(
        run_model(&relu, &[]).unwrap_err(),
        "missing inputs: `image`"
    );
    assert_eq!(
        run_model(&relu, &[("imgae", x)]).unwrap_err(),
        "unknown input `imgae`; did you mean `image`?"
    );
}

/// Returns a model of the newest opset.
fn newest(graph: GraphProto) -> ModelProto {
    ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(27),
            ..Default::default()
        }],
        ..model(graph)
    }
}

#[test]
fn quantised_numbers_round_halves_to_even_and_saturate() {
    let x = tensor(&[6], &[0.0_f32, 2.0, 3.0, 1000.0, -254.0, -1000.0]);
    let scale = tensor(&[], &[2.0_f32]);
    let zero = tensor(&[], &[128_u8]);
    let inputs = [("a", x), ("b", scale.clone()), ("c", zero.clone())];
    let quantize = node("QuantizeLinear", &["a", "b", "c"], &["y"]);
    check(
        quantize,
        &inputs,
        &["u8 [6] [128.0, 129.0, 130.0, 255.0, 1.0, 0.0]"],
    );
    let inputs = [
        ("a", tensor(&[4], &[0_u8, 3, 128, 255])),
        ("b", scale),
        ("c", zero),
    ];
    let back = node("DequantizeLinear", &["a", "b", "c"], &["y"]);
    check(back, &inputs, &["f32 [4] [-256.0, -250.0, 0.0, 254.0]"]);
}

#[test]
fn scales_are_those_of_an_axis_or_of_blocks() {
    let x = tensor(&[2, 3], &[2_u8, 4, 6, 8, 10, 12]);
    let inputs = [("a", x), ("b", tensor(&[2], &[0.5_f32, 2.0]))];
    let back = with(
        node("DequantizeLinear", &["a", "b"], &["y"]),
        &[int("axis", 0)],
    );
    check(
        back,
        &inputs,
        &["f32 [2, 3] [1.0, 2.0, 3.0, 16.0, 20.0, 24.0]"],
    );
    let x = tensor(&[1, 3], &[2_u8, 4, 6]);
    let inputs = [("a", x), ("b", tensor(&[1, 2], &[1.0_f32, 10.0]))];
    let blocks = with(
        node("DequantizeLinear", &["a", "b"], &["y"]),
        &[int("axis", 1), int("block_size", 2)],
    );
    let found = run_model(&newest(graph(&["a", "b"], vec![blocks], &["y"])), &inputs);
    assert_eq!(found.unwrap(), ["f32 [1, 3] [2.0, 4.0, 60.0]"]);
    let wrong = [
        ("a", tensor(&[2, 3], &[0_u8; 6])),
        ("b", tensor(&[2], &[1.0_f32; 2])),
    ];
    let error = run(node("DequantizeLinear", &["a", "b"], &["y"]), &wrong).unwrap_err();
    assert_eq!(
        error,
        "`nn.Dequantize`: scales of shape [2] are incompatible with a tensor of shape [2, 3] \
         along axis 1"
    );
}

#[test]
fn products_of_bytes_take_their_zero_points_off() {
    let inputs = [
        ("a", tensor(&[2, 2], &[11_u8, 7, 10, 6])),
        ("b", tensor(&[2, 1], &[1_u8, 4])),
        ("c", tensor(&[], &[12_u8])),
        ("d", tensor(&[], &[0_u8])),
    ];
    let product = node("MatMulInteger", &["a", "b", "c", "d"], &["y"]);
    check(product, &inputs, &["i32 [2, 1] [-21.0, -26.0]"]);
}

#[test]
fn the_range_of_dynamic_quantisation_contains_zero() {
    let x = tensor(&[3], &[1.0_f32, 2.0, 5.1]);
    let found = run(
        node("DynamicQuantizeLinear", &["a"], &["y", "s", "z"]),
        &[("a", x)],
    )
    .unwrap();
    assert_eq!(found[0], "u8 [3] [50.0, 100.0, 255.0]");
    assert_eq!(found[2], "u8 [] [0.0]");
}

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

/// Returns a branch that adds a number to `x`, which the graph around it has.
fn adding(name: &str, number: f32) -> GraphProto {
    let constant = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("value".into()),
            r#type: Some(AttributeType::Tensor as i32),
            t: Some(floats("n", &[number])),
            ..Default::default()
        }],
        ..node("Constant", &[], &[&format!("{name}_n")])
    };
    let add = node("Add", &["x", &format!("{name}_n")], &[name]);
    graph(&[], vec![constant, add], &[name])
}

#[test]
fn branches_see_the_values_around_them() {
    let choose = with(
        node("If", &["c"], &["y"]),
        &[
            graph_attribute("then_branch", adding("t", 10.0)),
            graph_attribute("else_branch", adding("e", 20.0)),
        ],
    );
    let model = newest(graph(&["c", "x"], vec![choose], &["y"]));
    for (truth, expected) in [(true, "f32 [1] [11.0]"), (false, "f32 [1] [21.0]")] {
        let inputs = [
            ("c", tensor(&[], &[tfrt_tensor::I1::from(truth)])),
            ("x", tensor(&[1], &[1.0_f32])),
        ];
        assert_eq!(run_model(&model, &inputs).unwrap(), [expected]);
    }
}

/// Returns a loop that adds `x` to a sum in each round, and returns all sums.
fn summing() -> NodeProto {
    let body = graph(
        &["round", "goes_on", "sum"],
        vec![
            node("Add", &["sum", "x"], &["next"]),
            node("Identity", &["next"], &["copy"]),
        ],
        &["goes_on", "next", "copy"],
    );
    with(
        node("Loop", &["n", "", "x"], &["last", "all"]),
        &[graph_attribute("body", body)],
    )
}

#[test]
fn loops_carry_their_state_and_stack_what_each_round_makes() {
    let model = newest(graph(&["n", "x"], vec![summing()], &["last", "all"]));
    let inputs = |rounds: i64| {
        [
            ("n", tensor(&[], &[rounds])),
            ("x", tensor(&[2], &[1.0_f32, 10.0])),
        ]
    };
    assert_eq!(
        run_model(&model, &inputs(2)).unwrap(),
        ["f32 [2] [3.0, 30.0]", "f32 [2, 2] [2.0, 20.0, 3.0, 30.0]"]
    );
    // Without a round the state stays, and the stack is empty.
    assert_eq!(
        run_model(&model, &inputs(0)).unwrap(),
        ["f32 [2] [1.0, 10.0]", "f32 [0] []"]
    );
}

#[test]
fn loops_in_branches_of_loops_see_all_values_around_them() {
    // In each of two rounds, a branch runs the loop of the other test.
    let then = graph(&[], vec![summing()], &["last"]);
    let choose = with(
        node("If", &["goes_on"], &["chosen"]),
        &[
            graph_attribute("then_branch", then),
            graph_attribute("else_branch", adding("e", 0.0)),
        ],
    );
    let mut body = graph(
        &["outer_round", "goes_on", "total"],
        vec![choose, node("Add", &["total", "chosen"], &["more"])],
        &["goes_on", "more"],
    );
    // The name of the condition is the body's own in both loops.
    body.node[0].attribute[0].g.as_mut().unwrap().node[0].attribute[0]
        .g
        .as_mut()
        .unwrap()
        .input[1] = value("inner_goes_on");
    let inner = body.node[0].attribute[0].g.as_mut().unwrap();
    inner.node[0].attribute[0].g.as_mut().unwrap().output[0] = value("inner_goes_on");
    let outer = with(
        node("Loop", &["m", "", "x"], &["y"]),
        &[graph_attribute("body", body)],
    );
    let model = newest(graph(&["m", "n", "x"], vec![outer], &["y"]));
    let inputs = [
        ("m", tensor(&[], &[2_i64])),
        ("n", tensor(&[], &[3_i64])),
        ("x", tensor(&[1], &[1.0_f32])),
    ];
    // 1, and twice 1 + 3.
    assert_eq!(run_model(&model, &inputs).unwrap(), ["f32 [1] [9.0]"]);
}

#[test]
fn scans_read_and_write_along_axes_in_both_directions() {
    let body = graph(
        &["sum", "step"],
        vec![
            node("Add", &["sum", "step"], &["next"]),
            node("Identity", &["next"], &["copy"]),
        ],
        &["next", "copy"],
    );
    let scan = |attributes: &[AttributeProto]| {
        let all = [
            &[
                graph_attribute("body", body.clone()),
                int("num_scan_inputs", 1),
            ],
            attributes,
        ]
        .concat();
        with(node("Scan", &["s", "x"], &["last", "all"]), &all)
    };
    let inputs = [
        ("s", tensor(&[2], &[0.0_f32; 2])),
        ("x", tensor(&[3, 2], &[1.0_f32, 10.0, 2.0, 20.0, 3.0, 30.0])),
    ];
    let found = |node: NodeProto| {
        run_model(
            &newest(graph(&["s", "x"], vec![node], &["last", "all"])),
            &inputs,
        )
        .unwrap()
    };
    assert_eq!(
        found(scan(&[])),
        [
            "f32 [2] [6.0, 60.0]",
            "f32 [3, 2] [1.0, 10.0, 3.0, 30.0, 6.0, 60.0]"
        ]
    );
    let backwards = scan(&[
        ints("scan_input_directions", &[1]),
        ints("scan_output_directions", &[1]),
        ints("scan_output_axes", &[1]),
    ]);
    assert_eq!(
        found(backwards)[1],
        "f32 [2, 3] [6.0, 5.0, 3.0, 60.0, 50.0, 30.0]"
    );
}

#[test]
fn sequences_are_built_read_and_joined() {
    let nodes = vec![
        node("SequenceConstruct", &["a", "b"], &["s"]),
        node("SequenceInsert", &["s", "b", "at"], &["t"]),
        node("SequenceErase", &["t"], &["u"]),
        with(
            node("ConcatFromSequence", &["u"], &["y"]),
            &[int("axis", 0)],
        ),
        node("SequenceLength", &["t"], &["n"]),
        node("SequenceAt", &["t", "last"], &["z"]),
    ];
    let model = newest(graph(&["a", "b", "at", "last"], nodes, &["y", "n", "z"]));
    let inputs = |at: i64| {
        [
            ("a", tensor(&[1], &[1.0_f32])),
            ("b", tensor(&[2], &[2.0_f32, 3.0])),
            ("at", tensor(&[], &[at])),
            ("last", tensor(&[], &[-1_i64])),
        ]
    };
    assert_eq!(
        run_model(&model, &inputs(0)).unwrap(),
        [
            "f32 [3] [2.0, 3.0, 1.0]",
            "i64 [] [3.0]",
            "f32 [2] [2.0, 3.0]"
        ]
    );
    assert_eq!(
        run_model(&model, &inputs(3)).unwrap_err(),
        "`nn.ListInsert`: position 3 is out of range for a list of length 2"
    );
}

#[test]
fn values_that_are_absent_are_told_from_those_that_are_there() {
    let nodes = vec![
        node("Optional", &["x"], &["some"]),
        node("OptionalGetElement", &["some"], &["y"]),
    ];
    let found = run_model(
        &newest(graph(&["x"], nodes, &["y"])),
        &[("x", tensor(&[1], &[1.0_f32]))],
    );
    assert_eq!(found.unwrap(), ["f32 [1] [1.0]"]);
    let nodes = vec![
        node("Optional", &[], &["none"]),
        node("OptionalGetElement", &["none"], &["y"]),
    ];
    let error = run_model(&newest(graph(&[], nodes, &["y"])), &[]).unwrap_err();
    assert_eq!(error, "`nn.Present`: expected a value, found an absent one");
}

#[test]
fn functions_hand_on_their_attributes_and_absent_operands() {
    let reference = |name: &str, of: &str| AttributeProto {
        name: Some(name.into()),
        ref_attr_name: Some(of.into()),
        r#type: Some(AttributeType::Int as i32),
        ..Default::default()
    };
    let own = |node: NodeProto| NodeProto {
        domain: Some("my".into()),
        ..node
    };
    let function = |name: &str, attribute: &str, first: NodeProto| FunctionProto {
        name: Some(name.into()),
        domain: Some("my".into()),
        input: vec!["a".into(), "least".into()],
        output: vec!["b".into()],
        attribute: vec![attribute.into()],
        node: vec![first, node("Clip", &["flat", "least"], &["b"])],
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        ..Default::default()
    };
    let inner = function(
        "Inner",
        "p",
        with(
            node("Flatten", &["a"], &["flat"]),
            &[reference("axis", "p")],
        ),
    );
    let outer = function(
        "Outer",
        "q",
        own(with(
            node("Inner", &["a", ""], &["flat"]),
            &[reference("p", "q")],
        )),
    );
    let call = own(with(node("Outer", &["x"], &["y"]), &[int("q", 2)]));
    let mut model = model(graph(&["x"], vec![call], &["y"]));
    model.functions = vec![inner, outer];
    let x = tensor(&[2, 1, 2], &[1.0_f32, -2.0, 3.0, 4.0]);
    let found = run_model(&model, &[("x", x)]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, -2.0, 3.0, 4.0]"]);
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

//! Models that are imported and run: what each op does with shapes, types and operands that are left out.

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
use tfrt_tensor::{DenseHostTensor, Element, Shape};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn tensor<T: Element>(dims: &[usize], elements: &[T]) -> DenseHostTensor {
    let flat = DenseHostTensor::vector(elements).unwrap();
    flat.reshaped(Shape::new(dims).unwrap()).unwrap()
}

fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Ints as i32),
        ints: values.to_vec(),
        ..Default::default()
    }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..Default::default()
    }
}

fn with(node: NodeProto, attributes: &[AttributeProto]) -> NodeProto {
    NodeProto {
        attribute: attributes.to_vec(),
        ..node
    }
}

fn imported(model: &ModelProto) -> Result<tfrt_import::Program, String> {
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
            other => panic!("{other}"),
        };
        format!("{} {numbers:?}", output.metadata())
    });
    Ok(shown.collect())
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
        "`nn.Gather`: there is no element 2 along an axis of 2"
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
    assert_eq!(error, "`nn.Div` divides an integer by zero");
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
        "Rellu\t1 node: node #3 (Rellu) that makes 'd'\n    no operator of this name; did you mean `Relu`",
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
        "node #0 (Concat) that makes 'y': attribute `axis`: expected a whole number, found a list of whole numbers"
    );
    assert_eq!(
        error(with(node("Flatten", &["x"], &["y"]), &[int("axes", 1)])),
        "node #0 (Flatten) that makes 'y': there is no attribute `axes`; did you mean `axis`?"
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
        "there is no input `imgae`; did you mean `image`?"
    );
}

//! Models that break a rule, and models with unsupported parts.

use tfrt_onnx::proto::attribute_proto::AttributeType;

use super::*;

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
        "3 operators are not supported",
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
        "node #0 (Relu) that makes 'y': expected 1 operand, found 2"
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

/// Returns the declaration of a tensor.
fn declared(name: &str, elem_type: i32, dims: &[i64]) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let dim = dims.iter().map(|&extent| Dimension {
        value: Some(Value::DimValue(extent)),
        ..Default::default()
    });
    let tensor_type = type_proto::Tensor {
        elem_type: Some(elem_type),
        shape: Some(TensorShapeProto { dim: dim.collect() }),
    };
    typed(name, type_proto::Value::TensorType(tensor_type))
}

fn typed(name: &str, ty: type_proto::Value) -> ValueInfoProto {
    ValueInfoProto {
        r#type: Some(TypeProto {
            value: Some(ty),
            ..Default::default()
        }),
        ..value(name)
    }
}

/// Returns the error of a model with these inputs and nodes.
fn error_of(inputs: Vec<ValueInfoProto>, nodes: Vec<NodeProto>) -> String {
    let mut model = newest(graph(&[], nodes, &["y"]));
    if let Some(graph) = &mut model.graph {
        graph.input = inputs;
    }
    imported(&model).map(drop).unwrap_err()
}

#[test]
fn declared_dimensions_are_checked() {
    let relu = || vec![node("Relu", &["x"], &["y"])];
    let check = |dims: &[i64], expected: &str| {
        assert_eq!(error_of(vec![declared("x", 1, dims)], relu()), expected);
    };
    check(
        &[1; 33],
        "input `x`: expected at most 32 dimensions, found 33; `--max-rank` raises the limit",
    );
    check(
        &[-3],
        "input `x`: expected dimensions of at least 0, found -3",
    );
    check(
        &[1 << 62],
        "input `x`: expected at most 281474976710655 elements in a dimension, found \
         4611686018427387904; `--max-extent` raises the limit",
    );
    assert_eq!(
        error_of(vec![declared("x", 77, &[1])], relu()),
        "input `x`: unknown element type 77"
    );
    // Some exporters write -1 for any number.
    let mut any = newest(graph(&["x"], relu(), &["y"]));
    any.graph.as_mut().unwrap().input = vec![declared("x", 1, &[-1])];
    let x = tensor(&[2], &[1.0_f32, -1.0]);
    assert_eq!(
        run_model(&any, &[("x", x)]).unwrap(),
        ["f32 [2] [1.0, 0.0]"]
    );
}

#[test]
fn types_that_are_not_supported_are_told_by_the_import() {
    let relu = || vec![node("Relu", &["x"], &["y"])];
    let map = typed("x", type_proto::Value::MapType(Default::default()));
    let sparse = typed("x", type_proto::Value::SparseTensorType(Default::default()));
    for (input, what) in [
        (map, "inputs of type map"),
        (sparse, "inputs of type sparse tensor"),
        (declared("x", 14, &[1]), "inputs of type COMPLEX64"),
        (declared("x", 17, &[1]), "inputs of type FLOAT8E4M3FN"),
    ] {
        let error = error_of(vec![input], relu());
        assert!(error.contains(what), "{error}");
    }
    let complex = TensorProto {
        data_type: Some(14),
        dims: vec![1],
        float_data: vec![1.0, 2.0],
        ..Default::default()
    };
    let constant = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("value".into()),
            r#type: Some(AttributeType::Tensor as i32),
            t: Some(complex.clone()),
            ..Default::default()
        }],
        ..node("Constant", &[], &["y"])
    };
    let error = error_of(vec![], vec![constant]);
    assert!(error.contains("tensors of COMPLEX64"), "{error}");
    let mut held = newest(graph(&[], vec![node("Identity", &["w"], &["y"])], &["y"]));
    held.graph.as_mut().unwrap().initializer = vec![TensorProto {
        name: Some("w".into()),
        ..complex
    }];
    let error = imported(&held).map(drop).unwrap_err();
    assert!(error.contains("tensors of COMPLEX64"), "{error}");
}

#[test]
fn operands_have_the_element_types_that_onnx_declares() {
    const FLOAT: i32 = 1;
    const INT8: i32 = 3;
    const INT64: i32 = 7;
    let check = |types: &[i32], node: NodeProto, expected: &str| {
        let inputs = types.iter().zip(["a", "b", "c"]);
        let inputs = inputs.map(|(&ty, name)| declared(name, ty, &[2, 2]));
        let error = error_of(inputs.collect(), vec![node]);
        assert!(error.ends_with(expected), "{error}");
    };
    check(
        &[FLOAT, INT8],
        node("Add", &["a", "b"], &["y"]),
        "operand 1: expected elements of FLOAT like operand 0, found INT8",
    );
    let gru = node("GRU", &["a", "b", "a"], &["y"]);
    check(
        &[FLOAT, INT8],
        with(gru, &[int("hidden_size", 1)]),
        "operand 1: expected elements of FLOAT like operand 0, found INT8",
    );
    check(
        &[FLOAT, INT64],
        node("LayerNormalization", &["a", "b"], &["y"]),
        "operand 1: expected elements of FLOAT like operand 0, found INT64",
    );
    check(
        &[FLOAT],
        node("Where", &["a", "a", "a"], &["y"]),
        "operand 0: expected elements of BOOL, found FLOAT",
    );
    check(
        &[FLOAT, FLOAT, INT8],
        node("Sum", &["a", "b", "c"], &["y"]),
        "operand 2: expected elements of FLOAT like operand 0, found INT8",
    );
    for op in ["Sqrt", "Softmax", "Gelu"] {
        check(
            &[INT64],
            node(op, &["a"], &["y"]),
            "operand 0: expected real numbers, found INT64",
        );
    }
}

#[test]
fn types_of_results_are_followed() {
    let nodes = vec![
        node("Shape", &["x"], &["n"]),
        with(node("Cast", &["n"], &["f"]), &[int("to", 11)]),
        node("Neg", &["f"], &["g"]),
        node("Mul", &["x", "g"], &["y"]),
    ];
    let error = error_of(vec![declared("x", 1, &[2])], nodes);
    assert!(
        error.ends_with("operand 1: expected elements of FLOAT like operand 0, found DOUBLE"),
        "{error}"
    );
}

#[test]
fn an_attribute_has_one_value() {
    let flatten = |attribute| vec![with(node("Flatten", &["x"], &["y"]), &[attribute])];
    let two = AttributeProto {
        f: Some(1.0),
        ..int("axis", 1)
    };
    assert_eq!(
        error_of(vec![value("x")], flatten(two)),
        "node #0 (Flatten) that makes 'y': attribute `axis`: expected one value, found a number \
         and an integer"
    );
    let other = AttributeProto {
        i: None,
        f: Some(1.0),
        ..int("axis", 1)
    };
    assert_eq!(
        error_of(vec![value("x")], flatten(other)),
        "node #0 (Flatten) that makes 'y': attribute `axis`: expected an integer, as its type \
         says, found a number"
    );
}

#[test]
fn calls_of_functions_follow_the_function() {
    let function = |opset: Option<i64>| FunctionProto {
        name: Some("Twice".into()),
        domain: Some("my".into()),
        input: vec!["a".into(), "b".into()],
        output: vec!["c".into()],
        attribute: vec!["scale".into()],
        node: vec![node("Add", &["a", "b"], &["c"])],
        opset_import: opset
            .map(|version| OperatorSetIdProto {
                version: Some(version),
                ..Default::default()
            })
            .into_iter()
            .collect(),
        ..Default::default()
    };
    let error = |function: FunctionProto, inputs: &[&str], attributes: &[AttributeProto]| {
        let call = NodeProto {
            domain: Some("my".into()),
            ..with(node("Twice", inputs, &["y"]), attributes)
        };
        let mut model = newest(graph(&["x"], vec![call], &["y"]));
        model.functions = vec![function];
        imported(&model).map(drop).unwrap_err()
    };
    let found = error(function(None), &["x", "x"], &[]);
    assert!(
        found.ends_with("expected the function to import ai.onnx, found no import"),
        "{found}"
    );
    let found = error(function(Some(20)), &["x", "x"], &[int("scales", 1)]);
    assert!(
        found.ends_with("unknown attribute `scales` of the function; did you mean `scale`?"),
        "{found}"
    );
    let found = error(function(Some(20)), &["x"], &[]);
    assert!(found.ends_with("expected 2 operands, found 1"), "{found}");
}

#[test]
fn functions_that_call_functions_have_a_limit_of_their_own() {
    let chain = |len: usize| {
        let step = |at: usize| {
            let body = match at + 1 == len {
                true => node("Relu", &["a"], &["b"]),
                false => NodeProto {
                    domain: Some("my".into()),
                    ..node(&format!("F{}", at + 1), &["a"], &["b"])
                },
            };
            FunctionProto {
                name: Some(format!("F{at}")),
                domain: Some("my".into()),
                input: vec!["a".into()],
                output: vec!["b".into()],
                node: vec![body],
                opset_import: vec![OperatorSetIdProto {
                    version: Some(20),
                    ..Default::default()
                }],
                ..Default::default()
            }
        };
        let call = NodeProto {
            domain: Some("my".into()),
            ..node("F0", &["x"], &["y"])
        };
        let mut model = newest(graph(&["x"], vec![call], &["y"]));
        model.functions = (0..len).map(step).collect();
        imported(&model).map(|program| program.num_ops)
    };
    assert_eq!(chain(64), Ok(1));
    let error = chain(65).unwrap_err();
    assert!(
        error.ends_with("`--max-function-calls` raises the limit"),
        "{error}"
    );
}

/// Returns a branch around this node, inside of so many others.
fn nested(inner: NodeProto, levels: usize, at: usize) -> NodeProto {
    (0..levels).fold(inner, |inner, level| {
        let result = inner.output[0].clone();
        let other = format!("e{at}_{level}");
        let otherwise = graph(&[], vec![node("Relu", &["a"], &[&other])], &[&other]);
        let then = graph(&[], vec![inner], &[&result]);
        with(
            node("If", &["c"], &[&format!("b{at}_{level}")]),
            &[
                graph_attribute("then_branch", then),
                graph_attribute("else_branch", otherwise),
            ],
        )
    })
}

#[test]
fn graphs_in_functions_that_call_functions_need_little_stack() {
    const LEN: usize = 64;
    const LEVELS: usize = 30;
    let step = |at: usize| {
        let body = match at + 1 == LEN {
            true => node("Relu", &["a"], &["b"]),
            false => NodeProto {
                domain: Some("my".into()),
                ..node(&format!("F{}", at + 1), &["a", "c"], &["b"])
            },
        };
        let body = nested(body, LEVELS, at);
        FunctionProto {
            name: Some(format!("F{at}")),
            domain: Some("my".into()),
            input: vec!["a".into(), "c".into()],
            output: body.output.clone(),
            node: vec![body],
            opset_import: vec![OperatorSetIdProto {
                version: Some(20),
                ..Default::default()
            }],
            ..Default::default()
        }
    };
    let call = NodeProto {
        domain: Some("my".into()),
        ..node("F0", &["x", "c"], &["y"])
    };
    let mut model = newest(graph(&["x", "c"], vec![call], &["y"]));
    model.functions = (0..LEN).map(step).collect();
    let error = imported(&model).map(drop).unwrap_err();
    assert!(
        error.contains("`--max-subgraphs` raises the limit"),
        "{error}"
    );
}

#[test]
fn functions_of_onnx_itself_are_told_and_not_called() {
    let mut model = newest(graph(&["x"], vec![node("Relu", &["x"], &["y"])], &["y"]));
    model.functions = vec![FunctionProto {
        name: Some("Relu".into()),
        input: vec!["a".into()],
        output: vec!["b".into()],
        node: vec![node("Neg", &["a"], &["b"])],
        ..Default::default()
    }];
    let bytes = prost::Message::encode_to_vec(&model);
    let read = Model::from_bytes(bytes, &Limits::default()).unwrap();
    assert_eq!(
        read.warnings(),
        ["function 'Relu': the domain ai.onnx has no functions, so that nodes call the operator"]
    );
    let x = tensor(&[1], &[3.0_f32]);
    assert_eq!(run_model(&model, &[("x", x)]).unwrap(), ["f32 [1] [3.0]"]);
}

#[test]
fn blocks_are_not_larger_than_images() {
    let none = || [("x", tensor::<f32>(&[1, 0, 1, 1], &[]))];
    for op in ["DepthToSpace", "SpaceToDepth"] {
        // The square of the first has no bits left.
        for block in [1 << 32, 1 << 40, i64::MAX] {
            let blocks = with(node(op, &["x"], &["y"]), &[int("blocksize", block)]);
            let error = run(blocks, &none()).unwrap_err();
            assert!(error.contains("cannot be divided into blocks"), "{error}");
        }
    }
}

#[test]
fn groups_of_no_channels_have_no_parameters() {
    let norm = with(
        node("GroupNormalization", &["x", "s", "b"], &["y"]),
        &[int("num_groups", 2)],
    );
    let x = tensor::<f32>(&[1, 0, 3], &[]);
    let (scale, bias) = (tensor(&[2], &[1.0_f32; 2]), tensor(&[2], &[0.0_f32; 2]));
    check(
        norm,
        &[("x", x), ("s", scale), ("b", bias)],
        &["f32 [1, 0, 3] []"],
    );
}

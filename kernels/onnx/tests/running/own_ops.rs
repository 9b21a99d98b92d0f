//! Ops with domains of their own, which this test registers.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_onnx::{OnnxCall, OnnxLowering, OnnxOp, OnnxOps, onnx_op};

use super::*;

/// Returns a multiple of the elements, each with an offset.
#[onnx_op(domain = "com.example", name = "Frob", since = 1)]
#[tfrt::prelude::tfrt_op("own.Frob")]
fn frob(
    x: &DenseHostTensor,
    #[attr(default = 2.0)] alpha: f32,
    #[attr(default = 0)] offset: i64,
) -> tfrt::Result<DenseHostTensor> {
    let shifted = x
        .elements::<f32>()?
        .iter()
        .map(|x| alpha * x + offset as f32)
        .collect::<Vec<_>>();
    Ok(tensor(x.shape().extents(), &shifted))
}

/// Returns the number of characters of a text, plus the sum of two lists.
#[tfrt::prelude::tfrt_op("own.Describe")]
#[onnx_op(domain = "com.example", name = "Describe", since = 1)]
fn describe(
    #[attr] text: &str,
    #[attr(default = [])] integers: &[i64],
    #[attr(default = [])] numbers: &[f32],
) -> DenseHostTensor {
    let sums = [
        text.chars().count() as f32,
        integers.iter().sum::<i64>() as f32,
        numbers.iter().fold(0.0, |sum, number| sum + number),
    ];
    tensor(&[3], &sums)
}

/// Returns which of its operands are present: their indices, and then their first elements.
#[onnx_op(domain = "com.example", name = "Present", since = 1)]
#[onnx_op(domain = "com.example", name = "Given", since = 1)]
#[tfrt::prelude::tfrt_op("own.Present")]
fn present(
    operands: tfrt::prelude::Operands<'_, DenseHostTensor>,
    #[attr(default = [])] slots: &[i64],
) -> tfrt::Result<DenseHostTensor> {
    let mut found: Vec<f32> = slots.iter().map(|&slot| slot as f32).collect();
    for operand in operands.iter() {
        found.push(operand.elements::<f32>()?[0]);
    }
    Ok(tensor(&[found.len()], &found))
}

/// Imports a sum of three operands, the last of which may be omitted, and its negation.
#[onnx_op(domain = "com.example", name = "Sum", since = 1)]
fn import_sum(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    call.check_attrs(&["bias", "times", "mode", "axes"])?;
    let (x, y) = (call.operand(0)?, call.operand(1)?);
    let mut sum = call.emit("tf.AddV2", &[x, y], &[], 1)[0];
    if let Some(z) = call.optional_operand(2)? {
        sum = call.emit("tf.AddV2", &[sum, z], &[], 1)[0];
    }
    let bias = call.attr_or("bias", 0.0_f32)?;
    let bias = call.weight(tensor(&[], &[bias]));
    sum = call.emit("tf.AddV2", &[sum, bias], &[], 1)[0];
    for _ in 0..call.required_attr::<i64>("times")? {
        sum = call.emit("tf.Mul", &[sum, sum], &[], 1)[0];
    }
    let negative = call.emit("nn.Neg", &[sum], &[], 1)[0];
    Ok(vec![sum, negative])
}

/// Imports the second version, which is the sum itself and has no attributes.
#[onnx_op(domain = "com.example", name = "Sum", since = 3)]
fn import_newer_sum(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    assert_eq!(call.since(), 3);
    let operands = call.operands()?.into_iter().flatten().collect::<Vec<_>>();
    Ok(call.emit("nn.Max", &operands, &[], 1))
}

/// Flattens its operand to the rank that the second one states, which must be a constant.
#[onnx_op(domain = "com.example", name = "FlattenTo", since = 2)]
fn import_flatten(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
    assert_eq!((call.num_operands(), call.has_operand(1)), (2, true));
    let axis = call
        .constant(1)
        .ok_or_else(|| ImportError::new("expected a constant axis"))?;
    let axis = axis
        .elements::<i64>()
        .map_err(|error| ImportError::new(error.to_string()))?[0];
    let x = call.operand(0)?;
    Ok(call.emit("nn.Flatten", &[x], &[("axis", Attr::Int(axis))], 1))
}

fn own(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        domain: Some("com.example".into()),
        ..node(op, inputs, outputs)
    }
}

fn import_of(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto {
        domain: Some(domain.into()),
        version: Some(version),
    }
}

/// Returns a model that imports this version of `com.example`.
fn model_of(version: i64, graph: GraphProto) -> ModelProto {
    let mut model = model(graph);
    model.opset_import.push(import_of("com.example", version));
    model
}

fn run_own(
    node: NodeProto,
    version: i64,
    inputs: &[(&str, DenseHostTensor)],
) -> Result<Vec<String>, String> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let outputs: Vec<String> = node
        .output
        .iter()
        .filter(|name| !name.is_empty())
        .cloned()
        .collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    run_model(
        &model_of(version, graph(&names, vec![node], &outputs)),
        inputs,
    )
}

fn x() -> (&'static str, DenseHostTensor) {
    ("x", tensor(&[2], &[1.0_f32, 3.0]))
}

fn y() -> (&'static str, DenseHostTensor) {
    ("y", tensor(&[2], &[10.0_f32, 0.5]))
}

fn error_of(node: NodeProto, version: i64) -> String {
    let model = model_of(version, graph(&["x"], vec![node], &["y"]));
    imported(&model).map(drop).unwrap_err()
}

#[test]
fn a_node_calls_an_op_with_its_attributes() {
    let frob = || own("Frob", &["x"], &["y"]);
    assert_eq!(run_own(frob(), 1, &[x()]).unwrap(), ["f32 [2] [2.0, 6.0]"]);
    let given = with(frob(), &[float("alpha", 0.5), int("offset", 4)]);
    assert_eq!(run_own(given, 1, &[x()]).unwrap(), ["f32 [2] [4.5, 5.5]"]);
}

#[test]
fn attributes_of_every_kind_are_passed_by_name() {
    let numbers = AttributeProto {
        name: Some("numbers".into()),
        floats: vec![0.5, 1.0],
        ..Default::default()
    };
    let given = [text("text", "grün"), ints("integers", &[2, 3]), numbers];
    let described = with(own("Describe", &[], &["y"]), &given);
    assert_eq!(
        run_own(described, 1, &[]).unwrap(),
        ["f32 [3] [4.0, 5.0, 1.5]"]
    );
    // An empty list has no type, and is left out.
    let given = [text("text", ""), ints("integers", &[])];
    let described = with(own("Describe", &[], &["y"]), &given);
    let program = imported(&model_of(1, graph(&[], vec![described.clone()], &["y"]))).unwrap();
    assert!(!program.text.contains("integers"), "{}", program.text);
    assert_eq!(
        run_own(described, 1, &[]).unwrap(),
        ["f32 [3] [0.0, 0.0, 0.0]"]
    );
}

#[test]
fn slots_say_which_operands_are_present() {
    for op in ["Present", "Given"] {
        let found = |inputs: &[&str]| run_own(own(op, inputs, &["z"]), 1, &[x(), y()]).unwrap();
        assert_eq!(found(&["x", "y"]), ["f32 [2] [1.0, 10.0]"]);
        assert_eq!(found(&["x", "", "y"]), ["f32 [4] [0.0, 2.0, 1.0, 10.0]"]);
        assert_eq!(found(&["y", "", ""]), ["f32 [1] [10.0]"]);
    }
}

#[test]
fn an_importer_emits_ops() {
    let sum = |inputs: &[&str], outputs: &[&str]| {
        let attributes = [int("times", 1), float("bias", 1.0)];
        let node = with(own("Sum", inputs, outputs), &attributes);
        run_own(node, 1, &[x(), y()])
    };
    assert_eq!(
        sum(&["x", "y"], &["z"]).unwrap(),
        ["f32 [2] [144.0, 20.25]"]
    );
    assert_eq!(
        sum(&["x", "y", "x"], &["z", "n"]).unwrap(),
        ["f32 [2] [169.0, 56.25]", "f32 [2] [-169.0, -56.25]"]
    );
    // A result that is not used.
    assert_eq!(
        sum(&["x", "y"], &["", "n"]).unwrap(),
        ["f32 [2] [-144.0, -20.25]"]
    );
}

#[test]
fn an_importer_reads_constants() {
    let axis = TensorProto {
        name: Some("axis".into()),
        data_type: Some(7),
        dims: vec![1],
        int64_data: vec![1],
        ..Default::default()
    };
    let flatten = own("FlattenTo", &["x", "axis"], &["z"]);
    let graph = GraphProto {
        initializer: vec![axis],
        ..graph(&["x"], vec![flatten], &["z"])
    };
    let x = ("x", tensor(&[2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0]));
    let found = run_model(&model_of(2, graph), &[x]).unwrap();
    assert_eq!(found, ["f32 [2, 2] [1.0, 2.0, 3.0, 4.0]"]);
}

#[test]
fn a_version_of_the_domain_selects_the_op() {
    let sum = |version| {
        let node = own("Sum", &["x", "y"], &["z"]);
        let node = match version {
            ..3 => with(node, &[int("times", 0)]),
            3.. => node,
        };
        run_own(node, version, &[x(), y()]).unwrap()
    };
    assert_eq!(sum(1), ["f32 [2] [11.0, 3.5]"]);
    assert_eq!(sum(2), ["f32 [2] [11.0, 3.5]"]);
    assert_eq!(sum(3), ["f32 [2] [10.0, 3.0]"]);
    assert_eq!(sum(9), ["f32 [2] [10.0, 3.0]"]);
    let found = error_of(own("FlattenTo", &["x", "x"], &["y"]), 1);
    assert!(
        found.ends_with(
            "the operator exists since version 2 of com.example, but the model imports version 1"
        ),
        "{found}"
    );
}

#[test]
fn a_function_of_the_model_comes_before_an_op() {
    let function = FunctionProto {
        name: Some("Frob".into()),
        domain: Some("com.example".into()),
        input: vec!["a".into()],
        output: vec!["b".into()],
        node: vec![node("Neg", &["a"], &["b"])],
        opset_import: vec![import_of("", 20)],
        ..Default::default()
    };
    let mut model = model_of(1, graph(&["x"], vec![own("Frob", &["x"], &["y"])], &["y"]));
    model.functions = vec![function];
    assert_eq!(run_model(&model, &[x()]).unwrap(), ["f32 [2] [-1.0, -3.0]"]);
}

#[test]
fn a_function_imports_domains_itself() {
    let function = |imports: &[OperatorSetIdProto]| FunctionProto {
        name: Some("Twice".into()),
        domain: Some("my".into()),
        input: vec!["a".into()],
        output: vec!["b".into()],
        node: vec![own("Frob", &["a"], &["b"])],
        opset_import: imports.to_vec(),
        ..Default::default()
    };
    let call = NodeProto {
        domain: Some("my".into()),
        ..node("Twice", &["x"], &["y"])
    };
    let mut model = model(graph(&["x"], vec![call], &["y"]));
    model.functions = vec![function(&[import_of("com.example", 1)])];
    assert_eq!(run_model(&model, &[x()]).unwrap(), ["f32 [2] [2.0, 6.0]"]);
    model.opset_import.push(import_of("com.example", 1));
    model.functions = vec![function(&[import_of("", 20)])];
    let found = imported(&model).map(drop).unwrap_err();
    assert!(
        found.ends_with("expected the function to import the domain com.example, found no import"),
        "{found}"
    );
}

#[test]
fn a_domain_must_be_imported() {
    let model = model(graph(&["x"], vec![own("Frob", &["x"], &["y"])], &["y"]));
    assert_eq!(
        imported(&model).map(drop).unwrap_err(),
        "node #0 (Frob) that makes 'y': expected the model to import the domain com.example, found \
         no import"
    );
}

#[test]
fn unknown_ops_of_a_domain_get_the_nearest() {
    let found = error_of(own("Frobb", &["x"], &["y"]), 1);
    assert_eq!(
        found,
        "1 operator is not supported\n  com.example.Frobb\t1 node: node #0 (Frobb) that \
         makes 'y'\n    no operator of this name; did you mean `com.example.Frob`?"
    );
    let elsewhere = NodeProto {
        domain: Some("com.other".into()),
        ..node("Frobb", &["x"], &["y"])
    };
    let found = error_of(elsewhere, 1);
    assert!(found.ends_with("\n    no operator of this name"), "{found}");
}

#[test]
fn attributes_that_do_not_fit_are_errors() {
    let frob =
        |attribute: AttributeProto| error_of(with(own("Frob", &["x"], &["y"]), &[attribute]), 1);
    let at = |message: &str| format!("node #0 (Frob) that makes 'y': {message}");
    assert_eq!(
        frob(int("slots", 1)),
        at("attribute `slots`: the name is reserved for the present operands")
    );
    assert_eq!(
        frob(int("1st", 1)),
        at("attribute `1st`: expected a name of letters, digits and `_`")
    );
    assert_eq!(
        frob(int("a = 1 : i64, alpha", 1)),
        at("attribute `a = 1 : i64, alpha`: expected a name of letters, digits and `_`")
    );
    assert_eq!(
        frob(AttributeProto {
            name: Some("texts".into()),
            strings: vec!["a".into()],
            ..Default::default()
        }),
        at(
            "attribute `texts`: an op has no attribute that is a list of strings: write an \
             importer function"
        )
    );
    assert_eq!(
        frob(AttributeProto {
            name: Some("text".into()),
            s: Some(vec![0xff].into()),
            ..Default::default()
        }),
        at("attribute `text`: expected UTF-8")
    );
    let sum = |attributes: &[AttributeProto]| {
        error_of(with(own("Sum", &["x", "x"], &["y"]), attributes), 1)
    };
    let at = |message: &str| format!("node #0 (Sum) that makes 'y': {message}");
    assert_eq!(
        sum(&[]),
        at("the attribute `times` is missing: expected an integer")
    );
    assert_eq!(
        sum(&[int("times", 1), int("bias", 1)]),
        at("attribute `bias`: expected a number, found an integer")
    );
    assert_eq!(
        sum(&[int("time", 1)]),
        at("unknown attribute `time`; did you mean `times`?")
    );
    assert_eq!(
        error_of(with(own("Sum", &["x"], &["y"]), &[int("times", 1)]), 1),
        at("operand 1 is missing")
    );
}

#[test]
fn too_few_results_of_an_importer_are_an_error() {
    let found = error_of(own("Sum", &["x", "x"], &["y", "z"]), 3);
    assert!(
        found.contains("expected 2 results of the importer at ") && found.ends_with(", found 1"),
        "{found}"
    );
}

#[test]
fn operands_that_are_not_supported_are_told_of_once() {
    let nodes = vec![
        node("ImageDecoder", &["x"], &["a"]),
        own("Frob", &["a"], &["b"]),
        own("Frub", &["b"], &["y"]),
    ];
    let found = imported(&model_of(1, graph(&["x"], nodes, &["y"]))).map(drop);
    let found = found.unwrap_err();
    assert!(
        found.starts_with("2 operators are not supported"),
        "{found}"
    );
    assert!(found.contains("com.example.Frub\t1 node"), "{found}");
}

#[test]
fn ops_are_located_at_the_node() {
    for op in ["Frob", "Sum"] {
        let node = NodeProto {
            name: Some("/scale".into()),
            ..own(op, &["x", "x"], &["y"])
        };
        let program = imported(&model_of(3, graph(&["x"], vec![node], &["y"]))).unwrap();
        let place = format!("loc(\"node '/scale' ({op})\")");
        assert_eq!(program.text.matches(&place).count(), 1, "{}", program.text);
    }
}

#[test]
fn ops_are_added_by_hand() {
    let frob = OnnxOp {
        domain: "com.example",
        name: "Neg",
        since: 1,
        lowering: OnnxLowering::Op("nn.Neg"),
        place: tfrt::ods::SourcePlace {
            file: "by_hand.rs",
            line: 1,
        },
    };
    let file = model_of(1, graph(&["x"], vec![own("Neg", &["x"], &["y"])], &["y"]));
    let model = Model::from_bytes(prost::Message::encode_to_vec(&file), &Limits::default());
    let model = model.unwrap();
    let mut options = Options::default();
    assert!(model.import(&options).is_err());
    options.ops.add(frob);
    assert_eq!(model.import(&options).unwrap().num_ops, 1);
    options.ops.add(frob);
    let error = model.import(&options).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "version 1 of the operator `com.example.Neg` is registered twice: at by_hand.rs:1 and \
             at by_hand.rs:1"
        ),
        "{error}"
    );
    options.ops = OnnxOps::new();
    assert!(model.import(&options).is_err());
}

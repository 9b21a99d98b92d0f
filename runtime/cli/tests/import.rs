//! The options of `tfrt import`, and what programs keep of them.
#![cfg(feature = "onnx")]

use std::path::PathBuf;
use std::process::{Command, Output};

use prost::Message;
use serde_json::Value;
use tfrt_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use tfrt_onnx::proto::type_proto::Tensor as TensorType;
use tfrt_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorAnnotation, TensorProto, TensorShapeProto, TypeProto, ValueInfoProto, attribute_proto,
    type_proto,
};

/// A folder of a test, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tfrt-import-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, model: &ModelProto) -> String {
        std::fs::write(self.0.join(name), model.encode_to_vec()).unwrap();
        self.path(name)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.0.join(name)).unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tfrt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tfrt"))
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let output = tfrt(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn stderr(arguments: &[&str]) -> String {
    let output = tfrt(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeds");
    String::from_utf8(output.stderr).unwrap()
}

enum Dim {
    Number(i64),
    Symbol(&'static str),
}

fn value(name: &str, dims: Option<&[Dim]>) -> ValueInfoProto {
    let shape = dims.map(|dims| {
        let dims = dims.iter().map(|dim| {
            let value = match dim {
                Dim::Number(number) => dimension::Value::DimValue(*number),
                Dim::Symbol(name) => dimension::Value::DimParam((*name).to_owned()),
            };
            Dimension {
                value: Some(value),
                ..Default::default()
            }
        });
        TensorShapeProto {
            dim: dims.collect(),
        }
    });
    let tensor = TensorType {
        elem_type: Some(1),
        shape,
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn node(name: &str, op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        name: Some(name.to_owned()),
        op_type: Some(op.to_owned()),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..Default::default()
    }
}

fn model(opset: i64, graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(opset),
            ..Default::default()
        }],
        graph: Some(graph),
        ..Default::default()
    }
}

/// A matrix of 64 x 64 different numbers.
fn matrix(name: &str, first: usize) -> TensorProto {
    let numbers = (0..64 * 64).map(|at| ((at * 7 + first) % 31) as f32 / 8.0 - 2.0);
    TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(1),
        dims: vec![64, 64],
        raw_data: Some(
            numbers
                .flat_map(f32::to_le_bytes)
                .collect::<Vec<_>>()
                .into(),
        ),
        ..Default::default()
    }
}

/// `y = relu(x w) v` for any number of rows, and `z = -x`.
fn network() -> ModelProto {
    let rows = || [Dim::Symbol("rows"), Dim::Number(64)];
    let mut network = model(
        20,
        GraphProto {
            node: vec![
                node("first", "MatMul", &["x", "w"], "a"),
                node("act", "Relu", &["a"], "b"),
                node("second", "MatMul", &["b", "v"], "y"),
                node("other", "Neg", &["x"], "z"),
            ],
            input: vec![value("x", Some(&rows()))],
            output: vec![value("y", Some(&rows())), value("z", Some(&rows()))],
            initializer: vec![matrix("w", 0), matrix("v", 5)],
            ..Default::default()
        },
    );
    network.doc_string = Some("two products".to_owned());
    network.metadata_props = vec![StringStringEntryProto {
        key: Some("author".to_owned()),
        value: Some("somebody".to_owned()),
    }];
    network
}

/// Runs a model or program on the same random input, and returns the line of `y`.
#[track_caller]
fn line_of_y(file: &str) -> String {
    let shown = stdout(&["run", file, "--input", "x=random:3", "--dim", "rows=40"]);
    let line = shown.lines().find(|line| line.starts_with("y: "));
    line.unwrap_or_else(|| panic!("no line of y: {shown}"))
        .to_owned()
}

/// Imports the network with packed weights. Only with a known number of rows it pays to pack its
/// factors.
#[track_caller]
fn import_packed(file: &str, weights: &str, program: &str) {
    let options = [
        "--quiet",
        "--pack",
        "--dim",
        "rows=40",
        "--weights",
        weights,
    ];
    stdout(&[&["import"], &options[..], &["-o", program, file]].concat());
}

#[test]
fn packed_weights_are_used_where_they_fit() {
    let folder = Folder::new("pack");
    let file = folder.write("n.onnx", &network());
    let expected = line_of_y(&file);
    let (weights, program) = (folder.path("w.safetensors"), folder.path("p.mlir"));
    import_packed(&file, &weights, &program);
    let text = std::fs::read_to_string(&program).unwrap();
    assert!(
        text.contains("name = \"packed/w\", weight = 0 : i64"),
        "{text}"
    );
    let run = |program: &str| {
        let shown = stdout(&["run", program, "--input", "x=random:3"]);
        let line = shown.lines().find(|line| line.starts_with("y: "));
        line.unwrap().to_owned()
    };
    assert_eq!(run(&program), expected);
    let bef = folder.path("p.bef");
    import_packed(&file, &weights, &bef);
    assert_eq!(run(&bef), expected);

    // Another processor: the plain weights are read, and the packed ones are not.
    let other = folder.path("other.mlir");
    assert_eq!(text.matches("columns of f32").count(), 1, "{text}");
    std::fs::write(&other, text.replace("columns of f32", "columns of f33")).unwrap();
    assert_eq!(run(&other), expected);

    let mut bytes = std::fs::read(&weights).unwrap();
    let header_bytes = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + header_bytes]).unwrap();
    assert_eq!(header["__metadata__"]["model"], "n.onnx");
    let sha256 = header["__metadata__"]["model_sha256"].as_str().unwrap();
    assert_eq!(sha256.len(), 64);
    let offset = |name: &str, end: usize| {
        let offset = header[name]["data_offsets"][end].as_u64().unwrap() as usize;
        8 + header_bytes + offset
    };
    for name in ["w", "v", "packed/w", "packed/v"] {
        assert_eq!(offset(name, 0) % 64, 0, "{name} is aligned");
    }
    bytes[offset("packed/w", 0)..offset("packed/w", 1)].fill(0);
    std::fs::write(&weights, &bytes).unwrap();
    assert_ne!(run(&program), expected, "the packed weights are read");
    assert_eq!(run(&other), expected);
}

#[test]
fn tables_of_packed_weights_are_checked() {
    let folder = Folder::new("packed-tables");
    let file = folder.write("n.onnx", &network());
    let (weights, program) = (folder.path("w.safetensors"), folder.path("p.mlir"));
    import_packed(&file, &weights, &program);
    let text = std::fs::read_to_string(&program).unwrap();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}: {text}");
        std::fs::write(&program, text.replace(from, to)).unwrap();
        let error = stderr(&["run", &program, "--input", "x=random"]);
        assert!(error.contains(expected), "{from}: {error}");
    };
    check(
        "weight = 0 : i64",
        "weight = 7 : i64",
        "one of 2 weights, found 7",
    );
    check(
        "weight = 0 : i64",
        "weight = 1 : i64",
        "weight 1 is packed twice",
    );
    check(
        "weight = 0 : i64",
        "weight = -1 : i64",
        "expected at least 0",
    );
    check(
        "func @packed(",
        "func @backed(",
        "expected a function `packed`",
    );
    check("{layout = ", "{layouts = ", "attribute `layout`");
    let row = text.lines().find(|line| line.contains("weight = 1 : i64"));
    check(&format!("{}\n", row.unwrap()), "", "expected a packed");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = Folder::new("contradictions");
    let file = folder.write("n.onnx", &network());
    let program = folder.path("p.mlir");
    for (arguments, expected) in [
        (
            &["--pack", "-o", &program][..],
            "`--pack` requires `--weights FILE`",
        ),
        (
            &["--stage", "onnx", "-o", "p.bef"],
            "`--stage onnx` writes text",
        ),
        (
            &["--stage", "onnx", "--report", "r.json"],
            "`--report` does not apply to `--stage onnx`",
        ),
        (&["--function", "main"], "which ONNX models do not have"),
        (
            &["--dim", "row=3"],
            "no input has a dimension `row`; did you mean `rows`?",
        ),
        (&["--dim", "rows=x"], "expected a number, found `x`"),
        (&["--dim", "rows"], "expected `--dim NAME=VALUE`"),
        (&["--shape", "x=2xn"], "such as `2x3x?`"),
        (&["--shape", "q=2"], "unknown input `q`"),
        (&["--from", "stablehlo"], "n.onnx"),
    ] {
        let arguments = [&["import"], arguments, &[&file]].concat();
        let error = stderr(&arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(!folder.0.join("p.mlir").exists());
}

#[test]
fn dimensions_and_shapes_are_those_of_the_program() {
    let folder = Folder::new("dims");
    let file = folder.write("n.onnx", &network());
    let program = folder.path("p.mlir");
    let import = |options: &[&str]| {
        let arguments = [&["import", "--quiet", "-o", &program], options, &[&file]].concat();
        stdout(&arguments);
        std::fs::read_to_string(&program).unwrap()
    };
    let text = import(&["--dim", "rows=3"]);
    assert_eq!(
        text.matches("dims = [3 : i64, 64 : i64]").count(),
        3,
        "{text}"
    );
    let error = stderr(&["run", &file, "--arg", "x=1.0"]);
    assert!(
        error.contains("`--input` gives inputs of models"),
        "{error}"
    );
    let error = stderr(&["run", &program, "--input", "x=[[1.0]]"]);
    assert!(
        error.contains("expected f32 [3, 64], found f32 [1, 1]"),
        "{error}"
    );
    let text = import(&["--shape", "x=?x64"]);
    assert!(
        text.contains("name = \"x\", type = f32, rank = 2 : i64, dims = [-1 : i64, 64 : i64]}"),
        "{text}"
    );
    assert!(!stdout(&["import", "--dim", "rows=3", &file]).contains("symbols: "));
    assert!(stdout(&["import", &file]).contains("symbols: rows\n"));
    let text = stdout(&["import", "--shape", "x=?x64", &file]);
    assert!(text.contains("dimensions without a name: x.0\n"), "{text}");
}

#[test]
fn only_what_wanted_outputs_need_is_converted() {
    let folder = Folder::new("wanted");
    let mut network = network();
    let graph = network.graph.as_mut().unwrap();
    graph.node.push(node("strange", "Strange", &["x"], "s"));
    graph.input.push(value("unused", None));
    let file = folder.write("n.onnx", &network);
    assert!(stderr(&["import", &file]).contains("1 operator is not supported"));
    let shown = stdout(&["import", "--output", "z", &file]);
    assert!(shown.contains("program: 1 op, 0 weights"), "{shown}");
    let program = folder.path("p.mlir");
    stdout(&["import", "--quiet", "--output", "z", "-o", &program, &file]);
    let shown = stdout(&["run", &program, "--input", "x=zeros"]);
    assert!(shown.starts_with("z: "), "{shown}");
    let error = stderr(&["import", "--output", "zz", &file]);
    assert!(
        error.contains("unknown value 'zz'; did you mean"),
        "{error}"
    );
}

#[test]
fn the_report_has_everything() {
    let folder = Folder::new("report");
    let mut network_with_more = network();
    let graph = network_with_more.graph.as_mut().unwrap();
    graph
        .quantization_annotation
        .push(TensorAnnotation::default());
    let file = folder.write("n.onnx", &network_with_more);
    let report = folder.path("r.json");
    let shown = stdout(&[
        "import",
        "--report",
        &report,
        "-o",
        &folder.path("p.mlir"),
        &file,
    ]);
    assert!(
        shown.contains("documentation: two products\nmetadata `author`: somebody\n"),
        "{shown}"
    );
    assert!(
        shown.contains("initializers: 2, 8192 parameters, 32768 bytes\n"),
        "{shown}"
    );
    let found = folder.json("r.json");
    assert_eq!(found["version"], 1);
    assert_eq!(found["opsets"]["ai.onnx"], 20);
    assert_eq!(found["inputs"][0]["type"], "FLOAT [rows, 64]");
    assert_eq!(found["symbols"][0], "rows");
    assert_eq!(found["nodes"]["MatMul"], 2);
    assert_eq!(found["initializers"]["elements"], 8192);
    let program = &found["program"];
    assert_eq!(program["ops_before_rewrites"], 4);
    assert_eq!(program["num_ops"], 3);
    assert_eq!(program["ops"]["nn.MatMul"], 2);
    assert_eq!(program["rewrites"]["fuse-activation"], 1);
    assert_eq!(program["weights"]["bytes"], 32768);
    assert_eq!(program["weights"]["in_place_bytes"], 32768);
    assert_eq!(program["weights"]["copied_bytes"], 0);
    assert_eq!(found["outputs"][0]["inferred"], "f32 [rows, 64]");
    assert_eq!(found["constraints"][0], "dimension 1 of `x` is 64");
    assert_eq!(found["ignored"]["quantization annotations"], "1");
    let stage = |at: usize| &program["stages"][at];
    assert_eq!(
        (&stage(0)["stage"], &stage(0)["ops"]),
        (&"nodes".into(), &4.into())
    );
    assert_eq!(
        (&stage(1)["stage"], &stage(1)["ops"]),
        (&"ops".into(), &4.into())
    );
    let stages = program["stages"].as_array().unwrap();
    let last = stages.last().unwrap();
    assert_eq!(
        (&last["stage"], &last["ops"]),
        (&"equal ops made".into(), &3.into())
    );
    // The first product lives until the second one is made, and the other result to the end.
    assert_eq!(program["arena"]["bytes"], "512*rows");
    assert_eq!(program["arena"]["lower_bound_bytes"], "512*rows");
    assert_eq!(program["arena"]["num_unknown"], 0);
    assert_eq!(program["layout_regions"], Value::Array(Vec::new()));

    let shown = stdout(&["import", &file]);
    for line in [
        "constraints: dimension 1 of `x` is 64\n",
        "inferred outputs: y: f32 [rows, 64]; z: f32 [rows, 64]\n",
        "stages: nodes 4, ops 4, fold 4, ",
        "arena: 512*rows bytes, at least 512*rows\n",
        "weights: 32768 bytes in place, 0 copied\n",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let shown = stdout(&["import", "--dim", "rows=10", &file]);
    assert!(
        shown.contains("arena: 5120 bytes, at least 5120\n"),
        "{shown}"
    );

    let mut lacks = network();
    let graph = lacks.graph.as_mut().unwrap();
    for index in 0..5 {
        let name = format!("strange{index}");
        graph.node.push(node(&name, "Strange", &["x"], &name));
    }
    let file = folder.write("lacks.onnx", &lacks);
    let error = stderr(&["import", "--quiet", &file]);
    assert!(
        error.contains("5 nodes: strange0, strange1, strange2, …"),
        "{error}"
    );
    assert!(error.contains("`--list-all` names every node"), "{error}");
    let error = stderr(&["import", "--quiet", "--list-all", &file]);
    assert!(error.contains("strange2, strange3, strange4\n"), "{error}");
    let report = stdout_of_failure(&["import", "--report", "-", &file]);
    let found: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(found["unsupported"][0]["kind"], "operator");
    assert_eq!(found["unsupported"][0]["nodes"][4], "strange4");
    assert!(found["program"].is_null());
}

#[track_caller]
fn stdout_of_failure(arguments: &[&str]) -> String {
    let output = tfrt(arguments);
    assert!(!output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn programs_are_written_in_three_forms() {
    let folder = Folder::new("stages");
    let mut network = network();
    let graph = network.graph.as_mut().unwrap();
    let branch = |op: &str| GraphProto {
        name: Some(op.to_owned()),
        node: vec![node("inner", op, &["z"], "r")],
        output: vec![value("r", None)],
        ..Default::default()
    };
    let graph_attribute = |name: &str, op: &str| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(attribute_proto::AttributeType::Graph as i32),
        g: Some(branch(op)),
        ..Default::default()
    };
    graph.node.push(NodeProto {
        attribute: vec![
            graph_attribute("then_branch", "Abs"),
            graph_attribute("else_branch", "Neg"),
        ],
        ..node("choose", "If", &["c"], "chosen")
    });
    let mut condition = value("c", Some(&[]));
    if let Some(type_proto::Value::TensorType(tensor)) =
        &mut condition.r#type.as_mut().unwrap().value
    {
        tensor.elem_type = Some(9);
    }
    graph.input.push(condition);
    graph.output.push(value("chosen", None));
    let file = folder.write("n.onnx", &network);
    let text = |stage: &str| stdout(&["import", "--stage", stage, "-o", "-", &file]);
    let nodes = text("onnx");
    assert!(
        nodes.contains("\"onnx.MatMul\"(%v0, %v2) : (tensor<?x64xf32>, tensor<64x64xf32>)"),
        "{nodes}"
    );
    assert!(
        nodes.contains("graphs = [\"else_branch\", \"then_branch\"]"),
        "{nodes}"
    );
    assert!(nodes.contains("loc(\"node 'choose' (If)\")"), "{nodes}");
    // What is written can be read and written again.
    let path = folder.path("nodes.mlir");
    std::fs::write(&path, &nodes).unwrap();
    let again = stdout(&["opt", "--allow-unregistered-dialect", &path]);
    assert!(again.contains("onnx.MatMul"), "{again}");

    let ops = text("ops");
    assert!(ops.contains("\"nn.Relu\""), "{ops}");
    let kernels = text("kernels");
    assert!(!kernels.contains("\"nn.Relu\""), "{kernels}");
    assert_eq!(kernels, stdout(&["import", "-o", "-", &file]));
}

#[test]
fn newer_operator_sets_are_read_if_that_is_assumed() {
    let folder = Folder::new("opset");
    let graph = GraphProto {
        node: vec![
            node("n", "Relu", &["x"], "y"),
            node("m", "Neg", &["y"], "z"),
        ],
        input: vec![value("x", None)],
        output: vec![value("z", None)],
        ..Default::default()
    };
    let file = folder.write("new.onnx", &model(99, graph.clone()));
    let error = stderr(&["import", "--quiet", &file]);
    assert!(error.contains("1 opset is not supported"), "{error}");
    assert!(error.contains("2 nodes: n, m"), "{error}");
    let output = tfrt(&["import", "--quiet", "--assume-opset", &file]);
    assert!(output.status.success());
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(
        warning.contains("warning: opset 99 of ai.onnx is read as"),
        "{warning}"
    );

    // Of the set after the newest known one, it is known which operators it changed.
    let file = folder.write("next.onnx", &model(28, graph.clone()));
    let output = tfrt(&["import", "--quiet", &file]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.is_empty(), "{told}");
    let mut changed = graph.clone();
    changed.node.push(node("u", "Unique", &["x"], "u"));
    changed.node.push(node("s", "SwiGLU", &["x"], "s"));
    let file = folder.write("changed.onnx", &model(28, changed));
    let error = stderr(&["import", "--quiet", &file]);
    for part in [
        "2 operator versions are not supported",
        "Unique in opset 28\t1 node: u\n    opset 28 changed the operator, and the newest known is",
        "SwiGLU in opset 28\t1 node: s",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = stderr(&["import", "--quiet", "--assume-opset", &file]);
    assert!(error.contains("1 operator is not supported"), "{error}");

    // An operator that is younger than the set is reported with all others.
    let mut old = graph;
    old.node.push(node("g", "Gelu", &["x"], "g"));
    old.node.push(node("s", "Strange", &["x"], "s"));
    let file = folder.write("old.onnx", &model(13, old));
    let error = stderr(&["import", "--quiet", &file]);
    for part in [
        "1 operator and 1 operator version are not supported",
        "Gelu in opset 13\t1 node: g\n    the operator exists since opset 20",
        "Strange",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn models_are_detected_by_their_content() {
    let folder = Folder::new("content");
    let network = network();
    // The fields of a message may be in any order.
    let first = ModelProto {
        graph: network.graph.clone(),
        ..Default::default()
    };
    let rest = ModelProto {
        graph: None,
        ..network
    };
    let bytes = [first.encode_to_vec(), rest.encode_to_vec()].concat();
    std::fs::write(folder.0.join("n"), bytes).unwrap();
    line_of_y(&folder.path("n"));
}

#[test]
fn threads_and_types_of_inputs_are_chosen() {
    let folder = Folder::new("run");
    let file = folder.write("n.onnx", &network());
    let run = |options: &[&str]| {
        let given = ["run", &file, "--input", "x=random", "--dim", "rows=40"];
        stdout(&[&given[..], options].concat())
    };
    assert_eq!(run(&["--threads", "1"]), run(&["--threads", "3"]));
    let error = stderr(&["run", &file, "--threads", "2", "--work_queue_type=s"]);
    assert!(error.contains("cannot be used with"), "{error}");

    let integers = folder.path("x.npy");
    let small = stdout(&[
        "import",
        "--quiet",
        "--shape",
        "x=2",
        "--output",
        "z",
        "-o",
        &folder.path("z.mlir"),
        &file,
    ]);
    assert_eq!(small, "");
    let tensor = tfrt_tensor::DenseHostTensor::vector(&[3_i64, -4]).unwrap();
    let bytes = tfrt_tensor::file::FileFormat::Npy
        .write(&[tfrt_tensor::file::NamedTensor::new("x", tensor)])
        .unwrap();
    std::fs::write(&integers, bytes).unwrap();
    let program = folder.path("z.mlir");
    let input = format!("x={integers}");
    let error = stderr(&["run", &program, "--input", &input]);
    assert!(error.contains("expected f32 [2], found i64 [2]"), "{error}");
    let shown = stdout(&["run", &program, "--input", &input, "--cast-inputs"]);
    assert!(
        shown.contains("z: f32 [2]") && shown.contains("-3"),
        "{shown}"
    );
    let error = stderr(&["run", &file, "--input", "x=random", "--dim", "row=4"]);
    assert!(
        error.contains("no input has a dimension `row`; did you mean `rows`?"),
        "{error}"
    );
}

#[test]
fn channels_stay_in_place_if_that_is_asked_for() {
    let folder = Folder::new("layout");
    let image = [1, 3, 8, 8].map(Dim::Number);
    let numbers = (0..4 * 3 * 9).map(|at| (at % 5) as f32);
    let filter = TensorProto {
        name: Some("f".to_owned()),
        data_type: Some(1),
        dims: vec![4, 3, 3, 3],
        raw_data: Some(
            numbers
                .flat_map(f32::to_le_bytes)
                .collect::<Vec<_>>()
                .into(),
        ),
        ..Default::default()
    };
    let graph = GraphProto {
        node: vec![node("c", "Conv", &["x", "f"], "y")],
        input: vec![value("x", Some(&image))],
        output: vec![value("y", None)],
        initializer: vec![filter],
        ..Default::default()
    };
    let file = folder.write("c.onnx", &model(20, graph));
    let text = |layout: &str| stdout(&["import", "--layout", layout, "-o", "-", &file]);
    assert!(text("auto").contains("channels_last = true"));
    assert!(!text("as-is").contains("channels_last"));
    let described = stdout(&["import", &file]);
    let region = "channels last: 1 op from node 'c' (Conv) to node 'c' (Conv)\n";
    assert!(described.contains(region), "{described}");
    let run = |layout: &str| {
        let shown = stdout(&["run", &file, "--input", "x=random", "--layout", layout]);
        let numbers = shown.split(": ").last().unwrap().split(", ");
        let numbers: Vec<f32> = numbers.filter_map(|number| number.parse().ok()).collect();
        assert_eq!(numbers.len(), 6, "{shown}");
        numbers
    };
    for (a, b) in run("auto").into_iter().zip(run("as-is")) {
        assert!((a - b).abs() < 1e-4, "{a} and {b}");
    }
}

#[test]
fn inputs_of_stablehlo_have_types() {
    let folder = Folder::new("stablehlo");
    let text = "func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.abs %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.negate %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
";
    let file = folder.path("m.mlir");
    std::fs::write(&file, text).unwrap();
    let shown = stdout(&["run", &file, "--input", "arg0=random"]);
    assert!(shown.starts_with("result0: f32 [2]"), "{shown}");
    let error = stderr(&["run", &file, "--input", "arg0=[1.0, 2.0, 3.0]"]);
    assert!(error.contains("expected f32 [2], found f32 [3]"), "{error}");
    let program = folder.path("p.mlir");
    stdout(&[
        "import",
        "--quiet",
        "--function",
        "other",
        "-o",
        &program,
        &file,
    ]);
    let shown = stdout(&["run", &program, "--input", "arg0=[-1.0, 2.0]"]);
    assert!(
        shown.contains(": [1, 2]") || shown.contains("minimum 1"),
        "{shown}"
    );
    let error = stderr(&["import", "--dim", "n=1", &file]);
    assert!(error.contains("`--dim` applies to ONNX models"), "{error}");
}

#[test]
fn programs_know_which_inputs_are_lists_or_may_be_absent() {
    let folder = Folder::new("lists");
    let tensor_type = || TypeProto {
        value: Some(type_proto::Value::TensorType(TensorType {
            elem_type: Some(1),
            shape: None,
        })),
        ..Default::default()
    };
    let sequence = type_proto::Sequence {
        elem_type: Some(Box::new(tensor_type())),
    };
    let optional = type_proto::Optional {
        elem_type: Some(Box::new(tensor_type())),
    };
    let of_type = |name: &str, value: type_proto::Value| ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            value: Some(value),
            ..Default::default()
        }),
        ..Default::default()
    };
    let graph = GraphProto {
        node: vec![
            node("len", "SequenceLength", &["s"], "n"),
            node("copy", "Identity", &["s"], "t"),
            node("has", "OptionalHasElement", &["o"], "h"),
        ],
        input: vec![
            of_type(
                "s",
                type_proto::Value::SequenceType(Box::new(sequence.clone())),
            ),
            of_type("o", type_proto::Value::OptionalType(Box::new(optional))),
        ],
        output: vec![
            value("n", None),
            of_type("t", type_proto::Value::SequenceType(Box::new(sequence))),
            value("h", None),
        ],
        ..Default::default()
    };
    let mut graph = graph;
    for (index, elem_type) in [(0, 7), (2, 9)] {
        if let Some(type_proto::Value::TensorType(tensor)) =
            &mut graph.output[index].r#type.as_mut().unwrap().value
        {
            tensor.elem_type = Some(elem_type);
        }
    }
    let file = folder.write("n.onnx", &model(20, graph));
    let (program, bef) = (folder.path("p.mlir"), folder.path("p.bef"));
    for program in [&program, &bef] {
        stdout(&["import", "--quiet", "-o", program, &file]);
    }
    let text = std::fs::read_to_string(&program).unwrap();
    assert!(
        text.contains("{name = \"s\", form = \"sequence\", elements = f32}"),
        "{text}"
    );
    let tensors = [1.0_f32, 2.0].map(|x| tfrt_tensor::DenseHostTensor::vector(&[x]).unwrap());
    let list = tfrt_tensor::ListHostTensor::new(tfrt_support::DType::F32, tensors.to_vec());
    let list = list.unwrap();
    let ty = tfrt_onnx::graph::ValueType::of_list(tfrt_import::ListType {
        is_sequence: true,
        is_optional: false,
        dtype: Some(tfrt_support::DType::F32),
    });
    let bytes = tfrt_onnx::tensor_file::write_value("s", &list.into(), &ty).unwrap();
    std::fs::write(folder.0.join("s.pb"), bytes).unwrap();
    let input = format!("s={}", folder.path("s.pb"));
    let run = |file: &str| {
        let to = folder.path("t.pb");
        let output = format!("t={to}");
        let shown = stdout(&["run", file, "--input", &input]);
        stdout(&["run", file, "--input", &input, "--output", &output]);
        (shown, std::fs::read(to).unwrap())
    };
    let expected = run(&file);
    assert!(
        expected.0.contains("n: i64 []") && expected.0.contains("h: i1 []"),
        "{}",
        expected.0
    );
    assert_eq!(run(&program), expected);
    assert_eq!(run(&bef), expected);

    let wrong = text.replace("form = \"sequence\"", "form = \"series\"");
    std::fs::write(&program, wrong).unwrap();
    let error = stderr(&["run", &program, "--input", &input]);
    assert!(error.contains("unknown form `series`"), "{error}");
}

#[test]
fn values_of_optional_inputs_can_be_replaced() {
    let folder = Folder::new("optional");
    let bias = TensorProto {
        name: Some("b".to_owned()),
        data_type: Some(1),
        dims: vec![1],
        raw_data: Some(10.0_f32.to_le_bytes().to_vec().into()),
        ..Default::default()
    };
    let graph = GraphProto {
        node: vec![node("n", "Add", &["x", "b"], "y")],
        input: vec![value("x", None), value("b", None)],
        output: vec![value("y", None)],
        initializer: vec![bias],
        ..Default::default()
    };
    let file = folder.write(
        "old.onnx",
        &ModelProto {
            ir_version: Some(3),
            ..model(8, graph)
        },
    );
    let shown = stdout(&["import", &file]);
    assert!(shown.contains("inputs that have values: 1\n"), "{shown}");
    let run = |inputs: &[&str]| {
        let inputs = inputs.iter().flat_map(|input| ["--input", input]);
        stdout(&["run", &file].into_iter().chain(inputs).collect::<Vec<_>>())
    };
    assert!(run(&["x=[1.0]"]).contains("maximum 11,"));
    assert!(run(&["x=[1.0]", "b=[2.0]"]).contains("maximum 3,"));
    let error = stderr(&["run", &file, "--input", "x=[1.0]", "--input", "c=[2.0]"]);
    assert!(error.contains("unknown input `c`"), "{error}");
}

#[test]
fn equal_weights_are_stored_once() {
    let folder = Folder::new("equal");
    let named = |name: &str, first: usize| TensorProto {
        name: Some(name.to_owned()),
        ..matrix("", first)
    };
    // The third differs in one number in its middle.
    let mut almost = named("c", 0);
    let mut bytes = almost.raw_data.take().unwrap().to_vec();
    bytes[8000] ^= 1;
    almost.raw_data = Some(bytes.into());
    let graph = GraphProto {
        node: vec![
            node("p", "Add", &["x", "a"], "p"),
            node("q", "Mul", &["p", "b"], "q"),
            node("r", "Sub", &["q", "c"], "r"),
        ],
        input: vec![value("x", Some(&[64, 64].map(Dim::Number)))],
        output: vec![value("r", None)],
        initializer: vec![named("a", 0), named("b", 0), almost],
        ..Default::default()
    };
    let file = folder.write("n.onnx", &model(20, graph));
    let (program, weights) = (folder.path("p.mlir"), folder.path("w.safetensors"));
    stdout(&[
        "import",
        "--quiet",
        "--weights",
        &weights,
        "-o",
        &program,
        &file,
    ]);
    let text = std::fs::read_to_string(&program).unwrap();
    let places = text
        .lines()
        .filter(|line| line.contains("\"model.weight\""));
    let places = places.map(|line| line.split("offset = ").last().unwrap());
    let places: Vec<&str> = places.collect();
    assert!(
        places[0] == places[1] && places[1] != places[2],
        "{places:?}"
    );
    let len_bytes = std::fs::metadata(&weights).unwrap().len();
    assert!(
        (2 * 16_384..2 * 16_384 + 1024).contains(&len_bytes),
        "{len_bytes}"
    );
    let run = |file: &str| stdout(&["run", file, "--input", "x=random"]);
    assert_eq!(run(&program), run(&file));
    assert_eq!(
        run(&file),
        stdout(&["run", &file, "--input", "x=random", "--no-fuse"])
    );
}

//! The commands for models, run as a user runs them.
#![cfg(feature = "onnx")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use prost::Message;
use tfrt_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorAnnotation,
    TensorProto, TrainingInfoProto, ValueInfoProto,
};
use tfrt_onnx::tensor_file;
use tfrt_tensor::DenseHostTensor;

/// A folder of this test, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tfrt-models-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a case with one node, an input, and what is expected.
fn case(folder: &Folder, name: &str, op: &str, x: &[f32], y: &[f32]) -> String {
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let node = NodeProto {
        op_type: Some(op.into()),
        input: vec!["x".into()],
        output: vec!["y".into()],
        ..Default::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(GraphProto {
            node: vec![node],
            input: vec![value("x")],
            output: vec![value("y")],
            ..Default::default()
        }),
        ..Default::default()
    };
    let folder = folder.0.join(name);
    let data = folder.join("test_data_set_0");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(folder.join("model.onnx"), model.encode_to_vec()).unwrap();
    let write = |file: &str, elements: &[f32]| {
        let tensor = DenseHostTensor::vector(elements).unwrap();
        std::fs::write(data.join(file), tensor_file::write("t", &tensor).unwrap()).unwrap();
    };
    write("input_0.pb", x);
    write("output_0.pb", y);
    folder.to_string_lossy().into_owned()
}

fn tfrt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tfrt"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Runs a command that has to end although something in it does not.
#[track_caller]
fn tfrt_that_ends(arguments: &[&str]) -> Output {
    // Generous for any machine, and far less than what is left behind takes.
    const LIMIT: Duration = Duration::from_secs(300);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tfrt"));
    command.args(arguments);
    // What the command writes is short, so that it does not wait for a reader.
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments:?} did not end within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn cases_pass_or_fail_by_their_outputs() {
    let folder = Folder::new("cases");
    case(&folder, "right", "Relu", &[-1.0, 2.0], &[0.0, 2.0]);
    case(&folder, "wrong", "Relu", &[-1.0, 2.0], &[0.0, 3.0]);
    case(&folder, "unknown", "Rellu", &[1.0], &[1.0]);
    let all = folder.0.to_string_lossy().into_owned();
    let found = tfrt(&["test-model", &all]);
    let shown = text(&found.stdout);
    assert!(!found.status.success());
    for line in [
        "Relu\t1 of 2\n",
        "wrong: wrong: data set 0, output `y`: 1 of 2 elements are wrong; largest error at \
         element 1: expected 3e0, found 2e0\n",
        "unknown: unsupported: ",
        "3 cases: 1 pass, 1 wrong, 1 unsupported\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let events = folder.0.join("events");
    let outputs = folder.0.join("outputs");
    let found = tfrt(&[
        "test-model",
        "--filter",
        "right",
        "--events",
        &events.to_string_lossy(),
        "--outputs",
        &outputs.to_string_lossy(),
        &all,
    ]);
    assert!(found.status.success(), "{}", text(&found.stdout));
    let events = std::fs::read_to_string(events).unwrap();
    assert!(events.starts_with("{\"event\":\"begin\",\"case\":\"right\"}\n{\"event\":\"end\",\"case\":\"right\",\"status\":\"pass\""));
    assert!(outputs.join("right/test_data_set_0/output_0.pb").is_file());
}

#[test]
fn tools_for_programs_take_models() {
    let folder = Folder::new("programs");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    let drawn = tfrt(&["graph", &model]);
    assert!(
        text(&drawn.stdout).contains("nn.Relu"),
        "{}",
        text(&drawn.stderr)
    );
    let dumped = tfrt(&["inspect", &model]);
    assert!(
        text(&dumped.stdout).contains("corert.executeop"),
        "{}",
        text(&dumped.stderr)
    );
}

#[test]
fn what_a_model_says_beside_its_nodes_is_inspected() {
    let folder = Folder::new("notes");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let file = format!("{case}/model.onnx");
    let mut model = ModelProto::decode(&*std::fs::read(&file).unwrap()).unwrap();
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].doc_string = Some("cuts".into());
    graph.quantization_annotation.push(TensorAnnotation {
        tensor_name: Some("x".into()),
        ..Default::default()
    });
    model.training_info.push(TrainingInfoProto::default());
    std::fs::write(&file, model.encode_to_vec()).unwrap();
    let shown = text(&tfrt(&["inspect", &file]).stdout);
    let expected = "training information 0: 0 nodes for initialization; 0 nodes for the algorithm\n\
                    quantization annotation of `x`\n\
                    documentation of node #0 (Relu): cuts\n";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains("corert.executeop"), "{shown}");
}

#[test]
fn a_model_runs_on_tensors_from_files() {
    let folder = Folder::new("run");
    let case = case(&folder, "relu", "Relu", &[-1.0, 2.0], &[0.0, 2.0]);
    let model = format!("{case}/model.onnx");
    let input = format!("x={case}/test_data_set_0/input_0.pb");
    let found = tfrt(&["run", &model, "--input", &input]);
    assert_eq!(
        text(&found.stdout),
        "y: f32 [2], minimum 0, mean 1, maximum 2, 0 NaN: 0.000000e+00, 2.000000e+00\n",
        "{}",
        text(&found.stderr)
    );
    let written = format!("{case}/y.npy");
    let output = format!("y={written}");
    assert!(
        tfrt(&["run", &model, "--input", &input, "--output", &output])
            .status
            .success()
    );
    let listed = tfrt(&["tensors", "--print", "0", &written]);
    assert!(
        text(&listed.stdout).contains("0.000000e+00, 2.000000e+00"),
        "{}",
        text(&listed.stdout)
    );
    let missing = tfrt(&["run", &model]);
    assert_eq!(text(&missing.stderr), "error: missing inputs: x: unknown\n");
}

#[test]
fn errors_of_a_run_name_the_file_and_the_node() {
    let folder = Folder::new("errors");
    let case = case(&folder, "det", "Det", &[1.0, 2.0], &[]);
    let model = format!("{case}/model.onnx");
    let input = format!("x={case}/test_data_set_0/input_0.pb");
    let found = tfrt(&["run", &model, "--input", &input]);
    let found = text(&found.stderr);
    let start = format!("error: {model}: node #0 (Det) that makes 'y': ");
    assert!(
        found.starts_with(&start) && !found.contains("nn."),
        "{found}"
    );
}

/// Returns what a run tells of the node that ran when its time was over, and the time that it had.
/// On a machine that is slow, no node runs yet after a short time.
#[track_caller]
fn told_at_the_end(model: &str, option: &str, others: &[&str]) -> (String, &'static str) {
    let times = ["100ms", "400ms", "1.6s", "6.4s", "25.6s"];
    let mut told = String::new();
    for time in times {
        let found = tfrt_that_ends(&[&["run", model, option, time], others].concat());
        assert!(!found.status.success());
        told = text(&found.stderr);
        if let Some(node) = told.strip_prefix(&format!("error: {model}: node ")) {
            return (node.to_owned(), time);
        }
    }
    panic!("no node is named: {told}");
}

#[test]
fn a_loop_without_end_ends_with_the_deadline() {
    let folder = Folder::new("deadline");
    let model = endless(&folder);
    for (option, reason) in [
        (
            "--deadline",
            "'main' was cancelled here: it did not end within",
        ),
        ("--timeout", "gave up here after"),
    ] {
        for queue in ["s", "mstd:2"] {
            let (node, time) = told_at_the_end(&model, option, &["--work_queue_type", queue]);
            assert!(node.ends_with(&format!(": {reason} {time}\n")), "{node}");
        }
    }
}

#[test]
fn a_node_that_does_not_stop_is_named_and_left_behind() {
    const LEN: usize = 4 << 20;
    let folder = Folder::new("unstoppable");
    let case = case(&folder, "pool", "LpPool", &[], &[]);
    let model = format!("{case}/model.onnx");
    // Two million windows of two million elements: hours, in one block that no deadline stops.
    let mut pooling = ModelProto::decode(&std::fs::read(&model).unwrap()[..]).unwrap();
    let graph = pooling.graph.as_mut().unwrap();
    graph.node[0].attribute = vec![AttributeProto {
        name: Some("kernel_shape".into()),
        r#type: Some(7),
        ints: vec![LEN as i64 / 2],
        ..Default::default()
    }];
    std::fs::write(&model, pooling.encode_to_vec()).unwrap();
    let x = TensorProto {
        data_type: Some(1),
        dims: vec![1, 1, LEN as i64],
        raw_data: Some(vec![0; 4 * LEN].into()),
        ..Default::default()
    };
    let file = format!("{case}/x.pb");
    std::fs::write(&file, x.encode_to_vec()).unwrap();
    let input = format!("x={file}");
    for queue in ["s", "mstd:2"] {
        let options = ["--input", &input, "--work_queue_type", queue];
        let (node, time) = told_at_the_end(&model, "--deadline", &options);
        let expected = format!(
            "#0 (LpPool) that makes 'y': 'main' was cancelled here: it did not end within {time}\n"
        );
        assert_eq!(node, expected);
    }
}

#[test]
fn the_memory_of_a_model_is_limited() {
    let folder = Folder::new("memory");
    let case = case(&folder, "relu", "Relu", &[0.0; 4096], &[0.0; 4096]);
    let model = format!("{case}/model.onnx");
    let input = format!("x={case}/test_data_set_0/input_0.pb");
    let run = |limit: &str| tfrt(&["run", &model, "--input", &input, "--memory-limit", limit]);
    assert!(run("1M").status.success());
    let found = run("4K");
    assert!(!found.status.success());
    assert!(text(&found.stderr).starts_with(&format!("error: {model}: ")));
}

#[test]
fn inputs_of_models_are_refused_for_programs() {
    let folder = Folder::new("program");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    // A program that was not imported has no table of its inputs.
    let printed = tfrt(&["import", "--quiet", "-o", "-", &model]);
    let program = format!("{case}/plain.mlir");
    std::fs::write(&program, &printed.stdout).unwrap();
    for (option, value) in [("--input", "=x=x.npy"), ("--verify-weights", "")] {
        let found = tfrt(&["run", &program, &format!("{option}{value}")]);
        assert!(!found.status.success());
        assert_eq!(
            text(&found.stderr),
            format!(
                "error: `{option}` applies to models, but the file is a program; `--arg` gives \
                 arguments of functions\n"
            )
        );
    }
    let bef_file = format!("{case}/p.bef");
    let imported = tfrt(&["import", "--quiet", "-o", &bef_file, &model]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    // The name of the file selects the format.
    let printed = tfrt(&["translate", "--bef-to-mlir", &bef_file]);
    assert!(
        text(&printed.stdout).contains("nn.Relu"),
        "{}",
        text(&printed.stderr)
    );
}

/// Writes a model that never ends, and has no inputs.
fn endless(folder: &Folder) -> String {
    use tfrt_onnx::proto::AttributeProto;
    use tfrt_onnx::proto::attribute_proto::AttributeType;
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let node = |op: &str, inputs: &[&str], outputs: &[&str]| NodeProto {
        op_type: Some(op.into()),
        input: inputs.iter().map(|&name| name.into()).collect(),
        output: outputs.iter().map(|&name| name.into()).collect(),
        ..Default::default()
    };
    let body = GraphProto {
        name: Some("body".into()),
        node: vec![
            node("Identity", &["go"], &["on"]),
            node("Add", &["s", "s"], &["t"]),
        ],
        input: ["i", "go", "s"].map(value).into(),
        output: ["on", "t"].map(value).into(),
        ..Default::default()
    };
    let repeat = NodeProto {
        attribute: vec![AttributeProto {
            name: Some("body".into()),
            r#type: Some(AttributeType::Graph as i32),
            g: Some(body),
            ..Default::default()
        }],
        ..node("Loop", &["", "yes", "start"], &["y"])
    };
    let constant = |name: &str, data_type: i32, raw: &[u8]| TensorProto {
        name: Some(name.into()),
        data_type: Some(data_type),
        raw_data: Some(raw.to_vec().into()),
        ..Default::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(GraphProto {
            node: vec![repeat],
            initializer: vec![
                constant("yes", 9, &[1]),
                constant("start", 1, &1.0_f32.to_le_bytes()),
            ],
            output: vec![value("y")],
            ..Default::default()
        }),
        ..Default::default()
    };
    let path = folder.0.join("endless.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn import_says_what_a_model_is_and_prints_its_program() {
    let folder = Folder::new("import");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    let found = text(&tfrt(&["import", &model]).stdout);
    for line in [
        "opset: ai.onnx 20\n",
        "input: x: unknown\n",
        "nodes: 1: Relu 1\n",
        "program: 1 op, 0 weights\n",
    ] {
        assert!(found.contains(line), "{found}");
    }
    let printed = text(&tfrt(&["import", "-o", "-", &model]).stdout);
    assert!(printed.contains("\"nn.Relu\"(%v0) : 1"), "{printed}");
    let limited = tfrt(&["import", "--max-nodes", "0", &model]);
    assert!(!limited.status.success());
    assert!(text(&limited.stderr).contains("`--max-nodes` raises the limit"));
}

/// The recorded programs of JAX.
fn recorded(name: &str) -> String {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../kernels/stablehlo/tests/data"
    );
    format!("{root}/{name}")
}

#[test]
fn recorded_programs_of_stablehlo_compute_what_they_expect() {
    let output = tfrt(&["test-model", &recorded("")]);
    let found = text(&output.stdout);
    assert!(output.status.success(), "{found}");
    assert!(found.ends_with("8 cases: 7 pass, 1 computed\n"), "{found}");
}

#[test]
fn bytecode_is_refused_with_the_command_that_converts_it() {
    let folder = Folder::new("bytecode");
    let file = folder.0.join("model.mlir");
    std::fs::write(&file, b"ML\xefR\x0dStableHLO_v1.17.0\0").unwrap();
    let file = file.to_string_lossy().into_owned();
    for tool in ["run", "import", "graph", "inspect"] {
        let output = tfrt(&[tool, &file]);
        assert!(!output.status.success());
        let message = text(&output.stderr);
        let wanted = format!("error: {file}: MLIR bytecode is not supported");
        assert!(
            message.contains(&wanted) && message.contains("deserialize_portable_artifact"),
            "{message}"
        );
    }
    let output = text(&tfrt(&["test-model", &file]).stdout);
    assert!(
        output.contains("model: unsupported: MLIR bytecode"),
        "{output}"
    );
}

const SUM: &str = "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = stablehlo.add %x, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}
";

#[test]
fn a_program_of_stablehlo_is_run_and_imported() {
    let folder = Folder::new("stablehlo");
    let file = |name: &str| folder.0.join(name).to_string_lossy().into_owned();
    std::fs::write(file("sum.txt"), SUM).unwrap();
    for (name, numbers) in [("x.pb", [1.0_f32, 2.0]), ("y.pb", [10.0, 20.0])] {
        let tensor = DenseHostTensor::vector(&numbers).unwrap();
        std::fs::write(file(name), tensor_file::write("t", &tensor).unwrap()).unwrap();
    }
    let imported = tfrt(&["import", &file("sum.txt")]);
    let found = text(&imported.stdout);
    assert!(found.contains("input: arg0: tensor<2xf32>"), "{found}");
    assert!(found.contains("ops: 1: stablehlo.add 1"), "{found}");
    let (x, y) = (
        format!("arg0={}", file("x.pb")),
        format!("arg1={}", file("y.pb")),
    );
    let output = tfrt(&["run", &file("sum.txt"), "--input", &x, "--input", &y]);
    let found = text(&output.stdout);
    assert!(
        found.starts_with("result0: f32 [2], minimum 11, mean 16.5, maximum 22"),
        "{found}{}",
        text(&output.stderr)
    );
    let output = tfrt(&["run", &file("sum.txt"), "--input", &x]);
    let found = text(&output.stderr);
    assert!(
        found.contains("missing inputs: arg1: tensor<2xf32>"),
        "{found}"
    );
}

#[test]
fn everything_that_a_program_of_stablehlo_lacks_is_told_at_once() {
    let folder = Folder::new("stablehlo-lacks");
    let path = folder.0.join("p.mlir").to_string_lossy().into_owned();
    let program = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = \"stablehlo.frob\"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = stablehlo.custom_call @mine(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %c = stablehlo.custom_call @mine(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %d = \"stablehlo.frob\"(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
";
    std::fs::write(&path, program).unwrap();
    let output = tfrt(&["import", "--quiet", &path]);
    let found = text(&output.stderr);
    assert!(!output.status.success());
    assert!(
        found.contains("1 operator and 1 operator form are not supported"),
        "{found}"
    );
    assert!(
        found.contains("stablehlo.custom_call: to `@mine`"),
        "{found}"
    );
    assert!(found.contains(":2:8, "), "{found}");
}

#[test]
fn a_case_of_stablehlo_that_computes_something_else_is_wrong() {
    let folder = Folder::new("stablehlo-wrong");
    let case = |name: &str, expected: &str| {
        let path = folder.0.join(name).to_string_lossy().into_owned();
        let program = format!(
            "func.func @main() -> tensor<2xf32> {{
  %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %y = stablehlo.abs %x : tensor<2xf32>
  check.expect_almost_eq_const %y, dense<{expected}> : tensor<2xf32>
  return %y : tensor<2xf32>
}}
"
        );
        std::fs::write(&path, program).unwrap();
        path
    };
    let right = tfrt(&["test-model", &case("right.mlir", "[1.0, 2.0]")]);
    assert!(right.status.success(), "{}", text(&right.stdout));
    let wrong = tfrt(&["test-model", &case("wrong.mlir", "[1.0, 3.0]")]);
    let found = text(&wrong.stdout);
    assert!(!wrong.status.success());
    assert!(
        found.contains("wrong.mlir:4:3: 1 of 2 elements are wrong"),
        "{found}"
    );
    let outputs = folder.0.join("out").to_string_lossy().into_owned();
    tfrt(&[
        "test-model",
        "--outputs",
        &outputs,
        &case("wrong.mlir", "[1.0, 3.0]"),
    ]);
    assert!(
        folder
            .0
            .join("out/wrong/test_data_set_0/output_0.pb")
            .is_file()
    );
}

#[test]
fn models_are_measured_and_traced() {
    let folder = Folder::new("bench");
    let case = case(&folder, "relu", "Relu", &[-1.0, 2.0], &[0.0, 2.0]);
    let model = format!("{case}/model.onnx");
    let input = format!("x={case}/test_data_set_0/input_0.pb");
    let found = tfrt(&["bench", &model, "--input", &input, "--runs", "2", "--json"]);
    let shown = text(&found.stdout);
    assert!(
        shown.contains("\"name\": \"main\""),
        "{shown}{}",
        text(&found.stderr)
    );
    for part in [
        "\"model\": {",
        "\"import_ns\": ",
        "\"first_run_ns\": ",
        "\"nn.Relu\"",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let found = text(&tfrt(&["bench", &model, "--input", &input, "--runs", "2"]).stdout);
    assert!(found.contains("\nmodel: import "), "{found}");
    let by_node = [
        "bench",
        &model,
        "--input",
        &input,
        "--runs",
        "2",
        "--per-node",
    ];
    let found = text(&tfrt(&by_node).stdout);
    let line = found.lines().find(|line| line.contains("nn.Relu"));
    let line = line.unwrap_or_else(|| panic!("{found}"));
    assert!(line.starts_with("  node "), "{line}");
    // What no command would read is refused: outputs here, and inputs of programs.
    let failed = tfrt(&["bench", &model, "--output", "y=y.npy"]);
    assert!(text(&failed.stderr).contains("unexpected argument '--output'"));
    let program = folder.0.join("program.mlir");
    std::fs::write(&program, "func @main() {\n  tfrt.return\n}\n").unwrap();
    let failed = tfrt(&["bench", program.to_str().unwrap(), "--input", "x=1"]);
    assert!(text(&failed.stderr).contains("`--input` applies to models"));
    let failed = tfrt(&["bench", &model]);
    assert_eq!(
        text(&failed.stderr),
        "error: input `x`: the model does not declare its element type and shape; give it with \
         `--input`\n"
    );
    let trace = format!("{case}/trace.json");
    let found = tfrt(&["trace", &trace, &model, "--input", &input]);
    assert!(found.status.success(), "{}", text(&found.stderr));
    assert!(std::fs::read_to_string(trace).unwrap().contains("nn.Relu"));
}

#[test]
fn rewrites_are_explained_and_switched_off() {
    let folder = Folder::new("rewrites");
    let node = |name: &str, op: &str, inputs: &[&str], output: &str| NodeProto {
        name: Some(name.into()),
        op_type: Some(op.into()),
        input: inputs.iter().map(|&name| name.into()).collect(),
        output: vec![output.into()],
        ..Default::default()
    };
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(GraphProto {
            node: vec![
                node("first", "Abs", &["x"], "a"),
                node("second", "Abs", &["x"], "b"),
                node("sum", "Add", &["a", "b"], "y"),
            ],
            input: vec![value("x")],
            output: vec![value("y")],
            ..Default::default()
        }),
        ..Default::default()
    };
    let path = folder.0.join("twice.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    let model = path.to_string_lossy().into_owned();
    let found = tfrt(&["import", "--explain", &model]);
    assert_eq!(
        text(&found.stderr),
        "note: `join-equal-ops` at node 'second' (Abs)\n"
    );
    assert!(text(&found.stdout).contains("program: 2 ops, 0 weights\n"));
    for switch in ["--no-fuse", "--no-fuse=join-equal-ops"] {
        let found = tfrt(&["import", "--explain", switch, &model]);
        assert_eq!(text(&found.stderr), "");
        assert!(text(&found.stdout).contains("program: 3 ops, 0 weights\n"));
    }
    let found = tfrt(&["import", "--no-fuse=join-equal-op", &model]);
    assert_eq!(
        text(&found.stderr),
        "error: there is no rule `join-equal-op`; did you mean `join-equal-ops`?\n"
    );
}

/// Writes a model of opset 20, and returns its path.
fn write(folder: &Folder, name: &str, graph: GraphProto) -> String {
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(graph),
        ..Default::default()
    };
    let path = folder.0.join(name);
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn inputs_are_literals_or_made() {
    let folder = Folder::new("literals");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    let run = |value: &str| {
        let found = tfrt(&["run", &model, "--input", &format!("x={value}")]);
        text(&found.stdout) + &text(&found.stderr)
    };
    assert_eq!(
        run("[[-1.5, 2]]"),
        "y: f32 [1, 2], minimum 0, mean 1, maximum 2, 0 NaN: 0.000000e+00, 2.000000e+00\n"
    );
    assert_eq!(
        run("random"),
        "error: `random`: the model does not declare its element type and shape\n"
    );
    assert_eq!(
        run("[1, [2]]"),
        "error: `[1, [2]]`: lists of different lengths\n"
    );
    let outputs = folder.0.join("all");
    let shown = outputs.to_string_lossy();
    let found = tfrt(&["run", &model, "--input", "x=[3]", "--outputs", &shown]);
    assert_eq!(text(&found.stdout), "", "{}", text(&found.stderr));
    assert!(outputs.join("output_0.pb").is_file());
    let text_file = format!("{case}/y.txt");
    let output = format!("y={text_file}");
    assert!(
        tfrt(&["run", &model, "--input", "x=[3]", "--output", &output])
            .status
            .success()
    );
    assert_eq!(std::fs::read_to_string(text_file).unwrap(), "i64 [1]\n3\n");
}

#[test]
fn lists_are_read_and_written() {
    use tfrt_onnx::proto::{TypeProto, type_proto};
    let folder = Folder::new("lists");
    let element = TypeProto {
        value: Some(type_proto::Value::TensorType(type_proto::Tensor {
            elem_type: Some(1),
            shape: None,
        })),
        ..Default::default()
    };
    let sequence = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::SequenceType(Box::new(
                type_proto::Sequence {
                    elem_type: Some(Box::new(element.clone())),
                },
            ))),
            ..Default::default()
        }),
        ..Default::default()
    };
    let node = |op: &str, inputs: &[&str], output: &str| NodeProto {
        op_type: Some(op.into()),
        input: inputs.iter().map(|&name| name.into()).collect(),
        output: vec![output.into()],
        ..Default::default()
    };
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let model = write(
        &folder,
        "construct.onnx",
        GraphProto {
            node: vec![node("SequenceConstruct", &["a", "a"], "s")],
            input: vec![value("a")],
            output: vec![sequence("s")],
            ..Default::default()
        },
    );
    let list = folder.0.join("list.pb").to_string_lossy().into_owned();
    let run = tfrt(&["run", &model, "--input", "a=[1.5, 2.5]"]);
    assert_eq!(
        text(&run.stdout),
        "s: 2 in a list: f32 [2], f32 [2]\n",
        "{}",
        text(&run.stderr)
    );
    let output = format!("s={list}");
    let run = tfrt(&[
        "run",
        &model,
        "--input",
        "a=[1.5, 2.5]",
        "--output",
        &output,
    ]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let last = write(
        &folder,
        "at.onnx",
        GraphProto {
            node: vec![node("SequenceAt", &["s", "i"], "y")],
            input: vec![sequence("s"), value("i")],
            output: vec![value("y")],
            ..Default::default()
        },
    );
    let input = format!("s={list}");
    let run = tfrt(&["run", &last, "--input", &input, "--input", "i=-1"]);
    assert_eq!(
        text(&run.stdout),
        "y: f32 [2], minimum 1.5, mean 2, maximum 2.5, 0 NaN: 1.500000e+00, 2.500000e+00\n",
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn limits_are_raised_where_they_are_met() {
    let folder = Folder::new("limits");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    for arguments in [
        &["run", &model, "--input", "x=[1]"][..],
        &["bench", &model, "--input", "x=[1]", "--runs", "1"],
        &["test-model", &case],
    ] {
        let refused = tfrt(&[arguments, &["--max-nodes", "0"]].concat());
        let shown = text(&refused.stdout) + &text(&refused.stderr);
        assert!(shown.contains("`--max-nodes` raises the limit"), "{shown}");
        let found = tfrt(&[arguments, &["--max-nodes", "1"]].concat());
        assert!(found.status.success(), "{}", text(&found.stderr));
    }
}

#[test]
fn data_sets_behind_a_wrong_one_are_run() {
    let folder = Folder::new("sets");
    let case = case(&folder, "relu", "Relu", &[-1.0], &[7.0]);
    let (first, second) = (
        format!("{case}/test_data_set_0"),
        format!("{case}/test_data_set_1"),
    );
    std::fs::create_dir_all(&second).unwrap();
    for file in ["input_0.pb", "output_0.pb"] {
        std::fs::copy(format!("{first}/{file}"), format!("{second}/{file}")).unwrap();
    }
    let outputs = folder.0.join("outputs");
    let found = tfrt(&["test-model", &case, "--outputs", &outputs.to_string_lossy()]);
    assert!(
        text(&found.stdout).contains("wrong: data set 0"),
        "{}",
        text(&found.stdout)
    );
    assert!(outputs.join("relu/test_data_set_1/output_0.pb").is_file());
}

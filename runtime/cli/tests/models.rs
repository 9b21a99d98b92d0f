//! The commands for models, run as a user runs them.
#![cfg(feature = "onnx")]

use std::path::PathBuf;
use std::process::{Command, Output};

use prost::Message;
use tfrt_onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
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
fn a_model_runs_on_tensors_from_files() {
    let folder = Folder::new("run");
    let case = case(&folder, "relu", "Relu", &[-1.0, 2.0], &[0.0, 2.0]);
    let model = format!("{case}/model.onnx");
    let input = format!("x={case}/test_data_set_0/input_0.pb");
    let found = tfrt(&["run", &model, "--input", &input]);
    assert_eq!(
        text(&found.stdout),
        "y: f32 [2], minimum 0, mean 1, maximum 2, 0 NaN\n",
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
fn import_says_what_a_model_is_and_prints_its_program() {
    let folder = Folder::new("import");
    let case = case(&folder, "relu", "Relu", &[1.0], &[1.0]);
    let model = format!("{case}/model.onnx");
    let found = text(&tfrt(&["import", &model]).stdout);
    for line in [
        "opset: ai.onnx 20\n",
        "input: x: unknown\n",
        "nodes: 1: Relu 1\n",
        "program: 1 ops, 0 weights\n",
    ] {
        assert!(found.contains(line), "{found}");
    }
    let printed = text(&tfrt(&["import", "-o", "-", &model]).stdout);
    assert!(printed.contains("\"nn.Relu\"(%v0) : 1"), "{printed}");
    let limited = tfrt(&["import", "--max-nodes", "0", &model]);
    assert!(!limited.status.success());
    assert!(text(&limited.stderr).contains("`--max-nodes` raises it"));
}

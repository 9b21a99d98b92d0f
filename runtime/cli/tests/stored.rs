//! Programs that `tfrt import` writes: with their weights, they run like the models.
#![cfg(feature = "onnx")]

use std::path::{Path, PathBuf};
use std::process::Command;

use prost::Message;
use tfrt_onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto,
};
use tfrt_onnx::tensor_file;
use tfrt_tensor::DenseHostTensor;

/// A folder of a test, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tfrt-stored-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("inner")).unwrap();
        let folder = Self(path);
        let x = DenseHostTensor::vector(&[2.0_f32]).unwrap();
        let x = tensor_file::write("x", &x).unwrap();
        std::fs::write(folder.0.join("x.pb"), x).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tfrt(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_tfrt"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: Some(name.to_owned()),
        ..Default::default()
    }
}

fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_owned()),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..Default::default()
    }
}

/// Writes `y = x * w + b`, with 300 weights, and returns small weights of many types.
fn write_model(path: &Path) {
    let numbers = |count: usize| (0..count).flat_map(|at| (at as f32 / 8.0).to_le_bytes());
    let tensor = |name: &str, data_type: i32, count: i64, raw: Vec<u8>| TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(data_type),
        dims: vec![count],
        raw_data: Some(raw.into()),
        ..Default::default()
    };
    let mut weights = vec![
        tensor("w", 1, 300, numbers(300).collect()),
        tensor("b", 1, 1, numbers(1).map(|byte| byte ^ 0x40).collect()),
    ];
    let mut nodes = vec![node("Mul", &["x", "w"], "m"), node("Add", &["m", "b"], "y")];
    let mut outputs = vec![value("y")];
    // The codes of element types, and their sizes in bytes: NaN and the least integers included.
    let types = [
        (1, 4),
        (2, 1),
        (3, 1),
        (4, 2),
        (5, 2),
        (6, 4),
        (7, 8),
        (10, 2),
        (11, 8),
        (12, 4),
        (13, 8),
        (16, 2),
    ];
    for (data_type, width) in types {
        let (name, result) = (format!("w{data_type}"), format!("y{data_type}"));
        let mut raw = vec![0xff; width];
        raw.extend((0..width).map(|at| if at + 1 == width { 0x80 } else { 0 }));
        raw.extend((0..width).map(|at| at as u8 + 1));
        weights.push(tensor(&name, data_type, 3, raw));
        nodes.push(node("Identity", &[&name], &result));
        outputs.push(value(&result));
    }
    weights.push(tensor("w9", 9, 2, vec![0, 1]));
    nodes.push(node("Identity", &["w9"], "y9"));
    outputs.push(value("y9"));
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(GraphProto {
            node: nodes,
            input: vec![value("x")],
            output: outputs,
            initializer: weights,
            ..Default::default()
        }),
        ..Default::default()
    };
    std::fs::write(path, model.encode_to_vec()).unwrap();
}

/// The bytes of all outputs of a model or a program.
#[track_caller]
fn outputs(folder: &Folder, file: &str, options: &[&str]) -> Result<Vec<Vec<u8>>, String> {
    let names = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16].map(|code| format!("y{code}"));
    let mut arguments = vec!["run".to_owned(), folder.path(file)];
    arguments.push(format!("--input=x={}", folder.path("x.pb")));
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    let names = || names.iter().map(String::as_str).chain(["y"]);
    arguments.extend(names().map(|name| format!("--output={name}={}", folder.path(name) + ".pb")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    tfrt(&arguments)?;
    let read = names().map(|name| {
        let path = folder.0.join(format!("{name}.pb"));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    });
    Ok(read.collect())
}

#[test]
fn programs_run_like_their_models() {
    let folder = Folder::new("run");
    write_model(&folder.0.join("model.onnx"));
    let model = folder.path("model.onnx");
    let expected = outputs(&folder, "model.onnx", &[]).unwrap();
    for program in ["p.mlir", "p.bef"] {
        tfrt(&["import", "--quiet", "-o", &folder.path(program), &model]).unwrap();
        assert!(!folder.has("p.safetensors"), "the weights are in the model");
        assert_eq!(
            outputs(&folder, program, &[]).unwrap(),
            expected,
            "{program}"
        );
        let checked = outputs(&folder, program, &["--verify-weights"]);
        assert_eq!(checked.unwrap(), expected, "{program}");
    }
    let text = std::fs::read_to_string(folder.0.join("p.mlir")).unwrap();
    assert!(text.contains("path = \"model.onnx\""), "{text}");

    // The model is not below the folder of the program.
    let inner = folder.path("inner/q.mlir");
    tfrt(&["import", "--quiet", "-o", &inner, &model]).unwrap();
    assert!(folder.has("inner/q.safetensors"));
    assert_eq!(outputs(&folder, "inner/q.mlir", &[]).unwrap(), expected);

    let weights = folder.path("inner/all.safetensors");
    let program = folder.path("r.mlir");
    tfrt(&[
        "import",
        "--quiet",
        "--weights",
        &weights,
        "-o",
        &program,
        &model,
    ])
    .unwrap();
    // An import may be repeated: its weights replace those that it wrote before, but no others.
    tfrt(&["import", "--quiet", "-o", &inner, &model]).unwrap();
    assert_eq!(outputs(&folder, "inner/q.mlir", &[]).unwrap(), expected);
    // Not even one whose name ends that of its weights.
    std::fs::write(folder.path("inner/s.safetensors"), "mine").unwrap();
    for ends in ["mlir", "bef"] {
        let first = folder.path(&format!("inner/qs.{ends}"));
        for _ in 0..2 {
            tfrt(&["import", "--quiet", "-o", &first, &model]).unwrap();
        }
        std::fs::remove_file(folder.path("inner/qs.safetensors")).unwrap();
        let other = folder.path(&format!("inner/s.{ends}"));
        let mut program = std::fs::read(&first).unwrap();
        if ends == "mlir" {
            // A comment lists no weights.
            program.extend_from_slice(b"// path = \"s.safetensors\"\n");
        }
        std::fs::write(&other, program).unwrap();
        let error = tfrt(&["import", "--quiet", "-o", &other, &model]).unwrap_err();
        assert!(
            error.contains("the file exists: `--weights FILE`"),
            "{error}"
        );
    }

    std::fs::remove_file(&model).unwrap();
    assert_eq!(outputs(&folder, "r.mlir", &[]).unwrap(), expected);
    let error = outputs(&folder, "p.mlir", &[]).unwrap_err();
    assert!(error.contains("model.onnx"), "{error}");
}

#[test]
fn programs_know_their_inputs_and_their_files() {
    let folder = Folder::new("files");
    let model = folder.0.join("model.onnx");
    write_model(&model);
    let program = folder.path("p.mlir");
    tfrt(&[
        "import",
        "--quiet",
        "-o",
        &program,
        &folder.path("model.onnx"),
    ])
    .unwrap();
    let error = tfrt(&["run", &program]).unwrap_err();
    assert!(error.contains("missing inputs: x"), "{error}");
    let error = tfrt(&["run", &program, "--no-fuse"]).unwrap_err();
    assert!(error.contains("applies to models"), "{error}");
    let error = tfrt(&["import", &program]).unwrap_err();
    assert!(
        error.contains("expected a model, found a program"),
        "{error}"
    );

    let mut bytes = std::fs::read(&model).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&model, &bytes).unwrap();
    let error = outputs(&folder, "p.mlir", &["--verify-weights"]).unwrap_err();
    assert!(
        error.contains("`model.onnx`: its SHA-256 is another"),
        "{error}"
    );
    bytes.push(0);
    std::fs::write(&model, &bytes).unwrap();
    let error = outputs(&folder, "p.mlir", &[]).unwrap_err();
    assert!(
        error.contains("p.mlir") && error.contains("file `model.onnx`: expected"),
        "{error}"
    );
    assert!(error.contains("it has changed since"), "{error}");
}

#[test]
fn limits_apply_to_programs() {
    let folder = Folder::new("limits");
    write_model(&folder.0.join("model.onnx"));
    let (program, model) = (folder.path("p.mlir"), folder.path("model.onnx"));
    tfrt(&["import", "--quiet", "-o", &program, &model]).unwrap();
    for (option, expected) in [
        ("--max-extent=299", "expected at most 299 elements"),
        ("--max-rank=0", "expected at most 0 dimensions"),
        ("--max-program-bytes=100", "expected at most 100 bytes"),
    ] {
        let error = outputs(&folder, "p.mlir", &[option]).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("raises the limit"), "{error}");
    }
    outputs(&folder, "p.mlir", &["--max-extent=300"]).unwrap();
}

#[test]
fn programs_that_mention_tables_are_plain_programs() {
    let folder = Folder::new("plain");
    let program = folder.path("plain.mlir");
    let text = "// \"model.program\"() begins a table\nfunc @main() {\n  tfrt.return\n}\n";
    std::fs::write(&program, text).unwrap();
    tfrt(&["run", &program]).unwrap();
    let file = folder.path("plain.bef");
    std::fs::write(&program, text.replace("@main", "@model.programs")).unwrap();
    tfrt(&["translate", "--mlir-to-bef", "-o", &file, &program]).unwrap();
    tfrt(&["run", &file]).unwrap();
}

#[test]
fn tables_are_checked() {
    let folder = Folder::new("tables");
    write_model(&folder.0.join("model.onnx"));
    let program = folder.path("p.mlir");
    tfrt(&[
        "import",
        "--quiet",
        "-o",
        &program,
        &folder.path("model.onnx"),
    ])
    .unwrap();
    let text = std::fs::read_to_string(&program).unwrap();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}: {text}");
        std::fs::write(&program, text.replacen(from, to, 1)).unwrap();
        let error = outputs(&folder, "p.mlir", &[]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "path = \"model.onnx\"",
        "path = \"../secret\"",
        "the path leaves its folder",
    );
    check(
        "path = \"model.onnx\"",
        "path = \"/etc/passwd\"",
        "the path is absolute",
    );
    check(
        "file = 0 : i64",
        "file = 7 : i64",
        "expected the number of one of 1 files, found 7",
    );
    check("offset = ", "offset = 9", "found a file of");
    check(
        "dims = [300 : i64]",
        "dims = [-300 : i64]",
        "attribute `dims`",
    );
    check(
        "dims = [300 : i64]",
        "dims = [281474976710655 : i64]",
        "expected 1125899906842620 bytes",
    );
    check(
        "rank = 1 : i64",
        "rank = 33 : i64",
        "expected at most 32 dimensions",
    );
    let file = text.lines().find(|line| line.contains("model.file"));
    let file = format!("{}\n", file.unwrap());
    let twice = file.repeat(2);
    check(&file, &twice, "file `model.onnx` is listed twice");
    check(
        "version = 1 : i64",
        "version = 2 : i64",
        "expected version 1 of the table, found 2",
    );
    check(
        "\"model.file\"",
        "\"model.fiel\"",
        "unknown op `model.fiel` in the table",
    );
    check(
        "type = f32",
        "type = i7",
        "expected an element type, found another",
    );
    check(
        "\"model.output\"() {name = \"y\"}",
        "\"model.input\"() {name = \"z\"}",
        "but `main` has",
    );
}

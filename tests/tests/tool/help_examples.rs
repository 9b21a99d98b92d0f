//! The examples in the help of each command, run as a reader would: in a shell, next to files with
//! the names that they use.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use prost::Message;
use tfrt_onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use tfrt_tests::golden::require_status;
use tfrt_tests::{programs, tool};

const COMMANDS: [&str; 9] = [
    "run",
    "bench",
    "trace",
    "translate",
    "opt",
    "ops",
    "inspect",
    "graph",
    "data",
];

const PROGRAM: &str = "func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

func @check() -> !tfrt.chain {
  %ch = tfrt.new.chain
  tfrt.return %ch : !tfrt.chain
}
";

const PIPELINE: &str = "func @main() -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %ten = tfrt.constant.i64 10
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %ten, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}
";

const MISTAKES: &str = "func @main() -> i32 {
  // expected-error @+1 {{use of undeclared SSA value name}}
  tfrt.return %nowhere : i32
}
";

pub(crate) fn trials() -> Vec<Trial> {
    let trials = COMMANDS.map(|command| {
        Trial::test(format!("the_examples_of_{command}_work"), move || {
            examples_work(command)
        })
    });
    trials.into()
}

/// A folder with the files that examples use, and the tool in a folder below it.
fn prepare(command: &str) -> Result<PathBuf, Failed> {
    let name = format!("help-examples-{command}-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("bin"))?;
    symlink(std::env::current_exe()?, folder.join("bin/tfrt"))?;
    for name in ["program", "p"] {
        fs::write(folder.join(format!("{name}.mlir")), PROGRAM)?;
        let translate = format!("tfrt translate --mlir-to-bef {name}.mlir -o {name}.bef");
        require_status(0, &run_in_shell(&translate, &folder)?)?;
    }
    fs::write(folder.join("pipeline.mlir"), PIPELINE)?;
    fs::write(folder.join("mistakes.mlir"), MISTAKES)?;
    fs::write(folder.join("model.onnx"), model().encode_to_vec())?;
    fs::write(folder.join("rows.csv"), "name,price\nbread,1.5\nsalt,0.5\n")?;
    Ok(folder)
}

/// A model of one op.
fn model() -> ModelProto {
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let node = NodeProto {
        op_type: Some("Relu".into()),
        input: vec!["x".into()],
        output: vec!["y".into()],
        ..Default::default()
    };
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            domain: Some(String::new()),
            version: Some(20),
        }],
        graph: Some(GraphProto {
            name: Some("graph".into()),
            node: vec![node],
            input: vec![value("x")],
            output: vec![value("y")],
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn run_in_shell(line: &str, folder: &Path) -> Result<tool::Output, Failed> {
    let mut command = Command::new("sh");
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .args(["-e", "-c", line])
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .current_dir(folder);
    Ok(tool::run(command)?)
}

/// The command lines below `Examples:`, without what is said of them.
fn examples(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Examples:");
    let lines = lines.skip(1).map_while(|line| line.strip_prefix("  "));
    lines.filter_map(|line| line.split("  ").next()).collect()
}

fn examples_work(command: &str) -> Result<(), Failed> {
    let mut asking = tool::command("tfrt", &programs::directory())?;
    asking.args([command, "--help"]);
    let help = tool::run(asking)?;
    require_status(0, &help)?;
    let help = String::from_utf8(help.stdout)?;
    let examples = examples(&help);
    if examples.len() < 2 {
        return Err(format!("there are only {} examples in:\n{help}", examples.len()).into());
    }
    let folder = prepare(command)?;
    // Kernel libraries have tests of their own, which build one, and so have clusters, which start
    // workers.
    let is_tested_elsewhere =
        |line: &str| line.contains("libmine.so") || line.contains(" --cluster ");
    let examples = examples.iter().filter(|line| !is_tested_elsewhere(line));
    for line in examples {
        if !line.starts_with("tfrt ") {
            return Err(format!("`{line}` is not a command of this tool").into());
        }
        let output = run_in_shell(line, &folder)?;
        require_status(0, &output).map_err(|failed| format!("`{line}`: {failed:?}"))?;
        // What is written to a file is not shown, and neither is what was expected to be wrong.
        let is_quiet = [" -o ", " > ", "--verify"]
            .iter()
            .any(|part| line.contains(part));
        if output.stdout.is_empty() && !is_quiet {
            return Err(format!("`{line}` prints nothing").into());
        }
    }
    fs::remove_dir_all(folder)?;
    Ok(())
}

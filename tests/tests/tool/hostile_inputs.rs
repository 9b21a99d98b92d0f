//! Files that mean harm: what the tools open, show, compute and write for them is bounded, and
//! steers no terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tfrt_tests::golden::require_status;
use tfrt_tests::tool;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "a_place_opens_no_device_and_no_pipe",
            a_place_opens_no_device_and_no_pipe,
        ),
        Trial::test(
            "a_place_shows_no_file_elsewhere",
            a_place_shows_no_file_elsewhere,
        ),
        Trial::test(
            "control_characters_of_places_are_escaped",
            control_characters_of_places_are_escaped,
        ),
        Trial::test(
            "control_characters_of_names_are_escaped",
            control_characters_of_names_are_escaped,
        ),
        Trial::test(
            "limits_are_those_that_are_given",
            limits_are_those_that_are_given,
        ),
        Trial::test("inlining_has_a_limit_in_all", inlining_has_a_limit_in_all),
        Trial::test(
            "elements_written_once_have_a_limit_in_all",
            elements_written_once_have_a_limit_in_all,
        ),
        Trial::test("what_is_printed_can_be_read", what_is_printed_can_be_read),
        Trial::test(
            "a_long_name_of_no_kernel_is_refused_at_once",
            a_long_name_of_no_kernel_is_refused_at_once,
        ),
        Trial::test(
            "errors_beyond_a_hundred_are_counted",
            errors_beyond_a_hundred_are_counted,
        ),
    ]
}

type Outcome = Result<(), Failed>;

/// A folder of one trial, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(trial: &str) -> Result<Self, Failed> {
        let name = format!("hostile-{trial}-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn write(&self, file: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Failed> {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Runs a tool in the folder.
    fn run(&self, tool: &str, arguments: &[&str]) -> Result<tool::Output, Failed> {
        let mut command = tool::command(tool, &self.0)?;
        command.args(arguments);
        Ok(tool::run(command)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that is left behind harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program whose only kernel fails, at a place in `file`.
fn failing_at(file: &Path) -> String {
    let file = file.display();
    format!(
        "func @main() {{\n  %c = \"tfrt_test.fail\"() : () -> i32 loc(\"{file}\":1:1)\n  tfrt.return\n}}\n"
    )
}

fn require(condition: bool, output: &tool::Output) -> Outcome {
    if condition {
        return Ok(());
    }
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    Err(format!("unexpected output:\n{stdout}\n{stderr}").into())
}

fn contains(text: &[u8], part: &str) -> bool {
    String::from_utf8_lossy(text).contains(part)
}

fn a_place_opens_no_device_and_no_pipe() -> Outcome {
    let folder = Folder::new("pipe")?;
    let pipe = folder.0.join("pipe");
    let mut devices = vec![PathBuf::from("/dev/zero")];
    match Command::new("mkfifo").arg(&pipe).status() {
        Ok(status) if status.success() => devices.push(pipe),
        _ => println!("skipped: without `mkfifo` there is no pipe"),
    }
    for device in devices {
        folder.write("p.mlir", failing_at(&device))?;
        // In the folder of the device, too: beside the input, only regular files are opened.
        for arguments in [
            &["run", "p.mlir"][..],
            &["run", "--source-folder=/dev", "p.mlir"],
        ] {
            let output = folder.run("tfrt", arguments)?;
            require_status(1, &output)?;
            require(
                contains(&output.stderr, "something bad happened\n"),
                &output,
            )?;
        }
        let output = folder.run(
            "tfrt_translate",
            &["--mlir-to-bef", "p.mlir", "-o", "p.bef"],
        )?;
        require_status(0, &output)?;
        require_status(1, &folder.run("tfrt", &["run", "p.bef"])?)?;
    }
    Ok(())
}

fn a_place_shows_no_file_elsewhere() -> Outcome {
    let folder = Folder::new("elsewhere")?;
    let secret = folder.write("secret.txt", "a secret // expected-error {{bad}}\n")?;
    let beside = folder.write("in/beside.txt", "no secret // expected-error {{bad}}\n")?;
    folder.write("in/p.mlir", failing_at(&secret))?;
    let output = folder.run("tfrt", &["run", "in/p.mlir"])?;
    require_status(1, &output)?;
    require(!contains(&output.stderr, "a secret"), &output)?;
    let output = folder.run("tfrt", &["run", "--source-folder", ".", "in/p.mlir"])?;
    require_status(0, &output)?;

    folder.write("in/p.mlir", failing_at(&beside))?;
    require_status(0, &folder.run("tfrt", &["run", "in/p.mlir"])?)?;
    folder.write("in/beside.txt", "no secret\n")?;
    let output = folder.run("tfrt", &["run", "in/p.mlir"])?;
    require(contains(&output.stderr, "\nno secret\n^\n"), &output)
}

fn control_characters_of_places_are_escaped() -> Outcome {
    let folder = Folder::new("escapes")?;
    folder.write("p.mlir", failing_at(Path::new("\\1b[2J\\0ax")))?;
    let output = folder.run("tfrt", &["run", "p.mlir"])?;
    require(!output.stderr.contains(&0x1B), &output)?;
    require(
        contains(&output.stderr, r"\1B[2J\0Ax:1:1: error: "),
        &output,
    )
}

fn errors_beyond_a_hundred_are_counted() -> Outcome {
    let folder = Folder::new("errors")?;
    let undefined: String = (0..150)
        .map(|number| format!("%x{number} = tfrt.add.i32 %y{number}, %y{number}\n"))
        .collect();
    let path = folder.write("p.mlir", format!("func @f() {{\n{undefined}}}\n"))?;
    let path = path.to_str().ok_or("the path is text")?;
    for (arguments, shown, told) in [
        (&["opt", path][..], 100, Some("... and 50 more errors;")),
        (
            &["opt", "--max-errors=7", path],
            7,
            Some("... and 143 more errors;"),
        ),
        (&["opt", "--max-errors=0", path], 150, None),
        (
            &["run", "--max-errors=149", path],
            149,
            Some("... and 1 more error;"),
        ),
        (&["inspect", "--max-errors=150", path], 150, None),
    ] {
        let output = folder.run("tfrt", arguments)?;
        require_status(1, &output)?;
        let text = String::from_utf8_lossy(&output.stderr);
        require(text.matches(": error: ").count() == shown, &output)?;
        require(text.contains("more error") == told.is_some(), &output)?;
        require(told.is_none_or(|told| text.contains(told)), &output)?;
    }
    Ok(())
}

/// Names that are as long as this one take hours to compare with those of all kernels.
fn a_long_name_of_no_kernel_is_refused_at_once() -> Outcome {
    let folder = Folder::new("long")?;
    let name = "a".repeat(4 << 20);
    let program = format!("func @main() {{\n  \"tfrt.{name}\"() : () -> ()\n  tfrt.return\n}}\n");
    folder.write("p.mlir", program)?;
    let output = folder.run("tfrt", &["run", "p.mlir"])?;
    require_status(1, &output)?;
    if contains(&output.stderr, "unknown kernel name 'tfrt.aaa") {
        Ok(())
    } else {
        Err("the kernel is named".into())
    }
}

fn control_characters_of_names_are_escaped() -> Outcome {
    let folder = Folder::new("names")?;
    let name = r"f\1B[2J\0A";
    folder.write(
        "p.mlir",
        format!(
            "func @\"{name}\"() -> !tfrt.chain {{\n  %c = tfrt.new.chain\n  tfrt.return %c : !tfrt.chain\n}}\n"
        ),
    )?;
    let translate = ["translate", "--mlir-to-bef", "p.mlir", "-o", "p.bef"];
    require_status(0, &folder.run("tfrt", &translate)?)?;
    for arguments in [
        &["run", "p.mlir"][..],
        &["run", "p.bef"],
        &["run", "--enable_tracing", "--tracing_sink=debug", "p.bef"],
        &["inspect", "p.bef"],
        &["graph", "p.mlir"],
        &["graph", "--format=svg", "p.mlir"],
        &["bench", "p.mlir"],
        &["opt", "p.mlir"],
        &["run", "--functions=a\u{1b}[2J", "p.mlir"],
    ] {
        let output = folder.run("tfrt", arguments)?;
        let is_plain = |text: &[u8]| !text.contains(&0x1B);
        require(
            is_plain(&output.stdout) && is_plain(&output.stderr),
            &output,
        )?;
    }
    let output = folder.run("tfrt", &["run", "p.bef"])?;
    require(
        contains(
            &output.stdout,
            &format!("--- Running '{name}':\n'{name}' returned "),
        ),
        &output,
    )
}

/// Functions that call the one before twice, of which the last ones are as large as they may be.
fn inlining_has_a_limit_in_all() -> Outcome {
    let folder = Folder::new("inline")?;
    let mut text = String::from(
        "func @f0(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}\n",
    );
    for number in 1..60 {
        let callee = number - 1;
        text.push_str(&format!(
            "func @f{number}(%x: i32) -> i32 {{\n  %a = tfrt.call @f{callee}(%x) : (i32) -> i32\n  %b = tfrt.call \
             @f{callee}(%x) : (i32) -> i32\n  %s = tfrt.add.i32 %a, %b\n  tfrt.return %s : i32\n}}\n"
        ));
    }
    folder.write("p.mlir", text)?;
    let output = folder.run("tfrt", &["opt", "--inline", "p.mlir"])?;
    require_status(0, &output)?;
    if output.stdout.len() > 8 << 20 {
        return Err(format!("{} bytes are printed", output.stdout.len()).into());
    }
    let remark = " from here on are not inlined: the program would grow by more than 50000 ops\n";
    if contains(&output.stderr, remark) {
        Ok(())
    } else {
        Err("the limit is told".into())
    }
}

fn elements_written_once_have_a_limit_in_all() -> Outcome {
    let folder = Folder::new("splats")?;
    let program = |num_constants: usize| {
        let constants: String = (0..num_constants)
            .map(|number| {
                format!(
                    "  %x{number} = corert.const_dense_tensor dense<{number}> : \
                         tensor<4194304xi32>\n"
                )
            })
            .collect();
        format!("func @f() {{\n{constants}  tfrt.return\n}}\n")
    };
    folder.write("p.mlir", program(100))?;
    let arguments = ["--mlir-to-bef", "p.mlir", "-o", "p.bef"];
    let output = folder.run("tfrt_translate", &arguments)?;
    require_status(1, &output)?;
    let message = "error: BEF files cannot encode the 'value' attribute: splat constants would \
                   expand to at least 285212672 bytes, but the limit is 268435456 bytes\n";
    require(
        contains(&output.stderr, &format!("p.mlir:18:10: {message}")),
        &output,
    )?;
    require(!folder.0.join("p.bef").exists(), &output)
}

fn what_is_printed_can_be_read() -> Outcome {
    let folder = Folder::new("printed")?;
    // Each block argument would have the name of an operand, which is one value.
    folder.write(
        "p.mlir",
        "func @g(%b: i32) {\n  %c = \"tfrt.parallel_for.i32\"(%b, %b, %b) ({\n  ^bb0(%i: i32, %j: i32):\n    \
         tfrt.return\n  }) : (i32, i32, i32) -> !tfrt.chain\n  tfrt.return\n}\n",
    )?;
    let printed = folder.run("tfrt_opt", &["p.mlir"])?;
    require_status(0, &printed)?;
    folder.write("again.mlir", &printed.stdout)?;
    let again = folder.run("tfrt_opt", &["again.mlir"])?;
    require_status(0, &again)?;
    require(again.stdout == printed.stdout, &again)
}

fn limits_are_those_that_are_given() -> Outcome {
    let folder = Folder::new("limits")?;
    let program = r#"
func @calls_itself() -> i32 {
  %r = tfrt.call @calls_itself() : () -> i32
  tfrt.return %r : i32
}

func @allocates() -> (!t.tensor, !t.tensor) {
  %t = "tfrt_dht.create_uninitialized_tensor.f32.1"() {shape = [1048576]} : () -> !t.tensor
  %u = "tfrt_dht.create_uninitialized_tensor.f32.1"() {shape = [1048576]} : () -> !t.tensor
  tfrt.return %t, %u : !t.tensor, !t.tensor
}

func @calls_itself_twice() -> i32 {
  %n = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %c = tfrt.call @waits(%n) : (i32) -> i32
  tfrt.return %c : i32
}

func @waits(%n: i32) -> i32 {
  %m = "tfrt_test.async_copy.i32"(%n) : (i32) -> i32
  %r = tfrt.call @waits(%m) : (i32) -> i32
  %s = tfrt.call @waits(%m) : (i32) -> i32
  %t = tfrt.add.i32 %r, %s
  tfrt.return %t : i32
}

func @goes_on() -> i32 {
  %n = tfrt.constant.i32 2000000000
  %r = tfrt.repeat.i32 %n, %n : i32 {
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}
"#;
    folder.write("p.mlir", program)?;
    for (function, limit, told) in [
        (
            "calls_itself",
            "--call-depth=7",
            "function calls are nested more than 7 levels deep",
        ),
        (
            "allocates",
            "--memory-limit=1M",
            "it takes 4194304 bytes; `tfrt_dht.create_uninitialized_tensor.f32.1` requested it, \
             and the request already holds 0 of at most 1048576 bytes",
        ),
        (
            "calls_itself_twice",
            "--max-live-invocations=20",
            "more than 20 function calls are unfinished",
        ),
        (
            "calls_itself_twice",
            "--call-depth=5",
            "function calls are nested more than 5 levels deep",
        ),
        (
            "goes_on",
            "--deadline=50ms",
            "'goes_on' was cancelled: it did not end within 50ms",
        ),
    ] {
        let functions = format!("--functions={function}");
        let output = folder.run("tfrt", &["run", &functions, limit, "p.mlir"])?;
        require_status(1, &output)?;
        require(contains(&output.stdout, "<<error: "), &output)?;
        // Once, whoever else runs into the limit.
        let text = String::from_utf8_lossy(&output.stderr);
        require(
            text.matches("unexpected error: ").count() == 1 && text.contains(told),
            &output,
        )?;
    }
    let output = folder.run(
        "tfrt",
        &[
            "run",
            "--functions=allocates",
            "--memory-limit=9M",
            "p.mlir",
        ],
    )?;
    require(!contains(&output.stdout, "error"), &output)?;
    for wrong in ["--deadline=soon", "--memory-limit=lots", "--call-depth=-1"] {
        let output = folder.run("tfrt", &["run", wrong, "p.mlir"])?;
        require_status(2, &output)?;
        require(contains(&output.stderr, "error: invalid value"), &output)?;
    }
    Ok(())
}

//! The command line beside what it prints of programs: help, complaints, files and pipes.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt_tests::golden::require_status;
use tfrt_tests::{golden, programs, tool};

fn main() -> ExitCode {
    if let Some(code) = tool::run_if_started_as_tool() {
        return code;
    }
    let trials = vec![
        Trial::test(
            "every_command_explains_itself",
            every_command_explains_itself,
        ),
        Trial::test(
            "a_wrong_command_line_fails_with_status_one",
            a_wrong_command_line_fails_with_status_one,
        ),
        Trial::test("a_closed_pipe_is_quiet", a_closed_pipe_is_quiet),
        Trial::test("an_output_file_is_written", an_output_file_is_written),
        Trial::test(
            "a_failed_translation_leaves_no_output_file",
            a_failed_translation_leaves_no_output_file,
        ),
        Trial::test("text_and_file_run_alike", text_and_file_run_alike),
        Trial::test("listed_ops_are_documented", listed_ops_are_documented),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

type Outcome = Result<(), Failed>;

fn run(tool: &str, arguments: &[&str]) -> Result<tool::Output, Failed> {
    let mut command = tool::command(tool, &programs::directory())?;
    command.args(arguments);
    Ok(tool::run(command)?)
}

fn require_contains(text: &[u8], part: &str) -> Outcome {
    let text = String::from_utf8_lossy(text);
    if text.contains(part) {
        Ok(())
    } else {
        Err(format!("`{part}` is not part of:\n{text}").into())
    }
}

/// A file of this test process alone.
fn scratch_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

fn every_command_explains_itself() -> Outcome {
    for (tool, arguments, option) in [
        ("tfrt", &["--help"][..], "translate"),
        ("tfrt", &["run", "--help"], "--work_queue_type"),
        (
            "tfrt",
            &["translate", "--help"],
            "--disable-optional-sections",
        ),
        ("tfrt", &["opt", "--help"], "--tfrt-print-stream"),
        ("tfrt", &["ops", "--help"], "[NAME]"),
        ("bef_executor", &["-help"], "--test_init_function"),
        ("tfrt_translate", &["--help"], "--bef-to-mlir"),
        ("tfrt_opt", &["-h"], "--allow-unregistered-dialect"),
    ] {
        let output = run(tool, arguments)?;
        require_status(0, &output)?;
        require_contains(&output.stdout, option)?;
        require_contains(&output.stdout, "Examples:")?;
    }
    Ok(())
}

fn a_wrong_command_line_fails_with_status_one() -> Outcome {
    for (tool, arguments) in [
        ("tfrt", &["dance"][..]),
        ("tfrt_translate", &["hello.mlir"]),
        (
            "tfrt_translate",
            &["--mlir-to-bef", "--bef-to-mlir", "hello.mlir"],
        ),
        ("bef_executor", &["--no_such_flag", "hello.mlir"]),
        (
            "bef_executor",
            &["--host_allocator_type=nonsense", "hello.mlir"],
        ),
    ] {
        let output = run(tool, arguments)?;
        require_status(1, &output)?;
        require_contains(&output.stderr, "error: ")?;
        require_contains(&output.stderr, "--help")?;
    }
    Ok(())
}

fn a_closed_pipe_is_quiet() -> Outcome {
    for arguments in [
        &["ops"][..],
        &["run", "hello.mlir"],
        &["opt", "hello.mlir"],
        &["run", "--help"],
    ] {
        let mut command = tool::command("tfrt", &programs::directory())?;
        let mut child = command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        if !output.stderr.is_empty() {
            return Err(format!(
                "{arguments:?} says {}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
    }
    Ok(())
}

fn an_output_file_is_written() -> Outcome {
    let path = scratch_file("hello.bef");
    for flag in ["-o", "--output", "--o"] {
        let mut command = tool::command("tfrt_translate", &programs::directory())?;
        command
            .args(["--mlir-to-bef", "hello.mlir", flag])
            .arg(&path);
        let output = tool::run(command)?;
        require_status(0, &output)?;
        let written = fs::read(&path)?;
        fs::remove_file(&path)?;
        if !written.starts_with(&[0x0B, 0xEF]) || !output.stdout.is_empty() {
            return Err(format!("`{flag}` wrote {} bytes to the file", written.len()).into());
        }
    }
    Ok(())
}

fn a_failed_translation_leaves_no_output_file() -> Outcome {
    let path = scratch_file("bad.bef");
    let mut command = tool::command("tfrt_translate", &programs::directory())?;
    command
        .args(["--mlir-to-bef", "bad-missing-return.mlir", "-o"])
        .arg(&path);
    require_status(1, &tool::run(command)?)?;
    if path.exists() {
        Err("there is an output file".into())
    } else {
        Ok(())
    }
}

fn text_and_file_run_alike() -> Outcome {
    let from_text = golden::run("bef_executor 07-calls.mlir")?;
    let from_file = golden::run("bef_executor 07-calls.bef")?;
    let from_pipe = {
        let mut command = tool::command("bef_executor", &golden::directory())?;
        command
            .arg("-")
            .stdin(File::open(golden::directory().join("07-calls.mlir"))?);
        tool::run(command)?
    };
    require_status(0, &from_text)?;
    if from_text != from_file || from_text != from_pipe {
        return Err(format!("{from_text:?}\n{from_file:?}\n{from_pipe:?}").into());
    }
    Ok(())
}

fn listed_ops_are_documented() -> Outcome {
    let list = run("tfrt", &["ops", "tfrt"])?;
    require_status(0, &list)?;
    let list = String::from_utf8(list.stdout)?;
    let name = list
        .lines()
        .next()
        .and_then(|line| line.split(' ').next())
        .ok_or("no op is listed")?;
    let documentation = run("tfrt", &["ops", name])?;
    require_status(0, &documentation)?;
    require_contains(&documentation.stdout, name)
}

//! The command line beside what it prints of programs: help, complaints, files and pipes.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};
use tfrt_tests::golden::require_status;
use tfrt_tests::{golden, programs, tool};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "every_command_explains_itself",
            every_command_explains_itself,
        ),
        Trial::test(
            "a_wrong_command_line_fails_with_a_status_of_its_own",
            a_wrong_command_line_fails_with_a_status_of_its_own,
        ),
        Trial::test(
            "colours_are_for_terminals_and_for_who_asks",
            colours_are_for_terminals_and_for_who_asks,
        ),
        Trial::test(
            "a_failure_is_printed_with_its_causes",
            a_failure_is_printed_with_its_causes,
        ),
        Trial::test("a_closed_pipe_is_quiet", a_closed_pipe_is_quiet),
        Trial::test("an_output_file_is_written", an_output_file_is_written),
        Trial::test(
            "a_failed_translation_leaves_no_output_file",
            a_failed_translation_leaves_no_output_file,
        ),
        Trial::test("text_and_file_run_alike", text_and_file_run_alike),
        Trial::test(
            "attributes_of_a_file_are_bound_by_name",
            attributes_of_a_file_are_bound_by_name,
        ),
        Trial::test(
            "a_flag_is_true_or_false_after_one_dash_or_two",
            a_flag_is_true_or_false_after_one_dash_or_two,
        ),
        Trial::test("the_executor_has_other_names", the_executor_has_other_names),
        Trial::test("a_graph_is_drawn", a_graph_is_drawn),
        Trial::test("listed_ops_are_documented", listed_ops_are_documented),
        Trial::test(
            "the_elements_of_a_pipeline_are_drawn",
            the_elements_of_a_pipeline_are_drawn,
        ),
        Trial::test(
            "a_failing_pipeline_is_an_error_with_its_element",
            a_failing_pipeline_is_an_error_with_its_element,
        ),
        Trial::test(
            "tracing_without_a_sink_is_a_warning",
            tracing_without_a_sink_is_a_warning,
        ),
        Trial::test(
            "the_simple_sink_logs_what_a_thread_did",
            the_simple_sink_logs_what_a_thread_did,
        ),
        Trial::test(
            "a_trace_has_functions_and_kernels",
            a_trace_has_functions_and_kernels,
        ),
    ]
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

fn colours_are_for_terminals_and_for_who_asks() -> Outcome {
    const RED: &str = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m";
    let program = scratch_file("colours.mlir");
    fs::write(&program, "func @f() { oops\n")?;
    let path = program.to_str().ok_or("a path that is no text")?;
    // Standard error is a pipe here.
    for (flag, variable, is_colored) in [
        ("--color=auto", None, false),
        ("--color=never", Some(("CLICOLOR_FORCE", "1")), false),
        ("--color=auto", Some(("CLICOLOR_FORCE", "1")), true),
        ("--color=always", None, true),
        ("--color=always", Some(("NO_COLOR", "1")), true),
    ] {
        let mut command = tool::command("tfrt", &programs::directory())?;
        command.args(["run", flag, path]).envs(variable);
        for inherited in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            if variable.is_none_or(|(name, _)| name != inherited) {
                command.env_remove(inherited);
            }
        }
        let output = tool::run(command)?;
        let text = String::from_utf8(output.stderr)?;
        let is_as_wanted = match is_colored {
            true => text.contains(RED),
            false => !text.contains('\u{1b}') && text.contains("error: custom op 'oops'"),
        };
        if !is_as_wanted {
            return Err(format!("{flag}, {variable:?}: {text:?}").into());
        }
    }
    fs::remove_file(program)?;
    Ok(())
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
        ("tfrt", &["trace", "--help"], "--tracing_level"),
        ("tfrt", &["opt", "--help"], "--tfrt-print-stream"),
        ("tfrt", &["ops", "--help"], "[NAME]"),
        ("tfrt", &["graph", "--help"], "--format"),
        ("tfrt", &["new", "--help"], "--runtime"),
        ("tfrt", &["completions", "--help"], "zsh"),
        ("tfrt", &["inspect", "--help"], "--hex"),
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

/// Under the names of the original it is the original's.
fn a_wrong_command_line_fails_with_a_status_of_its_own() -> Outcome {
    for (tool, status, arguments) in [
        ("tfrt", 2, &["dance"][..]),
        ("tfrt", 2, &["run", "--no_such_flag"]),
        ("tfrt_translate", 1, &["hello.mlir"]),
        (
            "tfrt_translate",
            1,
            &["--mlir-to-bef", "--bef-to-mlir", "hello.mlir"],
        ),
        ("bef_executor", 1, &["--no_such_flag", "hello.mlir"]),
        (
            "bef_executor",
            1,
            &["--host_allocator_type=nonsense", "hello.mlir"],
        ),
    ] {
        let output = run(tool, arguments)?;
        require_status(status, &output)?;
        require_contains(&output.stderr, "error: ")?;
        require_contains(&output.stderr, "--help")?;
    }
    Ok(())
}

/// Each cause once, without the numbers of the operating system.
fn a_failure_is_printed_with_its_causes() -> Outcome {
    for (arguments, expected) in [
        (
            &["new", "causes", "--runtime", "nowhere"][..],
            "tfrt: no runtime at `nowhere`: cannot be opened: No such file or directory\n",
        ),
        (
            &["tensors", "nowhere.npy"],
            "cannot open input file 'nowhere.npy': No such file or directory\n",
        ),
        (
            &["run", "hello.mlir", "--work_queue_type=mstd:1@1023"],
            "cannot create the mstd work queue: cannot bind a thread to core 1023: ",
        ),
    ] {
        let output = run("tfrt", arguments)?;
        require_status(1, &output)?;
        require_contains(&output.stderr, expected)?;
        if String::from_utf8_lossy(&output.stderr).contains("os error") {
            return Err(format!("{arguments:?}: the number of a system error is printed").into());
        }
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
        let mut command = tool::command("bef_executor", &golden::directory().join("host"))?;
        command
            .arg("-")
            .stdin(File::open(golden::path("07-calls.mlir"))?);
        tool::run(command)?
    };
    require_status(0, &from_text)?;
    if from_text != from_file || from_text != from_pipe {
        return Err(format!("{from_text:?}\n{from_file:?}\n{from_pipe:?}").into());
    }
    Ok(())
}

/// A file without names can only be bound by position, so that one attribute too many is an error.
fn attributes_of_a_file_are_bound_by_name() -> Outcome {
    let file = scratch_file("attributes.bef");
    let path = file.display().to_string();
    let translate = |options: &[&str]| -> Outcome {
        let fixed = ["--mlir-to-bef", "attributes-by-name.mlir", "-o", &path];
        let arguments = [&fixed[..], options].concat();
        require_status(0, &run("tfrt_translate", &arguments)?)?;
        Ok(())
    };
    translate(&[])?;
    let named = run("bef_executor", &[&path])?;
    translate(&["--disable-optional-sections"])?;
    let nameless = run("bef_executor", &[&path])?;
    fs::remove_file(&file)?;
    require_status(0, &named)?;
    let from_text = run("bef_executor", &["attributes-by-name.mlir"])?;
    if named != from_text {
        return Err(format!("{named:?}\n{from_text:?}").into());
    }
    require_status(1, &nameless)?;
    require_contains(
        &nameless.stderr,
        "attributes-by-name.mlir:5:8: error: unexpected error: runtime error: `tfrt.constant.i32` \
         takes 1 attribute (`value`); found 2 without names",
    )
}

fn a_flag_is_true_or_false_after_one_dash_or_two() -> Outcome {
    let plain = run("tfrt_translate", &["--mlir-to-bef", "hello.mlir"])?;
    require_status(0, &plain)?;
    for arguments in [
        ["-mlir-to-bef=true", "--bef-to-mlir=false", "hello.mlir"],
        [
            "--mlir-to-bef=1",
            "-disable-optional-sections=0",
            "hello.mlir",
        ],
    ] {
        let said = run("tfrt_translate", &arguments)?;
        if said != plain {
            return Err(format!("{arguments:?}: {said:?}").into());
        }
    }
    let wrong = run("tfrt", &["run", "-print_error_code=2", "hello.mlir"])?;
    require_status(1, &wrong)?;
    require_contains(
        &wrong.stderr,
        "for the --print_error_code option: '2' is invalid value for boolean argument! Try 0 or 1",
    )
}

fn the_executor_has_other_names() -> Outcome {
    let file = golden::path("07-calls.bef");
    let start = |tool: &str| -> Result<tool::Output, Failed> {
        let mut command = tool::command(tool, &golden::directory().join("host"))?;
        command.stdin(File::open(&file)?);
        Ok(tool::run(command)?)
    };
    let executor = start("bef_executor")?;
    require_status(0, &executor)?;
    for name in ["bef_executor_lite", "code_size_test_driver"] {
        let other = start(name)?;
        if other != executor {
            return Err(format!("{name}: {other:?}").into());
        }
    }
    let telling = start("bef_executor_debug_tracing")?;
    require_status(0, &telling)?;
    require_contains(&telling.stdout, "Scope:Bef Executor\nChoosing")?;
    require_contains(&telling.stdout, "Scope:Function: ")?;
    require_contains(&telling.stdout, "Scope:tfrt.constant.i32\nEnd Scope\n")?;
    let named = run("tfrt", &["run", "--tracing-sink=debug", "tracing.mlir"])?;
    require_status(0, &named)?;
    require_contains(
        &named.stdout,
        "Scope:tfrt.call\nScope:tfrt.add.i32\nEnd Scope\nEnd Scope\n",
    )?;
    let silent = run("tfrt", &["run", "--tracing-sink=none", "tracing.mlir"])?;
    if silent != run("tfrt", &["run", "tracing.mlir"])? {
        return Err(format!("{silent:?}").into());
    }
    Ok(())
}

/// Whether or not Graphviz is installed.
fn a_graph_is_drawn() -> Outcome {
    for path in ["", "/nowhere"] {
        let mut command = tool::command("tfrt", &programs::directory())?;
        command.args(["graph", "--format=svg", "hello.mlir"]);
        if !path.is_empty() {
            command.env("PATH", path);
        }
        let output = tool::run(command)?;
        require_status(0, &output)?;
        for part in ["<svg", "tfrt_test.print_hello", "</svg>"] {
            require_contains(&output.stdout, part)?;
        }
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

/// A function that returns ten numbers in batches of four, one that returns an iterator whose third
/// draw fails, one that skips this error, and two that `tfrt data run` cannot run.
const PIPELINES: &str = "
func private @invert(%x: i64) -> i64 {
  %twelve = tfrt.constant.i64 12
  %q, %r = tfrt.div.i64 %twelve, %x
  tfrt.return %q : i64
}

func private @numbers(%start: i64) -> !tfrt_data.dataset {
  %ten = tfrt.constant.i64 10
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %start, %ten, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func @batches() -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %four = tfrt.constant.i64 4
  %d = tfrt.call @numbers(%zero) : (i64) -> !tfrt_data.dataset
  %b = tfrt_data.batch_dataset.i64 %d, %four { same_input_metadata = false }
  tfrt.return %b : !tfrt_data.dataset
}

func @inverses() -> !tfrt_data.iterator {
  %minus = tfrt.constant.i64 -2
  %d = tfrt.call @numbers(%minus) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d { function = @invert }
  %it = tfrt_data.make_iterator %m
  tfrt.return %it : !tfrt_data.iterator
}

func @number() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}

func @skipping() -> !tfrt_data.dataset {
  %minus = tfrt.constant.i64 -2
  %d = tfrt.call @numbers(%minus) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d { function = @invert, on_error = \"skip(1)\" }
  tfrt.return %m : !tfrt_data.dataset
}
";

/// Runs `tfrt data run` on a file with [`PIPELINES`].
fn run_pipeline(name: &str, arguments: &[&str]) -> Result<tool::Output, Failed> {
    let file = scratch_file(name);
    fs::write(&file, PIPELINES)?;
    let path = file.to_str().ok_or("the path is not text")?;
    let output = run("tfrt", &[&["data", "run", path], arguments].concat())?;
    fs::remove_file(&file)?;
    Ok(output)
}

fn the_elements_of_a_pipeline_are_drawn() -> Outcome {
    let line = ["--function=batches", "--print"];
    let output = run_pipeline("drawn", &line)?;
    require_status(0, &output)?;
    let text = String::from_utf8(output.stdout)?;
    let lines: Vec<&str> = text.lines().collect();
    let [first, _, last, rate, ..] = lines[..] else {
        return Err(format!("too few lines:\n{text}").into());
    };
    if !first.starts_with("0: ") || !first.contains("0, 1, 2, 3") || !last.contains("8, 9") {
        return Err(format!("expected three batches:\n{text}").into());
    }
    if !rate.starts_with("3 elements in ") {
        return Err(format!("expected a rate, found `{rate}`").into());
    }
    require_contains(text.as_bytes(), "batch")?;
    let output = run_pipeline("drawn", &["--function=batches", "--take=2"])?;
    require_status(0, &output)?;
    require_contains(&output.stdout, "2 elements in ")
}

fn a_failing_pipeline_is_an_error_with_its_element() -> Outcome {
    let output = run_pipeline("failing", &["--function=inverses", "--print"])?;
    require_status(1, &output)?;
    for part in ["0: -6\n", "1: -12\n", "2 elements in "] {
        require_contains(&output.stdout, part)?;
    }
    require_contains(&output.stderr, "Divide by zero")?;
    require_contains(&output.stderr, "tfrt data run: element 2")?;

    // A skipped error is reported, and the elements are complete.
    let output = run_pipeline("failing", &["--function=skipping"])?;
    require_status(0, &output)?;
    require_contains(&output.stdout, "11 elements in ")?;
    require_contains(&output.stderr, "Divide by zero")?;

    let output = run_pipeline("failing", &["--function=number"])?;
    require_status(1, &output)?;
    let expected = "tfrt data run: expected a dataset or an iterator from function `number`, \
                    found `(i32)`";
    require_contains(&output.stderr, expected)?;

    let output = run_pipeline("failing", &[])?;
    require_status(1, &output)?;
    let expected = "select one of `batches`, `inverses`, `number`, `skipping` with `--function`";
    require_contains(&output.stderr, expected)?;

    let output = run_pipeline("failing", &["--function=numbers"])?;
    require_status(1, &output)?;
    require_contains(&output.stderr, "function `numbers` has arguments")
}

fn tracing_without_a_sink_is_a_warning() -> Outcome {
    let output = run("bef_executor", &["-enable_tracing", "hello.mlir"])?;
    require_status(0, &output)?;
    require_contains(&output.stderr, "] No tfrt::TracingSink registered\n")
}

fn the_simple_sink_logs_what_a_thread_did() -> Outcome {
    let output = run(
        "tfrt",
        &[
            "run",
            "--enable_tracing",
            "--tracing_sink=simple",
            "hello.mlir",
        ],
    )?;
    require_status(0, &output)?;
    require_contains(&output.stderr, "] ::: [Bef Executor]: ")?;
    require_contains(&output.stderr, "] ::: [Function: hello]: ")?;
    require_contains(&output.stderr, "] Total activities collected: 2\n")
}

fn a_trace_has_functions_and_kernels() -> Outcome {
    let path = scratch_file("trace.json");
    let file = path.to_str().ok_or("the path is text")?;
    let plain = run("tfrt", &["run", "hello.mlir"])?;
    for arguments in [
        ["trace", file, "hello.mlir"],
        ["run", &format!("--trace={file}"), "hello.mlir"],
    ] {
        if run("tfrt", &arguments)? != plain {
            return Err(format!("{arguments:?} does not print what `run` does").into());
        }
        let written: serde_json::Value = serde_json::from_slice(&fs::read(&path)?)?;
        fs::remove_file(&path)?;
        let events = written["traceEvents"].as_array().ok_or("no events")?;
        let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let names: Vec<_> = slices.iter().map(|slice| &slice["name"]).collect();
        let expected = [
            "Bef Executor",
            "Function: hello",
            "tfrt.new.chain",
            "tfrt_test.print_hello",
        ];
        if names != expected {
            return Err(format!("the slices are {names:?}").into());
        }
        if slices[3]["args"]["location"] != "hello.mlir:8:11" {
            return Err(format!("the kernel is {}", slices[3]).into());
        }
    }
    Ok(())
}

//! What `tfrt bench` says of programs, but for the times: that each kernel is listed once and as
//! often as it runs, that the document can be read, and what becomes of errors.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tfrt_tests::golden::require_status;
use tfrt_tests::{golden, tool};

/// Five runs of three names, one after the other: a path.
const PATH: &str = "func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %c = tfrt.add.i32 %a, %b
  %d = tfrt.add.i32 %c, %b
  %ch = tfrt.new.chain
  %done = tfrt.print.i32 %d, %ch
  tfrt.return %d : i32
}

func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

func @call() -> i32 {
  %a = tfrt.constant.i32 4
  %b = tfrt.call @double(%a) : (i32) -> i32
  %c = tfrt.call @double(%b) : (i32) -> i32
  tfrt.return %c : i32
}
";

/// What is done once for all runs that share their resources.
const ONCE: &str = "func @expensive() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

func @main() -> i32 {
  %x = tfrt.once @expensive() : () -> i32
  tfrt.return %x : i32
}
";

/// The product of a matrix of 64 by 16 and one of 16 by 32.
const PRODUCT: &str = "func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [64 : i64, 16 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [16 : i64, 32 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [64 : i64, 32 : i64]
  %done = \"eigen.matmul.f32\"(%one, %a, %b, %zero, %c, %ch)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}
";

/// Ten numbers in batches of four.
const PIPELINE: &str = "func @next(%x: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %y = tfrt.add.i64 %x, %one
  tfrt.return %y : i64
}

func @count(%batch: !t.tensor, %num: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %sum = tfrt.add.i64 %num, %one
  tfrt.return %sum : i64
}

func @main() -> i64 {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %four = tfrt.constant.i64 4
  %ten = tfrt.constant.i64 10
  %range = tfrt_data.range_dataset %zero, %ten, %one { element_type = i64 }
  %mapped = tfrt_data.map_dataset %range { function = @next }
  %batches = tfrt_data.batch_dataset.i64 %mapped, %four { same_input_metadata = false }
  %iterator = tfrt_data.make_iterator %batches
  %num = tfrt_data.enumerate.iterator %iterator, %zero { function = @count } : i64
  tfrt.return %num : i64
}
";

const FAILING: &str = "func @main() -> i32 {
  %a = \"tfrt_test.fail\"() : () -> i32
  tfrt.return %a : i32
}
";

const EXPECTED: &str = "func @main() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %a = \"tfrt_test.fail\"() : () -> i32
  tfrt.return %a : i32
}
";

/// Programs, and those of their functions that do not fail; all of them where none is named.
const PROFILED: [(&str, &[&str]); 5] = [
    ("05-chains.mlir", &[]),
    ("07-calls.mlir", &[]),
    (
        "10-repeat.mlir",
        &[
            "counts",
            "several_carried",
            "loop_in_loop",
            "asynchronous_body",
        ],
    ),
    ("14-async.mlir", &[]),
    (
        "20-sync.mlir",
        &["constants", "arithmetic", "sums", "no_results", "called"],
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test(
            "tables_list_every_kernel_once",
            tables_list_every_kernel_once,
        ),
        Trial::test(
            "kernels_are_listed_by_place_if_that_is_wanted",
            kernels_are_listed_by_place_if_that_is_wanted,
        ),
        Trial::test("the_document_says_everything", the_document_says_everything),
        Trial::test(
            "waiting_for_results_is_told_apart_from_work",
            waiting_for_results_is_told_apart_from_work,
        ),
        Trial::test(
            "every_kernel_of_a_path_is_dispatched",
            every_kernel_of_a_path_is_dispatched,
        ),
        Trial::test(
            "a_function_is_run_once_however_little_time_there_is",
            a_function_is_run_once_however_little_time_there_is,
        ),
        Trial::test(
            "runs_share_resources_if_they_are_told_to",
            runs_share_resources_if_they_are_told_to,
        ),
        Trial::test(
            "a_kernel_says_what_it_computes_where_it_does_all_of_it",
            a_kernel_says_what_it_computes_where_it_does_all_of_it,
        ),
        Trial::test(
            "stages_of_input_pipelines_are_listed",
            stages_of_input_pipelines_are_listed,
        ),
        Trial::test(
            "stages_of_input_pipelines_have_tracks",
            stages_of_input_pipelines_have_tracks,
        ),
        Trial::test(
            "files_of_rows_are_read_in_stages",
            files_of_rows_are_read_in_stages,
        ),
        Trial::test(
            "files_and_standard_input_are_programs_too",
            files_and_standard_input_are_programs_too,
        ),
        Trial::test(
            "errors_are_printed_as_a_run_prints_them",
            errors_are_printed_as_a_run_prints_them,
        ),
        Trial::test(
            "an_expected_error_is_not_measured_either",
            an_expected_error_is_not_measured_either,
        ),
        Trial::test(
            "functions_that_cannot_be_measured_are_refused",
            functions_that_cannot_be_measured_are_refused,
        ),
    ];
    for (program, functions) in PROFILED {
        for queue in ["s", "mstd:2,1"] {
            let name = format!("profile_of_{program}_under_{queue}_counts_as_its_trace");
            trials.push(Trial::test(name, move || {
                profile_counts_as_trace(&golden::path(program), functions, queue)
            }));
        }
    }
    trials
}

type Outcome = Result<(), Failed>;

fn scratch(name: &str) -> PathBuf {
    let name = format!("bench-{}-{name}", std::process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A program in a file of its own.
fn program(name: &str, text: &str) -> Result<PathBuf, Failed> {
    let path = scratch(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// Runs `tfrt` where the file is, with the name of the file behind the flags, and functions behind
/// that.
fn tfrt(flags: &[&str], file: &Path, functions: &[&str]) -> Result<tool::Output, Failed> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let name = file.file_name().ok_or("expected a file")?;
    let mut command = tool::command("tfrt", directory)?;
    command.args(flags).arg(name).args(functions);
    Ok(tool::run(command)?)
}

fn document(flags: &[&str], file: &Path, functions: &[&str]) -> Result<Value, Failed> {
    let flags = [&["bench", "--json"], flags].concat();
    let output = tfrt(&flags, file, functions)?;
    require_status(0, &output)?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn require_equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}").into())
    }
}

fn list<'a>(value: &'a Value, member: &str) -> Result<&'a [Value], Failed> {
    let list = value[member].as_array();
    Ok(list.ok_or_else(|| format!("expected a list `{member}` in {value}"))?)
}

/// How often each kernel runs in a run of a function, by its profile.
fn profiled(function: &Value) -> Result<BTreeMap<String, u64>, Failed> {
    let profile = &function["profile"];
    let num_runs = profile["num_runs"].as_u64().ok_or("expected a number")?;
    let mut counts = BTreeMap::new();
    for kernel in list(profile, "kernels")? {
        let name = kernel["name"].as_str().ok_or("expected a name")?;
        let num = kernel["num_runs"].as_u64().ok_or("expected a number")?;
        if num % num_runs != 0 {
            return Err(format!("`{name}` ran {num} times in {num_runs} runs").into());
        }
        if counts.insert(name.to_owned(), num / num_runs).is_some() {
            return Err(format!("`{name}` is there twice").into());
        }
    }
    Ok(counts)
}

/// How often each kernel runs in a run of a function, by its trace.
fn traced(file: &Path, queue: &str, function: &str) -> Result<BTreeMap<String, u64>, Failed> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let queue_name = queue.replace([':', ','], "-");
    let trace = scratch(&format!(
        "{}-{function}-{queue_name}.json",
        stem.unwrap_or("trace")
    ));
    let flags = [
        "trace",
        trace.to_str().ok_or("expected a path in UTF-8")?,
        "--work_queue_type",
        queue,
        "--functions",
        function,
    ];
    require_status(0, &tfrt(&flags, file, &[])?)?;
    let document: Value = serde_json::from_slice(&fs::read(&trace)?)?;
    fs::remove_file(trace)?;
    let mut counts = BTreeMap::new();
    for event in list(&document, "traceEvents")? {
        if event["ph"] == "X" && event["cat"] == "kernel" {
            let name = event["name"].as_str().ok_or("expected a name")?;
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    Ok(counts)
}

fn profile_counts_as_trace(file: &Path, functions: &[&str], queue: &str) -> Outcome {
    let flags = ["--runs", "3", "--warmup", "1", "--work_queue_type", queue];
    let report = document(&flags, file, functions)?;
    let measured = list(&report, "functions")?;
    if measured.is_empty() || measured.len() < functions.len() {
        return Err(format!("not all was measured: {report}").into());
    }
    for function in measured {
        let name = function["name"].as_str().ok_or("expected a name")?;
        require_equal(profiled(function)?, traced(file, queue, name)?)
            .map_err(|failed| format!("{name}: {failed:?}"))?;
    }
    Ok(())
}

/// The names in the first column of the tables, in order of the alphabet.
fn names_in_tables(text: &str) -> Vec<&str> {
    let mut names: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| name.contains('.'))
        .collect();
    names.sort_unstable();
    names
}

/// Also under a queue of several threads, and with results that arrive later.
fn kernels_are_listed_by_place_if_that_is_wanted() -> Outcome {
    let file = program("places.mlir", PATH)?;
    for queue in ["s", "mstd:2,1"] {
        let flags = ["--per-node", "--runs", "4", "--work_queue_type", queue];
        let report = document(&flags, &file, &["main"])?;
        let kernels = list(&report["functions"][0]["profile"], "kernels")?;
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or("expected a name in UTF-8")?;
        let found: Vec<(String, u64)> = kernels
            .iter()
            .map(|kernel| {
                let place = kernel["place"].as_str().unwrap_or_default();
                let place = place.replace(name, "file");
                let kernel_name = kernel["name"].as_str().unwrap_or_default();
                let num_runs = kernel["num_runs"].as_u64().unwrap_or_default();
                (format!("{place} {kernel_name}"), num_runs)
            })
            .collect();
        let mut lines: Vec<&str> = found.iter().map(|(line, _)| line.as_str()).collect();
        lines.sort_unstable();
        let expected = vec![
            "file:2:8 tfrt.constant.i32",
            "file:3:8 tfrt.constant.i32",
            "file:4:8 tfrt.add.i32",
            "file:5:8 tfrt.add.i32",
            "file:6:9 tfrt.new.chain",
            "file:7:11 tfrt.print.i32",
        ];
        require_equal(lines, expected)?;
        if let Some((line, num)) = found.iter().find(|(_, num)| *num != 4) {
            return Err(format!("`{line}` ran {num} times in 4 runs").into());
        }
    }
    let output = tfrt(&["bench", "--per-node"], &file, &["main"])?;
    require_status(0, &output)?;
    let text = String::from_utf8(output.stdout)?;
    let is_listed = text.contains("places.mlir:4:8: tfrt.add.i32 ");
    require_equal(is_listed, true)
}

fn tables_list_every_kernel_once() -> Outcome {
    let file = program("tables.mlir", PATH)?;
    let kernels = [
        "tfrt.add.i32",
        "tfrt.constant.i32",
        "tfrt.new.chain",
        "tfrt.print.i32",
    ];
    for (flags, column) in [(&["bench"][..], "share"), (&["bench", "--hot"], "dispatch")] {
        let output = tfrt(flags, &file, &["main"])?;
        require_status(0, &output)?;
        require_equal(&*output.stderr, b"")?;
        let text = String::from_utf8(output.stdout)?;
        require_equal(names_in_tables(&text), kernels.to_vec())?;
        for part in [
            "'main': 100 runs after 3 warm-up runs",
            column,
            "recording costs ",
        ] {
            if !text.contains(part) {
                return Err(format!("expected `{part}` in:\n{text}").into());
            }
        }
    }
    let output = tfrt(&["bench", "--runs", "2"], &file, &[])?;
    let text = String::from_utf8(output.stdout)?;
    if !text.ends_with("\nnot run because they have arguments: double\n") {
        return Err(text.into());
    }
    Ok(())
}

fn the_document_says_everything() -> Outcome {
    let file = program("document.mlir", PATH)?;
    // The program prints, and yet there is nothing but the document.
    let report = document(&["--runs", "7", "--warmup", "2"], &file, &[])?;
    require_equal(&report["version"], &Value::from(1))?;
    require_equal(&report["num_threads"], &Value::from(1))?;
    require_equal(&report["not_run"], &serde_json::json!(["double"]))?;
    if !report["recording"]["between_ns"].is_f64() {
        return Err(format!("no cost of recording in {report}").into());
    }
    let [main, call] = list(&report, "functions")? else {
        return Err(format!("expected two functions in {report}").into());
    };
    require_equal(
        [&main["name"], &call["name"]],
        [&"main".into(), &"call".into()],
    )?;
    for function in [main, call] {
        let counts = [&function["num_runs"], &function["num_warmup_runs"]];
        require_equal(counts, [&7.into(), &2.into()])?;
        let wall = &function["wall"];
        let percentiles = ["min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];
        let percentiles = percentiles.map(|name| wall[name].as_u64());
        if percentiles.contains(&None) || !percentiles.is_sorted() {
            return Err(format!("not in order: {wall}").into());
        }
        require_equal(&function["profile"]["num_runs"], &7.into())?;
    }
    let count = |name: &str, num: u64| (name.to_owned(), num);
    require_equal(
        profiled(call)?,
        BTreeMap::from([
            count("tfrt.add.i32", 2),
            count("tfrt.call", 2),
            count("tfrt.constant.i32", 1),
        ]),
    )
}

fn waiting_for_results_is_told_apart_from_work() -> Outcome {
    const LATER: &str = r#"
func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = "tfrt_test.async_copy.i32"(%x) : (i32) -> i32
  %z = tfrt.add.i32 %y, %y
  tfrt.return %z : i32
}
"#;
    let file = program("waiting.mlir", LATER)?;
    let report = document(&["--runs", "5"], &file, &["main"])?;
    let [main] = list(&report, "functions")? else {
        return Err(format!("expected a function in {report}").into());
    };
    for kernel in list(&main["profile"], "kernels")? {
        let is_later = kernel["name"] == "tfrt_test.async_copy.i32";
        let num_waits = if is_later {
            Value::from(5)
        } else {
            Value::Null
        };
        require_equal(&kernel["num_waits"], &num_waits)?;
        require_equal(
            kernel["waited_ns"].as_u64().is_some_and(|ns| ns > 0),
            is_later,
        )?;
    }
    let output = tfrt(&["bench", "--runs", "5"], &file, &["main"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    require_equal(text.contains("  waiting\n"), true)
}

fn every_kernel_of_a_path_is_dispatched() -> Outcome {
    let file = program("dispatched.mlir", PATH)?;
    let report = document(&["--runs", "5"], &file, &["main", "call"])?;
    for function in list(&report, "functions")? {
        for kernel in list(&function["profile"], "kernels")? {
            require_equal(&kernel["num_dispatches"], &kernel["num_runs"])
                .map_err(|failed| format!("{kernel}: {failed:?}"))?;
        }
    }
    Ok(())
}

fn a_function_is_run_once_however_little_time_there_is() -> Outcome {
    let file = program("duration.mlir", PATH)?;
    let report = document(&["--duration", "0", "--warmup", "0"], &file, &["main"])?;
    let main = &list(&report, "functions")?[0];
    let counts = [
        &main["num_warmup_runs"],
        &main["num_runs"],
        &main["profile"]["num_runs"],
    ];
    require_equal(counts, [&0.into(), &1.into(), &1.into()])
}

fn runs_share_resources_if_they_are_told_to() -> Outcome {
    let file = program("once.mlir", ONCE)?;
    for (flags, is_repeated) in [(&[][..], true), (&["--keep-resources"], false)] {
        let report = document(&[&["--runs", "3"], flags].concat(), &file, &["main"])?;
        let function = list(&report, "functions")?
            .first()
            .ok_or("expected a function")?;
        let counts = profiled(function)?;
        require_equal(counts.get("tfrt.once"), Some(&1))?;
        require_equal(counts.contains_key("tfrt.add.i32"), is_repeated)?;
    }
    Ok(())
}

fn a_kernel_says_what_it_computes_where_it_does_all_of_it() -> Outcome {
    let file = program("product.mlir", PRODUCT)?;
    for (queue, is_said) in [("s", true), ("mstd:2,1", false)] {
        let report = document(&["--work_queue_type", queue], &file, &["main"])?;
        let profile = &list(&report, "functions")?[0]["profile"];
        let num_runs = profile["num_runs"].as_u64().ok_or("expected a number")?;
        let mut kernels = list(profile, "kernels")?.iter();
        let product = kernels
            .find(|kernel| kernel["name"] == "eigen.matmul.f32")
            .ok_or("expected a product")?;
        let said = |of_one_run: u64| is_said.then_some(of_one_run * num_runs);
        let (flops, bytes) = (2 * 64 * 16 * 32, 4 * (64 * 16 + 16 * 32 + 64 * 32));
        require_equal(product["flops"].as_u64(), said(flops))?;
        require_equal(product["bytes"].as_u64(), said(bytes))?;
    }
    Ok(())
}

fn stages_of_input_pipelines_are_listed() -> Outcome {
    let file = program("pipeline.mlir", PIPELINE)?;
    let report = document(&["--runs", "5"], &file, &["main"])?;
    let stages = &list(&report, "functions")?[0]["profile"]["stages"];
    let names = list(stages, "stages")?.iter().map(|stage| {
        let [name, depth, num] = ["name", "depth", "num_elements"].map(|member| &stage[member]);
        format!("{name} {depth} {num}")
    });
    // Of five runs.
    let expected = ["\"batch\" 0 15", "\"map\" 1 50", "\"range\" 2 50"];
    require_equal(
        names.collect::<Vec<_>>(),
        expected.map(str::to_owned).to_vec(),
    )?;
    let output = tfrt(&["bench", "--runs", "5"], &file, &["main"])?;
    let text = String::from_utf8(output.stdout)?;
    for part in [
        "\n  batch ",
        "\n    map ",
        "\n      range ",
        "\n  bottleneck: ",
    ] {
        if !text.contains(part) {
            return Err(format!("expected `{part}` in:\n{text}").into());
        }
    }
    // Programs without pipelines have no such table.
    let file = program("no-pipeline.mlir", PATH)?;
    let report = document(&["--runs", "2"], &file, &["main"])?;
    require_equal(
        &list(&report, "functions")?[0]["profile"]["stages"],
        &Value::Null,
    )
}

fn stages_of_input_pipelines_have_tracks() -> Outcome {
    let file = program("pipeline-trace.mlir", PIPELINE)?;
    let trace = scratch("pipeline-trace.json");
    let flags = [
        "trace",
        trace.to_str().ok_or("expected a path in UTF-8")?,
        "--functions",
        "main",
    ];
    require_status(0, &tfrt(&flags, &file, &[])?)?;
    let document: Value = serde_json::from_slice(&fs::read(&trace)?)?;
    fs::remove_file(trace)?;
    let mut counts = BTreeMap::new();
    for event in list(&document, "traceEvents")? {
        if event["cat"] == "stage" && event["ph"] == "b" {
            *counts.entry(event["name"].to_string()).or_insert(0) += 1;
        }
    }
    // A batch draws all of its elements, also past the end; the end is a draw, too.
    let expected = [
        ("\"stage 0: batch\"", 4),
        ("\"stage 1: map\"", 16),
        ("\"stage 2: range\"", 16),
    ];
    let expected = expected.map(|(name, num)| (name.to_owned(), num));
    require_equal(counts, BTreeMap::from(expected))
}

fn files_of_rows_are_read_in_stages() -> Outcome {
    let file = program("rows.csv", "x,name\n1,one\n2,two\n3,three\n")?;
    let output = tfrt(&["data", "bench", "--seconds", "0.01"], &file, &[])?;
    require_status(0, &output)?;
    let text = String::from_utf8(output.stdout)?;
    for part in [
        " rows/s, ",
        "\n  unbatch ",
        "\n    csv ",
        "\n  bottleneck: ",
    ] {
        if !text.contains(part) {
            return Err(format!("expected `{part}` in:\n{text}").into());
        }
    }
    let output = tfrt(&["data", "inspect"], &file, &[])?;
    require_equal(
        String::from_utf8(output.stdout)?.as_str(),
        "format: csv\ncolumn: x: i64\ncolumn: name: str = \"\"\n\
         row 0: x: 1, name: \"one\"\nrow 1: x: 2, name: \"two\"\nrows: 3\n",
    )?;
    // A full disk is an error that names the file, and how far it was written.
    let output = tfrt(&["data", "convert", "--to", "csv"], &file, &["/dev/full"])?;
    require_status(1, &output)?;
    let expected =
        "error: No space left on device (os error 28): cannot write `/dev/full` after row 3\n";
    require_equal(String::from_utf8(output.stderr)?.as_str(), expected)
}

fn files_and_standard_input_are_programs_too() -> Outcome {
    let text = program("stored.mlir", PATH)?;
    let stored = scratch("stored.bef");
    let output = tfrt(&["translate", "--mlir-to-bef"], &text, &[])?;
    require_status(0, &output)?;
    fs::write(&stored, &output.stdout)?;
    let expected = profiled(&list(&document(&[], &text, &["main"])?, "functions")?[0])?;
    let of_file = document(&[], &stored, &["main"])?;
    require_equal(
        profiled(&list(&of_file, "functions")?[0])?,
        expected.clone(),
    )?;
    let mut command = tool::command("tfrt", Path::new("."))?;
    command.args(["bench", "--json", "-", "main"]);
    command.stdin(File::open(&stored)?);
    let output = tool::run(command)?;
    require_status(0, &output)?;
    let of_stdin: Value = serde_json::from_slice(&output.stdout)?;
    require_equal(&of_stdin["program"], &"<stdin>".into())?;
    require_equal(profiled(&list(&of_stdin, "functions")?[0])?, expected)
}

fn errors_are_printed_as_a_run_prints_them() -> Outcome {
    let file = program("failing.mlir", FAILING)?;
    let run = tfrt(&["run"], &file, &[])?;
    for flags in [&["bench"][..], &["bench", "--warmup", "0"]] {
        let bench = tfrt(flags, &file, &[])?;
        require_status(1, &bench)?;
        require_equal(&*bench.stdout, b"")?;
        require_equal(
            String::from_utf8_lossy(&bench.stderr),
            String::from_utf8_lossy(&run.stderr),
        )?;
    }
    let unknown = program(
        "unknown.mlir",
        "func @main() {\n  tfrt.no_such_op\n  tfrt.return\n}\n",
    )?;
    let (run, bench) = (
        tfrt(&["run"], &unknown, &[])?,
        tfrt(&["bench"], &unknown, &[])?,
    );
    require_equal(bench.status, Some(1))?;
    require_equal(bench.stderr, run.stderr)
}

fn an_expected_error_is_not_measured_either() -> Outcome {
    let file = program("expected.mlir", EXPECTED)?;
    require_status(0, &tfrt(&["run"], &file, &[])?)?;
    let bench = tfrt(&["bench"], &file, &[])?;
    require_equal(bench.status, Some(1))?;
    require_equal(
        &*String::from_utf8_lossy(&bench.stderr),
        "'main' returned <<error: something bad happened>>\n",
    )
}

fn functions_that_cannot_be_measured_are_refused() -> Outcome {
    let file = program("refused.mlir", PATH)?;
    for (function, complaint) in [
        ("man", "tfrt: couldn't find function man"),
        ("double", "tfrt: function 'double' has arguments"),
    ] {
        let output = tfrt(&["bench"], &file, &[function])?;
        require_equal(output.status, Some(1))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !stderr.starts_with(complaint) || !output.stdout.is_empty() {
            return Err(format!("expected `{complaint}`, found {output:?}").into());
        }
    }
    Ok(())
}

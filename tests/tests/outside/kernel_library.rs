//! Kernel libraries: a crate outside of this workspace, built as a stranger would build it, and
//! loaded into the tools.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::{Failed, Trial};
use prost::Message;
use tfrt_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
};
use tfrt_tests::tool;

/// What every run prints before it runs anything.
const PREAMBLE: &str =
    "Choosing memory leak check allocator.\nChoosing single-threaded work queue.\n";

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        (
            "values_and_their_code_pass_both_ways",
            values_and_their_code_pass_both_ways as fn() -> _,
        ),
        (
            "the_work_queue_makes_no_difference",
            the_work_queue_makes_no_difference,
        ),
        (
            "a_panic_of_the_library_is_an_error_value",
            a_panic_of_the_library_is_an_error_value,
        ),
        (
            "a_payload_of_the_library_that_panics_as_it_goes_is_reported",
            a_payload_of_the_library_that_panics_as_it_goes_is_reported,
        ),
        (
            "a_mismatched_library_is_refused_with_the_reason",
            a_mismatched_library_is_refused_with_the_reason,
        ),
        (
            "another_fingerprint_is_refused_with_both_shown",
            another_fingerprint_is_refused_with_both_shown,
        ),
        (
            "a_name_that_is_taken_is_refused_with_both_places",
            a_name_that_is_taken_is_refused_with_both_places,
        ),
        (
            "a_file_that_is_no_library_is_refused",
            a_file_that_is_no_library_is_refused,
        ),
        (
            "a_name_without_a_slash_is_a_file_of_the_current_folder",
            a_name_without_a_slash_is_a_file_of_the_current_folder,
        ),
        ("every_tool_takes_libraries", every_tool_takes_libraries),
        (
            "workers_of_a_run_load_its_libraries",
            workers_of_a_run_load_its_libraries,
        ),
        (
            "onnx_ops_of_a_library_are_imported_and_run",
            onnx_ops_of_a_library_are_imported_and_run,
        ),
        (
            "a_panic_of_an_op_of_the_library_is_an_error",
            a_panic_of_an_op_of_the_library_is_an_error,
        ),
        (
            "importer_functions_of_a_library_are_refused",
            importer_functions_of_a_library_are_refused,
        ),
        (
            "another_profile_is_refused_with_advice",
            another_profile_is_refused_with_advice,
        ),
        (
            "without_the_library_its_kernels_are_unknown",
            without_the_library_its_kernels_are_unknown,
        ),
    ];
    trials.map(|(name, test)| Trial::test(name, test)).into()
}

fn plugin_crate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin_crate")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Builds the library as this test was built, once for each list of features.
fn build(features: &str) -> Result<PathBuf, Failed> {
    static LOCK_FILE: OnceLock<Result<u64, String>> = OnceLock::new();
    // The versions that the workspace was built with are there already; others might have to be
    // fetched.
    let copied = LOCK_FILE.get_or_init(|| {
        let lock_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        std::fs::copy(lock_file, plugin_crate().join("Cargo.lock"))
            .map_err(|error| format!("the lock file is not copied: {error}"))
    });
    copied.clone()?;
    let target_directory = scratch("plugin_crate");
    let (profile, flag) = match cfg!(debug_assertions) {
        true => ("debug", None),
        false => ("release", Some("--release")),
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--features", features])
        .args(flag)
        .arg("--target-dir")
        .arg(&target_directory)
        .current_dir(plugin_crate())
        .status()?;
    if !status.success() {
        return Err("the library does not build".into());
    }
    let built = target_directory.join(profile).join(file_name("plugin"));
    let path = scratch(&file_name(&format!("plugin_{features}")));
    // A library that another test has loaded must not be written over.
    let own = path.with_extension("new");
    std::fs::copy(built, &own)?;
    std::fs::rename(own, &path)?;
    Ok(path)
}

fn library() -> Result<&'static Path, Failed> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = LIBRARY.get_or_init(|| {
        let _alone = alone();
        build("").map_err(|failed| failed.message().unwrap_or_default().to_owned())
    });
    Ok(built.as_deref().map_err(String::clone)?)
}

/// Two builds in one target folder would take turns at one file.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static BUILDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    BUILDING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Compiles a small library that is not a kernel library of this build.
fn build_mismatched(name: &str) -> Result<PathBuf, Failed> {
    let path = scratch(&file_name(name));
    let source = plugin_crate().join("mismatched").join(format!("{name}.rs"));
    let status = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
        .args([&path, &source])
        .env("FINGERPRINT", other_profile())
        .current_dir(plugin_crate())
        .status()?;
    match status.success() {
        true => Ok(path),
        false => Err(format!("`{name}` does not compile").into()),
    }
}

/// The end of a fingerprint of the profile that this test is not built in.
fn other_profile() -> &'static str {
    match cfg!(debug_assertions) {
        true => "debug assertions off",
        false => "debug assertions on",
    }
}

fn file_name(library: &str) -> String {
    format!(
        "{}{library}{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    )
}

/// What a run did: its exit status, standard output and standard error.
type Run = (Option<i32>, String, String);

fn run(library: &str, arguments: &[&str]) -> Result<Run, Failed> {
    let mut command = tool::command("tfrt", &plugin_crate())?;
    command.arg("run");
    if !library.is_empty() {
        command.args(["--kernel-library", library]);
    }
    command.args(arguments);
    let output = tool::run(command)?;
    Ok((
        output.status,
        String::from_utf8(output.stdout)?,
        String::from_utf8(output.stderr)?,
    ))
}

fn path_text(path: &Path) -> Result<&str, Failed> {
    path.to_str().ok_or_else(|| "the path is no Unicode".into())
}

fn require_equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("expected: {expected:#?}\nfound: {found:#?}").into())
}

const PLUGIN_LINES: &str = "\
--- Not running 'plugin_sub' because it has arguments.
--- Running 'numbers':
'numbers' returned 6,12,9
--- Running 'in_step':
'in_step' returned 8
--- Running 'strings':
string = hello, library
'strings' returned !tfrt.chain value
--- Running 'types_of_the_runtime':
string = CPU:0
'types_of_the_runtime' returned !tfrt.chain value
--- Running 'own_type':
tally = [1, 2];'own_type' returned !tfrt.chain value
--- Running 'errors':
string = failed: it was not there (NotFound)
'errors' returned <<error: failed: it was not there>>,!tfrt.chain value
--- Running 'tensors':
'tensors' returned 6,<<error: operand 0 of `plugin.num_elements`: expected `!t.tensor`, found another type of this name, `DenseHostTensor`>>,<<error: operand 0 of `tfrt_dht.fill_tensor_with_constant.f32`: expected `!t.tensor`, found another type of this name, `DenseHostTensor`>>
";

fn values_and_their_code_pass_both_ways() -> Result<(), Failed> {
    let found = run(path_text(library()?)?, &["plugin.mlir"])?;
    let expected = (Some(0), format!("{PREAMBLE}{PLUGIN_LINES}"), String::new());
    require_equal(found, expected)
}

fn the_work_queue_makes_no_difference() -> Result<(), Failed> {
    let library = path_text(library()?)?;
    let flag = format!("--shared_libs={library}");
    let (status, stdout, stderr) = run("", &[&flag, "--work_queue_type=mstd:4", "plugin.mlir"])?;
    let lines = stdout.split_inclusive('\n').skip(2).collect::<String>();
    require_equal((status, &*lines, &*stderr), (Some(0), PLUGIN_LINES, ""))
}

fn a_panic_of_the_library_is_an_error_value() -> Result<(), Failed> {
    let library = path_text(library()?)?;
    let (status, stdout, stderr) = run(library, &["--work_queue_type=mstd:2", "panics.mlir"])?;
    let lines = stdout.split_inclusive('\n').skip(2).collect::<String>();
    let expected = "\
--- Running 'kernel':
'kernel' returned <<error: kernel 'plugin.panic' panicked: at the library>>
--- Running 'twice':
'twice' returned <<error: kernel 'plugin.panic_twice' panicked: no message>>,12
--- Running 'sync_kernel':
'sync_kernel' returned <<error: kernel 'plugin.panic_sync' panicked: at the library, in step>>
--- Running 'blocking_kernel':
'blocking_kernel' returned <<error: kernel 'plugin.panic_blocking' panicked: at the library, on the pool>>
--- Running 'future':
'future' returned <<error: kernel 'plugin.panic_async' panicked: at the library, awaiting 7>>
--- Running 'careless':
'careless' returned 16
";
    require_equal((status, &*lines), (Some(0), expected))?;
    // The panics are lines of the program's log.
    let is_log_line = |line: &str| line.starts_with("E 2") && line.contains("] panicked: ");
    match stderr.lines().find(|line| !is_log_line(line)) {
        None => require_equal(stderr.lines().count(), 9),
        Some(line) => Err(format!("no line of the log: {line}").into()),
    }
}

fn a_payload_of_the_library_that_panics_as_it_goes_is_reported() -> Result<(), Failed> {
    let (status, stdout, stderr) = run(path_text(library()?)?, &["bomb.mlir"])?;
    let lines = stdout.split_inclusive('\n').skip(2).collect::<String>();
    // Nobody expects the report.
    let expected = "--- Running 'payload':\n'payload' returned 9\n";
    require_equal((status, &*lines), (Some(1), expected))?;
    let message = "payload of type `!plugin.bomb` panicked while it was dropped: the bomb went off";
    match stderr.matches(message).count() {
        1 => Ok(()),
        _ => Err(format!("not reported once: {stderr}").into()),
    }
}

/// Runs with a library that is refused and returns the complaint, without the words that are the
/// same for all.
fn complaint(library: &str) -> Result<String, Failed> {
    let (status, stdout, stderr) = run(library, &["plugin.mlir"])?;
    require_equal((status, &*stdout), (Some(1), PREAMBLE))?;
    let prefix = format!("tfrt: couldn't load library `{library}`: ");
    match stderr.strip_prefix(&prefix) {
        Some(reason) => Ok(reason.to_owned()),
        None => Err(format!("unexpected complaint: {stderr}").into()),
    }
}

fn a_mismatched_library_is_refused_with_the_reason() -> Result<(), Failed> {
    let path = build_mismatched("no_entry_point")?;
    require_equal(
        &*complaint(path_text(&path)?)?,
        "not a kernel library: expected the symbol `tfrt_kernel_library`, which \
         `tfrt::export_kernels!()` exports\n",
    )?;
    let path = build_mismatched("abi_version")?;
    require_equal(
        &*complaint(path_text(&path)?)?,
        "built for another version of the runtime: expected version 1 of the kernel table, found \
         4000000\n",
    )
}

fn another_fingerprint_is_refused_with_both_shown() -> Result<(), Failed> {
    let path = build_mismatched("fingerprint")?;
    let complaint = complaint(path_text(&path)?)?;
    let lines: Vec<_> = complaint.lines().collect();
    match lines[..] {
        ["built differently from this program", expected, found] => {
            require_equal(
                expected.starts_with("  expected: rustc 1.") && expected.contains(", tfrt 0.1.0 ("),
                true,
            )?;
            require_equal(found, "  found:    rustc 1.0.0, of another time")
        }
        _ => Err(format!("unexpected complaint: {complaint}").into()),
    }
}

fn a_name_that_is_taken_is_refused_with_both_places() -> Result<(), Failed> {
    let path = {
        let _alone = alone();
        build("duplicate")?
    };
    let complaint = complaint(path_text(&path)?)?;
    let has_places = complaint.starts_with("`tfrt.add.i32` is registered twice: at ")
        && complaint.contains("arithmetic.rs:")
        && complaint.contains("src/lib.rs:");
    match has_places {
        true => Ok(()),
        false => Err(format!("unexpected complaint: {complaint}").into()),
    }
}

fn a_file_that_is_no_library_is_refused() -> Result<(), Failed> {
    let text = plugin_crate().join("plugin.mlir");
    require_equal(complaint(path_text(&text)?)?.is_empty(), false)?;
    let missing = complaint("/nowhere/libmine.so")?;
    match missing.contains("No such file") {
        true => Ok(()),
        false => Err(format!("unexpected complaint: {missing}").into()),
    }
}

fn a_name_without_a_slash_is_a_file_of_the_current_folder() -> Result<(), Failed> {
    let library = library()?;
    let name = library.file_name().and_then(|name| name.to_str());
    let mut command = tool::command("tfrt", library.parent().unwrap_or(library))?;
    command.args([
        "run",
        "--kernel-library",
        name.ok_or("the name is Unicode")?,
    ]);
    command.arg(plugin_crate().join("plugin.mlir"));
    let output = tool::run(command)?;
    let stdout = String::from_utf8(output.stdout)?;
    require_equal(&*stdout, &*format!("{PREAMBLE}{PLUGIN_LINES}"))
}

/// `plugin.point` and the rest of the library's dialect are known to none of the tools by
/// themselves.
fn every_tool_takes_libraries() -> Result<(), Failed> {
    let library = path_text(library()?)?;
    let tool = |arguments: &[&str]| -> Result<tool::Output, Failed> {
        let mut command = tool::command("tfrt", &plugin_crate())?;
        command.args(arguments);
        Ok(tool::run(command)?)
    };
    for arguments in [
        &["translate", "--mlir-to-bef", "plugin.mlir"][..],
        &["opt", "plugin.mlir"],
        &["graph", "plugin.mlir"],
        &["inspect", "plugin.mlir"],
        &["ops", "plugin"],
    ] {
        let without = tool(arguments)?;
        let with = tool(&[arguments, &["--kernel-library", library]].concat())?;
        let stderr = String::from_utf8_lossy(&with.stderr);
        if with.status != Some(0) || (&without.stdout, without.status) == (&with.stdout, Some(0)) {
            return Err(format!("{arguments:?}: {stderr}").into());
        }
    }
    let refused = tool(&[
        "tensors",
        "--kernel-library",
        "/nowhere/libmine.so",
        "x.npy",
    ])?;
    let stderr = String::from_utf8(refused.stderr)?;
    require_equal(
        stderr.starts_with("tfrt: couldn't load library `/nowhere/libmine.so`: "),
        true,
    )
}

/// Writes a model to a folder: a node of this op of `com.example`, from `x` to `y`, with an
/// attribute.
fn write_model(folder: &str, op: &str, attribute: AttributeProto) -> Result<PathBuf, Failed> {
    let value = |name: &str| ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    };
    let node = NodeProto {
        name: Some("/own".into()),
        domain: Some("com.example".into()),
        op_type: Some(op.into()),
        input: vec!["x".into()],
        output: vec!["y".into()],
        attribute: vec![attribute],
        ..Default::default()
    };
    let model = ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            domain: Some("com.example".into()),
            version: Some(1),
        }],
        graph: Some(GraphProto {
            node: vec![node],
            input: vec![value("x")],
            output: vec![value("y")],
            ..Default::default()
        }),
        ..Default::default()
    };
    let folder = scratch(folder);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("model.onnx");
    std::fs::write(&path, model.encode_to_vec())?;
    Ok(path)
}

fn alpha(value: f32) -> AttributeProto {
    AttributeProto {
        name: Some("alpha".into()),
        f: Some(value),
        ..Default::default()
    }
}

/// Runs a command with the library and returns what it prints.
fn with_library(arguments: &[&str]) -> Result<Run, Failed> {
    let mut command = tool::command("tfrt", &plugin_crate())?;
    command.args(arguments);
    command.args(["--kernel-library", path_text(library()?)?]);
    let output = tool::run(command)?;
    let [stdout, stderr] = [output.stdout, output.stderr].map(String::from_utf8);
    Ok((output.status, stdout?, stderr?))
}

/// A worker adds numbers with a kernel of the library, and prints the sum.
const ON_A_WORKER: &str = r#"
func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %context = tfrt_dist.get_distributed_context
  %worker = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %there = tfrt_dist.register_tfrt_function (%ch, %context, %worker) "add" "func @add() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %x = tfrt.constant.i32 21\0A %y = plugin.add %x, %x\0A %d = tfrt.print.i32 %y, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %done, %id = tfrt_dist.remote_execute [%there, %context, %worker, %spec] "add" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %done : !tfrt.chain
}
"#;

fn workers_of_a_run_load_its_libraries() -> Result<(), Failed> {
    let program = scratch("on_a_worker.mlir");
    std::fs::write(&program, ON_A_WORKER)?;
    let library = path_text(library()?)?;
    let (status, stdout, stderr) = run(library, &["--spawn=1", path_text(&program)?])?;
    let is_printed = stdout.contains("[worker/0] int32 = 42\n");
    require_equal((status, is_printed, &*stderr), (Some(0), true, ""))
}

fn onnx_ops_of_a_library_are_imported_and_run() -> Result<(), Failed> {
    let model = write_model("own_op", "Frob", alpha(3.0))?;
    let model = path_text(&model)?;
    let (status, stdout, stderr) = with_library(&["run", model, "--input", "x=[1.0, 2.5]"])?;
    require_equal((status, &*stderr), (Some(0), ""))?;
    let expected =
        "y: f32 [2], minimum 3, mean 5.25, maximum 7.5, 0 NaN: 3.000000e+00, 7.500000e+00\n";
    require_equal(&*stdout, expected)?;
    let program = scratch("own_op.mlir");
    let program = path_text(&program)?;
    for arguments in [
        &["import", model, "-o", program, "--quiet"][..],
        &["bench", model, "--input", "x=[1.0, 2.5]", "--runs", "1"],
        &["test-model", path_text(&scratch("own_op"))?],
        &["inspect", model],
        &["translate", "--mlir-to-bef", model, "-o", "/dev/null"],
    ] {
        let (status, _, stderr) = with_library(arguments)?;
        require_equal((status, &*stderr), (Some(0), "")).map_err(|error| {
            let error = error.message().unwrap_or_default().to_owned();
            Failed::from(format!("{arguments:?}: {error}"))
        })?;
    }
    let (status, stdout, _) = with_library(&["run", program, "--input", "x=[1.0, 2.5]"])?;
    require_equal((status, &*stdout), (Some(0), expected))?;
    // Without the library nobody knows the op.
    let (status, _, stderr) = run("", &[model, "--input", "x=[1.0, 2.5]"])?;
    require_equal(status, Some(1))?;
    match stderr.contains("com.example.Frob\t1 node: /own") {
        true => Ok(()),
        false => Err(stderr.into()),
    }
}

fn a_panic_of_an_op_of_the_library_is_an_error() -> Result<(), Failed> {
    let panics = AttributeProto {
        name: Some("panics".into()),
        i: Some(1),
        ..Default::default()
    };
    for (op, attribute, message) in [
        ("Call", panics, "panicked: at the op of the library"),
        (
            "Frob",
            alpha(100.0),
            "panicked: at the metadata of the library",
        ),
    ] {
        let model = write_model("panicking_op", op, attribute)?;
        let arguments = ["run", path_text(&model)?, "--input", "x=[1.0]"];
        let (status, _, stderr) = with_library(&arguments)?;
        require_equal(status, Some(1)).map_err(|_| Failed::from(stderr.clone()))?;
        require_equal(stderr.contains(message), true).map_err(|_| Failed::from(stderr))?;
    }
    Ok(())
}

fn importer_functions_of_a_library_are_refused() -> Result<(), Failed> {
    let model = write_model("own_importer", "Twist", alpha(1.0))?;
    let (status, _, stderr) = with_library(&["import", path_text(&model)?, "--quiet"])?;
    require_equal(status, Some(1))?;
    let parts = [
        "node '/own' (Twist): the importer at src/ops.rs:",
        " is a function of the kernel library `",
        "put `#[onnx_op]` on a `#[tfrt_op]`, or link the crate into the program",
    ];
    match parts.iter().find(|part| !stderr.contains(**part)) {
        None => Ok(()),
        Some(_) => Err(stderr.into()),
    }
}

fn another_profile_is_refused_with_advice() -> Result<(), Failed> {
    let path = build_mismatched("profile")?;
    let complaint = complaint(path_text(&path)?)?;
    let expected = match cfg!(debug_assertions) {
        true => "built differently from this program: build the library without `--release`\n",
        false => {
            "built differently from this program: build the library with `cargo build --release`\n"
        }
    };
    match complaint.starts_with(expected) {
        true => Ok(()),
        false => Err(format!("unexpected complaint: {complaint}").into()),
    }
}

fn without_the_library_its_kernels_are_unknown() -> Result<(), Failed> {
    let (status, _, stderr) = run("", &["panics.mlir"])?;
    require_equal(status, Some(1))?;
    match stderr.contains("plugin.panic") {
        true => Ok(()),
        false => Err(format!("unexpected complaint: {stderr}").into()),
    }
}

//! `tfrt run` for people: results as values, arguments, and functions that never end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::prelude::*;
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::{DenseHostTensor, Shape};
use tfrt_tests::tool;

/// Loses the promise of its result, rather than dropping it.
#[tfrt_kernel("run_test.lose")]
fn lose() -> AsyncValueRef<i32> {
    let (promise, value) = AsyncValueRef::unconstructed();
    std::mem::forget(promise);
    value
}

/// Returns a number that is half as wide as most.
#[tfrt_kernel("run_test.half")]
fn one_and_a_half() -> half::f16 {
    half::f16::from_f32(1.5)
}

/// Returns the tensor, when it is filled.
#[tfrt_kernel("run_test.after")]
fn after(tensor: AnyRef, _filled: Chain) -> AnyRef {
    tensor
}

const PROGRAM: &str = "
func @numbers() -> (f16, i32) {
  %a = \"run_test.half\"() : () -> f16
  %b = tfrt.constant.i32 7
  tfrt.return %a, %b : f16, i32
}

func @tensors() -> (!t.tensor, i32) {
  %ready = tfrt.new.chain
  %empty = \"tfrt_dht.create_uninitialized_tensor.f64.1\"() { shape = [2] } : () -> !t.tensor
  %filled = \"tfrt_dht.fill_tensor_with_constant.f64\"(%empty, %ready) { value = 0.5 : f64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %a = \"run_test.after\"(%empty, %filled) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %b = tfrt.constant.i32 7
  tfrt.return %a, %b : !t.tensor, i32
}

func @add(%x: i32, %y: i32) -> i32 {
  %sum = tfrt.add.i32 %x, %y
  tfrt.return %sum : i32
}

func @pass(%img: !t.tensor, %ready: !tfrt.chain) -> !t.tensor {
  tfrt.return %img : !t.tensor
}
";

const LOSING: &str = "
func @lost() -> (i32, i32) {
  %a = \"run_test.lose\"() : () -> i32
  %b = tfrt.constant.i32 7
  tfrt.return %b, %a : i32, i32
}
";

/// A test, and what it comes to.
type Check = fn() -> Outcome;

pub(crate) fn trials() -> Vec<Trial> {
    let trials: [(&str, Check); 12] = [
        ("results_are_shown_as_values", results_are_shown_as_values),
        (
            "scripts_get_the_lines_that_they_know",
            scripts_get_the_lines_that_they_know,
        ),
        (
            "arguments_have_the_names_of_the_text",
            arguments_have_the_names_of_the_text,
        ),
        ("a_tensor_file_is_an_argument", a_tensor_file_is_an_argument),
        (
            "a_wrong_argument_is_explained",
            a_wrong_argument_is_explained,
        ),
        (
            "a_lost_promise_is_noticed_at_once_where_nothing_else_runs",
            a_lost_promise_is_noticed_at_once_where_nothing_else_runs,
        ),
        (
            "a_lost_promise_is_waited_for_as_long_as_it_is_said",
            a_lost_promise_is_waited_for_as_long_as_it_is_said,
        ),
        (
            "a_wrong_queue_names_the_others",
            a_wrong_queue_names_the_others,
        ),
        ("a_damaged_file_is_named", a_damaged_file_is_named),
        ("every_shell_has_completions", every_shell_has_completions),
        (
            "a_trace_goes_to_standard_output",
            a_trace_goes_to_standard_output,
        ),
        ("placement_is_explained", placement_is_explained),
    ];
    trials.map(|(name, test)| Trial::test(name, test)).into()
}

type Outcome = Result<(), Failed>;

/// A folder of one test, with the programs in it.
fn folder(test: &str) -> Result<PathBuf, Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("run")
        .join(test);
    fs::create_dir_all(&path)?;
    fs::write(path.join("p.mlir"), PROGRAM)?;
    fs::write(path.join("lost.mlir"), LOSING)?;
    Ok(path)
}

/// What a tool did: its exit status, and what it wrote, without the lines about the allocator and
/// the queue.
fn run(
    folder: &Path,
    tool: &str,
    arguments: &[&str],
) -> Result<(Option<i32>, String, String), Failed> {
    let mut command = tool::command(tool, folder)?;
    command.args(arguments);
    let output = tool::run(command)?;
    let stdout = String::from_utf8(output.stdout)?;
    let lines = stdout.split_inclusive('\n');
    let told = lines.filter(|line| !line.starts_with("Choosing "));
    Ok((
        output.status,
        told.collect(),
        String::from_utf8(output.stderr)?,
    ))
}

fn require_equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("expected: {expected:#?}\nfound: {found:#?}").into())
}

fn results_are_shown_as_values() -> Outcome {
    let folder = folder("shown")?;
    let (status, stdout, stderr) = run(
        &folder,
        "tfrt",
        &["run", "--functions=numbers,tensors", "p.mlir"],
    )?;
    let expected = "\
--- Running 'numbers':
'numbers' returned 1.500000e+00,7
--- Running 'tensors':
'tensors' returned
  f64 [2]: [5.000000e-01, 5.000000e-01]
  7
";
    require_equal((status, &*stdout, &*stderr), (Some(0), expected, ""))
}

fn scripts_get_the_lines_that_they_know() -> Outcome {
    let folder = folder("scripts")?;
    let expected = "\
--- Running 'numbers':
'numbers' returned f16 value,7
--- Running 'tensors':
'tensors' returned !t.tensor value,7
";
    for (tool, arguments) in [
        (
            "bef_executor",
            &["--functions=numbers,tensors", "p.mlir"][..],
        ),
        (
            "tfrt",
            &["run", "--quiet", "--functions=numbers,tensors", "p.mlir"],
        ),
    ] {
        let (status, stdout, _) = run(&folder, tool, arguments)?;
        require_equal((status, &*stdout), (Some(0), expected))?;
    }
    let (_, stdout, _) = run(
        &folder,
        "bef_executor",
        &["--show", "--functions=numbers", "p.mlir"],
    )?;
    require_equal(
        &*stdout,
        "--- Running 'numbers':\n'numbers' returned 1.500000e+00,7\n",
    )
}

fn arguments_have_the_names_of_the_text() -> Outcome {
    let folder = folder("arguments")?;
    let bef = ["translate", "--mlir-to-bef", "p.mlir", "-o", "p.bef"];
    require_equal(run(&folder, "tfrt", &bef)?.0, Some(0))?;
    for arguments in [
        &[
            "run",
            "--functions=add",
            "--arg",
            "y=40",
            "--arg",
            "x=2",
            "p.mlir",
        ][..],
        &[
            "run",
            "--functions=add",
            "--arg",
            "0=2",
            "--arg",
            "1=40",
            "p.bef",
        ],
    ] {
        let (status, stdout, stderr) = run(&folder, "tfrt", arguments)?;
        let expected = "--- Running 'add':\n'add' returned 42\n";
        require_equal((status, &*stdout, &*stderr), (Some(0), expected, ""))?;
    }
    // Without arguments such a function is left out, as ever.
    let (_, stdout, _) = run(&folder, "tfrt", &["run", "--functions=add", "p.mlir"])?;
    require_equal(
        &*stdout,
        "--- Not running 'add' because it has arguments.\n",
    )
}

fn a_tensor_file_is_an_argument() -> Outcome {
    let folder = folder("tensor")?;
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let tensor = DenseHostTensor::from_elements(&allocator, Shape::new(&[3])?, &[1_i64, 2, 3])?;
    let file = FileFormat::Npy.write(&[NamedTensor::new("x", tensor)])?;
    fs::write(folder.join("x.npy"), file)?;
    let arguments = ["run", "--functions=pass", "--arg", "img=@x.npy", "p.mlir"];
    let (status, stdout, stderr) = run(&folder, "tfrt", &arguments)?;
    let expected = "--- Running 'pass':\n'pass' returned i64 [3]: [1, 2, 3]\n";
    require_equal((status, &*stdout, &*stderr), (Some(0), expected, ""))
}

fn a_wrong_argument_is_explained() -> Outcome {
    let folder = folder("wrong")?;
    for (function, given, expected) in [
        (
            "add",
            &["x=2"][..],
            "tfrt: function 'add' takes x: i32, y: i32: `--arg y=…` is missing\n",
        ),
        (
            "add",
            &["x=2", "y=much"],
            "tfrt: `--arg y=much`: expected a number of type i32\n",
        ),
        (
            "add",
            &["x=2", "x=3", "y=1"],
            "tfrt: `--arg x` is given twice\n",
        ),
        (
            "add",
            &["z=2"],
            "tfrt: function 'add' takes x: i32, y: i32: unknown argument `z`; did you mean `x` or \
             `y`?\n",
        ),
        (
            "pass",
            &["img=@none.npy"],
            "tfrt: `--arg img=@none.npy`: cannot open 'none.npy': No such file or directory\n",
        ),
    ] {
        let functions = format!("--functions={function}");
        let mut arguments = vec!["run", &functions];
        arguments.extend(given.iter().flat_map(|given| ["--arg", given]));
        arguments.push("p.mlir");
        let (status, _, stderr) = run(&folder, "tfrt", &arguments)?;
        require_equal((status, &*stderr), (Some(1), expected))?;
    }
    let (status, _, stderr) = run(&folder, "tfrt", &["run", "--arg", "x", "p.mlir"])?;
    require_equal(
        (status, stderr.contains("expected `NAME=VALUE`")),
        (Some(2), true),
    )
}

fn a_lost_promise_is_noticed_at_once_where_nothing_else_runs() -> Outcome {
    let folder = folder("lost")?;
    let (status, stdout, stderr) = run(&folder, "tfrt", &["run", "lost.mlir"])?;
    require_equal(
        (status, stdout.starts_with("--- Running 'lost':\n")),
        (Some(1), true),
    )?;
    require_equal(
        &*stderr,
        "tfrt: 'lost' is waiting for result 1 of type i32: no remaining task can make it \
         available\n",
    )
}

fn a_lost_promise_is_waited_for_as_long_as_it_is_said() -> Outcome {
    let folder = folder("timeout")?;
    let arguments = [
        "run",
        "--work_queue_type=mstd:2",
        "--timeout=10ms",
        "lost.mlir",
    ];
    let (status, _, stderr) = run(&folder, "tfrt", &arguments)?;
    require_equal(
        (status, &*stderr),
        (
            Some(1),
            "tfrt: 'lost' is waiting for result 1 of type i32: gave up after 10ms\n",
        ),
    )
}

fn a_wrong_queue_names_the_others() -> Outcome {
    let folder = folder("queue")?;
    let arguments = ["run", "--work_queue_type=fast", "p.mlir"];
    let (status, _, stderr) = run(&folder, "tfrt", &arguments)?;
    let is_listed = stderr.contains("; the types are `") && stderr.contains("`mstd`");
    match (status, is_listed) {
        (Some(1), true) => Ok(()),
        _ => Err(stderr.into()),
    }
}

fn a_damaged_file_is_named() -> Outcome {
    let folder = folder("damaged")?;
    fs::write(folder.join("damaged.bef"), b"\x0b\xef\x00\x07")?;
    let (status, _, stderr) = run(&folder, "tfrt", &["run", "damaged.bef"])?;
    match (
        status,
        stderr.contains("error: runtime error: damaged.bef: "),
    ) {
        (Some(1), true) => Ok(()),
        _ => Err(stderr.into()),
    }
}

fn every_shell_has_completions() -> Outcome {
    let folder = folder("completions")?;
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (status, stdout, stderr) = run(&folder, "tfrt", &["completions", shell])?;
        let knows = ["translate", "thread-chains"]
            .iter()
            .all(|word| stdout.contains(word));
        require_equal((status, knows, &*stderr), (Some(0), true, ""))?;
    }
    Ok(())
}

fn a_trace_goes_to_standard_output() -> Outcome {
    let folder = folder("trace")?;
    let (status, stdout, _) = run(
        &folder,
        "tfrt",
        &["trace", "-", "--functions=numbers", "p.mlir"],
    )?;
    let trace = stdout
        .split_once("returned 1.500000e+00,7\n")
        .map(|(_, trace)| trace);
    let trace: serde_json::Value = serde_json::from_str(trace.ok_or("nothing is returned")?)?;
    require_equal((status, trace["traceEvents"].is_array()), (Some(0), true))?;
    require_equal(folder.join("-").exists(), false)
}

fn placement_is_explained() -> Outcome {
    let folder = folder("placement")?;
    let program = "
func @main() -> !corert.tensorhandle attributes {corert.devices = [\"CPU:0\", \"CPU:1\"]} {
  %c = tfrt.new.chain
  %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
  %made = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
  %d = corert.register_op_handler %made \"cpu\"
  %cpu = corert.get_op_handler %d \"cpu\"
  %x = corert.const_dense_tensor dense<1.0> : tensor<4xf32>
  %y = corert.executeop(%cpu) \"tf.Relu\"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}";
    fs::write(folder.join("ops.mlir"), program)?;
    let run = |file: &str| {
        run(
            &folder,
            "tfrt",
            &["run", "--quiet", "--explain-placement", file],
        )
    };
    let (status, told, _) = run("ops.mlir")?;
    let expected = "\
ops.mlir:9:8: `tf.Relu` runs on CPU:0: lowest cost of moving operands
  device  has the op  cost of moving operands
  CPU:0   yes         0.0 us
  CPU:1   yes         0.0 us
--- Running 'main':
";
    if !told.starts_with(expected) {
        return Err(format!("found:\n{told}").into());
    }
    require_equal(status, Some(0))?;
    // A program without ops that run by their names has nothing to explain.
    let (status, told, _) = run("p.mlir")?;
    require_equal((status, told.starts_with("--- Running")), (Some(0), true))
}

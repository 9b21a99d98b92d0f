//! The models, run as their readers run them: by the commands of the README.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use tfrt_tests::golden::require_status;
use tfrt_tests::tool::{self, Output};

const DIGITS: &str = "kernels/models/digits/digits.mlir";

const DIGITS_ON_GPU: &str = "kernels/models/digits/digits_gpu.mlir";

const TRAINING: &str = "kernels/models/digits/digits_train.mlir";

const WEIGHTS: &str = "kernels/models/digits/weights.safetensors";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "the_readme_shows_what_its_first_command_prints",
            the_readme_shows_what_its_first_command_prints,
        ),
        Trial::test("digits_are_recognised", digits_are_recognised),
        Trial::test(
            "a_file_finds_what_lies_beside_it",
            a_file_finds_what_lies_beside_it,
        ),
        Trial::test(
            "digits_are_recognised_on_the_gpu",
            digits_are_recognised_on_the_gpu,
        ),
        Trial::test(
            "digits_are_learned_on_the_gpu",
            digits_are_learned_on_the_gpu,
        ),
        Trial::test("damaged_weights_are_refused", damaged_weights_are_refused),
        Trial::test(
            "training_again_gives_the_weights",
            training_again_gives_the_weights,
        ),
    ]
}

type Outcome = Result<(), Failed>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An empty folder of this test's own.
fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("models")
        .join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn tfrt(directory: &Path, arguments: &[&str]) -> Result<Output, Failed> {
    let mut command = tool::command("tfrt", directory)?;
    command.args(arguments);
    Ok(tool::run(command)?)
}

/// What a command prints that succeeds.
fn printed(directory: &Path, arguments: &[&str]) -> Result<String, Failed> {
    let output = tfrt(directory, arguments)?;
    require_status(0, &output)?;
    Ok(String::from_utf8(output.stdout)?)
}

fn the_readme_shows_what_its_first_command_prints() -> Outcome {
    let printed = printed(&root(), &["run", DIGITS, "--show"])?;
    let block = format!("```console\n$ cargo run --release -- run {DIGITS} --show\n{printed}```\n");
    if fs::read_to_string(root().join("README.md"))?.contains(&block) {
        Ok(())
    } else {
        Err(format!("the README does not show this:\n{block}").into())
    }
}

fn digits_are_recognised() -> Outcome {
    let outcome = |queue: &str| -> Result<String, Failed> {
        let queue = format!("--work_queue_type={queue}");
        let printed = printed(&root(), &["run", &queue, DIGITS])?;
        let (_, outcome) = printed
            .split_once("--- Running 'digits':\n")
            .ok_or("nothing ran")?;
        Ok(outcome.to_owned())
    };
    let line = outcome("s")?;
    let percent: f64 = line
        .strip_suffix(" % of 1000 digits are recognised\n")
        .and_then(|percent| percent.parse().ok())
        .ok_or_else(|| {
            format!("expected one line, and nothing that nobody asked to see, found:\n{line}")
        })?;
    if percent <= 97.0 {
        return Err(format!("only {percent} %").into());
    }
    match outcome("mstd:2")? {
        other if other == line => Ok(()),
        other => Err(format!("on two threads it is: {other}").into()),
    }
}

/// Runs a function of the digits on the host device, and on CUDA over emulated libraries. Returns
/// what both print.
fn on_gpus(directory: &Path, file: &str, function: &str) -> Result<[String; 2], Failed> {
    let run = |gpu: &str, libraries: Option<PathBuf>| -> Result<String, Failed> {
        let mut command = tool::command("tfrt", directory)?;
        command.args(["run", gpu, &format!("--functions={function}"), file]);
        if let Some(libraries) = libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let output = tool::run(command)?;
        require_status(0, &output)?;
        let printed = String::from_utf8(output.stdout)?;
        let header = format!("--- Running '{function}':\n");
        let (_, outcome) = printed.split_once(&header).ok_or("nothing ran")?;
        Ok(outcome.to_owned())
    };
    let libraries = tfrt_tests::programs::emulated_cuda()?;
    Ok([
        run("--gpu=host", None)?,
        run("--gpu=cuda", Some(libraries))?,
    ])
}

fn digits_are_recognised_on_the_gpu() -> Outcome {
    let printed = printed(&root(), &["run", DIGITS])?;
    let (_, on_cpu) = printed
        .split_once("--- Running 'digits':\n")
        .ok_or("nothing ran")?;
    for on_gpu in on_gpus(&root(), DIGITS_ON_GPU, "digits")? {
        if on_gpu != on_cpu {
            return Err(format!("on the processor: {on_cpu}on the GPU: {on_gpu}").into());
        }
    }
    Ok(())
}

/// A few steps of the training, which show the same accuracy as on the processor.
fn digits_are_learned_on_the_gpu() -> Outcome {
    let folder = folder("trained_on_gpu")?;
    let shorten = |file: &str| -> Outcome {
        let text = fs::read_to_string(root().join(file))?;
        let short = text
            .replace(
                "%epochs = tfrt.constant.i32 10",
                "%epochs = tfrt.constant.i32 1",
            )
            .replace(
                "%steps = tfrt.constant.i32 250",
                "%steps = tfrt.constant.i32 8",
            );
        if short == text {
            return Err("the training cannot be shortened".into());
        }
        let name = Path::new(file).file_name().ok_or("no name")?;
        Ok(fs::write(folder.join(name), short)?)
    };
    shorten(TRAINING)?;
    shorten(DIGITS_ON_GPU)?;
    let on_cpu = printed(&folder, &["run", "--functions=train", "digits_train.mlir"])?;
    let on_cpu = accuracy_of_last_epoch(&on_cpu).ok_or("no accuracy is told")?;
    for told in on_gpus(&folder, "digits_gpu.mlir", "train")? {
        let line = told.replace("epoch 1: ", "epoch 1: no loss, ");
        let on_gpu = accuracy_of_last_epoch(&line).ok_or("no accuracy is told")?;
        // Sums are in another order: of 2000 digits, a few may lie on the other side.
        if (on_gpu - on_cpu).abs() > 0.3 || on_gpu < 25.0 {
            return Err(format!("on the processor {on_cpu} %, on the GPU: {told}").into());
        }
    }
    Ok(())
}

fn a_file_finds_what_lies_beside_it() -> Outcome {
    let folder = folder("beside")?;
    let file = folder.join("model.bef");
    let text = root().join(DIGITS);
    let bytes = tfrt(
        &root(),
        &["translate", "--mlir-to-bef", &text.to_string_lossy()],
    )?;
    require_status(0, &bytes)?;
    fs::write(&file, bytes.stdout)?;
    fs::copy(root().join(WEIGHTS), folder.join("weights.safetensors"))?;
    let elsewhere = printed(&root(), &["run", &file.to_string_lossy()])?;
    let there = printed(&folder, &["run", "model.bef"])?;
    if elsewhere == there && there.ends_with("are recognised\n") {
        Ok(())
    } else {
        Err(format!("{elsewhere}\nis not\n{there}").into())
    }
}

fn damaged_weights_are_refused() -> Outcome {
    let folder = folder("damaged")?;
    fs::copy(root().join(DIGITS), folder.join("digits.mlir"))?;
    let weights = fs::read(root().join(WEIGHTS))?;
    fs::write(
        folder.join("weights.safetensors"),
        &weights[..weights.len() - 2],
    )?;
    let output = tfrt(&folder, &["run", "digits.mlir"])?;
    require_status(1, &output)?;
    let complaint = String::from_utf8(output.stderr)?;
    // Tensors are read side by side, so that nobody knows which complaint is the first.
    for line in 15..=18 {
        let expected = format!(
            "digits.mlir:{line}:9: error: unexpected error: runtime error: weights.safetensors: \
             at offset 0: incomplete metadata, file not fully covered\n"
        );
        if !complaint.contains(&expected) {
            return Err(format!("expected {expected}found {complaint}").into());
        }
    }
    if String::from_utf8(output.stdout)?.contains("recognised") {
        return Err("it went on regardless".into());
    }
    Ok(())
}

/// Trains from the beginning, which takes too long without optimisation.
fn training_again_gives_the_weights() -> Outcome {
    if cfg!(debug_assertions) {
        println!("skipped: training takes long in a build that is not optimised");
        return Ok(());
    }
    let folder = folder("trained")?;
    fs::copy(root().join(TRAINING), folder.join("train.mlir"))?;
    let told = printed(
        &folder,
        &[
            "run",
            "--work_queue_type=mstd",
            "--functions=train",
            "train.mlir",
        ],
    )?;
    let accuracy = accuracy_of_last_epoch(&told).ok_or("no accuracy is told")?;
    if accuracy <= 97.0 {
        return Err(format!("too few digits are recognised:\n{told}").into());
    }
    // Processors of another kind add in another order.
    if is_recorded_processor()
        && fs::read(folder.join("weights.safetensors"))? != fs::read(root().join(WEIGHTS))?
    {
        return Err(format!("other weights came of this:\n{told}").into());
    }
    Ok(())
}

/// What the last line of the form `epoch 10: loss 0.0303, 99.20 % of …` says.
fn accuracy_of_last_epoch(told: &str) -> Option<f64> {
    let line = told.lines().rfind(|line| line.starts_with("epoch "))?;
    let (_, behind) = line.split_once(", ")?;
    behind.split_once(" %")?.0.parse().ok()
}

/// Whether this is a processor of the kind that the weights in the tree come from.
fn is_recorded_processor() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

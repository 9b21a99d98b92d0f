//! File tests: a program with what becomes of it beside it.
//!
//! Every `NAME.mlir` under `programs` is a test. Its first lines say which commands to run, one a
//! line, `%s` standing for the program, and quotes `'` holding a word with blanks together:
//!
//! ```text
//! // RUN: tfrt run %s
//! // RUN: tfrt opt --inline %s | tfrt run
//! ```
//!
//! Commands that `|` separates form a pipe, which ends with the first one that fails.
//!
//! A program that runs on the host device runs a second time with the CUDA implementation, over the
//! emulated libraries of CUDA: with `--gpu=cuda` in place of `--gpu=host`. It must print the same,
//! or what `NAME.cuda.txt` records if that exists.
//!
//! Beside it lies `NAME.txt` with what the commands print, each headed by the command, with its
//! exit status and what it wrote to standard error. `TFRT_BLESS=1` writes the file anew; read the
//! difference before committing it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compare;
use crate::tool::{self, Output};

/// The folder of the programs; every command runs there.
#[must_use]
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// The names of the programs, in order.
///
/// # Errors
/// If the folder cannot be read.
pub fn names() -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory()).map_err(|error| error.to_string())? {
        let name = entry.map_err(|error| error.to_string())?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".mlir")) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The implementation of GPUs that commands use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// The one that they name.
    Named,
    /// CUDA instead of the host device, over emulated libraries.
    EmulatedCuda,
}

/// Whether a program has commands that run on the host device.
#[must_use]
pub fn uses_host_device(name: &str) -> bool {
    let text = fs::read_to_string(directory().join(format!("{name}.mlir"))).unwrap_or_default();
    let mut commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("// RUN: "));
    commands.any(|command| command.contains(HOST_DEVICE))
}

const HOST_DEVICE: &str = "--gpu=host";

/// Runs the commands of a program and compares, or blesses if the environment asks for it.
///
/// # Errors
/// What differs.
pub fn check(name: &str, gpu: Gpu) -> Result<(), String> {
    let program = directory().join(format!("{name}.mlir"));
    let text =
        fs::read_to_string(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let mut transcript = String::new();
    let mut commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("// RUN: "))
        .filter(|command| gpu == Gpu::Named || command.contains(HOST_DEVICE))
        .peekable();
    if commands.peek().is_none() {
        return Err(format!("`{name}.mlir` has no line `// RUN: COMMAND`"));
    }
    for command in commands {
        let command = command.replace("%s", &format!("{name}.mlir"));
        let output = run_pipe(&command, gpu).map_err(|error| format!("{command}: {error}"))?;
        push_transcript(&command, &output, &mut transcript);
    }
    let own = directory().join(format!("{name}.cuda.txt"));
    let recorded = match gpu {
        Gpu::EmulatedCuda if own.exists() => own,
        _ => directory().join(format!("{name}.txt")),
    };
    let is_shared = gpu == Gpu::EmulatedCuda && !recorded.ends_with(format!("{name}.cuda.txt"));
    if std::env::var_os("TFRT_BLESS").is_some() && !is_shared {
        return fs::write(&recorded, transcript).map_err(|error| error.to_string());
    }
    let mut expected = fs::read_to_string(&recorded).map_err(|error| {
        format!(
            "{}: {error}; set TFRT_BLESS=1 to write it",
            recorded.display()
        )
    })?;
    if is_shared {
        expected = of_host_device(&expected);
    }
    compare::lines(expected.as_bytes(), transcript.as_bytes(), |a, b| a == b).map_err(
        |difference| {
            let recorded = recorded.display();
            format!("{recorded}, {difference}\nset TFRT_BLESS=1 if that is right")
        },
    )
}

/// Returns the part of a transcript that commands on the host device have written.
fn of_host_device(transcript: &str) -> String {
    let mut is_kept = false;
    let mut kept = String::new();
    for line in transcript.split_inclusive('\n') {
        if let Some(command) = line.strip_prefix("$ ") {
            is_kept = command.contains(HOST_DEVICE);
        }
        if is_kept {
            kept.push_str(line);
        }
    }
    kept
}

/// Returns the folder of the emulated libraries of CUDA. It lies beside the library that was built
/// with this test, so each profile has its own.
///
/// # Errors
/// If it cannot be created.
pub fn emulated_cuda() -> Result<PathBuf, String> {
    // Beside the library, so that builds of different profiles do not share it.
    let library = tfrt_emulated_cuda::library().map_err(|error| error.to_string())?;
    let folder = library.with_file_name("emulated_cuda");
    tfrt_emulated_cuda::install(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// Runs the commands of a pipe, one after the other, as far as they succeed.
fn run_pipe(pipe: &str, gpu: Gpu) -> Result<Output, String> {
    let words = words(pipe);
    let mut output = Output {
        status: Some(0),
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    for command in words.split(|word| word == "|") {
        let (tool, arguments) = command
            .split_first()
            .ok_or("expected a command behind `RUN:` and `|`")?;
        let mut process = tool::command(tool, &directory()).map_err(|error| error.to_string())?;
        match gpu {
            Gpu::Named => process.args(arguments),
            Gpu::EmulatedCuda => {
                process.env("LD_LIBRARY_PATH", emulated_cuda()?);
                process.args(arguments.iter().map(|argument| match argument.as_str() {
                    HOST_DEVICE => "--gpu=cuda",
                    other => other,
                }))
            }
        };
        let next =
            tool::run_with_input(process, &output.stdout).map_err(|error| error.to_string())?;
        output.status = next.status;
        output.stdout = next.stdout;
        output.stderr.extend(next.stderr);
        if output.status != Some(0) {
            break;
        }
    }
    Ok(output)
}

/// The words of a command.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in command.chars() {
        match (letter, words.last_mut()) {
            ('\'', _) => is_quoted = !is_quoted,
            (' ', _) if !is_quoted => words.push(String::new()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn push_transcript(command: &str, output: &Output, transcript: &mut String) {
    let status = output
        .status
        .map_or_else(|| "none".to_owned(), |status| status.to_string());
    // Writing to a string cannot fail.
    let _ = writeln!(transcript, "$ {command}");
    transcript.push_str(&String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        let _ = writeln!(transcript, "--- standard error");
        transcript.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    let _ = writeln!(transcript, "--- status {status}");
}

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

/// Runs the commands of a program and compares, or blesses if the environment asks for it.
///
/// # Errors
/// What differs.
pub fn check(name: &str) -> Result<(), String> {
    let program = directory().join(format!("{name}.mlir"));
    let text =
        fs::read_to_string(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let mut transcript = String::new();
    let mut commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("// RUN: "))
        .peekable();
    if commands.peek().is_none() {
        return Err(format!("`{name}.mlir` has no line `// RUN: COMMAND`"));
    }
    for command in commands {
        let command = command.replace("%s", &format!("{name}.mlir"));
        let output = run_pipe(&command).map_err(|error| format!("{command}: {error}"))?;
        push_transcript(&command, &output, &mut transcript);
    }
    let recorded = directory().join(format!("{name}.txt"));
    if std::env::var_os("TFRT_BLESS").is_some() {
        return fs::write(&recorded, transcript).map_err(|error| error.to_string());
    }
    let expected = fs::read(&recorded).map_err(|error| {
        format!(
            "{}: {error}; set TFRT_BLESS=1 to write it",
            recorded.display()
        )
    })?;
    compare::lines(&expected, transcript.as_bytes(), |a, b| a == b).map_err(|difference| {
        format!("{name}.txt, {difference}\nset TFRT_BLESS=1 if that is right")
    })
}

/// Runs the commands of a pipe, one after the other, as far as they succeed.
fn run_pipe(pipe: &str) -> Result<Output, String> {
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
        process.args(arguments);
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

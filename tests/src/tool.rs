//! Running the tools.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};

/// The names under which a test binary is a tool.
const TOOLS: [&str; 10] = [
    "tfrt",
    "bef_executor",
    "bef_executor_lite",
    "bef_executor_debug_tracing",
    "code_size_test_driver",
    "tfrt_translate",
    "tfrt_opt",
    "tfrt_gpu_executor",
    "tfrt_gpu_translate",
    "tfrt_gpu_opt",
];

/// How long a tool may run before it counts as hanging.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// What a tool did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// A module of tests: its name and what it tests.
pub type Module = (&'static str, fn() -> Vec<Trial>);

/// Runs as a tool, if this process was started under the name of one; as a test binary otherwise,
/// with the tests of each of the named `modules`. All that the `main` of a test binary does.
#[must_use]
pub fn test_or_run<const N: usize>(modules: [Module; N]) -> ExitCode {
    if let Some(name) = std::env::args_os().next()
        && TOOLS.iter().any(|tool| name == OsStr::new(tool))
    {
        return tfrt_cli::main();
    }
    let trials = modules.into_iter().flat_map(|(module, trials)| {
        let of_module = trials().into_iter();
        of_module.map(move |trial| trial.with_kind(module))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// The test binary itself, to be started as `tool` in `directory`.
///
/// # Errors
/// If there is no such tool, or nobody knows where the test binary is.
pub fn command(tool: &str, directory: &Path) -> io::Result<Command> {
    if !TOOLS.contains(&tool) {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("`{tool}` is no tool"),
        ));
    }
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg0(tool)
        .current_dir(directory)
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs a command to its end.
///
/// # Errors
/// If it cannot be started, or runs for too long; it is then ended.
pub fn run(command: Command) -> io::Result<Output> {
    run_with_input(command, &[])
}

/// Runs a command to its end, with `input` as its standard input; empty input leaves that as it is.
///
/// # Errors
/// If it cannot be started, or runs for too long; it is then ended.
pub fn run_with_input(mut command: Command, input: &[u8]) -> io::Result<Output> {
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // A tool that does not read all of its input closes the pipe.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = read_in_background(child.stdout.take());
    let stderr = read_in_background(child.stderr.take());
    let streams = stdout
        .recv_timeout(TIME_LIMIT)
        .and_then(|stdout| Ok((stdout, stderr.recv_timeout(TIME_LIMIT)?)));
    let Ok((stdout, stderr)) = streams else {
        end(&mut child)?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the tool hangs"));
    };
    let status = child.wait()?;
    Ok(Output {
        status: code(status),
        stdout,
        stderr,
    })
}

fn read_in_background(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is what there is to compare.
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(|_| ())
}

fn code(status: ExitStatus) -> Option<i32> {
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
}

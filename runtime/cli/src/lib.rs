//! The command line: a `main` that any binary can call with its own kernels linked.
//!
//! A kernel crate gets its own driver in three lines, with every kernel that is linked into the
//! binary:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     tfrt_cli::main()
//! }
//! ```
//!
//! When the binary is started under the name `bef_executor`, `tfrt_translate` or `tfrt_opt`, it
//! behaves like that tool. The same applies to `bef_executor_lite` and `code_size_test_driver`,
//! which were smaller builds of `bef_executor`, for `bef_executor_debug_tracing`, which prints its
//! trace, and to `tfrt_gpu_translate`, `tfrt_gpu_opt` and `tfrt_gpu_executor`, the tools of GPU
//! programs. Under any other name the first argument selects the tool: `run`, `bench`, `trace`,
//! `translate`, `opt`, `ops`, `inspect`, `graph`, `tensors`, `data`, `import`, `test-model`, `new`,
//! `devices`, `run-gpu`, `worker`, `launch`, `cluster` or `completions`. Each tool has a file here,
//! with its options first and its implementation below.
//!
//! Scripts depend on the output of the tools, both on standard output and in diagnostics.
#![deny(unsafe_code)]

pub mod diagnostics;

mod arguments;

mod input;

mod output;

mod rows;

mod stages;

mod failure;

mod libraries;

mod front_end;

mod split_input;

mod run;

mod bench;

mod trace;

mod translate;

mod opt;

mod ops;

mod inspect;

mod graph;

mod tensors;

mod queue_arguments;

#[cfg(feature = "data")]
mod data;

mod new;

#[cfg(feature = "gpu")]
mod devices;

#[cfg(feature = "gpu")]
mod run_gpu;

#[cfg(feature = "onnx")]
mod progress;

#[cfg(feature = "onnx")]
mod import;

#[cfg(feature = "onnx")]
mod model_file;

#[cfg(feature = "onnx")]
mod model_errors;

#[cfg(feature = "onnx")]
mod model_limits;

#[cfg(feature = "onnx")]
mod model_values;

#[cfg(feature = "onnx")]
mod run_model;

#[cfg(feature = "onnx")]
mod stored;

#[cfg(feature = "onnx")]
mod rewrites;

#[cfg(feature = "onnx")]
mod test_model;

#[cfg(all(feature = "grpc", unix))]
mod cluster_arguments;

#[cfg(all(feature = "grpc", unix))]
mod shut_down;

#[cfg(all(feature = "grpc", unix))]
mod worker;

#[cfg(all(feature = "grpc", unix))]
mod launch;

#[cfg(all(feature = "grpc", unix))]
mod cluster;

#[cfg(all(feature = "grpc", unix))]
mod cluster_trace;

#[cfg(all(feature = "grpc", unix))]
mod task_traces;

mod completions;

use std::ffi::OsString;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tfrt_host::log;

use failure::{Failure, WithCauses};

#[cfg(feature = "standard-kernels")]
tfrt::link!(tfrt_kernels);

#[cfg(feature = "standard-kernels")]
tfrt::link!(tfrt_data_compiler);

#[cfg(feature = "models")]
tfrt::link!(tfrt_models);

#[cfg(feature = "gpu")]
tfrt::link!(tfrt_gpu);

#[cfg(feature = "gpu")]
tfrt::link!(tfrt_gpu_compiler);

#[cfg(feature = "images")]
tfrt::link!(tfrt_images);

#[cfg(feature = "distributed")]
tfrt::link!(tfrt_distributed_kernels);

#[cfg(feature = "distributed")]
tfrt::link!(tfrt_distributed_compiler);

#[cfg(feature = "grpc")]
tfrt::link!(tfrt_grpc);

#[cfg(feature = "grpc")]
tfrt::link!(tfrt_shm);

#[cfg(feature = "mpi")]
tfrt::link!(tfrt_mpi);

#[cfg(feature = "nccl")]
tfrt::link!(tfrt_nccl);

#[cfg(feature = "onnx")]
tfrt::link!(tfrt_model_ops);

/// The width of help texts, in columns, on a terminal that is at least as wide.
const MAX_HELP_COLUMNS: usize = 100;

const EXAMPLES: &str = "\
Examples:
  tfrt run program.mlir             run a program
  tfrt translate --help             show the help of a command
  tfrt ops tfrt.add.i32             show the documentation of an op

If this tool is started under one of these names, it runs the command beside it:
  bef_executor                   tfrt run
  bef_executor_debug_tracing     tfrt run --tracing-sink=debug
  tfrt_gpu_executor              tfrt run-gpu
  tfrt_opt                       tfrt opt
  tfrt_translate                 tfrt translate";

/// Write kernels as plain functions, and run dataflow programs made of them.
#[derive(Debug, Parser)]
#[command(name = "tfrt", version, after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
struct Tfrt {
    #[command(subcommand)]
    command: Command,
}

/// The parser is built for the given command only, which keeps start-up short. The summaries are
/// repeated here for the list of commands.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Run the functions of a program
    Run(run::Arguments),
    /// Measure how long the functions and kernels of a program take
    Bench(bench::Arguments),
    /// Run the functions of a program and record a trace of every kernel
    Trace(trace::Arguments),
    /// Translate between MLIR text and BEF files
    Translate(translate::Arguments),
    /// Verify, transform and print a program
    Opt(opt::Arguments),
    /// List the available ops, or show the documentation of some
    Ops(ops::Arguments),
    /// Print the contents of a BEF file, even if it is damaged
    Inspect(inspect::Arguments),
    /// Draw the dataflow graphs of a program's functions
    Graph(graph::Arguments),
    /// List the tensors in a file, or convert the file to another format
    Tensors(tensors::Arguments),
    /// Inspect, verify, convert and benchmark files of tabular data, and run input pipelines
    #[cfg(feature = "data")]
    Data(data::Arguments),
    /// Create a crate for your own kernels
    New(new::Arguments),
    /// List the processor, the GPUs that programs can use, and the libraries of CUDA
    #[cfg(feature = "gpu")]
    Devices(devices::Arguments),
    /// Run the entry point of a GPU program
    #[cfg(feature = "gpu")]
    RunGpu(run_gpu::Arguments),
    /// Convert an ONNX model to a program, and report unsupported ops
    #[cfg(feature = "onnx")]
    Import(import::Arguments),
    /// Run ONNX test cases and compare the results with the expected outputs
    #[cfg(feature = "onnx")]
    TestModel(test_model::Arguments),
    /// Run a task of a cluster that serves the requests of other tasks
    #[cfg(all(feature = "grpc", unix))]
    #[command(visible_alias = "serve")]
    Worker(worker::Arguments),
    /// Start a cluster on this machine, with one process for each task
    #[cfg(all(feature = "grpc", unix))]
    Launch(launch::Arguments),
    /// Show the state of a running cluster
    #[cfg(all(feature = "grpc", unix))]
    Cluster(cluster::Arguments),
    /// Print a shell completion script
    Completions(completions::Arguments),
}

/// Runs the command line of this process with the kernels that are linked into the binary.
///
/// The exit status is 0 on success, 2 if the command line is wrong (1 under the names of the
/// original's tools), and 1 on any other failure, which has been printed by then. A closed pipe is
/// not reported.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(log_panic));
    let mut arguments = std::env::args_os();
    let program = arguments::program_name(arguments.next().as_ref());
    let outcome = run_command(&program, arguments::with_two_dashes(arguments));
    // After a failure, the other ranks are not waited for: `mpirun` ends them.
    #[cfg(feature = "mpi")]
    let outcome = outcome.and_then(|()| {
        let ended = tfrt_mpi::finalize();
        ended.map_err(|error| Failure::caused(program.clone(), error))
    });
    match outcome {
        Ok(()) | Err(Failure::HelpGiven | Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::FAILURE,
        Err(Failure::Status(status, error)) => {
            failure::write_message(&WithCauses(&error).to_string());
            ExitCode::from(status)
        }
        Err(Failure::Error(error)) => {
            failure::write_message(&WithCauses(&error).to_string());
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            failure::write_message(&message);
            // The original knows one status for all that goes wrong.
            if arguments::is_original(&program) {
                ExitCode::FAILURE
            } else {
                ExitCode::from(2)
            }
        }
    }
}

fn run_command(program: &str, arguments: Vec<OsString>) -> Result<(), Failure> {
    #[cfg(all(feature = "grpc", unix))]
    let arguments = arguments::with_command_of_traces(arguments);
    let arguments = std::iter::once(program.into()).chain(arguments);
    match program {
        "bef_executor" | "bef_executor_lite" | "code_size_test_driver" => {
            run::run(program, &parse(program, arguments)?)
        }
        "bef_executor_debug_tracing" => run::run_telling(program, parse(program, arguments)?),
        "tfrt_translate" | "tfrt_gpu_translate" => {
            translate::run(program, &parse(program, arguments)?)
        }
        "tfrt_opt" | "tfrt_gpu_opt" => opt::run(program, &parse(program, arguments)?),
        #[cfg(feature = "gpu")]
        "tfrt_gpu_executor" => run_gpu::run(program, &parse(program, arguments)?),
        _ => match parse::<Tfrt>(program, arguments)?.command {
            Command::Run(arguments) => run::run(program, &arguments),
            Command::Bench(arguments) => bench::run(program, &arguments),
            Command::Trace(arguments) => trace::run(program, &arguments),
            Command::Translate(arguments) => translate::run(program, &arguments),
            Command::Opt(arguments) => opt::run(program, &arguments),
            Command::Ops(arguments) => ops::run(program, &arguments),
            Command::Inspect(arguments) => inspect::run(program, &arguments),
            Command::Graph(arguments) => graph::run(program, &arguments),
            Command::Tensors(arguments) => tensors::run(program, &arguments),
            #[cfg(feature = "data")]
            Command::Data(arguments) => data::run(&arguments),
            Command::New(arguments) => new::run(program, &arguments),
            #[cfg(feature = "gpu")]
            Command::Devices(arguments) => devices::run(program, &arguments),
            #[cfg(feature = "gpu")]
            Command::RunGpu(arguments) => run_gpu::run(program, &arguments),
            #[cfg(feature = "onnx")]
            Command::Import(arguments) => import::run(program, &arguments),
            #[cfg(feature = "onnx")]
            Command::TestModel(arguments) => test_model::run(program, &arguments),
            #[cfg(all(feature = "grpc", unix))]
            Command::Worker(arguments) => worker::run(program, &arguments),
            #[cfg(all(feature = "grpc", unix))]
            Command::Launch(arguments) => launch::run(program, &arguments),
            #[cfg(all(feature = "grpc", unix))]
            Command::Cluster(arguments) => cluster::run(&arguments),
            Command::Completions(arguments) => completions::run(program, &arguments),
        },
    }
}

/// Parses arguments. If they ask for help or are wrong, prints the help or the error and returns
/// the exit code.
fn parse<T: Parser>(
    program: &str,
    arguments: impl Iterator<Item = OsString>,
) -> Result<T, Failure> {
    let typed: Vec<OsString> = arguments.collect();
    let plain = if arguments::may_set_flags(&typed) {
        arguments::with_plain_flags(T::command, typed.clone())?
    } else {
        typed.clone()
    };
    let parsed = T::command()
        .max_term_width(MAX_HELP_COLUMNS)
        .bin_name(program)
        .try_get_matches_from(plain)
        .and_then(|matches| T::from_arg_matches(&matches));
    parsed.map_err(|error| {
        if error.use_stderr() {
            // Flags that are neither true nor false are told of in the words of the original.
            let flags = arguments::with_plain_flags(T::command, typed);
            let usage = || Failure::Usage(error.to_string().trim_end().to_owned());
            return flags.err().unwrap_or_else(usage);
        }
        let mut text = error.to_string();
        // `-V` prints the version alone.
        #[cfg(feature = "gpu")]
        if error.kind() == clap::error::ErrorKind::DisplayVersion
            && typed.iter().any(|argument| argument == "--version")
        {
            text += &devices::library_versions();
        }
        match output::write("-", text.as_bytes()) {
            Ok(()) => Failure::HelpGiven,
            Err(failure) => failure,
        }
    })
}

/// Logs a panic as one line. A kernel that panics yields an error value, so the panic itself is
/// news for the log only.
fn log_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("no message");
    let (file, line) = info
        .location()
        .map_or(("unknown", 0), |place| (place.file(), place.line()));
    log::write_line(
        log::Level::Error,
        file,
        line,
        format_args!("panicked: {message}"),
    );
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn commands_are_listed_as_what_they_say_they_are() {
        let listed = Tfrt::command();
        let mut built = Tfrt::command();
        built.build();
        for command in listed.get_subcommands() {
            let name = command.get_name();
            let own = built
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
            assert_eq!(about(command.get_about()), about(own), "{name}");
        }
    }

    #[test]
    fn help_fits_the_width_of_a_terminal() {
        let mut pages = vec![String::new()];
        let listed = Tfrt::command();
        pages.extend(
            listed
                .get_subcommands()
                .map(|command| command.get_name().to_owned()),
        );
        #[cfg(feature = "data")]
        pages
            .extend(["inspect", "head", "convert", "bench"].map(|action| format!("data {action}")));
        for page in pages {
            let typed = ["tfrt"]
                .into_iter()
                .chain(page.split_whitespace())
                .chain(["--help"]);
            let help = Tfrt::command()
                .max_term_width(MAX_HELP_COLUMNS)
                .try_get_matches_from(typed)
                .expect_err("help is reported as an error")
                .to_string();
            let too_long = help
                .lines()
                .find(|line| line.chars().count() > MAX_HELP_COLUMNS);
            assert_eq!(too_long, None, "`tfrt {page} --help`");
        }
    }

    #[test]
    fn every_command_is_described_without_contradiction() {
        Tfrt::command().debug_assert();
    }
}

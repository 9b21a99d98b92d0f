//! The options of a run.

use clap::Args;
use tfrt_host::allocator::AllocatorKind;
use tfrt_host::tracing::TracingLevel;

#[cfg(all(feature = "grpc", unix))]
use super::cluster::RunClusterArguments;
use super::function_arguments::GivenArgument;
use super::limits::LimitArguments;
use super::recording::{LevelName, SinkName};
use super::result_line::Style;
use crate::arguments::{DiagnosticArguments, is_original};
use crate::libraries::LibraryArguments;
use crate::queue_arguments::QueueArguments;

/// The program to run, and how to run it.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The program, as MLIR text or a BEF file; `-` reads standard input
    #[arg(default_value = "-")]
    pub(crate) file: String,

    /// The functions to run, in this order [default: all functions without arguments]
    #[arg(long, alias = "function", value_name = "NAME,…", value_delimiter = ',')]
    pub(super) functions: Vec<String>,

    /// The value of a function argument: a number, a string, or `@FILE` for the content of a text
    /// or tensor file. NAME is the name of the argument in the program, or its position. May be
    /// repeated
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(super) arguments: Vec<GivenArgument>,

    /// Do not print the elements of results
    #[arg(long)]
    pub(super) quiet: bool,

    /// The function to run before all others, if the program has it
    #[arg(
        long = "test_init_function",
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) test_init_function: String,

    #[command(flatten)]
    pub(super) queue: QueueArguments,

    /// The GPU to use: `cuda`, or `host` to simulate a GPU on threads of this process [default: the
    /// value of the environment variable TFRT_GPU, or `cuda`]
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "GPU")]
    pub(super) gpu: Option<String>,

    /// The allocator for tensors and executor state
    #[arg(long = "host_allocator_type", value_name = "TYPE", value_parser = allocator_names(), default_value = AllocatorKind::LeakCheck.name())]
    pub(super) host_allocator_type: String,

    /// Call functions of input pipelines for elements alone, and not for ends and failed draws
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-skip-end-calls")]
    pub(super) data_skip_end_calls: bool,

    /// How many bytes of elements the stages of input pipelines may hold that find out by
    /// themselves how many calls to keep under way; by default half of the free memory
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-ram-budget", value_name = "BYTES")]
    pub(super) data_ram_budget: Option<u64>,

    /// How many calls the stages of input pipelines that find out by themselves how many to keep
    /// under way may have together; by default, each may have as many as there are threads
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-cpu-budget", value_name = "N")]
    pub(super) data_cpu_budget: Option<usize>,

    /// Let errors of other tasks keep their codes, which `--print_error_code` prints; without it,
    /// their code is `Unknown`
    #[cfg(feature = "distributed")]
    #[arg(long = "typed-remote-errors")]
    pub(super) typed_remote_errors: bool,

    /// Let all-reduces with another output leave their inputs as they are; without it, they write
    /// the result into the inputs, too
    #[cfg(feature = "distributed")]
    #[arg(long = "allreduce-keeps-input")]
    pub(super) allreduce_keeps_input: bool,

    #[command(flatten)]
    pub(super) libraries: LibraryArguments,

    #[command(flatten)]
    pub(super) diagnostics: DiagnosticArguments,

    #[command(flatten)]
    pub(super) limits: LimitArguments,

    #[cfg(all(feature = "grpc", unix))]
    #[command(flatten)]
    pub(super) cluster: RunClusterArguments,

    /// A folder with source files that locations in the program refer to. Diagnostics show lines of
    /// these files, and their `expected-error` comments count. The folder of the program is always
    /// searched. May be repeated
    #[arg(long = "source-folder", value_name = "FOLDER")]
    pub(super) source_folders: Vec<String>,

    /// Accept an MLIR program without chains, and add the chains that keep program order
    #[arg(long = "thread-chains")]
    pub(super) thread_chains: bool,

    /// Print what the program shows, such as images
    #[arg(long)]
    pub(super) show: bool,

    /// Before running, print the chosen device of each core runtime op, the reason, and the other
    /// candidates
    #[arg(long = "explain-placement")]
    pub(super) explain_placement: bool,

    /// Print error codes next to error messages
    #[arg(long = "print_error_code")]
    pub(super) print_error_code: bool,

    /// Send trace events to the linked tracing sink; prints a warning if none is linked
    #[arg(long = "enable_tracing")]
    pub(super) enable_tracing: bool,

    /// How much to trace [default: `default` with `--enable_tracing`, otherwise `debug`]
    #[arg(long = "tracing_level", value_name = "LEVEL", value_enum)]
    pub(super) tracing_level: Option<LevelName>,

    /// The tracing sink to use instead of the linked one; enables tracing
    #[arg(
        long = "tracing_sink",
        alias = "tracing-sink",
        value_name = "SINK",
        value_enum
    )]
    pub(super) tracing_sink: Option<SinkName>,
}

impl Options {
    /// Returns how a tool with this name prints results.
    pub(super) fn style(&self, program: &str) -> Style {
        let is_for_scripts = self.quiet || is_original(program);
        if self.show || !is_for_scripts {
            Style::Shown
        } else {
            Style::Recorded
        }
    }

    /// Returns the kind of the allocator.
    pub(super) fn allocator_kind(&self) -> AllocatorKind {
        AllocatorKind::from_name(&self.host_allocator_type).unwrap_or_default()
    }

    /// Returns the tracing level, if tracing is enabled.
    pub(super) fn told_level(&self) -> Option<TracingLevel> {
        let implied = match (self.enable_tracing, self.tracing_sink) {
            (true, _) => TracingLevel::Default,
            (false, Some(SinkName::Simple | SinkName::Debug)) => TracingLevel::Debug,
            (false, Some(SinkName::None) | None) => return None,
        };
        Some(self.tracing_level.map_or(implied, TracingLevel::from))
    }
}

fn allocator_names() -> Vec<&'static str> {
    AllocatorKind::ALL.iter().map(|kind| kind.name()).collect()
}

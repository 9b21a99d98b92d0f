//! `tfrt bench`: measures the times of a program's functions, and of their kernels.
//!
//! There are two kinds of runs, because recording changes the timing. Measured runs are not
//! recorded; recorded runs provide the time of each kernel and of the executor before it. The cost
//! of recording is measured as well, and subtracted from the latter.

mod statistics;

mod report;

#[cfg(feature = "onnx")]
mod model;

mod recording;

mod progress;

mod quiet;

mod measurement;

mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use tfrt_executor::Program;
use tfrt_host::{FunctionRef, HostContext, ProgramFolder, ResourceContext};
use tfrt_support::Error;

use crate::arguments::DiagnosticArguments;
use crate::failure::{CliError, Failure};
use crate::front_end::FrontEnd;
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::output;
use crate::queue_arguments::QueueArguments;
use crate::run::{self, ProgramFile, ProgramHost};

use measurement::{Bench, Plan, Stop, clock_cost, fresh_ctx};
use progress::Progress;
use quiet::QuietOutput;
use report::{FunctionReport, RecordingCost, Report, VERSION};
use table::Columns;

const EXAMPLES: &str = "\
Examples:
  tfrt bench program.mlir                           measure all functions without arguments
  tfrt bench --functions=main,check program.bef     measure two functions, in this order
  tfrt bench --work_queue_type=mstd:4 program.mlir  run on four threads
  tfrt bench --duration 0.5 --warmup 10 p.mlir      warm up ten times, then measure for 0.5 s
  tfrt bench --hot --functions=main program.mlir    sort kernels by executor overhead
  tfrt bench --per-node program.mlir                list each kernel, or node of a model, by itself
  tfrt bench --json program.mlir > report.json      write all measurements for other tools

A run ends when all work that the function started is done. Output of the program is discarded.

The table of kernels comes from at most 1000 separate runs, in which every kernel is recorded:
  total       the time from the start of a kernel to its end
  self        the same without the kernels that ran inside this one
  dispatch    the executor overhead before the kernel, since the end of the previous kernel
The cost of recording is measured with empty kernels and subtracted. The line above the table
compares recorded runs with other runs. A function with a static schedule runs in the ready loop
while it is recorded: it slows down by more than the cost of recording, and `dispatch` is the
overhead of the ready loop.

The stages of input pipelines are observed in the same runs:
  drawing     the time in draws from the stage, without draws from the stages below
  waiting     the rest of the time in which draws from the stage were pending
  own         the time in which draws from the stage were pending, and none from the stages below
  queued      the mean number of pending draws, while there were any
  most        the maximum number of pending draws";

/// The maximal number of runs, so that their times fit in memory.
const MAX_RUNS: u64 = 10_000_000;

/// The number of runs if no duration is given.
const DEFAULT_RUNS: u64 = 100;

/// Measure how long the functions and kernels of a program take.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as MLIR text or a BEF file, or a model; `-` reads standard input
    #[arg(value_name = "PROGRAM")]
    file: String,

    #[cfg(feature = "onnx")]
    #[command(flatten)]
    model: crate::run_model::ModelArguments,

    /// The functions to measure, in this order [default: all named functions without arguments]
    #[arg(long, alias = "function", value_name = "NAME,…", value_delimiter = ',')]
    functions: Vec<String>,

    /// The functions, as positional arguments
    #[arg(value_name = "FUNCTION", hide = true, conflicts_with = "functions")]
    more_functions: Vec<String>,

    /// The maximum number of runs of each function [default: 100, or unlimited with `--duration`]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=MAX_RUNS))]
    runs: Option<u64>,

    /// The number of warm-up runs of each function, which are not measured
    #[arg(long, value_name = "N", default_value = "3", value_parser = RangedU64ValueParser::<u64>::new().range(0..=MAX_RUNS))]
    warmup: u64,

    /// Start no more runs of a function after this many seconds
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    duration: Option<Duration>,

    #[command(flatten)]
    queue: QueueArguments,

    #[command(flatten)]
    libraries: LibraryArguments,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,

    /// Accept an MLIR program without chains, and add the chains that keep program order
    #[arg(long = "thread-chains")]
    thread_chains: bool,

    /// Keep resources, such as the results of `tfrt.once`, from one run to the next. By default,
    /// each run creates its own
    #[arg(long = "keep-resources")]
    keep_resources: bool,

    /// Sort kernels by executor overhead instead of self time
    #[arg(long)]
    hot: bool,

    /// List each kernel in the program by itself, with its place: the node of a model, or the line.
    /// By default, kernels of one name are added up
    #[arg(long = "per-node")]
    per_node: bool,

    /// Print all measurements as one JSON document
    #[arg(long)]
    json: bool,
}

fn parse_seconds(text: &str) -> Result<Duration, CliError> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| CliError::new(format!("expected a number of seconds, found `{text}`")))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| CliError::new(error.to_string()))
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let report = measure(program, arguments)?;
    let columns = if arguments.hot {
        Columns::Dispatch
    } else {
        Columns::Kernels
    };
    let text = if arguments.json {
        report
            .to_json()
            .map_err(|error| Failure::caused(program, error))?
    } else {
        table::text(&report, columns)
    };
    output::write("-", text.as_bytes())
}

fn measure(program: &str, arguments: &Arguments) -> Result<Report, Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    #[cfg(feature = "onnx")]
    if let Some(kind) = crate::model_file::model_kind(&arguments.file) {
        return measure_model(program, arguments, &front_end, kind);
    }
    #[cfg(feature = "onnx")]
    arguments.model.refuse_for_program()?;
    let input = Input::read(&arguments.file)?;
    let program_name = input.name.clone();
    let file = ProgramFile::of_input(
        program,
        &front_end,
        input,
        arguments.thread_chains,
        arguments.diagnostics,
    )?;
    let program_host = ProgramHost::new(
        program,
        &front_end,
        file,
        &arguments.queue.config(),
        arguments.diagnostics,
    )?;
    let host = &program_host.host;
    let Some(loaded) = program_host.load() else {
        return Err(if program_host.is_well() {
            Failure::new(format!(
                "{program}: the program was rejected, as its `expected-error` comments require; \
                 nothing was measured"
            ))
        } else {
            Failure::Reported
        });
    };
    let Selection { functions, not_run } = {
        let functions = match &arguments.functions[..] {
            [] => &arguments.more_functions,
            _ => &arguments.functions,
        };
        select(program, &loaded, functions)?
    };
    let plan = plan(arguments);
    let quiet = QuietOutput::start()?;
    let folder = ProgramFolder::of_file(&arguments.file);
    let resources = arguments
        .keep_resources
        .then(|| Arc::new(ResourceContext::new()));
    let has_error = program_host.has_error();
    let measured = measure_all(host, &folder, has_error, plan, resources, &functions);
    run::flush_libraries(host);
    drop(quiet);
    let (recording, functions) = measured.map_err(|(function, stop)| {
        // What a kernel reported is printed by now, unless it was expected.
        if program_host.is_well() {
            Failure::new(describe(&function, &stop))
        } else {
            Failure::Reported
        }
    })?;
    Ok(Report {
        version: VERSION,
        program: program_name,
        work_queue: host.queue().name(),
        num_threads: host.queue().parallelism_level(),
        recording,
        functions,
        not_run,
        #[cfg(feature = "onnx")]
        model: None,
    })
}

fn plan(arguments: &Arguments) -> Plan {
    Plan {
        num_warmup_runs: arguments.warmup,
        max_runs: arguments.runs.unwrap_or(match arguments.duration {
            Some(_) => MAX_RUNS,
            None => DEFAULT_RUNS,
        }),
        max_duration: arguments.duration,
        per_node: arguments.per_node,
    }
}

/// Measures a model of another system.
#[cfg(feature = "onnx")]
fn measure_model(
    program: &str,
    arguments: &Arguments,
    front_end: &FrontEnd,
    kind: crate::model_file::ModelKind,
) -> Result<Report, Failure> {
    let has_error = Arc::new(AtomicBool::new(false));
    let found = Arc::clone(&has_error);
    let host = HostContext::builder()
        .registry(Arc::clone(front_end.kernels()))
        .queue(run::create_queue(program, &arguments.queue.config())?)
        .limits(run::default_limits())
        // Relaxed: it is read when the host is at rest.
        .diagnostic_handler(move |_: &Error| found.store(true, Ordering::Relaxed))
        .build();
    let file = &arguments.file;
    let (function, session, mut model) = model::load(file, kind, &arguments.model, &host)?;
    let functions = [function];
    let folder = ProgramFolder::of_file(file);
    let measured = measure_all(
        &host,
        &folder,
        &has_error,
        plan(arguments),
        None,
        &functions,
    );
    let (recording, functions) =
        measured.map_err(|(function, stop)| Failure::new(describe(&function, &stop)))?;
    model.finish(&host, &session, &functions);
    Ok(Report {
        version: VERSION,
        program: file.clone(),
        work_queue: host.queue().name(),
        num_threads: host.queue().parallelism_level(),
        recording,
        functions,
        not_run: Vec::new(),
        model: Some(model),
    })
}

/// Measures the functions, one after another, and reports those that cannot be measured.
fn measure_all(
    host: &Arc<HostContext>,
    folder: &ProgramFolder,
    has_error: &AtomicBool,
    plan: Plan,
    resources: Option<Arc<ResourceContext>>,
    functions: &[FunctionRef],
) -> Result<(Option<RecordingCost>, Vec<FunctionReport>), (String, Stop)> {
    let recording =
        recording::is_possible().then(|| RecordingCost::measure(&fresh_ctx(host, folder, None)));
    let progress = Progress::new();
    let bench = Bench {
        host,
        folder,
        has_error,
        plan,
        resources,
        recording,
        progress: &progress,
        clock_cost: clock_cost(),
    };
    let measure = |function: &FunctionRef| {
        let measured = bench.measure(function);
        measured.map_err(|stop| (function.name().to_owned(), stop))
    };
    let reports: Result<Vec<_>, _> = functions.iter().map(measure).collect();
    Ok((recording, reports?))
}

/// Returns the reason why measuring a function stopped early.
fn describe(function: &str, stop: &Stop) -> String {
    match stop {
        Stop::Failed(message) => format!("'{function}' returned <<error: {message}>>"),
        Stop::Reported => format!("'{function}' was not measured: a kernel reported an error"),
        Stop::Deadlock(message) => format!("cannot wait for '{function}': {message}"),
    }
}

/// The functions to measure.
#[derive(Debug)]
struct Selection {
    functions: Vec<FunctionRef>,
    /// Names of functions that were not requested and cannot be called without arguments.
    not_run: Vec<String>,
}

fn select(program: &str, loaded: &Arc<Program>, names: &[String]) -> Result<Selection, Failure> {
    if names.is_empty() {
        let (functions, with_arguments) = run::functions_by_arguments(loaded);
        if functions.is_empty() {
            return Err(Failure::new(format!(
                "{program}: expected a function without arguments, found none"
            )));
        }
        return Ok(Selection {
            functions,
            not_run: with_arguments
                .iter()
                .map(|function| function.name().to_owned())
                .collect(),
        });
    }
    let find = |name: &String| match run::find_function(program, loaded, name)? {
        function if function.num_arguments() > 0 => Err(Failure::new(format!(
            "{program}: function '{name}' has arguments: measure a function that calls it instead"
        ))),
        function => Ok(function),
    };
    let functions: Result<_, _> = names.iter().map(find).collect();
    Ok(Selection {
        functions: functions?,
        not_run: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_and_not_negative() {
        let seconds = parse_seconds("0.25").ok();
        assert_eq!(seconds, Some(Duration::from_millis(250)));
        for wrong in ["-1", "nan", "inf", "1s", ""] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}

//! `tfrt run`: executes the functions of a program, one after another, and prints what they return.
//!
//! Scripts read this output: each line is flushed as soon as it is printed, and the lines are
//! stable.

#[cfg(all(feature = "grpc", unix))]
mod client;

#[cfg(all(feature = "grpc", unix))]
mod cluster;

mod function_arguments;

mod leak_check;

mod limits;

#[cfg(all(feature = "grpc", unix))]
mod member;

mod program_file;

mod program_host;

mod recording;

mod result_line;

mod shown;

mod stalled;

#[cfg(all(feature = "grpc", unix))]
mod workers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, Parser};
use tfrt_async::AnyRef;
use tfrt_bef::BefFile;
use tfrt_executor::Program;
use tfrt_function_ops::FunctionProgram;
use tfrt_host::allocator::{AllocatorKind, HostAllocator};
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_host::{
    ExecutionContext, FunctionKind, FunctionRef, HostContext, ProgramFolder, RequestContextBuilder,
    ResourceContext, Show, log, tracing,
};
use tfrt_queue::{ConcurrentWorkQueue, CreateQueueError};
use tfrt_support::escape::{escaped, escaped_lines};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Diagnostic, Error, Place};

use crate::arguments::{DiagnosticArguments, is_original};
use crate::failure::{Failure, WithCauses};
use crate::front_end::FrontEnd;
use crate::input::{Input, Kind};
use crate::libraries::LibraryArguments;
use crate::output::{self, print_line};
use crate::queue_arguments::QueueArguments;
#[cfg(feature = "onnx")]
use crate::run_model::{Missing, ModelKind, ModelRunArguments};

use function_arguments::{ArgumentNames, GivenArgument};
use leak_check::LeakCheck;
pub(crate) use limits::{LimitArguments, default_limits};
pub(crate) use program_file::ProgramFile;
pub(crate) use program_host::{ProgramHost, functions_by_arguments};
use recording::{LevelName, Recording, SinkName};
use result_line::{FunctionResult, Style, result_line};

#[cfg(all(feature = "grpc", unix))]
macro_rules! cluster_examples {
    () => {
        "  tfrt run --spawn 2 program.mlir                   run with two workers on this machine
  tfrt run --cluster worker=a:7700,b:7700 p.mlir    use two workers that run: see `tfrt worker`
"
    };
}

#[cfg(not(all(feature = "grpc", unix)))]
macro_rules! cluster_examples {
    () => {
        ""
    };
}

const EXAMPLES: &str = concat!(
    "\
Examples:
  tfrt run program.mlir                             run every function without arguments
  tfrt run --functions=main,check program.bef       run two functions, in this order
  tfrt run --arg x=3 --arg img=@x.npy p.mlir        pass a number and the tensor in a file
  tfrt run --work_queue_type=mstd:4 program.mlir    run on four threads
  tfrt translate --mlir-to-bef p.mlir | tfrt run    run the output of another tool
  tfrt run --kernel-library libmine.so p.mlir       load more kernels from a library
  tfrt run --thread-chains program.mlir             run a program without chains, in program order
  tfrt run --trace trace.json program.mlir          record a trace of every kernel
  tfrt run --show program.mlir                      print the images that the program shows
  tfrt run --explain-placement program.mlir         print the device that each op runs on, and why
",
    cluster_examples!(),
    "
A comment `// expected-error {{text}}` on the line of a kernel says that the kernel must fail. The
exit status is 0 if exactly the expected errors occur."
);

/// Run the functions of a program.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,

    /// Write a trace of every kernel to a file, for the viewer at https://ui.perfetto.dev
    #[arg(long, value_name = "FILE", conflicts_with = "tracing_sink")]
    trace: Option<String>,

    #[cfg(feature = "onnx")]
    #[command(flatten)]
    model: ModelRunArguments,
}

/// The program to run, and how to run it.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The program, as MLIR text or a BEF file; `-` reads standard input
    #[arg(default_value = "-")]
    pub(crate) file: String,

    /// The functions to run, in this order [default: all functions without arguments]
    #[arg(long, alias = "function", value_name = "NAME,…", value_delimiter = ',')]
    functions: Vec<String>,

    /// The value of a function argument: a number, a string, or `@FILE` for the content of a text
    /// or tensor file. NAME is the name of the argument in the program, or its position. May be
    /// repeated
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    arguments: Vec<GivenArgument>,

    /// Do not print the elements of results
    #[arg(long)]
    quiet: bool,

    /// The function to run before all others, if the program has it
    #[arg(
        long = "test_init_function",
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    test_init_function: String,

    #[command(flatten)]
    queue: QueueArguments,

    /// The GPU to use: `cuda`, or `host` to simulate a GPU on threads of this process [default: the
    /// value of the environment variable TFRT_GPU, or `cuda`]
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,

    /// The allocator for tensors and executor state
    #[arg(long = "host_allocator_type", value_name = "TYPE", value_parser = allocator_names(), default_value = AllocatorKind::LeakCheck.name())]
    host_allocator_type: String,

    /// Call functions of input pipelines for elements alone, and not for ends and failed draws
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-skip-end-calls")]
    data_skip_end_calls: bool,

    /// How many bytes of elements the stages of input pipelines may hold that find out by
    /// themselves how many calls to keep under way; by default half of the free memory
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-ram-budget", value_name = "BYTES")]
    data_ram_budget: Option<u64>,

    /// How many calls the stages of input pipelines that find out by themselves how many to keep
    /// under way may have together; by default, each may have as many as there are threads
    #[cfg(feature = "standard-kernels")]
    #[arg(long = "data-cpu-budget", value_name = "N")]
    data_cpu_budget: Option<usize>,

    /// Let errors of other tasks keep their codes, which `--print_error_code` prints; without it,
    /// their code is `Unknown`
    #[cfg(feature = "distributed")]
    #[arg(long = "typed-remote-errors")]
    typed_remote_errors: bool,

    /// Let all-reduces with another output leave their inputs as they are; without it, they write
    /// the result into the inputs, too
    #[cfg(feature = "distributed")]
    #[arg(long = "allreduce-keeps-input")]
    allreduce_keeps_input: bool,

    #[command(flatten)]
    libraries: LibraryArguments,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,

    #[command(flatten)]
    limits: LimitArguments,

    #[cfg(all(feature = "grpc", unix))]
    #[command(flatten)]
    cluster: cluster::RunClusterArguments,

    /// A folder with source files that locations in the program refer to. Diagnostics show lines of
    /// these files, and their `expected-error` comments count. The folder of the program is always
    /// searched. May be repeated
    #[arg(long = "source-folder", value_name = "FOLDER")]
    source_folders: Vec<String>,

    /// Accept an MLIR program without chains, and add the chains that keep program order
    #[arg(long = "thread-chains")]
    thread_chains: bool,

    /// Print what the program shows, such as images
    #[arg(long)]
    show: bool,

    /// Before running, print the chosen device of each core runtime op, the reason, and the other
    /// candidates
    #[arg(long = "explain-placement")]
    explain_placement: bool,

    /// Print error codes next to error messages
    #[arg(long = "print_error_code")]
    print_error_code: bool,

    /// Send trace events to the linked tracing sink; prints a warning if none is linked
    #[arg(long = "enable_tracing")]
    enable_tracing: bool,

    /// How much to trace [default: `default` with `--enable_tracing`, otherwise `debug`]
    #[arg(long = "tracing_level", value_name = "LEVEL", value_enum)]
    tracing_level: Option<LevelName>,

    /// The tracing sink to use instead of the linked one; enables tracing
    #[arg(
        long = "tracing_sink",
        alias = "tracing-sink",
        alias = "tracing-sink",
        value_name = "SINK",
        value_enum
    )]
    tracing_sink: Option<SinkName>,
}

impl Options {
    /// Returns how a tool with this name prints results.
    fn style(&self, program: &str) -> Style {
        let is_for_scripts = self.quiet || is_original(program);
        if self.show || !is_for_scripts {
            Style::Shown
        } else {
            Style::Recorded
        }
    }
}

fn allocator_names() -> Vec<&'static str> {
    AllocatorKind::ALL.iter().map(|kind| kind.name()).collect()
}

impl Options {
    /// Returns the tracing level, if tracing is enabled.
    fn told_level(&self) -> Option<TracingLevel> {
        let implied = match (self.enable_tracing, self.tracing_sink) {
            (true, _) => TracingLevel::Default,
            (false, Some(SinkName::Simple | SinkName::Debug)) => TracingLevel::Debug,
            (false, Some(SinkName::None) | None) => return None,
        };
        Some(self.tracing_level.map_or(implied, TracingLevel::from))
    }
}

/// Runs the tool with the sink that prints trace events, unless another sink is named. `program` is
/// the name it was started under.
pub(crate) fn run_telling(program: &str, mut arguments: Arguments) -> Result<(), Failure> {
    if arguments.trace.is_none() {
        arguments
            .options
            .tracing_sink
            .get_or_insert(SinkName::Debug);
    }
    run(program, &arguments)
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let options = &arguments.options;
    #[cfg(feature = "onnx")]
    if let Some(kind) = crate::run_model::model_kind(&options.file) {
        let run = || run_model(program, options, kind, &arguments.model, Missing::Refuse);
        return match &arguments.trace {
            Some(path) => recorded(options, path, run),
            None => run(),
        };
    }
    #[cfg(feature = "onnx")]
    arguments.model.refuse_for_program()?;
    if let Some(path) = &arguments.trace {
        return run_recorded(program, options, path);
    }
    if let Some(sink) = options.tracing_sink {
        sink.register();
    }
    if let Some(level) = options.told_level() {
        tracing::enable(level);
    }
    let outcome = run_program(program, options, None);
    tracing::disable();
    outcome
}

/// Runs the program and writes a trace to `path`, even if the run fails. It includes those of
/// workers that the run starts, unless it goes to standard output.
pub(crate) fn run_recorded(program: &str, options: &Options, path: &str) -> Result<(), Failure> {
    let of_workers = (path != "-").then_some(path);
    let outcome = recorded(options, path, || run_program(program, options, of_workers));
    #[cfg(all(feature = "grpc", unix))]
    let outcome = outcome.and(of_workers.map_or(Ok(()), |path| options.cluster.merge_traces(path)));
    outcome
}

/// Does work and writes a trace of it to `path`, even if it fails.
pub(crate) fn recorded(
    options: &Options,
    path: &str,
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let level = options.tracing_level.map(TracingLevel::from);
    record(path, level.unwrap_or(TracingLevel::Debug), work)
}

/// Does work and writes a trace of it to `path`, likewise, with what a level includes.
pub(crate) fn record(
    path: &str,
    level: TracingLevel,
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let recording = Recording::start(path, level)?;
    let outcome = work();
    let written = recording.finish();
    outcome.and(written)
}

/// Runs a model of another system.
#[cfg(feature = "onnx")]
pub(crate) fn run_model(
    program: &str,
    options: &Options,
    kind: ModelKind,
    arguments: &ModelRunArguments,
    missing: Missing,
) -> Result<(), Failure> {
    if !options.arguments.is_empty() {
        return Err(Failure::Usage(
            "error: `--arg` applies to programs, but the file is a model; `--input` gives \
             inputs of models"
                .to_owned(),
        ));
    }
    #[cfg(all(feature = "grpc", unix))]
    options.cluster.refuse_for_model()?;
    let front_end = FrontEnd::new(program, &options.libraries)?;
    let host = HostContext::builder()
        .registry(Arc::clone(front_end.kernels()))
        .queue(create_queue(program, &options.queue.config())?)
        .limits(options.limits.of_host())
        .build();
    crate::run_model::run(
        &options.file,
        kind,
        arguments,
        missing,
        options.limits,
        &host,
    )
}

fn run_program(program: &str, arguments: &Options, trace: Option<&str>) -> Result<(), Failure> {
    #[cfg(all(feature = "grpc", unix))]
    arguments.cluster.check()?;
    let _scope = Scope::enter(TracingLevel::Default, || "Bef Executor");
    let front_end = FrontEnd::from_link(program)?;
    let input = Input::read(&arguments.file)?;
    let front_end = match front_end.with_libraries(&arguments.libraries) {
        Ok(front_end) => front_end,
        Err(failure) => {
            // To whoever reads the output, libraries are loaded when the work queue is there,
            // whatever the input is.
            print_line(allocator_kind(arguments).banner())?;
            choose_queue(program, arguments)?;
            return Err(failure);
        }
    };
    if arguments.explain_placement {
        explain_placement(&front_end, &input, &device_names(program, arguments)?)?;
    }
    let mut file = ProgramFile::of_input(
        program,
        &front_end,
        input,
        arguments.thread_chains,
        arguments.diagnostics,
    )?;
    for folder in &arguments.source_folders {
        file.sources.look_under(folder);
    }
    let allocator_kind = allocator_kind(arguments);
    print_line(allocator_kind.banner())?;
    let allocator = allocator_kind.create();
    let own_allocator = Arc::clone(&allocator);
    let outcome = run_on(program, arguments, trace, &front_end, own_allocator, file);
    // By now the host and all that it allocated are gone, unless something went wrong that a
    // message says.
    let profiled = report_profile(allocator_kind, &*allocator);
    outcome.and(profiled)
}

/// Returns the names of the devices that a program may use: the processor, and the GPUs if an
/// implementation was requested.
fn device_names(program: &str, arguments: &Options) -> Result<Vec<String>, Failure> {
    let names = vec!["CPU:0".to_owned()];
    #[cfg(feature = "gpu")]
    if let Some(choice) = &arguments.gpu {
        let count = choice
            .parse()
            .and_then(tfrt_gpu::platform::Gpu::open)
            .and_then(|gpu| {
                gpu.driver.init()?;
                Ok(gpu.driver.device_count()?)
            });
        let count = count.map_err(|error| Failure::caused(program, error))?;
        let gpus = (0..count).map(|number| format!("GPU:{number}"));
        return Ok(names.into_iter().chain(gpus).collect());
    }
    let _ = (program, arguments);
    Ok(names)
}

/// Prints where the ops of a program run. Errors in the program are left to its translation and
/// loading.
fn explain_placement(
    front_end: &FrontEnd,
    input: &Input,
    devices: &[String],
) -> Result<(), Failure> {
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let kernels = front_end.kernels();
    let parsed = match input.kind() {
        Kind::Text => FunctionProgram::from_text(input.text()?, &input.name, kernels),
        Kind::Bef => {
            FunctionProgram::from_bef(&BefFile::from_bytes(&input.bytes), &input.name, kernels)
        }
    };
    if let Ok(parsed) = parsed {
        let tables = parsed.explain_placement(kernels, &devices);
        output::write("-", tables.as_bytes())?;
    }
    Ok(())
}

fn run_on(
    program: &str,
    arguments: &Options,
    trace: Option<&str>,
    front_end: &FrontEnd,
    allocator: Arc<dyn HostAllocator>,
    file: ProgramFile,
) -> Result<(), Failure> {
    let queue = choose_queue(program, arguments)?;
    let reporter = Arc::new(Mutex::new(
        arguments.diagnostics.verifying_lazily(file.sources),
    ));
    let has_failed = Arc::new(AtomicBool::new(false));
    let report = {
        let (reporter, has_failed) = (Arc::clone(&reporter), Arc::clone(&has_failed));
        move |error: &Error| {
            // Relaxed: it is read by a thread that has waited for what the functions did.
            has_failed.store(true, Ordering::Relaxed);
            reporter
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .report(&runtime_diagnostic(error))
        }
    };
    let argument_names = file.argument_names;
    let host = HostContext::builder()
        .registry(Arc::clone(front_end.kernels()))
        .queue(queue)
        .allocator(allocator)
        .limits(arguments.limits.of_host())
        .diagnostic_handler(report.clone())
        .build();
    #[cfg(feature = "gpu")]
    install_gpu(program, arguments.gpu.as_deref(), &host)?;
    #[cfg(feature = "standard-kernels")]
    pipeline_options(arguments).install(&host);
    #[cfg(feature = "distributed")]
    {
        use tfrt::distributed::TypedRemoteErrors;
        use tfrt::distributed::collective::AllReduceKeepsInput;

        TypedRemoteErrors::set(&host, arguments.typed_remote_errors);
        AllReduceKeepsInput::set(&host, arguments.allreduce_keeps_input);
    }
    match load(&host, file.kind, &BefFile::from_bytes(&file.bef)) {
        Ok(loaded) => run_in_cluster(
            program,
            arguments,
            trace,
            &argument_names,
            &host,
            &loaded,
            &has_failed,
        )?,
        Err(error) => report(&with_file(error, program, file.kind, &arguments.file)),
    }
    // Its memory must be gone when it is counted.
    leak_check::wait_until(&host, || Arc::strong_count(&host) == 1);
    drop(host);
    let is_well = reporter
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .finish();
    is_well.then_some(()).ok_or(Failure::Reported)
}

/// Sets the GPU of a host, if one was requested.
#[cfg(feature = "gpu")]
pub(crate) fn install_gpu(
    program: &str,
    choice: Option<&str>,
    host: &HostContext,
) -> Result<(), Failure> {
    let Some(choice) = choice else {
        return Ok(());
    };
    let opened = choice.parse().and_then(tfrt_gpu::platform::Gpu::open);
    let gpu = opened.map_err(|error| Failure::caused(program, error))?;
    tfrt_gpu::platform::Gpu::install(host, gpu);
    Ok(())
}

/// Loads a program, and decodes all of its functions.
pub(crate) fn load(
    host: &Arc<HostContext>,
    kind: Kind,
    bef: &BefFile,
) -> Result<Arc<Program>, Error> {
    let loaded = Program::load(host, bef).map_err(|error| match kind {
        Kind::Bef => as_recorded(error, bef),
        Kind::Text => error,
    })?;
    loaded.verify_all()?;
    Ok(loaded)
}

/// Returns an error in a file, with the name of the file, because nothing in it has a location. The
/// original does not name the file.
fn with_file(error: Error, program: &str, kind: Kind, file: &str) -> Error {
    if kind == Kind::Text || *error.place() != Place::Unknown || is_original(program) {
        return error;
    }
    Error::new(format!("{file}: {}", error.message())).with_code(error.code())
}

/// The reference reports the location of an unknown kernel only for a file without any signature,
/// and scripts compare its output. A text that is run without a file in between has no such past.
fn as_recorded(error: Error, bef: &BefFile) -> Error {
    let has_signatures = bef.verify().is_ok_and(|tables| {
        tables
            .functions()
            .any(|function| !function.arguments.is_empty() || !function.results.is_empty())
    });
    if has_signatures {
        Error::new(error.message()).with_code(error.code())
    } else {
        error
    }
}

/// The settings of input pipelines.
#[cfg(feature = "standard-kernels")]
fn pipeline_options(arguments: &Options) -> tfrt::data::PipelineOptions {
    let options = tfrt::data::PipelineOptions::default()
        .with_skipped_end_calls(arguments.data_skip_end_calls);
    let options = match arguments.data_ram_budget {
        Some(num_bytes) => options.with_ram_budget(num_bytes),
        None => options,
    };
    match arguments.data_cpu_budget {
        Some(num_calls) => options.with_cpu_budget(num_calls),
        None => options,
    }
}

fn allocator_kind(arguments: &Options) -> AllocatorKind {
    AllocatorKind::from_name(&arguments.host_allocator_type).unwrap_or_default()
}

fn choose_queue(
    program: &str,
    arguments: &Options,
) -> Result<Arc<dyn ConcurrentWorkQueue>, Failure> {
    let queue = create_queue(program, &arguments.queue.config())?;
    print_line(&format!("Choosing {} work queue.", queue.name()))?;
    Ok(queue)
}

/// Makes the work queue that the command line describes.
pub(crate) fn create_queue(
    program: &str,
    config: &str,
) -> Result<Arc<dyn ConcurrentWorkQueue>, Failure> {
    tfrt_queue::create_queue(config).map_err(|error| {
        let suggestion = match &error {
            CreateQueueError::Unknown { name, known } => {
                let meant = did_you_mean(&nearest(name, known.iter().copied()));
                if is_original(program) {
                    meant
                } else {
                    format!("; the types are `{}`{meant}", known.join("`, `"))
                }
            }
            error => {
                log::error!("{}", WithCauses(error));
                String::new()
            }
        };
        Failure::new(format!(
            "{program}: couldn't create work queue type {config}{suggestion}"
        ))
    })
}

/// Runs the functions, as a task of a cluster if the command line requests it. `has_failed` is set
/// by errors that functions report. The files for traces of workers have names that begin with
/// `trace`.
fn run_in_cluster(
    program: &str,
    arguments: &Options,
    trace: Option<&str>,
    names: &ArgumentNames,
    host: &Arc<HostContext>,
    loaded: &Arc<Program>,
    has_failed: &AtomicBool,
) -> Result<(), Failure> {
    // Only tasks of a cluster have others who wait for them, and workers.
    let _ = (has_failed, trace);
    #[cfg(all(feature = "grpc", unix))]
    if let Some(cluster) = arguments
        .cluster
        .join(program, &arguments.libraries, trace, host)?
    {
        let context = cluster.context();
        let ran = run_functions(program, arguments, names, host, loaded, &|request| {
            request.context_data(context.clone())
        });
        drop(context);
        let is_well = ran.is_ok() && !has_failed.load(Ordering::Relaxed);
        let left = cluster.leave(host, is_well);
        return ran.and(left);
    }
    run_functions(program, arguments, names, host, loaded, &|request| request)
}

/// Adds data to the request of a function.
type Extend<'a> = &'a dyn Fn(RequestContextBuilder) -> RequestContextBuilder;

fn run_functions(
    program: &str,
    arguments: &Options,
    names: &ArgumentNames,
    host: &Arc<HostContext>,
    loaded: &Arc<Program>,
    extend: Extend<'_>,
) -> Result<(), Failure> {
    let init = loaded
        .function(&arguments.test_init_function)
        .filter(|_| !arguments.test_init_function.is_empty());
    let selected: Vec<FunctionRef> = if arguments.functions.is_empty() {
        loaded.functions().collect()
    } else {
        arguments
            .functions
            .iter()
            .map(|name| find_function(program, loaded, name))
            .collect::<Result<_, _>>()?
    };
    let is_init = |function: &FunctionRef| {
        init.as_ref()
            .is_some_and(|init| init.name() == function.name())
    };
    for function in init
        .iter()
        .chain(selected.iter().filter(|function| !is_init(function)))
    {
        run_function(program, function, arguments, names, host, extend)?;
    }
    Ok(())
}

/// Returns the function of this name.
pub(crate) fn find_function(
    program: &str,
    loaded: &Arc<Program>,
    name: &str,
) -> Result<FunctionRef, Failure> {
    loaded.function(name).ok_or_else(|| {
        let known: Vec<_> = loaded.functions().collect();
        let near = nearest(
            name,
            known
                .iter()
                .map(FunctionRef::name)
                .filter(|known| !known.is_empty()),
        );
        Failure::new(format!(
            "{program}: couldn't find function {name}{}",
            did_you_mean(&near)
        ))
    })
}

fn run_function(
    program: &str,
    function: &FunctionRef,
    arguments: &Options,
    names: &ArgumentNames,
    host: &Arc<HostContext>,
    extend: Extend<'_>,
) -> Result<(), Failure> {
    let name = function.name();
    // Arguments select the functions that they name, or all functions that take arguments.
    let takes_given = !arguments.arguments.is_empty()
        && (!arguments.functions.is_empty() || !function_arguments::needs_none(function));
    if function.num_arguments() > 0 && !takes_given {
        return print_line(&format!(
            "--- Not running '{}' because it has arguments.",
            escaped(name)
        ));
    }
    if name.is_empty() {
        return Ok(());
    }
    print_line(&format!("--- Running '{}':", escaped(name)))?;
    let _scope = Scope::enter(TracingLevel::Default, || {
        format!("Function: {}", escaped(name))
    });
    let leak_check = LeakCheck::start();
    let given = if takes_given {
        function_arguments::make(function, names, &arguments.arguments, host)
            .map_err(|error| Failure::caused(program, error))?
    } else {
        Vec::new()
    };
    // A fresh request for each function, gone before values are counted.
    let mut request = RequestContextBuilder::new(Arc::clone(host))
        .resources(Arc::new(ResourceContext::new()))
        .context_data(ProgramFolder::of_file(&arguments.file));
    if arguments.show {
        request = request.context_data(Show::new(std::io::stdout()));
    }
    let request = extend(arguments.limits.start(request));
    let ctx = ExecutionContext::new(request.build());
    let style = arguments.style(program);
    match function.kind() {
        FunctionKind::Async | FunctionKind::Native => {
            run_async(program, function, &given, arguments, style, &ctx)?;
        }
        FunctionKind::Sync => run_sync(function, &given, style, &ctx)?,
    }
    if let Some(error) = arguments.limits.passed_deadline(name, ctx.request()) {
        ctx.emit_error(error);
    }
    drop((ctx, given));
    #[cfg(all(feature = "grpc", unix))]
    if arguments.cluster.is_given() {
        // Other tasks make objects here meanwhile.
        return Ok(());
    }
    leak_check.finish(name, host)
}

fn run_async(
    program: &str,
    function: &FunctionRef,
    given: &[AnyRef],
    arguments: &Options,
    style: Style,
    ctx: &ExecutionContext,
) -> Result<(), Failure> {
    let would_deadlock =
        |error| Failure::caused(format!("cannot wait for '{}'", function.name()), error);
    let results = function.execute(ctx, given);
    let waited =
        stalled::await_results(program, function, &results, arguments.limits.timeout(), ctx);
    if !waited.map_err(would_deadlock)? {
        return Err(Failure::Reported);
    }
    flush_libraries(ctx.host());
    if !results.is_empty() {
        let types = function.result_types();
        let values = results.iter().zip(types).map(|(value, ty)| FunctionResult {
            value,
            ty,
            with_codes: arguments.print_error_code,
            style,
        });
        print_line(&result_line(function.name(), values, style))?;
    }
    drop(results);
    ctx.host().quiesce().map_err(would_deadlock)?;
    flush_libraries(ctx.host());
    Ok(())
}

/// Flushes what kernels of libraries have printed: their own copies of the standard library buffer
/// an unfinished line.
pub(crate) fn flush_libraries(host: &HostContext) {
    let libraries = host.registry().libraries();
    libraries.iter().for_each(LoadedLibrary::flush_output);
}

fn run_sync(
    function: &FunctionRef,
    given: &[AnyRef],
    style: Style,
    ctx: &ExecutionContext,
) -> Result<(), Failure> {
    let types = function.result_types();
    let mut results = vec![None; types.len()];
    let executed = function.execute_sync(ctx, given, &mut results);
    flush_libraries(ctx.host());
    match executed {
        Err(error) => print_line(&format!(
            "'{}' returned <<error: {}>>",
            escaped(function.name()),
            escaped_lines(error.message())
        )),
        Ok(()) if results.is_empty() => Ok(()),
        Ok(()) => {
            let values = results.iter().flatten().zip(types);
            let values = values.map(|(value, ty)| FunctionResult {
                value,
                ty,
                with_codes: false,
                style,
            });
            print_line(&result_line(function.name(), values, style))
        }
    }
}

/// Returns a value as it is printed for people.
pub(crate) fn value_text(value: &AnyRef) -> String {
    let result = FunctionResult {
        value,
        ty: value.mlir_type().unwrap_or("unknown"),
        with_codes: false,
        style: Style::Shown,
    };
    result.to_string()
}

/// Returns the diagnostic for an error that a kernel reported or that loading failed with.
pub(crate) fn runtime_diagnostic(error: &Error) -> Diagnostic {
    let place = match error.place() {
        Place::Text(text) => Place::Text(format!("loc(\"{text}\")").into()),
        place => place.clone(),
    };
    Diagnostic::error(place, format!("runtime error: {}", error.message()))
}

fn report_profile(kind: AllocatorKind, allocator: &dyn HostAllocator) -> Result<(), Failure> {
    let Some(profile) = allocator.profile() else {
        return Ok(());
    };
    match profile.leak() {
        Some(leak) => {
            print_line(&format!("{profile}\n{leak}"))?;
            Err(Failure::Reported)
        }
        None if kind == AllocatorKind::Profiled => print_line(&profile.to_string()),
        None => Ok(()),
    }
}

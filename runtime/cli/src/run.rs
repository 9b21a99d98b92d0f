//! `tfrt run`: executes the functions of a program, one after another, and prints what they return.
//!
//! Scripts read this output: each line is flushed as soon as it is printed, and the lines are
//! stable.

#[cfg(all(feature = "grpc", unix))]
mod client;

#[cfg(all(feature = "grpc", unix))]
mod cluster;

mod function_arguments;

mod functions;

mod leak_check;

mod limits;

#[cfg(all(feature = "grpc", unix))]
mod member;

mod options;

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

use clap::Parser;
use tfrt_bef::BefFile;
use tfrt_executor::Program;
use tfrt_function_ops::FunctionProgram;
use tfrt_host::allocator::{AllocatorKind, HostAllocator};
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_host::{HostContext, log, tracing};
use tfrt_queue::{ConcurrentWorkQueue, CreateQueueError};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Diagnostic, Error, Place};

use crate::arguments::is_original;
use crate::failure::{Failure, WithCauses};
use crate::front_end::FrontEnd;
use crate::input::{Input, Kind};
#[cfg(feature = "onnx")]
use crate::model_file::ModelKind;
use crate::output::{self, print_line};
#[cfg(feature = "onnx")]
use crate::run_model::{Missing, ModelRunArguments};

use function_arguments::ArgumentNames;
use functions::run_functions;
pub(crate) use functions::{find_function, flush_libraries, value_text};
pub(crate) use limits::{LimitArguments, default_limits};
pub(crate) use options::Options;
pub(crate) use program_file::ProgramFile;
pub(crate) use program_host::{ProgramHost, functions_by_arguments};
#[cfg(all(feature = "grpc", unix))]
pub(crate) use recording::TRACE_VARIABLE;
pub(crate) use recording::path_in_environment;
use recording::{Recording, SinkName};

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

    /// Write a trace of every kernel to a file, for the viewer at https://ui.perfetto.dev [default:
    /// the file that TFRT_TRACE names, as with `tfrt launch --trace`]
    #[arg(long, value_name = "FILE", conflicts_with = "tracing_sink")]
    trace: Option<String>,

    #[cfg(feature = "onnx")]
    #[command(flatten)]
    model: ModelRunArguments,
}

impl Arguments {
    /// Returns the file for a trace, if there is to be one: what the command line says goes before
    /// the environment.
    fn trace_path(&self) -> Option<String> {
        match (&self.trace, self.options.tracing_sink) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(_)) => None,
            (None, None) => path_in_environment(),
        }
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
    let trace = arguments.trace_path();
    #[cfg(feature = "onnx")]
    if let Some(kind) = crate::model_file::model_kind(&options.file) {
        let run = || run_model(program, options, kind, &arguments.model, Missing::Refuse);
        return match &trace {
            Some(path) => recorded(options, path, run),
            None => run(),
        };
    }
    #[cfg(feature = "onnx")]
    arguments.model.refuse_for_program()?;
    if let Some(path) = &trace {
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
            print_line(arguments.allocator_kind().banner())?;
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
    let allocator_kind = arguments.allocator_kind();
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

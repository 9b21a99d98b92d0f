//! `tfrt run-gpu`: runs the function that a GPU program names as its entry point, with a stream and
//! buffers.
//!
//! The buffers have the sizes that the program requests, and their bytes are unspecified.

use std::sync::Arc;

use clap::Parser;
use tfrt_async::{AnyRef, AsyncValueRef};
use tfrt_executor::Program;
use tfrt_gpu::executor;
use tfrt_gpu::platform::Gpu;
use tfrt_host::{
    ExecutionContext, HostContext, ProgramFolder, RequestContextBuilder, ResourceContext,
};
use tfrt_support::Error;

use crate::arguments::{DiagnosticArguments, is_original};
use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::run::{self, ProgramFile, ProgramHost};

const EXAMPLES: &str = "\
Examples:
  tfrt run-gpu --gpu=host program.mlir       simulate the GPU on threads of this process
  tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA buffer_sizes=64' p.mlir \\
    | tfrt run-gpu --gpu=host                lower a program and run it

The function `get_tfrt_gpu_entry_point` of the program, which the pass `--tfrt-set-entry-point` adds,
names the entry point. The entry point takes a chain, a stream of device 0 and buffers, and returns a
chain. A comment `// expected-error {{text}}` on the line of a kernel says that the kernel must fail.
The exit status is 0 if exactly the expected errors occur and the returned chain is not an error.";

/// Run the entry point of a GPU program.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as MLIR text or a BEF file; `-` reads standard input
    #[arg(default_value = "-")]
    file: String,

    /// The GPU to use: `cuda`, or `host` to simulate a GPU on threads of this process [default: the
    /// value of the environment variable TFRT_GPU, or `cuda`]
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,

    /// The work queue: `gpu` runs kernels on the calling thread, plus one thread for each kernel
    /// that waits for another participant
    #[arg(
        long = "work_queue_type",
        value_name = "TYPE[:ARGUMENT]",
        default_value = "gpu"
    )]
    work_queue_type: String,

    #[command(flatten)]
    libraries: LibraryArguments,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let input = Input::read(&arguments.file).map_err(|failure| {
        if is_original(program) {
            Failure::new("Failed to open file".to_owned())
        } else {
            failure
        }
    })?;
    let file = ProgramFile::of_input(program, &front_end, input, false, arguments.diagnostics)?;
    let program_host = ProgramHost::new(
        program,
        &front_end,
        file,
        &arguments.work_queue_type,
        arguments.diagnostics,
    )?;
    let host = &program_host.host;
    run::install_gpu(program, arguments.gpu.as_deref(), host)?;
    let ran = match program_host.load() {
        Some(loaded) => run_entry_point(&arguments.file, host, &loaded),
        None => Ok(()),
    };
    let is_well = program_host.is_well();
    match ran {
        _ if !is_well => Err(Failure::new("unexpected errors reported".to_owned())),
        ran => ran.map_err(|error| Failure::new(error.message())),
    }
}

/// Runs the function that the entry point of a program names, until its work is done.
fn run_entry_point(
    file: &str,
    host: &Arc<HostContext>,
    loaded: &Arc<Program>,
) -> Result<(), Error> {
    let request = RequestContextBuilder::new(Arc::clone(host))
        .resources(Arc::new(ResourceContext::new()))
        .context_data(ProgramFolder::of_file(file));
    let ctx = ExecutionContext::new(request.build());
    let entry_point = executor::entry_point(loaded, &ctx)?;
    let name = &entry_point.function_name;
    let function = loaded
        .function(name)
        .ok_or_else(|| Error::new(format!("{name} function not found")))?;
    let stream = executor::create_stream(&Gpu::of_host(host)?, entry_point.platform, 0)?;
    let buffers = entry_point.buffer_sizes.iter().map(|&num_bytes| {
        executor::allocate_buffer(&stream, num_bytes).map(AsyncValueRef::available)
    });
    let buffers: Vec<_> = buffers.collect::<Result<_, _>>()?;
    let stream = AsyncValueRef::available(stream);
    let chain = executor::execute(&function, &ctx, AnyRef::ready_chain(), &stream, &buffers)?;
    host.await_available(std::slice::from_ref(&chain))?;
    host.quiesce()?;
    run::flush_libraries(host);
    if let Some(stream) = stream.get() {
        stream.synchronize()?;
    }
    match chain.error_if_present() {
        Some(error) => Err(Error::new(format!("result has error: {}", error.message()))),
        None => Ok(()),
    }
}

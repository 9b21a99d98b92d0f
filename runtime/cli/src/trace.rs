//! `tfrt trace`: runs a program as `tfrt run` does and writes a trace file for a viewer.

use clap::Parser;

use crate::failure::Failure;
use crate::run;

#[cfg(all(feature = "grpc", unix))]
macro_rules! cluster_examples {
    () => {
        "  tfrt trace trace.json --spawn 2 program.mlir                trace a run and its workers
  tfrt trace --cluster all.json task0.json task1.json         merge traces of tasks
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
  tfrt trace trace.json program.mlir                          run all functions and record a trace
  tfrt trace trace.json --work_queue_type=mstd:4 p.bef        run on four threads
  tfrt trace trace.json --tracing_level=default p.mlir        record functions without kernels
",
    cluster_examples!(),
    "
Open the file in a browser at https://ui.perfetto.dev. Each thread has a track with a slice for each
kernel, which shows its source location, stream and invocation. Arrows lead from the kernel that
produces a value to the kernels that read it. Each stage of an input pipeline has a track with a
span for each draw. A counter shows how many tasks wait for a thread."
);

/// Run the functions of a program and record a trace of every kernel.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The trace file to write, in Chrome's trace event format
    #[arg(value_name = "TRACE", conflicts_with = "tracing_sink")]
    trace: String,

    #[command(flatten)]
    options: run::Options,

    #[cfg(feature = "onnx")]
    #[command(flatten)]
    model: crate::run_model::ModelRunArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let options = &arguments.options;
    #[cfg(feature = "onnx")]
    if let Some(kind) = crate::model_file::model_kind(&options.file) {
        let missing = crate::run_model::Missing::FillIn;
        return run::recorded(options, &arguments.trace, || {
            run::run_model(program, options, kind, &arguments.model, missing)
        });
    }
    #[cfg(feature = "onnx")]
    arguments.model.refuse_for_program()?;
    run::run_recorded(program, options, &arguments.trace)
}

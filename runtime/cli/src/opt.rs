//! `tfrt opt`: parses a program, verifies it, runs passes and prints it.

mod pass_arguments;

use clap::Parser;
use clap::builder::BoolishValueParser;
use tfrt_compiler::passes::PIPELINE_SOURCE;

use crate::arguments::PrintingArguments;
use crate::diagnostics::SourceMap;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, OptOptions};
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::output;
use crate::split_input::{self, SplitArguments};

use pass_arguments::PassArguments;

const EXAMPLES: &str = "\
Examples:
  tfrt opt program.mlir                             verify a program and print it
  tfrt opt --mlir-print-op-generic program.mlir     print all ops in their generic form
  tfrt opt --inline --canonicalize program.mlir     run two passes, in this order
  tfrt opt --thread-chains program.mlir             add chains to a program without them
  tfrt opt --pass-pipeline='inline,func(canonicalize)' program.mlir
  tfrt opt --tfrt-print-stream program.mlir         report the stream of each kernel";

/// Verify, transform and print a program.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as MLIR text; `-` reads standard input
    #[arg(default_value = "-")]
    file: String,

    /// The output file; `-` writes to standard output
    #[arg(short, long, alias = "o", value_name = "FILE", default_value = "-")]
    output: String,

    #[command(flatten)]
    passes: PassArguments,

    /// Verify the program after each pass
    #[arg(
        long = "verify-each",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "true",
        default_missing_value = "true",
        action = clap::ArgAction::Set,
        value_parser = BoolishValueParser::new(),
        help_heading = "Passes"
    )]
    verify_each: bool,

    /// Accept ops and types of unregistered dialects
    #[arg(long = "allow-unregistered-dialect")]
    allow_unregistered_dialect: bool,

    /// List the registered dialects and exit
    #[arg(long = "show-dialects")]
    show_dialects: bool,

    #[command(flatten)]
    split: SplitArguments,

    #[command(flatten)]
    printing: PrintingArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    if arguments.show_dialects {
        let mut text = "Available Dialects:\n".to_owned();
        for name in front_end.dialect_names()? {
            text.push_str(name);
            text.push('\n');
        }
        return output::write("-", text.as_bytes());
    }
    let pipeline = arguments.passes.pipeline().map_err(|mistake| {
        let mut sources = SourceMap::new();
        sources.insert(PIPELINE_SOURCE, mistake.text);
        let mut reporter = arguments.split.diagnostics.printing(sources);
        reporter.report(&mistake.diagnostic);
        Failure::Reported
    })?;
    let input = Input::read(&arguments.file)?;
    let options = OptOptions {
        allow_unregistered_dialects: arguments.allow_unregistered_dialect,
        pipeline: &pipeline,
        verify_each: arguments.verify_each,
        printing: arguments.printing,
    };
    split_input::process(
        &input,
        arguments.split,
        &arguments.output,
        |text, name, reporter| {
            let mut printed = front_end.optimize(text, name, options, reporter)?;
            printed.push('\n');
            Ok(printed.into_bytes())
        },
    )
}

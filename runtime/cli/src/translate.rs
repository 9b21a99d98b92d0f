//! `tfrt translate`: converts MLIR text to BEF and back.

use clap::{ArgGroup, Parser};

use crate::arguments::PrintingArguments;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, Purpose};
use crate::input::{Input, Kind};
use crate::libraries::LibraryArguments;
use crate::output;
use crate::split_input::{self, SplitArguments};

const EXAMPLES: &str = "\
Examples:
  tfrt translate --mlir-to-bef program.mlir -o program.bef  write a BEF file
  tfrt translate --bef-to-mlir program.bef                  print a BEF file as MLIR text
  tfrt translate --mlir-to-bef --verify-diagnostics --split-input-file mistakes.mlir";

/// Translate between MLIR text and BEF files.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("direction").required(true).args(["mlir_to_bef", "bef_to_mlir"])))]
pub(crate) struct Arguments {
    /// The file to translate; `-` reads standard input
    #[arg(default_value = "-")]
    file: String,

    /// The output file; `-` writes to standard output
    #[arg(short, long, alias = "o", value_name = "FILE", default_value = "-")]
    output: String,

    /// Translate MLIR text to a BEF file
    #[arg(long = "mlir-to-bef")]
    mlir_to_bef: bool,

    /// Translate a BEF file to MLIR text
    #[arg(long = "bef-to-mlir")]
    bef_to_mlir: bool,

    /// Omit attribute names and register types from the BEF file. This makes the file smaller, but
    /// harder to translate back
    #[arg(long = "disable-optional-sections")]
    disable_optional_sections: bool,

    /// Accept a program without chains, and add the chains that keep program order
    #[arg(long = "thread-chains", requires = "mlir_to_bef")]
    thread_chains: bool,

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
    let input = Input::read_program(&arguments.file, front_end.kernels())?;
    if arguments.bef_to_mlir {
        // A BEF file has no parts and no comments that could expect something.
        let mut reporter = arguments.split.diagnostics.printing(input.sources());
        let text = front_end
            .decode(&input, arguments.printing, &mut reporter)
            .map_err(|failure| file_expected(program, &input, failure))?;
        return output::write(&arguments.output, text.as_bytes());
    }
    split_input::process(
        &input,
        arguments.split,
        &arguments.output,
        |text, name, reporter| {
            let purpose = Purpose::File {
                optional_sections: !arguments.disable_optional_sections,
            };
            if arguments.thread_chains {
                front_end.translate_without_chains(text, name, purpose, reporter)
            } else {
                front_end.translate(text, name, purpose, reporter)
            }
        },
    )
}

/// Returns a hint for a file that could not be read: the flag to use if the input is text rather
/// than BEF.
fn file_expected(program: &str, input: &Input, failure: Failure) -> Failure {
    match input.kind() {
        Kind::Text => Failure::new(format!(
            "{program}: {} is MLIR text: translate it with `--mlir-to-bef`",
            input.name
        )),
        Kind::Bef => failure,
    }
}

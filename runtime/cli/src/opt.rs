//! `tfrt opt`: parses a program, verifies it, runs passes and prints it.

use clap::Parser;

use crate::arguments::PrintingArguments;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, OptOptions};
use crate::input::Input;
use crate::output;
use crate::pieces::{self, PieceArguments};

const EXAMPLES: &str = "\
Examples:
  tfrt opt program.mlir                             check a program and print it
  tfrt opt --mlir-print-op-generic program.mlir     print it without custom forms
  tfrt opt --tfrt-print-stream program.mlir         say which stream each kernel runs on";

/// Check a program, transform it, and print it.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program; `-` is standard input
    #[arg(default_value = "-")]
    file: String,

    /// Where to write; `-` is standard output
    #[arg(short, long, alias = "o", value_name = "FILE", default_value = "-")]
    output: String,

    /// Replace calls by the bodies of what they call (not available yet)
    #[arg(long)]
    inline: bool,

    /// Remove what nobody uses (not available yet)
    #[arg(long)]
    canonicalize: bool,

    /// Report the stream and the cost of every op, as remarks
    #[arg(long = "tfrt-print-stream")]
    print_stream: bool,

    /// Accept ops and types of dialects that nobody registered
    #[arg(long = "allow-unregistered-dialect")]
    allow_unregistered_dialect: bool,

    /// List the dialects that are known, and do nothing else
    #[arg(long = "show-dialects")]
    show_dialects: bool,

    #[command(flatten)]
    pieces: PieceArguments,

    #[command(flatten)]
    printing: PrintingArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::from_link(program)?;
    if arguments.show_dialects {
        let mut text = "Available Dialects:\n".to_owned();
        for name in front_end.dialect_names() {
            text.push_str(name);
            text.push('\n');
        }
        return output::write("-", text.as_bytes());
    }
    for (is_asked, pass) in [
        (arguments.inline, "inline"),
        (arguments.canonicalize, "canonicalize"),
    ] {
        if is_asked {
            return Err(Failure::Message(format!(
                "{program}: the pass `--{pass}` is not available yet"
            )));
        }
    }
    let input = Input::read(&arguments.file)?;
    let options = OptOptions {
        allow_unregistered_dialects: arguments.allow_unregistered_dialect,
        print_stream: arguments.print_stream,
        printing: arguments.printing,
    };
    pieces::process(
        &input,
        arguments.pieces,
        &arguments.output,
        |text, name, reporter| {
            let mut printed = front_end.optimize(text, name, options, reporter)?;
            printed.push('\n');
            Ok(printed.into_bytes())
        },
    )
}

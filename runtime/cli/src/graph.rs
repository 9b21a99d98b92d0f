//! `tfrt graph`: draws the functions of a program.
//!
//! A program becomes a [`model`] of nodes, edges and scopes. The model is written as [`dot`] or
//! drawn as SVG: by Graphviz if it is installed, otherwise by our own [`layout`], in a plainer
//! style. The [`html`] page always uses our own layout.

mod model;

mod dot;

mod layout;

mod svg;

mod html;

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread;

use clap::{Parser, ValueEnum};
use tfrt_ir::{Module, OpId};
use tfrt_support::nearest::{did_you_mean, nearest};

use crate::arguments::DiagnosticArguments;
use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::input::{Input, Kind};
use crate::libraries::LibraryArguments;
use crate::output;

use model::Graph;

const EXAMPLES: &str = "\
Examples:
  tfrt graph program.mlir                              print all functions in the DOT language
  tfrt graph --functions=main program.bef              print one function of a BEF file
  tfrt graph --format=svg -o program.svg program.mlir  draw a picture
  tfrt graph --html -o program.html program.mlir       write a page with zoom and search

A box is a kernel, and a frame around boxes is a region. Boxes of the same colour belong to one stream
and run one after the other. A dashed arrow is a chain. An arrow is labelled with the type of the
value, and with the index of the result if the kernel has several. With `--format=svg`, Graphviz
draws the picture if it is installed.";

/// The default limit of drawn ops. A larger picture is unreadable.
const DEFAULT_MAX_OPS: usize = 500;

/// Draw the dataflow graphs of a program's functions.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as MLIR text or a BEF file; `-` reads standard input
    #[arg(default_value = "-")]
    file: String,

    /// Draw only these functions [default: all functions]
    #[arg(long, alias = "function", value_name = "NAME,…", value_delimiter = ',')]
    functions: Vec<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,

    /// Short for `--format=html`
    #[arg(long, conflicts_with = "format")]
    html: bool,

    /// After N ops, draw each further function as a single box; `--format=html` shows all ops
    #[arg(long = "max-ops", value_name = "N", default_value_t = DEFAULT_MAX_OPS)]
    max_ops: usize,

    /// The output file; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Graphviz's DOT language
    Dot,
    /// An SVG picture
    Svg,
    /// An HTML page in a single file, with zoom and search
    Html,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let input = Input::read_program(&arguments.file, front_end.kernels())?;
    let module = read_program(&front_end, &input, arguments.diagnostics)?;
    let functions = chosen_functions(program, &module, &arguments.functions)?;
    let format = match arguments.html {
        true => Format::Html,
        false => arguments.format,
    };
    let max_nodes = match format {
        Format::Html => usize::MAX,
        _ => arguments.max_ops,
    };
    let graph = Graph::of_functions(&module, &input.name, &functions, max_nodes);
    let text = match format {
        Format::Html => html::write(graph).into_bytes(),
        Format::Dot => dot::write(&graph).into_bytes(),
        Format::Svg => match draw_with_graphviz(&dot::write(&graph)) {
            Ok(Some(picture)) => picture,
            Ok(None) => svg::write(&layout::place(&graph)).into_bytes(),
            Err(error) => {
                let message = format!("{program}: cannot run `dot`");
                return Err(Failure::caused(message, error));
            }
        },
    };
    output::write(&arguments.output, &text)
}

fn read_program(
    front_end: &FrontEnd,
    input: &Input,
    diagnostics: DiagnosticArguments,
) -> Result<Module, Failure> {
    match input.kind() {
        Kind::Bef => {
            let mut reporter = diagnostics.printing(input.sources());
            front_end.decode_module(input, &mut reporter)
        }
        Kind::Text => {
            let text = input.text()?;
            let mut reporter = diagnostics.printing(input.sources_with(&input.name, text));
            front_end.check(text, &input.name, true, &mut reporter)
        }
    }
}

/// Returns the functions with these names, or all if no name is given.
fn chosen_functions(
    program: &str,
    module: &Module,
    names: &[String],
) -> Result<Vec<OpId>, Failure> {
    if names.is_empty() {
        return Ok(module.functions(module.root()).collect());
    }
    let find = |name: &String| {
        let found = module.lookup_symbol(module.root(), name);
        found.filter(|op| module.is_func(*op)).ok_or_else(|| {
            let functions = module.functions(module.root());
            let known = functions.filter_map(|func| module.symbol_name(func));
            let meant = did_you_mean(&nearest(name, known));
            Failure::new(format!("{program}: unknown function `{name}`{meant}"))
        })
    };
    names.iter().map(find).collect()
}

/// Returns the picture that Graphviz draws, or `None` if it is not installed or fails.
fn draw_with_graphviz(graph: &str) -> io::Result<Option<Vec<u8>>> {
    let child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        child => child?,
    };
    let stdin = child.stdin.take();
    // Written from another thread: neither side waits for the other with a full pipe.
    let drawn = thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(graph.as_bytes())));
        child.wait_with_output()
    })?;
    Ok(drawn.status.success().then_some(drawn.stdout))
}

//! `tfrt graph`: draws the functions of a program.
//!
//! A program becomes a [`model`] of nodes, edges and scopes. It is written as [`dot`], or drawn as SVG: by Graphviz where that is installed,
//! and otherwise by our own [`layout`], in plainer style. A page for a browser, as [`html`], has drawings of the latter kind.

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
  tfrt graph program.mlir                              every function, in the language of Graphviz
  tfrt graph --functions=main program.bef              one function of a file
  tfrt graph --format=svg -o program.svg program.mlir  a picture; Graphviz draws it if it is installed
  tfrt graph --html -o program.html program.mlir       a page to zoom and search in, with a picture of each function

A box is a kernel, a frame around others is a region. Boxes of one colour run on one stream, one after the other. A dashed
arrow is a chain. At an arrow stands the type of its value, behind the number of the result where a kernel gives several.";

/// How many ops are drawn unless it is said otherwise. Beyond that nobody reads a picture.
const DEFAULT_MAX_OPS: usize = 500;

/// Draw the functions of a program.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program: MLIR text or a BEF file, told apart by its content; `-` is standard input
    #[arg(default_value = "-")]
    file: String,

    /// Draw these functions only
    #[arg(long, alias = "function", value_name = "NAME,…", value_delimiter = ',')]
    functions: Vec<String>,

    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,

    /// Write a page for a browser, as `--format=html` does
    #[arg(long, conflicts_with = "format")]
    html: bool,

    /// Fold functions beyond so many ops to one box each; a page has them all
    #[arg(long = "max-ops", value_name = "N", default_value_t = DEFAULT_MAX_OPS)]
    max_ops: usize,

    /// Where to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The language of Graphviz
    Dot,
    /// A picture
    Svg,
    /// A page for a browser, in one file
    Html,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let input = Input::read(&arguments.file)?;
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
                return Err(Failure::Message(format!(
                    "{program}: cannot run `dot`: {error}"
                )));
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

/// The functions of these names, or all if there are none.
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
            Failure::Message(format!("{program}: there is no function `{name}`{meant}"))
        })
    };
    names.iter().map(find).collect()
}

/// What Graphviz makes of a graph; nothing if it is not installed or does not like it.
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

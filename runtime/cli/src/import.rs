//! `tfrt import`: reads a model of another system, describes it and its unsupported parts, and
//! prints the program that it becomes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::Parser;
use tfrt_import::Limits;
use tfrt_import::program::Program;
use tfrt_onnx::import::Options;
use tfrt_onnx::{Model, OnnxOps};
use tfrt_support::escape::{escaped, escaped_lines};

use crate::diagnostics::Reporter;
use crate::failure::{self, Failure};
use crate::front_end::{FrontEnd, Purpose};
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::model_limits::ModelLimitArguments;
use crate::output;
use crate::rewrites::{self, RewriteArguments};
use crate::run_model::{self, ModelKind};
use crate::stored::{self, ModelFiles};

const EXAMPLES: &str = "\
Examples:
  tfrt import model.onnx                      describe the model and list unsupported ops
  tfrt import -o program.mlir model.onnx      convert the model
  tfrt import --output logits model.onnx      convert only what the value `logits` needs
  tfrt import --explain model.onnx            list the rewrites that apply, such as fusions

The program refers to its weights: to the model, if that is in the folder of the program or below it,
and otherwise to a file that is written next to the program. `tfrt run program.mlir --input …` runs
it like the model. If the model uses an unsupported feature, nothing is written and the exit status
is 1.";

/// The value of `--weights` for weights in the files of the model.
const IN_PLACE: &str = "in-place";

/// The number of warnings that are printed.
const MAX_SHOWN_WARNINGS: usize = 20;

/// Convert an ONNX model to a program, and report unsupported ops
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model: an ONNX file or a StableHLO text, detected by its content
    #[arg(value_name = "MODEL")]
    file: String,

    /// Write the program, as a BEF file if the name ends in `.bef` and otherwise as MLIR text; `-`
    /// writes its text without weights to standard output
    #[arg(short = 'o', value_name = "FILE")]
    program: Option<String>,

    /// Where the program has its weights: in a `.safetensors` file, which is written, or `in-place`
    /// in the files of the model as far as they are there
    #[arg(long, value_name = "FILE", default_value = IN_PLACE, requires = "program")]
    weights: String,

    /// The names of the values to compute [default: all outputs]
    #[arg(long = "output", value_name = "NAME,…", value_delimiter = ',')]
    outputs: Vec<String>,

    /// Do not print the description of the model
    #[arg(long)]
    quiet: bool,

    /// Print each rewrite: the rule, and the node that it was applied to, or why it does not apply
    /// to a node that resembles its pattern
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    rewrites: RewriteArguments,

    #[command(flatten)]
    limits: ModelLimitArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let limits = arguments.limits.limits();
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    match run_model::model_kind(&arguments.file) {
        Some(ModelKind::StableHlo) => return import_stablehlo(arguments, &front_end, limits),
        Some(ModelKind::Bytecode) => return Err(run_model::bytecode(&arguments.file)),
        Some(ModelKind::Program) => {
            return Err(Failure::new(format!(
                "error: {}: expected a model, found a program that was imported",
                escaped(&arguments.file)
            )));
        }
        Some(ModelKind::Onnx) | None => {}
    }
    let model = Model::open(&arguments.file, &limits);
    let model = model.map_err(|error| Failure::caused("error", error))?;
    for warning in model.warnings().iter().take(MAX_SHOWN_WARNINGS) {
        failure::write_message(&format!("warning: {warning}"));
    }
    let mut options = Options::default();
    options.limits = limits.clone();
    options.ops = OnnxOps::of_kernels(front_end.kernels());
    options.outputs = (!arguments.outputs.is_empty()).then(|| arguments.outputs.clone());
    if !arguments.quiet && arguments.program.as_deref() != Some("-") {
        output::write("-", description(&arguments.file, &model).as_bytes())?;
    }
    let file = escaped(&arguments.file).to_string();
    let program = model.import(&options);
    let mut program =
        program.map_err(|failure| Failure::caused(format!("error: {file}"), failure))?;
    write_program(
        arguments,
        &front_end,
        &mut program,
        &model_files(&arguments.file, &model),
        &limits,
    )
}

/// Returns the places of a model's tensors in its files.
fn model_files(file: &str, model: &Model) -> ModelFiles {
    let path = Path::new(file);
    let places = model.places().into_iter().map(|(tensor, place)| {
        let path = match &place.file {
            Some(file) => path.with_file_name("").join(file),
            None => path.to_owned(),
        };
        (tensor, (path, place.offset))
    });
    ModelFiles(places.collect())
}

/// Rewrites the program that a model becomes, and writes it, or says how large it is.
fn write_program(
    arguments: &Arguments,
    front_end: &FrontEnd,
    program: &mut Program,
    model: &ModelFiles,
    limits: &Limits,
) -> Result<(), Failure> {
    let host = rewrites::host_of_import(front_end.kernels());
    let rewriting = arguments.rewrites.apply(program, &host, limits)?;
    if arguments.explain {
        let applied = rewriting.applied.iter().map(ToString::to_string);
        let missed = rewriting.missed.iter().map(ToString::to_string);
        for note in applied.chain(missed) {
            failure::write_message(&format!("note: {}", escaped(&note)));
        }
    }
    match &arguments.program {
        Some(path) if path == "-" => output::write(path, program.text.as_bytes()),
        Some(path) => {
            let weights = Some(&*arguments.weights).filter(|&weights| weights != IN_PLACE);
            let text = stored::text(program, path, weights, model)?;
            match path.ends_with(".bef") {
                true => output::write(path, &bef(front_end, text)?),
                false => output::write(path, text.as_bytes()),
            }
        }
        None if arguments.quiet => Ok(()),
        None => output::print_line(&format!(
            "program: {}, {}",
            counted(program.num_ops, "op"),
            counted(program.weights.len(), "weight")
        )),
    }
}

/// Returns a program as a BEF file.
fn bef(front_end: &FrontEnd, text: String) -> Result<Vec<u8>, Failure> {
    let input = Input {
        name: "the imported program".to_owned(),
        bytes: text.into_bytes(),
    };
    let mut reporter = Reporter::printing(input.sources(), std::io::stderr());
    let purpose = Purpose::File {
        optional_sections: true,
    };
    front_end.translate(input.text()?, &input.name, purpose, &mut reporter)
}

/// Returns a number of things, with their name in the singular or the plural.
pub(crate) fn counted(count: usize, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

/// Imports a StableHLO file.
fn import_stablehlo(
    arguments: &Arguments,
    front_end: &FrontEnd,
    limits: Limits,
) -> Result<(), Failure> {
    let file = escaped(&arguments.file).to_string();
    let of_file = || format!("error: {file}");
    if !arguments.outputs.is_empty() {
        return Err(Failure::new(
            "error: `--output` names values, which functions of StableHLO do not do",
        ));
    }
    let model = run_model::stablehlo(&arguments.file)?;
    let mut options = tfrt_stablehlo::import::Options::default();
    options.limits = limits.clone();
    let function = model.function(&options.function);
    let function = function.map_err(|error| Failure::caused(of_file(), error))?;
    if !arguments.quiet && arguments.program.as_deref() != Some("-") {
        let mut text = format!("{file}: StableHLO\n");
        for (index, input) in function.inputs.iter().enumerate() {
            let _ = writeln!(text, "input: arg{index}: {input}");
        }
        for (index, output) in function.outputs.iter().enumerate() {
            let _ = writeln!(text, "output: result{index}: {output}");
        }
        let ops = model.op_counts();
        let count: usize = ops.iter().map(|(_, count)| count).sum();
        let ops: Vec<String> = ops
            .into_iter()
            .map(|(op, count)| format!("{op} {count}"))
            .collect();
        let _ = writeln!(text, "ops: {count}: {}", escaped_lines(&ops.join(", ")));
        output::write("-", text.as_bytes())?;
    }
    let imported = model.import(&options);
    let mut imported = imported.map_err(|failure| Failure::caused(of_file(), failure))?;
    write_program(
        arguments,
        front_end,
        &mut imported.program,
        &ModelFiles::default(),
        &limits,
    )
}

/// Describes a model.
fn description(file: &str, model: &Model) -> String {
    let mut text = format!(
        "{}: ONNX, version {} of the format",
        escaped(file),
        model.ir_version()
    );
    if !model.producer().is_empty() {
        let _ = write!(text, ", written by {}", escaped(model.producer()));
    }
    text.push('\n');
    for (domain, version) in model.opsets() {
        let domain = if domain.is_empty() { "ai.onnx" } else { domain };
        let _ = writeln!(text, "opset: {} {version}", escaped(domain));
    }
    for input in model.inputs() {
        let _ = writeln!(text, "input: {input}");
    }
    for output in model.outputs() {
        let _ = writeln!(text, "output: {output}");
    }
    let initializers = &model.graph().initializers;
    let bytes: usize = initializers
        .iter()
        .filter_map(|tensor| Some(tensor.dense()?.buffer().len_bytes()))
        .sum();
    let _ = writeln!(text, "initializers: {}, {bytes} bytes", initializers.len());
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &model.graph().nodes {
        *ops.entry(&node.op).or_default() += 1;
    }
    let ops: Vec<String> = ops
        .into_iter()
        .map(|(op, count)| format!("{op} {count}"))
        .collect();
    let _ = writeln!(
        text,
        "nodes: {}: {}",
        model.graph().nodes.len(),
        escaped_lines(&ops.join(", "))
    );
    text
}

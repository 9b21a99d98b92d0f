//! `tfrt import`: reads a model of another system, describes it and its unsupported parts, and
//! prints the program that it becomes.

mod describe;

mod report;

mod shapes;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use tfrt_host::HostContext;
use tfrt_import::program::Program;
use tfrt_import::report::Unsupported;
use tfrt_import::rewrite::Rewriting;
use tfrt_import::{Limits, PackedForm};
use tfrt_onnx::import::{ImportFailure, Options};
use tfrt_onnx::opset::NEWEST_OPSET;
use tfrt_onnx::{Model, OnnxOps};
use tfrt_stablehlo::import::HloImportFailure;
use tfrt_support::escape::escaped;

use crate::diagnostics::Reporter;
use crate::failure::{self, Failure};
use crate::front_end::{FrontEnd, Purpose};
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::model_file::{self, ModelKind};
use crate::model_limits::ModelLimitArguments;
use crate::output;
use crate::progress::Progress;
use crate::rewrites::{self, RewriteArguments};
use crate::stored::{self, ModelFiles};

use report::{Report, ReportedProgram};
use shapes::ShapeArguments;
pub(crate) use shapes::split_at_last;

const EXAMPLES: &str = "\
Examples:
  tfrt import model.onnx                      describe the model and list unsupported ops
  tfrt import --report r.json model.onnx      the same for programs, with every node
  tfrt import -o program.mlir model.onnx      convert the model
  tfrt import --output logits model.onnx      convert only what the value `logits` needs
  tfrt import --dim batch=8 model.onnx        convert it for inputs of 8 images
  tfrt import --explain model.onnx            list the rewrites that apply, such as fusions
  tfrt import --pack --weights w.safetensors -o p.bef model.onnx
                                              convert it for a fast start on such processors

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
    /// The model: an ONNX file or a StableHLO text
    #[arg(value_name = "MODEL")]
    file: String,

    /// The format of the model [default: detected by its content]
    #[arg(long, value_name = "FORMAT", value_enum)]
    from: Option<Format>,

    /// Write the program, as a BEF file if the name ends in `.bef` and otherwise as MLIR text; `-`
    /// writes its text without weights to standard output
    #[arg(short = 'o', value_name = "FILE")]
    program: Option<String>,

    /// The form of the program: the nodes of an ONNX model as text, ops as the importer makes them,
    /// or what they become by rewrites
    #[arg(long, value_name = "STAGE", value_enum, default_value = "kernels")]
    stage: Stage,

    /// Where the program has its weights: in a `.safetensors` file, which is written, or `in-place`
    /// in the files of the model as far as they are there
    #[arg(long, value_name = "FILE", default_value = IN_PLACE, requires = "program")]
    weights: String,

    /// Write weights in the order in which kernels on this processor read them, too, so that the
    /// program is loaded without packing them; other processors use the plain ones. Requires
    /// `--weights FILE`
    #[arg(long, requires = "program")]
    pack: bool,

    /// The function of a StableHLO text to convert [default: main]
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// The names of the values to compute [default: all outputs]
    #[arg(long = "output", value_name = "NAME,…", value_delimiter = ',')]
    outputs: Vec<String>,

    #[command(flatten)]
    shapes: ShapeArguments,

    /// Read a model of an operator set that is newer than the newest known one as one of that
    #[arg(long)]
    assume_opset: bool,

    /// Write what the model is, what became of it, and what is unsupported as a JSON document; `-`
    /// is standard output
    #[arg(long, value_name = "FILE")]
    report: Option<String>,

    /// Name every node that needs an unsupported feature
    #[arg(long)]
    list_all: bool,

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

/// The formats of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Onnx,
    #[value(name = "stablehlo")]
    StableHlo,
}

/// The forms of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    Onnx,
    Ops,
    Kernels,
}

impl Arguments {
    /// Returns `true` if what is printed is a program or a report, and nothing else.
    fn is_quiet(&self) -> bool {
        let prints = |path: &Option<String>| path.as_deref() == Some("-");
        self.quiet || prints(&self.program) || prints(&self.report)
    }

    /// Refuses options that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        let wrong = |message: &str| Err(Failure::Usage(format!("error: {message}")));
        if self.pack && self.weights == IN_PLACE {
            return wrong("`--pack` requires `--weights FILE`, the file for the packed weights");
        }
        if self.stage == Stage::Onnx && (self.pack || self.weights != IN_PLACE) {
            return wrong("`--stage onnx` writes text without weights");
        }
        if self.stage == Stage::Onnx {
            let outputs = (!self.outputs.is_empty()).then_some("--output");
            let report = self.report.as_ref().map(|_| "--report");
            if let Some(option) = self.shapes.given().or(outputs).or(report) {
                return wrong(&format!("`{option}` does not apply to `--stage onnx`"));
            }
        }
        let is_bef = |path: &String| path.ends_with(".bef");
        if self.stage == Stage::Onnx && self.program.as_ref().is_some_and(is_bef) {
            return wrong("`--stage onnx` writes text, which cannot run as a BEF file");
        }
        Ok(())
    }
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    arguments.check()?;
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let limits = arguments.limits.limits();
    let found = match arguments.from {
        Some(Format::Onnx) => Some(ModelKind::Onnx),
        Some(Format::StableHlo) => Some(ModelKind::StableHlo),
        None => model_file::model_kind(&arguments.file),
    };
    match found {
        Some(ModelKind::StableHlo) => import_stablehlo(arguments, &front_end, &limits),
        Some(ModelKind::Bytecode) => Err(model_file::bytecode(&arguments.file)),
        Some(ModelKind::Program) => Err(Failure::new(format!(
            "error: {}: expected a model, found a program that was imported",
            escaped(&arguments.file)
        ))),
        Some(ModelKind::Onnx) | None => import_onnx(arguments, &front_end, &limits),
    }
}

fn import_onnx(
    arguments: &Arguments,
    front_end: &FrontEnd,
    limits: &Limits,
) -> Result<(), Failure> {
    if arguments.function.is_some() {
        return Err(Failure::Usage(
            "error: `--function` names functions of StableHLO, which ONNX models do not have"
                .to_owned(),
        ));
    }
    let progress = Progress::start("reading");
    let model = model_file::mapped(&arguments.file, limits);
    drop(progress);
    let model = model.map_err(|error| Failure::caused("error", error))?;
    let warnings = warnings(&model, arguments.assume_opset);
    write_warnings(&warnings);
    let mut report = describe::report_of(&arguments.file, &model);
    report.warnings = warnings;
    if !arguments.is_quiet() {
        let text = describe::description(&arguments.file, &model);
        output::write("-", text.as_bytes())?;
    }
    if arguments.stage == Stage::Onnx {
        return match &arguments.program {
            Some(path) => output::write(path, model.to_mlir().as_bytes()),
            None => output::write("-", model.to_mlir().as_bytes()),
        };
    }
    let mut options = Options::default();
    options.limits = limits.clone();
    options.assumes_opset = arguments.assume_opset;
    options.ops = OnnxOps::of_kernels(front_end.kernels());
    options.outputs = (!arguments.outputs.is_empty()).then(|| arguments.outputs.clone());
    let mut program = match model.import(&options) {
        Ok(program) => program,
        Err(ImportFailure::Unsupported(unsupported)) => {
            return Err(refuse(arguments, report, &unsupported)?);
        }
        Err(failure) => return Err(of_file(arguments, failure)),
    };
    let files = model_files(&arguments.file, &model);
    write_program(arguments, front_end, &mut program, files, report, limits)
}

/// Returns the warnings about a model.
fn warnings(model: &Model, assumes_opset: bool) -> Vec<String> {
    let mut warnings = model.warnings().to_vec();
    let opset = model.opset("").filter(|&opset| opset > NEWEST_OPSET);
    if let (Some(opset), true) = (opset, assumes_opset) {
        warnings.push(format!(
            "opset {opset} of ai.onnx is read as {NEWEST_OPSET}, the newest known"
        ));
    }
    warnings
}

/// Prints warnings, and how many are left out.
pub(crate) fn write_warnings(warnings: &[String]) {
    for warning in warnings.iter().take(MAX_SHOWN_WARNINGS) {
        failure::write_message(&format!("warning: {warning}"));
    }
    if let Some(count @ 1..) = warnings.len().checked_sub(MAX_SHOWN_WARNINGS) {
        failure::write_message(&format!("warning: {} more", counted(count, "warning")));
    }
}

fn of_file(
    arguments: &Arguments,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Failure {
    Failure::caused(format!("error: {}", escaped(&arguments.file)), cause)
}

/// Returns the failure to convert a model with unsupported features, after the report is written.
fn refuse(
    arguments: &Arguments,
    mut report: Report,
    unsupported: &Unsupported,
) -> Result<Failure, Failure> {
    if let Some(path) = &arguments.report {
        report.add_unsupported(unsupported);
        report.write(path)?;
    }
    if arguments.list_all {
        return Ok(of_file(arguments, unsupported.with_all_nodes().to_string()));
    }
    let mut text = unsupported.to_string();
    if unsupported.has_more_nodes() && arguments.report.is_none() {
        text.push_str("\nnote: `--list-all` names every node, and `--report FILE` writes them");
    }
    Ok(of_file(arguments, text))
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
    named_files(file, places.collect())
}

/// Returns the files of a model, whose name the files of its weights contain.
fn named_files(file: &str, places: HashMap<(usize, usize), (PathBuf, u64)>) -> ModelFiles {
    let path = PathBuf::from(file);
    let name = path.file_name().map(|name| name.to_string_lossy());
    ModelFiles {
        name: name.unwrap_or_default().into_owned(),
        path,
        places,
    }
}

/// Rewrites the program that a model becomes, and writes it, or says how large it is.
fn write_program(
    arguments: &Arguments,
    front_end: &FrontEnd,
    program: &mut Program,
    files: ModelFiles,
    mut report: Report,
    limits: &Limits,
) -> Result<(), Failure> {
    arguments.shapes.apply(program)?;
    let host = rewrites::host_of_import(front_end.kernels());
    describe::add_shapes(&mut report, program);
    let mut reported = ReportedProgram {
        ops_before_rewrites: program.num_ops,
        ..ReportedProgram::default()
    };
    reported.add_stage("nodes", report.nodes.values().sum());
    reported.add_stage("ops", program.num_ops);
    if arguments.stage == Stage::Kernels {
        let progress = Progress::start("rewriting");
        let rewriting = arguments.rewrites.apply(program, &host, limits)?;
        drop(progress);
        explain(arguments, &rewriting);
        reported.add_rewrites(&rewriting);
    }
    let packed = match arguments.pack {
        true => Some(packed(program, &host)?),
        false => None,
    };
    let is_described = arguments.program.is_none() && !arguments.is_quiet();
    if is_described || arguments.report.is_some() {
        describe::add_program(&mut reported, program, &files, packed.as_ref());
    }
    match &arguments.program {
        Some(path) if path == "-" => output::write(path, program.text.as_bytes())?,
        Some(path) => {
            let weights = Some(&*arguments.weights).filter(|&weights| weights != IN_PLACE);
            let progress = Progress::start("writing");
            let text = stored::text(program, path, weights, &files, packed.as_ref())?;
            match path.ends_with(".bef") {
                true => output::write(path, &bef(front_end, text)?)?,
                false => output::write(path, text.as_bytes())?,
            }
            drop(progress);
        }
        None if arguments.is_quiet() => {}
        None => output::print_line(&describe::summary(&report, program, &reported))?,
    }
    if let Some(path) = &arguments.report {
        report.program = Some(reported);
        report.write(path)?;
    }
    Ok(())
}

/// Prints the rewrites, if they are asked for.
fn explain(arguments: &Arguments, rewriting: &Rewriting) {
    if !arguments.explain {
        return;
    }
    let applied = rewriting.applied.iter().map(ToString::to_string);
    let missed = rewriting.missed.iter().map(ToString::to_string);
    for note in applied.chain(missed) {
        failure::write_message(&format!("note: {}", escaped(&note)));
    }
}

/// Returns the packed weights of a program.
fn packed(program: &Program, host: &Arc<HostContext>) -> Result<PackedForm, Failure> {
    // The copies that the plain form needs anyway are shared with the packed form.
    for weight in &program.weights {
        let tensor = weight.tensor();
        tensor.map_err(|error| Failure::caused("error: a weight", error))?;
    }
    let progress = Progress::start("packing");
    let form = PackedForm::of(program, host, &tfrt_model_ops::packed_layout());
    drop(progress);
    form.map_err(|error| Failure::caused("error", error))
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
    limits: &Limits,
) -> Result<(), Failure> {
    let onnx_only = [
        ("--output", !arguments.outputs.is_empty()),
        ("--assume-opset", arguments.assume_opset),
        ("--stage onnx", arguments.stage == Stage::Onnx),
    ];
    let given = onnx_only.iter().find(|(_, is_given)| *is_given);
    let given = given.map(|(option, _)| *option);
    if let Some(option) = given.or(arguments.shapes.given()) {
        return Err(Failure::Usage(format!(
            "error: `{option}` applies to ONNX models, but the model is a StableHLO text"
        )));
    }
    let model = model_file::stablehlo(&arguments.file)?;
    let mut options = tfrt_stablehlo::import::Options::default();
    options.limits = limits.clone();
    if let Some(function) = &arguments.function {
        options.function.clone_from(function);
    }
    let function = model.function(&options.function);
    let function = function.map_err(|error| of_file(arguments, error))?;
    let report = describe::report_of_stablehlo(&arguments.file, &model, &function);
    if !arguments.is_quiet() {
        let text = describe::description_of_stablehlo(&report);
        output::write("-", text.as_bytes())?;
    }
    match model.import(&options) {
        Ok(mut imported) => {
            let files = named_files(&arguments.file, HashMap::new());
            let program = &mut imported.program;
            write_program(arguments, front_end, program, files, report, limits)
        }
        Err(HloImportFailure::Unsupported(unsupported)) => {
            Err(refuse(arguments, report, &unsupported)?)
        }
        Err(failure) => Err(of_file(arguments, failure)),
    }
}

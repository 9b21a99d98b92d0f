//! `tfrt import`: reads a model of another system, describes it and its unsupported parts, and
//! prints the program that it becomes.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Parser;
use tfrt_import::{Limit, Limits};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_support::escape::{escaped, escaped_lines};

use crate::failure::{self, Failure};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt import model.onnx                      what the model is, and what is not supported
  tfrt import -o program.mlir model.onnx      the program that it becomes
  tfrt import --output logits model.onnx      only what this value needs

The program takes the inputs of the model, then its weights. The exit status is 1 if something is not supported, and then nothing is
written.";

/// The number of warnings that are printed.
const MAX_SHOWN_WARNINGS: usize = 20;

/// Import a model of another system and print the resulting program
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model, an ONNX file
    #[arg(value_name = "MODEL")]
    file: String,

    /// Write the program as MLIR text; `-` is standard output
    #[arg(short = 'o', value_name = "FILE")]
    program: Option<String>,

    /// The values that are wanted, by name; by default, all outputs
    #[arg(long = "output", value_name = "NAME,…", value_delimiter = ',')]
    outputs: Vec<String>,

    /// Do not say what the model is
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    limits: LimitArguments,
}

/// How large the parts of a model may be.
#[derive(clap::Args, Debug)]
pub(crate) struct LimitArguments {
    /// How deep graphs may nest
    #[arg(long, value_name = "LEVELS")]
    max_subgraphs: Option<u64>,

    /// How many nodes there may be, after functions are inlined
    #[arg(long, value_name = "NODES")]
    max_nodes: Option<u64>,

    /// How many dimensions a tensor may have
    #[arg(long, value_name = "DIMENSIONS")]
    max_rank: Option<u64>,

    /// How large a dimension may be
    #[arg(long, value_name = "EXTENT")]
    max_extent: Option<u64>,

    /// How many elements an attribute may have
    #[arg(long, value_name = "ELEMENTS")]
    max_list_elements: Option<u64>,

    /// How long a text may be
    #[arg(long, value_name = "BYTES")]
    max_text_bytes: Option<u64>,

    /// How large a sparse tensor may become
    #[arg(long, value_name = "BYTES")]
    max_dense_bytes: Option<u64>,

    /// How large the program may become, as text
    #[arg(long, value_name = "BYTES")]
    max_program_bytes: Option<u64>,
}

impl LimitArguments {
    /// Returns the limits: those that are given, and the defaults.
    pub(crate) fn limits(&self) -> Limits {
        let given = [
            (Limit::Subgraphs, self.max_subgraphs),
            (Limit::Nodes, self.max_nodes),
            (Limit::Rank, self.max_rank),
            (Limit::Extent, self.max_extent),
            (Limit::ListElements, self.max_list_elements),
            (Limit::TextBytes, self.max_text_bytes),
            (Limit::DenseBytes, self.max_dense_bytes),
            (Limit::ProgramBytes, self.max_program_bytes),
        ];
        let given = given
            .into_iter()
            .filter_map(|(limit, value)| Some((limit, value?)));
        given.fold(Limits::default(), |limits, (limit, value)| {
            limits.with(limit, value)
        })
    }
}

/// Runs the tool.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let limits = arguments.limits.limits();
    let model = Model::open(&arguments.file, &limits);
    let model = model.map_err(|error| Failure::caused("error", error))?;
    for warning in model.warnings().iter().take(MAX_SHOWN_WARNINGS) {
        failure::write_message(&format!("warning: {warning}"));
    }
    let mut options = Options::default();
    options.limits = limits;
    options.outputs = (!arguments.outputs.is_empty()).then(|| arguments.outputs.clone());
    if !arguments.quiet && arguments.program.as_deref() != Some("-") {
        output::write("-", description(&arguments.file, &model).as_bytes())?;
    }
    let file = escaped(&arguments.file).to_string();
    let program = model.import(&options);
    let program = program.map_err(|failure| Failure::caused(format!("error: {file}"), failure))?;
    match &arguments.program {
        Some(path) => output::write(path, program.text.as_bytes()),
        None if arguments.quiet => Ok(()),
        None => output::print_line(&format!(
            "program: {} ops, {} weights",
            program.num_ops,
            program.weights.len()
        )),
    }
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

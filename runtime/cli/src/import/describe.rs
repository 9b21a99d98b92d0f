//! What is said of a model, as text and for the report.

use std::collections::BTreeMap;
use std::fmt::Write;

use tfrt_import::names::shown;
use tfrt_import::program::{Program, Weight};
use tfrt_import::{DimExpr, PackedForm};
use tfrt_onnx::Model;
use tfrt_onnx::graph::ValueInfo;
use tfrt_stablehlo::{Function, HloModel};
use tfrt_support::escape::{escaped, escaped_lines};

use super::counted;
use super::report::{
    Count, Report, ReportedArena, ReportedProgram, ReportedRegion, ReportedValue, Weights,
};
use crate::stored::ModelFiles;

/// Returns what the report says of an ONNX model.
pub(super) fn report_of(file: &str, model: &Model) -> Report {
    let values = |infos: &mut dyn Iterator<Item = &ValueInfo>| {
        infos
            .map(|info| ReportedValue {
                name: info.name.clone(),
                ty: info.ty.to_string(),
                inferred: None,
            })
            .collect()
    };
    let mut report = Report::new(file, "onnx");
    report.ir_version = Some(model.ir_version());
    report.producer = Some(model.producer().to_owned()).filter(|name| !name.is_empty());
    let opsets = model.opsets().iter();
    report.opsets = opsets
        .map(|(domain, version)| (domain_name(domain).to_owned(), *version))
        .collect();
    report.inputs = values(&mut model.inputs());
    report.outputs = values(&mut model.outputs().iter());
    report.initializers = initializers(model);
    for node in &model.graph().nodes {
        let name = match node.domain.as_str() {
            "" => node.op.clone(),
            domain => format!("{domain}.{}", node.op),
        };
        *report.nodes.entry(name).or_default() += 1;
    }
    let notes = model.notes().iter();
    let ignored = notes.filter_map(|(name, value)| {
        let what = name.strip_prefix("ignored ")?;
        Some((what.to_owned(), value.clone()))
    });
    report.ignored = ignored.collect();
    report
}

/// Returns how large the tensors in the graph of a model are.
fn initializers(model: &Model) -> Count {
    let initializers = &model.graph().initializers;
    let dense = initializers.iter().filter_map(|tensor| tensor.dense());
    let mut count = Count {
        tensors: initializers.len(),
        ..Count::default()
    };
    for tensor in dense {
        count.elements += tensor.num_elements();
        count.bytes += tensor.buffer().len_bytes();
    }
    count
}

fn domain_name(domain: &str) -> &str {
    if domain.is_empty() { "ai.onnx" } else { domain }
}

/// Describes an ONNX model.
pub(super) fn description(file: &str, model: &Model) -> String {
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
        let _ = writeln!(text, "opset: {} {version}", escaped(domain_name(domain)));
    }
    for input in model.inputs() {
        let _ = writeln!(text, "input: {input}");
    }
    let num_optional = model.optional_inputs().count();
    if num_optional > 0 {
        let _ = writeln!(text, "inputs that have values: {num_optional}");
    }
    for output in model.outputs() {
        let _ = writeln!(text, "output: {output}");
    }
    for (name, value) in model.notes() {
        let _ = writeln!(text, "{name}: {value}");
    }
    let Count {
        tensors,
        elements,
        bytes,
    } = initializers(model);
    let _ = writeln!(
        text,
        "initializers: {tensors}, {elements} parameters, {bytes} bytes"
    );
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &model.graph().nodes {
        *ops.entry(&node.op).or_default() += 1;
    }
    let _ = writeln!(text, "nodes: {}", counts_of(ops));
    text
}

/// Returns numbers by name, after their sum.
fn counts_of<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let counts: Vec<(&str, usize)> = counts.into_iter().collect();
    let sum: usize = counts.iter().map(|(_, count)| count).sum();
    let counts: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    format!("{sum}: {}", escaped_lines(&counts.join(", ")))
}

/// Returns what the report says of a StableHLO text.
pub(super) fn report_of_stablehlo(file: &str, model: &HloModel, function: &Function) -> Report {
    let mut report = Report::new(file, "stablehlo");
    let value = |name: String, ty: &dyn ToString| ReportedValue {
        name,
        ty: ty.to_string(),
        inferred: None,
    };
    let inputs = function.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, ty)| value(format!("arg{index}"), ty));
    report.inputs = inputs.collect();
    let outputs = function.outputs.iter().enumerate();
    let outputs = outputs.map(|(index, ty)| value(format!("result{index}"), ty));
    report.outputs = outputs.collect();
    report.nodes = model.op_counts().into_iter().collect();
    report
}

/// Describes a StableHLO text.
pub(super) fn description_of_stablehlo(report: &Report) -> String {
    let mut text = format!("{}: StableHLO\n", escaped(&report.file));
    for input in &report.inputs {
        let _ = writeln!(text, "input: {}: {}", input.name, input.ty);
    }
    for output in &report.outputs {
        let _ = writeln!(text, "output: {}: {}", output.name, output.ty);
    }
    let nodes = report.nodes.iter();
    let nodes = nodes.map(|(op, count)| (op.as_str(), *count));
    let _ = writeln!(text, "ops: {}", counts_of(nodes));
    text
}

/// Returns how large a program is, and what rewrites have done.
pub(super) fn summary(report: &Report, program: &Program, reported: &ReportedProgram) -> String {
    let mut text = format!(
        "program: {}, {}",
        counted(program.num_ops, "op"),
        counted(program.weights.len(), "weight")
    );
    let mut line = |name: &str, parts: &[String], separator: &str| {
        if !parts.is_empty() {
            let _ = write!(text, "\n{name}: {}", parts.join(separator));
        }
    };
    let symbols = report.symbols.iter();
    let symbols: Vec<String> = symbols.map(|name| shown(name).to_string()).collect();
    line("symbols", &symbols, ", ");
    let unnamed = report.unnamed_dims.iter();
    let unnamed: Vec<String> = unnamed.map(|name| shown(name).to_string()).collect();
    line("dimensions without a name", &unnamed, ", ");
    line("constraints", &report.constraints, "; ");
    let outputs = report.outputs.iter().filter_map(|output| {
        let inferred = output.inferred.as_ref()?;
        Some(format!("{}: {inferred}", shown(&output.name)))
    });
    line("inferred outputs", &outputs.collect::<Vec<_>>(), "; ");
    let stages = reported.stages.iter();
    let stages = stages.map(|stage| format!("{} {}", stage.stage, stage.ops));
    line("stages", &stages.collect::<Vec<_>>(), ", ");
    let regions = reported.layout_regions.iter().map(|region| {
        let (first, last) = (escaped(&region.first), escaped(&region.last));
        format!("{} from {first} to {last}", counted(region.num_ops, "op"))
    });
    line("channels last", &regions.collect::<Vec<_>>(), "; ");
    if !reported.rewrites.is_empty() {
        let rules = reported.rewrites.iter();
        let counts = counts_of(rules.map(|(rule, count)| (*rule, *count)));
        let before = counted(reported.ops_before_rewrites, "op");
        line("rewrites", &[format!("{before} before"), counts], ", ");
    }
    let arena = &reported.arena;
    let bytes = |bytes: &Option<String>| bytes.clone().unwrap_or_else(|| "?".to_owned());
    let mut parts = vec![
        format!("{} bytes", bytes(&arena.bytes)),
        format!("at least {}", bytes(&arena.lower_bound_bytes)),
    ];
    if arena.num_unknown > 0 {
        parts.push(format!("without {}", counted(arena.num_unknown, "result")));
    }
    line("arena", &parts, ", ");
    let weights = &reported.weights;
    let mut parts = vec![
        format!("{} bytes in place", weights.in_place_bytes),
        format!("{} copied", weights.copied_bytes),
    ];
    parts.extend(weights.packed_bytes.map(|bytes| format!("{bytes} packed")));
    line("weights", &parts, ", ");
    text
}

/// Adds what the program says of the model: its symbols, what a run requires of them, and the types
/// of its outputs.
pub(super) fn add_shapes(report: &mut Report, program: &Program) {
    report.symbols = program.symbols().into_iter().map(str::to_owned).collect();
    report.unnamed_dims = program.unnamed_dims();
    report.constraints = program.constraints();
    let inferred = program.outputs.iter().zip(program.inferred_outputs());
    for (name, inferred) in inferred {
        let output = report
            .outputs
            .iter_mut()
            .find(|output| output.name == *name);
        if let Some(output) = output.filter(|_| inferred.dims.is_some()) {
            output.inferred = Some(inferred.to_string());
        }
    }
}

/// Adds what a program consists of.
pub(super) fn add_program(
    reported: &mut ReportedProgram,
    program: &Program,
    files: &ModelFiles,
    packed: Option<&PackedForm>,
) {
    reported.num_ops = program.num_ops;
    let memory = program.memory();
    let spelled = |bytes: Option<DimExpr>| bytes.map(|bytes| bytes.to_string());
    reported.arena = ReportedArena {
        bytes: spelled(memory.arena_bytes),
        lower_bound_bytes: spelled(memory.lower_bound_bytes),
        num_unknown: memory.num_unknown,
    };
    let regions = program.layout_regions().into_iter();
    let regions = regions.map(|region| ReportedRegion {
        layout: "channels_last",
        num_ops: region.num_ops,
        first: region.first,
        last: region.last,
    });
    reported.layout_regions = regions.collect();
    let ops = program.op_counts().into_iter();
    reported.ops = ops.map(|(op, count)| (op.to_owned(), count)).collect();
    let in_place = program.weights.iter().filter(|weight| {
        let tensor = weight.tensor();
        tensor.is_ok_and(|tensor| {
            let buffer = tensor.buffer();
            let key = (buffer.address(), buffer.len_bytes());
            files.places.contains_key(&key)
        })
    });
    let in_place_bytes = in_place.map(Weight::len_bytes).sum();
    let bytes: usize = program.weights.iter().map(Weight::len_bytes).sum();
    reported.weights = Weights {
        tensors: program.weights.len(),
        bytes,
        in_place_bytes,
        copied_bytes: bytes.saturating_sub(in_place_bytes),
        packed_bytes: packed.map(|form| {
            let tensors = form.weights().map(|(_, tensor)| tensor);
            tensors.map(|tensor| tensor.buffer().len_bytes()).sum()
        }),
    };
}

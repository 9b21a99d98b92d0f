//! The report of an import as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use tfrt_import::report::Unsupported;
use tfrt_import::rewrite::Rewriting;

use crate::failure::Failure;
use crate::output;

/// The version of the document. A member that disappears or changes its meaning increases it.
const VERSION: u32 = 1;

/// What an import has found and done. What was not reached is left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    version: u32,
    pub(super) file: String,
    /// `onnx` or `stablehlo`.
    pub(super) format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ir_version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) producer: Option<String>,
    /// The versions of operator sets, by domain.
    pub(super) opsets: BTreeMap<String, i64>,
    pub(super) inputs: Vec<ReportedValue>,
    pub(super) outputs: Vec<ReportedValue>,
    /// The names of the symbolic dimensions of the inputs.
    pub(super) symbols: Vec<String>,
    /// What expressions call the dimensions of the inputs that have neither a name nor a number.
    pub(super) unnamed_dims: Vec<String>,
    /// What a run requires of the dimensions of the inputs, one sentence each.
    pub(super) constraints: Vec<String>,
    pub(super) initializers: Count,
    /// The numbers of nodes by operator.
    pub(super) nodes: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<ReportedProgram>,
    pub(super) unsupported: Vec<ReportedFeature>,
    /// Parts of the file that an import does not use, and how many there are.
    pub(super) ignored: BTreeMap<String, String>,
    pub(super) warnings: Vec<String>,
}

/// Tensors: how many, with how many elements and bytes.
#[derive(Debug, Default, Serialize)]
pub(super) struct Count {
    pub(super) tensors: usize,
    pub(super) elements: usize,
    pub(super) bytes: usize,
}

/// An input or output.
#[derive(Debug, Serialize)]
pub(super) struct ReportedValue {
    pub(super) name: String,
    /// As it is declared.
    #[serde(rename = "type")]
    pub(super) ty: String,
    /// As it follows from the inputs, for outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inferred: Option<String>,
}

/// The program that a model has become.
#[derive(Debug, Default, Serialize)]
pub(super) struct ReportedProgram {
    /// The number of ops before the rewrites.
    pub(super) ops_before_rewrites: usize,
    /// The number of ops of the program.
    pub(super) num_ops: usize,
    /// The number of nodes or ops after each stage, in order.
    pub(super) stages: Vec<ReportedStage>,
    /// The number of calls by op.
    pub(super) ops: BTreeMap<String, usize>,
    /// How often each rule was applied.
    pub(super) rewrites: BTreeMap<&'static str, usize>,
    /// The rules that nearly applied.
    pub(super) missed_rewrites: Vec<MissedRewrite>,
    /// The parts that compute on images whose channels come last.
    pub(super) layout_regions: Vec<ReportedRegion>,
    pub(super) arena: ReportedArena,
    pub(super) weights: Weights,
}

/// How many nodes or ops there are after a stage.
#[derive(Debug, Serialize)]
pub(super) struct ReportedStage {
    pub(super) stage: &'static str,
    pub(super) ops: usize,
}

/// A part of a program with a layout of its own.
#[derive(Debug, Serialize)]
pub(super) struct ReportedRegion {
    pub(super) layout: &'static str,
    pub(super) num_ops: usize,
    pub(super) first: String,
    pub(super) last: String,
}

/// The memory of intermediate results, in bytes: expressions over the symbols.
#[derive(Debug, Default, Serialize)]
pub(super) struct ReportedArena {
    pub(super) bytes: Option<String>,
    pub(super) lower_bound_bytes: Option<String>,
    /// The number of results whose size is not known before a run, which do not count.
    pub(super) num_unknown: usize,
}

/// A rule that nearly applied.
#[derive(Debug, Serialize)]
pub(super) struct MissedRewrite {
    rule: &'static str,
    node: String,
    reason: &'static str,
}

/// The weights of a program.
#[derive(Debug, Default, Serialize)]
pub(super) struct Weights {
    pub(super) tensors: usize,
    pub(super) bytes: usize,
    /// Those that are in the files of the model as they are.
    pub(super) in_place_bytes: usize,
    /// Those that are not.
    pub(super) copied_bytes: usize,
    /// Those in packed form, if they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) packed_bytes: Option<usize>,
}

/// An unsupported feature.
#[derive(Debug, Serialize)]
pub(super) struct ReportedFeature {
    kind: &'static str,
    what: String,
    nodes: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

impl Report {
    pub(super) fn new(file: &str, format: &'static str) -> Self {
        Self {
            version: VERSION,
            file: file.to_owned(),
            format,
            ..Self::default()
        }
    }

    /// Adds all unsupported features.
    pub(super) fn add_unsupported(&mut self, unsupported: &Unsupported) {
        let features = unsupported.iter().map(|feature| ReportedFeature {
            kind: feature.kind.name(),
            what: feature.what.to_owned(),
            nodes: feature.nodes.to_vec(),
            hint: feature.hint.to_owned(),
        });
        self.unsupported.extend(features);
    }

    /// Writes the document.
    pub(super) fn write(&self, path: &str) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| Failure::caused("error: the report", error))?;
        output::write(path, format!("{text}\n").as_bytes())
    }
}

impl ReportedProgram {
    /// Adds the number of nodes or ops after a stage.
    pub(super) fn add_stage(&mut self, stage: &'static str, ops: usize) {
        self.stages.push(ReportedStage { stage, ops });
    }

    /// Adds what the rewrites have done.
    pub(super) fn add_rewrites(&mut self, rewriting: &Rewriting) {
        for &(stage, ops) in &rewriting.stages {
            self.add_stage(stage, ops);
        }
        for applied in &rewriting.applied {
            *self.rewrites.entry(applied.rule).or_default() += 1;
        }
        let missed = rewriting.missed.iter().map(|missed| MissedRewrite {
            rule: missed.rule,
            node: missed.place.clone(),
            reason: missed.reason,
        });
        self.missed_rewrites.extend(missed);
    }
}
